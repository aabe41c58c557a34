//! Stamps: the time at which each matrix left a level, and the time spent on it. Each rank records its own, and rank 0
//! gathers them.

use contract::{Buffer, Rank, Result, Time, TimeSpan};

/// Maximum number of matrices for which a rank stores stamps.
pub(super) const KEPT_MAX: usize = 4096;

/// Stamps of one rank: for each level and each matrix of a trial, the time at which the rank was done with it, and the
/// time that it worked on it. They are zero at levels in which the rank has no part. Recording allocates nothing;
/// matrices beyond the first [`KEPT_MAX`] are not recorded.
pub(super) struct Stamps {
    ends: Buffer,
    busy: Buffer,
    levels: usize,
}

/// The stamps of all ranks, by rank, level and matrix.
pub(crate) struct AllStamps {
    ends: Vec<u64>,
    busy: Vec<u64>,
    levels: usize,
    matrices: usize,
}

impl Stamps {
    pub(super) fn new(levels: usize) -> Result<Self> {
        let bytes = levels * KEPT_MAX * size_of::<u64>();
        Ok(Stamps { ends: Buffer::try_zeroed(bytes)?, busy: Buffer::try_zeroed(bytes)?, levels })
    }

    pub(super) fn begin(&mut self) {
        self.busy.fill(0);
    }

    /// Records that this rank was done with `matrix` at `level` at `at`.
    #[inline]
    pub(super) fn ended(&mut self, level: usize, matrix: u64, at: Time) {
        if let Some(end) = place(&mut self.ends, level, matrix) {
            *end = at.as_ps();
        }
    }

    /// Records that this rank worked on `matrix` at `level` for `span`.
    #[inline]
    pub(super) fn worked(&mut self, level: usize, matrix: u64, span: TimeSpan) {
        if let Some(busy) = place(&mut self.busy, level, matrix) {
            *busy += span.as_ps();
        }
    }

    /// Gathers the stamps of the first `matrices` at rank 0. Collective; the other ranks receive nothing.
    pub(super) fn bring(&self, rank: &mut dyn Rank, matrices: u64) -> Result<AllStamps> {
        let matrices = KEPT_MAX.min(matrices as usize);
        let ends = gather(rank, &self.ends, matrices)?;
        let busy = gather(rank, &self.busy, matrices)?;
        Ok(AllStamps { ends, busy, levels: self.levels, matrices })
    }
}

fn place(stamps: &mut Buffer, level: usize, matrix: u64) -> Option<&mut u64> {
    let of_level = &mut stamps.elements_mut::<u64>()[level * KEPT_MAX..][..KEPT_MAX];
    of_level.get_mut(matrix as usize)
}

fn gather(rank: &mut dyn Rank, mine: &Buffer, matrices: usize) -> Result<Vec<u64>> {
    let mine = mine.elements::<u64>().chunks(KEPT_MAX).flat_map(|level| &level[..matrices]);
    let mine: Vec<u8> = mine.flat_map(|stamp| stamp.to_ne_bytes()).collect();
    let blocks = if rank.rank() == 0 { rank.size() } else { 0 };
    let mut all = Buffer::try_zeroed(blocks * mine.len())?;
    rank.gather(0, &mine, &mut all)?;
    Ok(all.elements().to_vec())
}

impl AllStamps {
    /// Returns the number of matrices with stamps.
    pub(super) fn matrices(&self) -> usize {
        self.matrices
    }

    /// Returns the time at which the last rank of `level` was done with each matrix, in picoseconds.
    pub(super) fn ends(&self, level: usize) -> Vec<u64> {
        self.most(&self.ends, level)
    }

    /// Returns the longest time that a rank of `level` worked on each matrix, in picoseconds.
    pub(super) fn busy(&self, level: usize) -> Vec<u64> {
        self.most(&self.busy, level)
    }

    fn most(&self, stamps: &[u64], level: usize) -> Vec<u64> {
        let ranks = || stamps.chunks((self.levels * self.matrices).max(1));
        let of = |matrix: usize| ranks().map(move |rank| rank[level * self.matrices + matrix]);
        (0..self.matrices).map(|matrix| of(matrix).max().unwrap_or(0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_rank_of_a_level_counts_for_each_matrix() {
        // Two ranks, three levels, two matrices each. Rank 0 is at levels 0 and 1, rank 1 at levels 1 and 2.
        let all = AllStamps {
            ends: vec![1, 2, 30, 40, 0, 0, /* rank 1 */ 0, 0, 33, 37, 50, 60],
            busy: vec![0, 0, 5, 6, 0, 0, /* rank 1 */ 0, 0, 4, 9, 1, 2],
            levels: 3,
            matrices: 2,
        };
        assert_eq!(all.ends(1), [33, 40]);
        assert_eq!(all.busy(1), [5, 9]);
        assert_eq!(all.ends(0), [1, 2]);
        assert_eq!(all.busy(2), [1, 2]);
    }

    #[test]
    fn stamps_come_to_rank_0_by_rank_level_and_matrix() {
        conformance::reference::run(2, |rank| {
            let mut stamps = Stamps::new(2)?;
            stamps.begin();
            let me = rank.rank();
            stamps.ended(me, 1, Time::from_ps(70 + me as u64));
            stamps.worked(me, 0, TimeSpan::from_ps(5));
            stamps.worked(me, 0, TimeSpan::from_ps(2));
            let all = stamps.bring(rank, 2)?;
            if me == 0 {
                assert_eq!((all.ends(0), all.ends(1)), (vec![0, 70], vec![0, 71]));
                assert_eq!((all.busy(0), all.busy(1)), (vec![7, 0], vec![7, 0]));
            }
            Ok(())
        })
        .unwrap();
    }
}
