//! The numbers, the best serial sort, and the check of sorted numbers.

use std::ops::Range;

use contract::{Buffer, Error, Rank, Result, Work, WorkKind};
use random::mix;

use crate::application::Timed;

pub(super) const NUMBER: usize = size_of::<f64>();

/// Returns the number at a place of the vector.
pub(super) fn number(seed: u64, place: usize) -> f64 {
    // The number is a multiple of a small number, between -1 and 1.
    let bits = mix(mix(seed) ^ place as u64) >> 11;
    bits as f64 / (1u64 << 52) as f64 - 1.0
}

/// Returns the numbers at these places.
pub(super) fn numbers(seed: u64, places: Range<usize>) -> Result<Buffer> {
    let mut made = room(places.len())?;
    let room = made.elements_mut::<f64>().iter_mut();
    room.zip(places).for_each(|(to, place)| *to = number(seed, place));
    Ok(made)
}

/// Returns room for a number of numbers.
pub(super) fn room(count: usize) -> Result<Buffer> {
    let bytes = count.checked_mul(NUMBER);
    bytes.map_or_else(
        || Err(Error::OutOfMemory { what: format!("{count} numbers"), bytes: u64::MAX }),
        Buffer::try_zeroed,
    )
}

/// Returns the work of sorting `count` numbers. `in_parts` returns that of assigning each to one of `parts` parts.
pub(super) fn sorting(count: usize) -> Work {
    in_parts(count, count)
}

pub(super) fn in_parts(count: usize, parts: usize) -> Work {
    let comparisons = count as f64 * (parts.max(1) as f64).log2();
    Work::new(WorkKind::Sort, comparisons.ceil() as u64)
}

/// Returns the work of copying `count` numbers.
pub(super) fn copying(count: usize) -> Work {
    Work::new(WorkKind::CopyBytes, (count * NUMBER) as u64)
}

/// Sorts by the library's quicksort.
pub(super) fn sort(numbers: &mut [f64]) {
    numbers.sort_unstable_by(f64::total_cmp);
}

/// The best serial program. The numbers are kept, as the parallel programs keep them, so they are copied first.
pub(super) struct Serial {
    input: Buffer,
    sorted: Buffer,
}

impl Serial {
    pub(super) fn new(count: usize, seed: u64) -> Result<Self> {
        Ok(Serial { input: numbers(seed, 0..count)?, sorted: room(count)? })
    }

    pub(super) fn input(&self) -> &[f64] {
        self.input.elements()
    }

    pub(super) fn run(&mut self, rank: &mut Timed<'_>) {
        let count = self.input().len();
        rank.compute(copying(count), |_| self.sorted.copy_from_slice(&self.input));
        rank.compute(sorting(count), |_| sort(self.sorted.elements_mut()));
    }
}

/// Returns a sum over numbers that is the same in any order, and different if one is lost, doubled or changed.
pub(super) fn sum(numbers: impl Iterator<Item = f64>) -> u64 {
    numbers.fold(0, |sum: u64, number| sum.wrapping_add(mix(number.to_bits())))
}

/// Length of a rank's report about its sorted numbers, from which all ranks determine whether they are in order: count,
/// sum, first and last.
const FACTS: usize = 4;

/// Checks that the parts of all ranks, one after the other, are the given numbers in order. All ranks must call it. A
/// rank may have none.
///
/// # Errors
/// [`Error::Program`] with the mistake.
pub(super) fn check(
    rank: &mut dyn Rank,
    part: &[f64],
    (count, seed): (usize, u64),
    mine: Range<usize>,
) -> Result<()> {
    let wrong = |what: String| Err(Error::Program(format!("wrong order: {what}")));
    let descends = |pair: &[f64]| pair[0].total_cmp(&pair[1]).is_gt();
    if let Some(at) = part.windows(2).position(descends) {
        let me = rank.rank();
        return wrong(format!("{} comes before {} at rank {me}", part[at], part[at + 1]));
    }
    let expected = sum(mine.map(|place| number(seed, place)));
    let (first, last) = (part.first().copied(), part.last().copied());
    let facts: [u64; FACTS] = [
        part.len() as u64,
        sum(part.iter().copied()).wrapping_sub(expected),
        first.unwrap_or_default().to_bits(),
        last.unwrap_or_default().to_bits(),
    ];
    let mut all = vec![0u64; FACTS * rank.size()];
    rank.allgather(bytemuck::cast_slice(&facts), bytemuck::cast_slice_mut(&mut all))?;
    let (facts, _) = all.as_chunks::<FACTS>();
    let total: u64 = facts.iter().map(|fact| fact[0]).sum();
    if total != count as u64 {
        return wrong(format!("there are {total} numbers where {count} were given"));
    }
    if facts.iter().fold(0, |sum: u64, fact| sum.wrapping_add(fact[1])) != 0 {
        return wrong("some numbers are not those that were given".into());
    }
    let ends: Vec<_> = facts.iter().filter(|fact| fact[0] > 0).collect();
    let ends = ends.windows(2).map(|pair| (f64::from_bits(pair[0][3]), f64::from_bits(pair[1][2])));
    match ends.into_iter().find(|(last, first)| last.total_cmp(first).is_gt()) {
        Some((last, first)) => wrong(format!("one rank ends with {last}, the next has {first}")),
        None => Ok(()),
    }
}
