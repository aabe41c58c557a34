//! Random datatypes against their type maps.

use std::rc::Rc;

use mpi::{Datatype, Distribution, Kind, Memory, Order, Spread, Unit};

use super::model::Model;
use super::random::Random;

/// Largest number of elements: more make the oracle too slow.
const MOST_ELEMENTS: usize = 400;

const KINDS: [Kind; 7] = [
    Kind::Byte,
    Kind::Signed(2),
    Kind::Signed(4),
    Kind::Float(8),
    Kind::Complex(4),
    Kind::LongDouble,
    Kind::Char,
];

type Both = (Rc<Datatype>, Model);

/// Returns blocks at random places, in the order of a type map.
fn blocks(model: &Model, lengths: &[i64], places: &[i64], unit: Unit) -> Model {
    let bytes = if unit == Unit::Elements { model.extent() } else { 1 };
    let each = lengths.iter().zip(places);
    Model::at(
        &each.flat_map(|(&length, &place)| model.row(place * bytes, length)).collect::<Vec<_>>(),
    )
}

fn structure(random: &mut Random, depth: usize) -> Both {
    let count = random.within(0, 4);
    let parts: Vec<Both> = (0..count).map(|_| tree(random, depth)).collect();
    let (lengths, places) = (random.list(count, 0, 3), random.list(count, -64, 64));
    let types = parts.iter().map(|(of, _)| of.clone()).collect();
    let mut map = Vec::new();
    for (index, (_, model)) in parts.iter().enumerate() {
        map.extend(model.row(places[index], lengths[index]));
    }
    let model = Model::at(&map).padded();
    (Datatype::structure(lengths, places, types).unwrap(), model)
}

fn subarray(random: &mut Random, (of, model): &Both) -> Both {
    let order = random.pick(&[Order::RowMajor, Order::ColumnMajor]);
    let dimensions = random.within(1, 3);
    let sizes = random.list(dimensions, 1, 4);
    let parts: Vec<i64> = sizes.iter().map(|&size| random.within(1, size)).collect();
    let starts: Vec<i64> =
        sizes.iter().zip(&parts).map(|(size, part)| random.within(0, size - part)).collect();
    let inside = |dimension: usize, index: i64| {
        (starts[dimension]..starts[dimension] + parts[dimension]).contains(&index)
    };
    let expected = model.picked(&sizes, order, inside);
    (Datatype::subarray(sizes, parts, starts.clone(), order, of).unwrap(), expected)
}

/// Returns the process that owns an index of a dimension if blocks are distributed cyclically.
fn owner(distribution: Distribution, length: i64, processes: i64, index: i64) -> i64 {
    let block = match distribution {
        Distribution::None(_) => length,
        Distribution::Block(block) => {
            block.unwrap_or(length / processes + i64::from(length % processes > 0))
        }
        Distribution::Cyclic(block) => block.unwrap_or(1),
    };
    index / block % processes
}

fn distributed(random: &mut Random, (of, model): &Both) -> Both {
    let order = random.pick(&[Order::RowMajor, Order::ColumnMajor]);
    let dimensions = random.within(1, 3);
    let lengths = random.list(dimensions, 1, 5);
    let mut processes = random.list(dimensions, 1, 3);
    let mut distributions = Vec::new();
    for (&length, count) in lengths.iter().zip(&mut processes) {
        distributions.push(match random.within(0, 4) {
            0 => {
                *count = 1;
                Distribution::None(None)
            }
            1 => Distribution::Block(None),
            2 => Distribution::Block(Some(length)),
            3 => Distribution::Cyclic(None),
            _ => Distribution::Cyclic(Some(random.within(1, length))),
        });
    }
    let size: i64 = processes.iter().product();
    let rank = random.within(0, size - 1);
    // The grid of processes is in C order.
    let mut place = vec![0; processes.len()];
    let mut left = rank;
    for dimension in (0..processes.len()).rev() {
        place[dimension] = left % processes[dimension];
        left /= processes[dimension];
    }
    let expected = model.picked(&lengths, order, |dimension, index| {
        let (length, processes) = (lengths[dimension], processes[dimension]);
        owner(distributions[dimension], length, processes, index) == place[dimension]
    });
    let spread = Spread {
        size,
        rank,
        lengths: lengths.clone(),
        distributions: distributions.clone(),
        processes: processes.clone(),
        order,
    };
    (Datatype::distributed(spread, of).unwrap(), expected)
}

