//! Datatypes that pick a part of an array of several dimensions: subarrays, and the shares of distributed arrays.

use std::ffi::c_int;

use super::create::{register, resize};
use super::{Builder, Making, Type, get};
use crate::abi::*;
use crate::failure::{Result, ensure};
use crate::numbers::Numbers;

/// One dimension: its length, and the parts of it that are picked, each a start and a length.
struct Dimension {
    length: i64,
    parts: Vec<(i64, i64)>,
}

/// Picks in every dimension, from the one that runs fastest outwards; each step's type spans its whole dimension.
fn pick(part: &Type, dimensions: &[Dimension], order: c_int) -> Builder {
    let fastest_first: Vec<&Dimension> = match order {
        ORDER_C => dimensions.iter().rev().collect(),
        _ => dimensions.iter().collect(),
    };
    let mut current = resize(part, part.lower, part.extent);
    let mut span = part.extent;
    let mut last = Builder::new();
    for dimension in fastest_first {
        let mut builder = Builder::new();
        for &(start, length) in &dimension.parts {
            builder.add(start * span, length, &current);
        }
        span *= dimension.length;
        builder.set_bounds(0, span);
        let step = builder.finish(Making::new(COMBINER_SUBARRAY));
        last = Builder::new();
        last.add(0, 1, &step);
        last.set_bounds(0, span);
        current = step;
    }
    last
}

fn check_order(order: c_int) -> Result {
    ensure!(order == ORDER_C || order == ORDER_FORTRAN, ERR_ARG, "order {order}");
    Ok(())
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn subarray(
    dimensions: c_int,
    sizes: Numbers,
    subsizes: Numbers,
    starts: Numbers,
    order: c_int,
    old: Datatype,
    new: *mut Datatype,
) -> Result {
    let part = get(old)?;
    check_order(order)?;
    ensure!(dimensions > 0, ERR_ARG, "{dimensions} dimensions");
    let count = dimensions as usize;
    let (sizes, subsizes) = (sizes.read(count), subsizes.read(count));
    let starts = starts.read(count);
    let mut picked = Vec::new();
    for index in 0..count {
        let (size, subsize, start) = (sizes[index], subsizes[index], starts[index]);
        let inside = size >= 1 && subsize >= 1 && start >= 0 && start + subsize <= size;
        ensure!(inside, ERR_ARG, "{subsize} of {size} from {start} on, in dimension {index}");
        picked.push(Dimension { length: size, parts: vec![(start, subsize)] });
    }
    let mut made = Making::of(COMBINER_SUBARRAY, old, &part);
    made.integers = vec![i64::from(dimensions)];
    made.integers.extend(sizes.iter().chain(&subsizes).chain(&starts));
    made.integers.push(i64::from(order));
    *new = register(pick(&part, &picked, order).finish(made))?;
    Ok(())
}

/// The parts of a dimension that process `place` of `processes` has.
fn share(
    length: i64,
    distribution: c_int,
    argument: c_int,
    processes: i64,
    place: i64,
) -> Result<Vec<(i64, i64)>> {
    let default = argument == DISTRIBUTE_DFLT_DARG;
    let block = match distribution {
        DISTRIBUTE_NONE => length,
        DISTRIBUTE_BLOCK if default => (length + processes - 1) / processes,
        DISTRIBUTE_CYCLIC if default => 1,
        DISTRIBUTE_BLOCK | DISTRIBUTE_CYCLIC => i64::from(argument),
        _ => length + 1,
    };
    ensure!(
        block > 0 && block <= length.max(block.min(length)),
        ERR_ARG,
        "distribution {distribution}"
    );
    let fits = distribution != DISTRIBUTE_BLOCK || block * processes >= length;
    ensure!(fits, ERR_ARG, "{processes} blocks of {block} do not cover {length}");
    let single = distribution != DISTRIBUTE_NONE || processes == 1;
    ensure!(single, ERR_ARG, "an undistributed dimension over {processes} processes");
    let mut parts = Vec::new();
    let mut start = place * block;
    while start < length {
        parts.push((start, block.min(length - start)));
        start += block * processes;
    }
    Ok(parts)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn darray(
    size: c_int,
    rank: c_int,
    dimensions: c_int,
    lengths: Numbers,
    distributions: *const c_int,
    arguments: *const c_int,
    processes: *const c_int,
    order: c_int,
    old: Datatype,
    new: *mut Datatype,
) -> Result {
    let part = get(old)?;
    check_order(order)?;
    ensure!(dimensions > 0, ERR_ARG, "{dimensions} dimensions");
    let count = dimensions as usize;
    let lengths = lengths.read(count);
    let [distributions, arguments, processes] =
        [distributions, arguments, processes].map(|array| Numbers::from(array).read(count));
    let whole: i64 = processes.iter().product();
    ensure!(whole == i64::from(size), ERR_ARG, "a grid of {whole} for {size} processes");
    ensure!(rank >= 0 && rank < size, ERR_RANK, "rank {rank} of {size}");
    let mut picked = Vec::new();
    let mut left = i64::from(rank);
    let mut beyond = whole;
    for index in 0..count {
        // The grid of processes is in the order of C, whatever the order of the array.
        beyond /= processes[index];
        let (place, length) = (left / beyond, lengths[index]);
        left %= beyond;
        let (how, argument) = (distributions[index] as c_int, arguments[index] as c_int);
        let parts = share(length, how, argument, processes[index], place)?;
        picked.push(Dimension { length, parts });
    }
    let mut made = Making::of(COMBINER_DARRAY, old, &part);
    made.integers = vec![i64::from(size), i64::from(rank), i64::from(dimensions)];
    for list in [&lengths, &distributions, &arguments, &processes] {
        made.integers.extend(list);
    }
    made.integers.push(i64::from(order));
    *new = register(pick(&part, &picked, order).finish(made))?;
    Ok(())
}
