//! Brings the times of a chunk from the ranks that took them to rank 0.

use contract::{Buffer, Element, Operation, Rank, Reduction, Result, Source, Tag, TagSelector};

use super::Plan;
use super::control::Order;
use super::start::TAG;
use crate::catalogue::Timing;

const SLOWEST: Reduction = Reduction::new(Element::U64, Operation::Maximum);

/// Room at rank 0 for what the ranks bring.
pub(super) struct Collected {
    durations: Buffer,
    ends: Buffer,
}

impl Collected {
    pub(super) fn new(samples: usize) -> Result<Self> {
        let room = || Buffer::try_zeroed(samples * size_of::<u64>());
        Ok(Collected { durations: room()?, ends: room()? })
    }

    /// The durations of the chunk in picoseconds, at rank 0; elsewhere what it returns means nothing.
    pub(super) fn bring(
        &mut self,
        rank: &mut dyn Rank,
        plan: &Plan<'_>,
        order: &Order,
        times: &mut Buffer,
    ) -> Result<&[u64]> {
        let bytes = order.samples * size_of::<u64>();
        let (mine, into) = (&times[..bytes], &mut self.durations[..bytes]);
        match plan.timing {
            Timing::Slowest => rank.reduce(0, SLOWEST, mine, into)?,
            Timing::First => to_root(rank, plan.pair.0, TAG, mine, into)?,
            Timing::OneWay => {
                to_root(rank, plan.pair.0, TAG, mine, into)?;
                to_root(rank, plan.pair.1, TAG, mine, &mut self.ends[..bytes])?;
                let durations = &mut self.durations.elements_mut::<u64>()[..order.samples];
                for (time, end) in durations.iter_mut().zip(self.ends.elements::<u64>()) {
                    *time = end.saturating_sub(*time);
                }
            }
        }
        Ok(&self.durations.elements::<u64>()[..order.samples])
    }
}

/// Brings `mine` of rank `from` into `into` of rank 0.
fn to_root(rank: &mut dyn Rank, from: usize, tag: Tag, mine: &[u8], into: &mut [u8]) -> Result<()> {
    match (rank.rank(), from) {
        (0, 0) => into.copy_from_slice(mine),
        (0, _) => drop(rank.receive(Source::Rank(from), TagSelector::Is(tag), into)?),
        (me, _) if me == from => rank.send(0, tag, mine)?,
        _ => {}
    }
    Ok(())
}
