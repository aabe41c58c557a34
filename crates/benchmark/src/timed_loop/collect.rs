//! Sends the times of a chunk to rank 0 from the ranks that measured them.

use contract::{Buffer, Element, Operation, Rank, Reduction, Result, Source, TagSelector};

use super::start::TAG;
use crate::program::Timing;

const SLOWEST: Reduction = Reduction::new(Element::U64, Operation::Maximum);

/// Buffers at rank 0 for the times of the other ranks.
pub(super) struct Collected {
    durations: Buffer,
    /// Times of the second rank of a pair.
    seconds: Buffer,
}

impl Collected {
    pub(super) fn new(samples: usize) -> Result<Self> {
        let room = || Buffer::try_zeroed(samples * size_of::<u64>());
        Ok(Collected { durations: room()?, seconds: room()? })
    }

    /// Returns the durations of a chunk in picoseconds at rank 0; the result of other ranks is unspecified. `mine`
    /// contains the times of this rank.
    pub(super) fn bring(
        &mut self,
        rank: &mut dyn Rank,
        timing: Timing,
        pair: (usize, usize),
        mine: &[u8],
    ) -> Result<&[u64]> {
        let samples = mine.len() / size_of::<u64>();
        let into = &mut self.durations[..mine.len()];
        match timing {
            Timing::Slowest => rank.reduce(0, SLOWEST, mine, into)?,
            Timing::First => to_root(rank, pair.0, mine, into)?,
            Timing::OneWay | Timing::SlowerOfPair => {
                to_root(rank, pair.0, mine, into)?;
                to_root(rank, pair.1, mine, &mut self.seconds[..mine.len()])?;
                let durations = &mut self.durations.elements_mut::<u64>()[..samples];
                for (time, &second) in durations.iter_mut().zip(self.seconds.elements::<u64>()) {
                    *time = match timing {
                        Timing::OneWay => second.saturating_sub(*time),
                        _ => second.max(*time),
                    };
                }
            }
        }
        Ok(&self.durations.elements::<u64>()[..samples])
    }
}

/// Copies `mine` of rank `from` to `into` at rank 0.
fn to_root(rank: &mut dyn Rank, from: usize, mine: &[u8], into: &mut [u8]) -> Result<()> {
    match (rank.rank(), from) {
        (0, 0) => into.copy_from_slice(mine),
        (0, _) => drop(rank.receive(Source::Rank(from), TagSelector::Is(TAG), into)?),
        (me, _) if me == from => rank.send(0, TAG, mine)?,
        _ => {}
    }
    Ok(())
}
