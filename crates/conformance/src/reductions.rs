//! Reductions: each element type and operation, compared with a local reduction over all ranks.

use std::cell::RefCell;

use super::case::{ANY, Case};
use super::check::{contents, ensure, expect, mix, roots};
use contract::{Element, Operation, Rank, Reduction, Result};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("reductions/reduce-of-each-kind", ANY, reduce_each_kind),
        Case::new("reductions/allreduce-of-each-kind", ANY, allreduce_each_kind),
        Case::new("reductions/reduce-scatter-of-each-kind", ANY, reduce_scatter_each_kind),
        Case::new("reductions/scans-of-each-kind", ANY, scans_of_each_kind),
        Case::new("reductions/reduce-to-every-root", ANY, reduce_to_every_root),
        Case::new("reductions/long-vectors", ANY, long_vectors),
        Case::new("reductions/the-same-bits-everywhere", ANY, same_bits),
        Case::new("reductions/a-number-beats-a-not-a-number", ANY, numbers_beat_nan),
        Case::new("reductions/many-without-a-pause", ANY, without_a_pause),
    ]
}

fn kinds() -> impl Iterator<Item = Reduction> {
    Element::ALL.into_iter().flat_map(|element| {
        Operation::ALL.into_iter().map(move |operation| Reduction::new(element, operation))
    })
}

/// Returns the operand of a rank. Integers are arbitrary, because they wrap. Floating-point numbers have exact sums and
/// products in every order, up to thousands of ranks: small whole numbers to add, and powers of two that cancel out to
/// multiply.
fn operand(reduction: Reduction, rank: usize, count: usize) -> Vec<u8> {
    let number = |index: usize| {
        let random = mix(&[rank as u64, index as u64]);
        match (reduction.operation, rank % 4) {
            (Operation::Product, 0) => 2.0,
            (Operation::Product, 1) => 0.5,
            (Operation::Product, _) => 1.0 - (random % 2 * 2) as f64,
            _ => (random % 201) as f64 - 100.0,
        }
    };
    match reduction.element {
        Element::F32 => (0..count).flat_map(|i| (number(i) as f32).to_ne_bytes()).collect(),
        Element::F64 => (0..count).flat_map(|i| number(i).to_ne_bytes()).collect(),
        element => contents(mix(&[rank as u64, 1]), count * element.bytes()),
    }
}

/// Reduces locally. Ranks that share a thread, as on simulated machines, need the same result one after the other. So
/// the last one is kept: otherwise the work of all ranks would grow with the square of their number.
fn expected(reduction: Reduction, size: usize, count: usize) -> Result<Vec<u8>> {
    type Question = (Reduction, usize, usize);
    thread_local! {
        static LAST: RefCell<Option<(Question, Vec<u8>)>> = const { RefCell::new(None) };
    }
    let question = (reduction, size, count);
    let kept = LAST.with_borrow(|last| {
        last.as_ref().filter(|(of, _)| *of == question).map(|(_, result)| result.clone())
    });
    if let Some(result) = kept {
        return Ok(result);
    }
    let mut result = operand(reduction, 0, count);
    for rank in 1..size {
        reduction.combine(&mut result, &operand(reduction, rank, count))?;
    }
    LAST.set(Some((question, result.clone())));
    Ok(result)
}

fn check_reduce(
    machine: &mut dyn Rank,
    root: usize,
    reduction: Reduction,
    count: usize,
) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let send = operand(reduction, rank, count);
    let mut receive = vec![0; if rank == root { send.len() } else { 0 }];
    machine.reduce(root, reduction, &send, &mut receive)?;
    let what = || format!("reduce of {count} to root {root}, {reduction:?}");
    if rank == root { same(what, &expected(reduction, size, count)?, &receive) } else { Ok(()) }
}

fn check_allreduce(machine: &mut dyn Rank, reduction: Reduction, count: usize) -> Result<()> {
    let send = operand(reduction, machine.rank(), count);
    let mut receive = vec![0; send.len()];
    machine.allreduce(reduction, &send, &mut receive)?;
    let what = || format!("allreduce of {count}, {reduction:?}");
    same(what, &expected(reduction, machine.size(), count)?, &receive)
}

fn same(what: impl Fn() -> String, expected: &[u8], found: &[u8]) -> Result<()> {
    let place = expected.iter().zip(found).position(|(a, b)| a != b);
    ensure(place.is_none(), || {
        let place = place.unwrap_or(0);
        let (found, expected) = (found[place], expected[place]);
        format!("{}: byte {place} is {found:#04x} where {expected:#04x} is expected", what())
    })
}

fn reduce_each_kind(machine: &mut dyn Rank) -> Result<()> {
    let size = machine.size();
    for (index, reduction) in kinds().enumerate() {
        for count in [0, 1, 3, 170] {
            check_reduce(machine, (index + count) % size, reduction, count)?;
        }
    }
    Ok(())
}

fn allreduce_each_kind(machine: &mut dyn Rank) -> Result<()> {
    for reduction in kinds() {
        for count in [0, 1, 3, 170] {
            check_allreduce(machine, reduction, count)?;
        }
    }
    Ok(())
}

