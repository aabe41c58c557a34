//! When each matrix left a level, and what time was spent on it: noted by each rank, brought together at rank 0.

use contract::{Buffer, Rank, Result, Time, TimeSpan};

/// The most matrices of which a rank keeps stamps.
pub(super) const KEPT_MAX: usize = 4096;

/// The stamps of one rank: for each matrix of a trial when it was done with it, and how long it worked on it. Noting
/// allocates nothing; matrices beyond the first [`KEPT_MAX`] are not noted.
pub(super) struct Stamps {
    ends: Buffer,
    busy: Buffer,
}

/// The stamps of all ranks.
pub(crate) struct AllStamps {
    ends: Vec<u64>,
    busy: Vec<u64>,
    matrices: usize,
}

const BYTES: usize = KEPT_MAX * size_of::<u64>();

impl Stamps {
    pub(super) fn new() -> Result<Self> {
        Ok(Stamps { ends: Buffer::try_zeroed(BYTES)?, busy: Buffer::try_zeroed(BYTES)? })
    }

    pub(super) fn begin(&mut self) {
        self.busy.fill(0);
    }

    /// This rank is done with `matrix` at `at`.
    #[inline]
    pub(super) fn ended(&mut self, matrix: u64, at: Time) {
        if let Some(end) = self.ends.elements_mut::<u64>().get_mut(matrix as usize) {
            *end = at.as_ps();
        }
    }

    /// This rank worked on `matrix` for a while.
    #[inline]
    pub(super) fn worked(&mut self, matrix: u64, span: TimeSpan) {
        if let Some(busy) = self.busy.elements_mut::<u64>().get_mut(matrix as usize) {
            *busy += span.as_ps();
        }
    }

    /// Brings the stamps of the first `matrices` to rank 0. All ranks call it alike; the others get nothing.
    pub(super) fn bring(&self, rank: &mut dyn Rank, matrices: u64) -> Result<AllStamps> {
        let matrices = KEPT_MAX.min(matrices as usize);
        let ends = gather(rank, &self.ends[..matrices * size_of::<u64>()])?;
        let busy = gather(rank, &self.busy[..matrices * size_of::<u64>()])?;
        Ok(AllStamps { ends, busy, matrices })
    }
}

fn gather(rank: &mut dyn Rank, mine: &[u8]) -> Result<Vec<u64>> {
    let blocks = if rank.rank() == 0 { rank.size() } else { 0 };
    let mut all = Buffer::try_zeroed(blocks * mine.len())?;
    rank.gather(0, mine, &mut all)?;
    Ok(all.elements().to_vec())
}

impl AllStamps {
    /// How many matrices there are stamps of.
    pub(super) fn matrices(&self) -> usize {
        self.matrices
    }

    /// When the last of `ranks` was done with each matrix, in picoseconds.
    pub(super) fn ends(&self, ranks: std::ops::Range<usize>) -> Vec<u64> {
        self.of_each_matrix(&self.ends, ranks)
    }

    /// The most time that one of `ranks` worked on each matrix, in picoseconds.
    pub(super) fn busy(&self, ranks: std::ops::Range<usize>) -> Vec<u64> {
        self.of_each_matrix(&self.busy, ranks)
    }

    fn of_each_matrix(&self, stamps: &[u64], ranks: std::ops::Range<usize>) -> Vec<u64> {
        let of =
            |matrix: usize| ranks.clone().map(move |rank| stamps[rank * self.matrices + matrix]);
        (0..self.matrices).map(|matrix| of(matrix).max().unwrap_or(0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_rank_of_a_level_counts_for_each_matrix() {
        // Ranks 0 to 2, two matrices each.
        let all = AllStamps {
            ends: vec![1, 2, 30, 40, 33, 37],
            busy: vec![0, 0, 5, 6, 4, 9],
            matrices: 2,
        };
        assert_eq!(all.ends(1..3), [33, 40]);
        assert_eq!(all.busy(1..3), [5, 9]);
        assert_eq!(all.ends(0..1), [1, 2]);
    }
}