/// Returns a random type and its type map.
fn tree(random: &mut Random, depth: usize) -> Both {
    let kind = random.pick(&KINDS);
    let basic = || (Datatype::basic(kind), Model::basic(kind));
    if depth == 0 {
        return basic();
    }
    if random.within(0, 4) == 0 {
        return structure(random, depth - 1);
    }
    let part = tree(random, depth - 1);
    let (of, model) = &part;
    let unit = random.pick(&[Unit::Elements, Unit::Bytes]);
    let made = match random.within(0, 7) {
        0 => {
            let count = random.within(0, 4);
            (Datatype::contiguous(count, of), Model::at(&model.row(0, count)))
        }
        1 => {
            let [count, length] = [random.within(0, 4), random.within(0, 3)];
            let stride = random.within(-5, 5);
            let places: Vec<i64> = (0..count).map(|index| index * stride).collect();
            let expected = blocks(model, &vec![length; count as usize], &places, unit);
            (Datatype::vector(count, length, stride, unit, of), expected)
        }
        2 => {
            let count = random.within(0, 4);
            let (lengths, places) = (random.list(count, 0, 3), random.list(count, -6, 6));
            let expected = blocks(model, &lengths, &places, unit);
            (Datatype::indexed(lengths, places, unit, of), expected)
        }
        3 => {
            let (count, length) = (random.within(0, 4), random.within(0, 3));
            let places = random.list(count, -6, 6);
            let expected = blocks(model, &vec![length; count as usize], &places, unit);
            (Datatype::indexed_block(length, places, unit, of), expected)
        }
        4 => {
            let [lower, extent] = [random.within(-20, 20), random.within(-40, 80)];
            (Datatype::resized(lower, extent, of), model.resized(lower, extent))
        }
        5 => (Datatype::duplicate(of, 0), model.clone()),
        6 => return subarray(random, &part),
        _ => return distributed(random, &part),
    };
    (made.0.unwrap(), made.1)
}

/// Checks the queries of a type.
fn check_layout(of: &Datatype, model: &Model, seed: u64) {
    let found = (of.size(), of.lower(), of.extent());
    assert_eq!(found, (model.size(), model.lower(), model.extent()), "seed {seed}: {model:?}");
    let first = model.map.iter().map(|(place, _)| *place).min().unwrap_or(0);
    let end = model.map.iter().map(|(place, kind)| place + kind.bytes()).max().unwrap_or(0);
    assert_eq!((of.true_lower(), of.true_extent()), (first, end - first), "seed {seed}");
    let elements = of.runs().iter().flat_map(|run| {
        (0..run.count).map(|index| (run.offset + index * run.kind.bytes(), run.kind))
    });
    assert_eq!(elements.collect::<Vec<_>>(), model.map, "seed {seed}");
    let mut next = 0;
    let joined = model.map.iter().all(|(place, kind)| {
        let fits = *place == next;
        next += kind.bytes();
        fits
    });
    let one_kind = model.map.windows(2).all(|two| two[0].1 == two[1].1);
    let dense = joined && one_kind && model.size() == model.extent();
    assert_eq!(of.is_dense(), dense, "seed {seed}: {model:?}");
}

/// Checks the elements and bytes of every prefix of three elements.
fn check_counts(of: &Datatype, model: &Model, seed: u64) {
    let three = [&model.map[..], &model.map, &model.map].concat();
    let mut bytes = 0;
    let mut ends = vec![0];
    for (_, kind) in &three {
        bytes += kind.bytes();
        ends.push(bytes);
    }
    for length in 0..=bytes {
        let whole = ends.iter().position(|&end| end == length).map(|count| count as i64);
        assert_eq!(of.elements_in(length), whole, "seed {seed}: {length} bytes");
    }
    for (count, &end) in ends.iter().enumerate() {
        assert_eq!(of.bytes_of_elements(count as i64), end, "seed {seed}: {count} elements");
    }
}

/// Checks packing and unpacking.
fn check_data(of: &Rc<Datatype>, model: &Model, random: &mut Random, seed: u64) {
    let count = random.within(0, 3);
    // Space for the elements on both sides of their address.
    let far = (count - 1).max(0) * model.extent();
    let base = 16 + (of.true_lower() + far.min(0)).min(0).abs();
    let room = base + (of.true_lower() + of.true_extent() + far.max(0)).max(0) + 16;
    let memory = random.bytes(room as usize);
    of.commit();
    // SAFETY: the elements lie within `memory`, which is not changed while this is used.
    let elements = unsafe { Memory::new(memory[base as usize..].as_ptr(), count, of.clone()) };
    let packed = elements.unwrap().packed();
    assert_eq!(packed, model.packed(&memory, base, count), "seed {seed}");
    let data = random.bytes(packed.len());
    let mut expected = memory.clone();
    let mut next = 0;
    model.each(base, count, |place, bytes| {
        expected[place..place + bytes].copy_from_slice(&data[next..next + bytes]);
        next += bytes;
    });
    let mut written = memory.clone();
    let start = written[base as usize..].as_mut_ptr();
    // SAFETY: as above; nothing else uses `written` meanwhile.
    unsafe { Memory::new(start, count, of.clone()) }.unwrap().unpack_from(&data);
    assert_eq!(written, expected, "seed {seed}: what lies between the data stays");
}

/// Number of types; fewer under an interpreter.
const SEEDS: u64 = if cfg!(miri) { 40 } else { 4000 };

#[test]
fn types_are_their_type_maps_whatever_they_are_made_of() {
    let mut checked = 0;
    for seed in 0..SEEDS {
        let mut random = Random::new(seed);
        let depth = random.within(0, 3) as usize;
        let (of, model) = tree(&mut random, depth);
        if model.map.len() > MOST_ELEMENTS {
            continue;
        }
        check_layout(&of, &model, seed);
        check_counts(&of, &model, seed);
        check_data(&of, &model, &mut random, seed);
        checked += 1;
    }
    assert!(checked > SEEDS * 3 / 4, "{checked} types were small enough");
}