fn reduce_scatter_each_kind(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let long = [(Reduction::SUM_F64, 3000)];
    for (reduction, count) in kinds().flat_map(|kind| [0, 1, 17].map(|n| (kind, n))).chain(long) {
        let send = operand(reduction, rank, size * count);
        let mut receive = vec![0; send.len() / size];
        machine.reduce_scatter(reduction, &send, &mut receive)?;
        let all = expected(reduction, size, size * count)?;
        let what = || format!("reduce-scatter of {count}, {reduction:?}");
        same(what, &all[rank * receive.len()..][..receive.len()], &receive)?;
    }
    Ok(())
}

fn scans_of_each_kind(machine: &mut dyn Rank) -> Result<()> {
    let rank = machine.rank();
    let long = [(Reduction::SUM_F64, 3000)];
    for (reduction, count) in kinds().flat_map(|kind| [0, 1, 17].map(|n| (kind, n))).chain(long) {
        let send = operand(reduction, rank, count);
        let mut receive = vec![0; send.len()];
        machine.scan(reduction, &send, &mut receive)?;
        let what = || format!("scan of {count}, {reduction:?}");
        same(what, &expected(reduction, rank + 1, count)?, &receive)?;
        let mut receive = vec![0xa5; send.len()];
        machine.exclusive_scan(reduction, &send, &mut receive)?;
        let untouched = vec![0xa5; send.len()];
        let before = if rank == 0 { untouched } else { expected(reduction, rank, count)? };
        same(|| format!("exclusive scan of {count}, {reduction:?}"), &before, &receive)?;
    }
    Ok(())
}

fn reduce_to_every_root(machine: &mut dyn Rank) -> Result<()> {
    for root in roots(machine.size()) {
        for count in [1, 8, 100, 3000] {
            check_reduce(machine, root, Reduction::SUM_F64, count)?;
        }
    }
    Ok(())
}

/// Tests lengths that fabrics and algorithms divide into parts. Odd lengths have unequal parts.
fn long_vectors(machine: &mut dyn Rank) -> Result<()> {
    let wrapping = Reduction::new(Element::U8, Operation::Sum);
    let size = machine.size();
    let counts = match size {
        0..=3 => vec![2048, 8191, 20_003, 150_001],
        4..=16 => vec![2048, 8191],
        _ => vec![2049],
    };
    for count in counts {
        check_allreduce(machine, Reduction::SUM_F64, count)?;
        check_reduce(machine, size - 1, Reduction::SUM_F64, count)?;
        check_allreduce(machine, wrapping, 2 * count + 5)?;
        check_reduce(machine, 0, wrapping, 2 * count + 5)?;
    }
    Ok(())
}

/// Sums that depend on their order must still be equal on all ranks.
fn same_bits(machine: &mut dyn Rank) -> Result<()> {
    let size = machine.size();
    for count in [1, 5, 1000, 5000] {
        let number = |index: usize| match mix(&[machine.rank() as u64, index as u64]) % 4 {
            0 => 1e16,
            1 => -1e16,
            2 => 1.0 / (machine.rank() + 3) as f64,
            _ => 0.1 + index as f64,
        };
        let send: Vec<u8> = (0..count).flat_map(|index| number(index).to_ne_bytes()).collect();
        let mut result = vec![0; send.len()];
        machine.allreduce(Reduction::SUM_F64, &send, &mut result)?;
        let mut of_root = vec![0; result.len()];
        of_root.copy_from_slice(&result);
        machine.broadcast(size - 1, &mut of_root)?;
        same(|| format!("allreduce of {count}, against rank {}", size - 1), &of_root, &result)?;
    }
    Ok(())
}

/// One rank contributes a number, all others NaN. The result must be the number.
fn numbers_beat_nan(machine: &mut dyn Rank) -> Result<()> {
    for with_number in roots(machine.size()) {
        let own = if machine.rank() == with_number { -2.5 } else { f64::NAN };
        for operation in [Operation::Minimum, Operation::Maximum] {
            let reduction = Reduction::new(Element::F64, operation);
            let mut result = [0; 8];
            machine.allreduce(reduction, &own.to_ne_bytes(), &mut result)?;
            expect(&format!("{operation:?} with a number"), -2.5, f64::from_ne_bytes(result))?;
        }
    }
    Ok(())
}

fn without_a_pause(machine: &mut dyn Rank) -> Result<()> {
    let size = machine.size();
    for round in 0..60u64 {
        let mut total = [0; 8];
        let own = (round * 1000 + machine.rank() as u64).to_ne_bytes();
        let sum = Reduction::new(Element::U64, Operation::Sum);
        machine.allreduce(sum, &own, &mut total)?;
        let ranks = size as u64;
        let expected = round * 1000 * ranks + ranks * (ranks - 1) / 2;
        expect(&format!("sum of round {round}"), expected, u64::from_ne_bytes(total))?;
        check_reduce(machine, round as usize % size, Reduction::MAXIMUM_F64, 2)?;
    }
    Ok(())
}
