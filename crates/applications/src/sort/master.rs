//! The form of 1996: the master distributes equal parts, and merges them when they are sorted.

use contract::{Buffer, Error, Rank, Result, WorkKind};

use super::numbers::{NUMBER, Serial, check, copying, in_parts, room, sort, sorting};
use crate::application::{Application, Timed};
use crate::link::{Library, Link, Linked, MASTER, MasterAndWorkers};
use crate::split::part;

/// A sort by a master and workers. The master sorts a part, too.
pub struct MasterSort {
    count: usize,
    seed: u64,
    linked: Linked,
    /// The parts, and room to merge them: all of them at the master, a rank's own at other ranks.
    parts: Buffer,
    merged: Buffer,
    /// The vector to sort, at the master.
    serial: Option<Serial>,
}

impl MasterSort {
    /// Prepares the sort of `count` numbers. All ranks must call it.
    pub fn new(rank: &mut dyn Rank, count: usize, library: Library, seed: u64) -> Result<Self> {
        let is_master = rank.rank() == MASTER;
        let own = if is_master { count } else { part(count, rank.size(), rank.rank()).len() };
        Ok(MasterSort {
            count,
            seed,
            linked: Linked::open(rank, library)?,
            parts: room(own)?,
            merged: room(if is_master { count } else { 0 })?,
            serial: is_master.then(|| Serial::new(count, seed)).transpose()?,
        })
    }
}

impl MasterAndWorkers for MasterSort {
    fn linked(&mut self) -> &mut Linked {
        &mut self.linked
    }

    fn run_master(&mut self, mut link: Link<'_, '_>) -> Result<()> {
        let (count, ranks) = (self.count, link.ranks());
        let Some(serial) = &self.serial else { return Ok(()) };
        let input: &[u8] = bytemuck::cast_slice(serial.input());
        let bytes = |rank: usize| {
            let places = part(count, ranks, rank);
            places.start * NUMBER..places.end * NUMBER
        };
        for worker in 1..ranks {
            link.send(worker, &input[bytes(worker)])?;
        }
        let own = part(count, ranks, MASTER).len();
        let parts = &mut self.parts;
        link.compute(copying(own), || parts[bytes(MASTER)].copy_from_slice(&input[bytes(MASTER)]));
        link.compute(sorting(own), || sort(&mut parts.elements_mut()[..own]));
        for worker in 1..ranks {
            let room = &mut parts[bytes(worker)];
            let expected = room.len();
            let found = link.receive(worker, room)?;
            if found != expected {
                let what = format!("rank {worker} sent {found} bytes where {expected} are sorted");
                return Err(Error::Program(what));
            }
        }
        let merged = self.merged.elements_mut();
        link.compute(in_parts(count, ranks), || merge_all(parts.elements_mut(), merged, ranks));
        Ok(())
    }

    fn run_worker(&mut self, mut link: Link<'_, '_>) -> Result<()> {
        let parts = &mut self.parts;
        link.receive(MASTER, parts)?;
        let count = parts.len() / NUMBER;
        link.compute(sorting(count), || sort(parts.elements_mut()));
        link.send(MASTER, parts)
    }
}

impl Application for MasterSort {
    fn kinds(&self) -> &[WorkKind] {
        &[WorkKind::Sort, WorkKind::CopyBytes]
    }

    fn run(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        self.run_part(rank)
    }

    fn run_serial(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        self.serial.iter_mut().for_each(|serial| serial.run(rank));
        Ok(())
    }

    fn check(&mut self, rank: &mut dyn Rank) -> Result<()> {
        // The master has the whole sorted vector, and the workers have none of it.
        let places = if rank.rank() == MASTER { 0..self.count } else { 0..0 };
        check(rank, self.merged.elements(), (self.count, self.seed), places)
    }

    fn finish(self: Box<Self>, rank: &mut dyn Rank) -> Result<()> {
        self.linked.close(rank)
    }
}

/// Merges sorted parts of about the same length, two at a time, until one is left, in `merged`. `parts` is used as
/// room.
fn merge_all(parts: &mut [f64], merged: &mut [f64], count: usize) {
    let total = parts.len();
    let mut ends: Vec<usize> = (0..count).map(|index| part(total, count, index).end).collect();
    let (mut from, mut to) = (parts, merged);
    let mut in_merged = false;
    while ends.len() > 1 || !in_merged {
        let mut begin = 0;
        let mut kept = Vec::with_capacity(ends.len().div_ceil(2));
        for pair in ends.chunks(2) {
            let (middle, end) = (pair[0], pair[pair.len() - 1]);
            merge(&from[begin..middle], &from[middle..end], &mut to[begin..end]);
            kept.push(end);
            begin = end;
        }
        ends = kept;
        std::mem::swap(&mut from, &mut to);
        in_merged = !in_merged;
    }
}

/// Merges two sorted vectors.
fn merge(left: &[f64], right: &[f64], merged: &mut [f64]) {
    let (mut l, mut r) = (0, 0);
    for to in merged {
        let takes_left = match (left.get(l), right.get(r)) {
            (Some(left), Some(right)) => left.total_cmp(right).is_le(),
            (left, _) => left.is_some(),
        };
        *to = if takes_left { left[l] } else { right[r] };
        l += usize::from(takes_left);
        r += usize::from(!takes_left);
    }
}

#[cfg(test)]
mod tests {
    use super::super::numbers::numbers;
    use super::*;

    #[test]
    fn parts_of_any_number_are_merged() {
        for (count, parts) in [(0, 1), (1, 1), (5, 2), (100, 3), (1000, 8), (17, 16), (3, 7)] {
            let all = numbers(7, 0..count).unwrap();
            let mut sorted = all.elements::<f64>().to_vec();
            let mut given = sorted.clone();
            for index in 0..parts {
                sort(&mut given[part(count, parts, index)]);
            }
            let mut merged = vec![0.0; count];
            merge_all(&mut given, &mut merged, parts);
            sort(&mut sorted);
            assert_eq!(merged, sorted, "{count} numbers in {parts} parts");
        }
    }
}
