//! The one timed loop.
//!
//! Rank 0 decides, chunk by chunk, the number of samples and the method ([`Controller`]), and sends the [`Chunk`] by
//! broadcast. Every rank then takes the chunk ([`sample`]). Rank 0 gathers the times ([`collect`]) and checks whether
//! the requested precision is reached. Each chunk is half as long again as the one before, so that the messages of the
//! decisions remain a small share. On real processors a loop of simple operations is timed within a chunk now and then
//! ([`operations`]). Nothing between the two clock readings of a sample allocates, formats or computes with floating
//! point.

mod chunk;
mod collect;
mod control;
mod idle_ranks;
mod operations;
mod overheads;
mod plan;
mod sample;
mod start;
#[cfg(test)]
mod tests;

use contract::{Buffer, Rank, Result, Time, TimeSpan};

pub(crate) use overheads::Overheads;
pub(crate) use plan::{LoopPlan, Outcome, Progress};
pub(crate) use start::latest_arrival;

use crate::program::Timing;
use chunk::{CHUNK_MAX, Chunk};
use collect::Collected;
use control::Controller;
use idle_ranks::IdleRanks;
use operations::Operations;
use start::TimingRole;

/// Shortest time between two reports of progress.
const PROGRESS_EVERY: TimeSpan = TimeSpan::from_us(100_000);

/// Times `event` until the settings are met. Collective. Returns the outcome at rank 0.
pub(crate) fn measure<E>(
    rank: &mut dyn Rank,
    plan: &LoopPlan<'_>,
    mut event: E,
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Option<Outcome>>
where
    E: FnMut(&mut dyn Rank) -> Result<()>,
{
    let mut taker = Taker::new(rank, plan)?;
    if rank.rank() != 0 {
        while let Some(chunk) = Chunk::receive(rank)? {
            taker.take(rank, chunk, &mut event)?;
        }
        taker.operations_ns(rank)?;
        return Ok(None);
    }
    let begin = rank.now();
    let mut controller = Controller::new(plan, rank.every_rank_has_a_processor());
    let mut reported = Time::ZERO;
    while let Some(chunk) = controller.next(rank.now().since(begin)) {
        chunk.spread(rank)?;
        let durations = taker.take(rank, chunk, &mut event)?;
        let now = rank.now();
        controller.take(durations, now.since(begin));
        if now.since(reported) >= PROGRESS_EVERY {
            reported = now;
            progress(controller.progress())?;
        }
    }
    Chunk::spread_end(rank)?;
    let operations_ns = taker.operations_ns(rank)?;
    Ok(Some(Outcome { operations_ns, ..controller.finish() }))
}

/// State of a rank for chunks of samples: its role, and buffers that are allocated once.
struct Taker {
    timing: Timing,
    pair: (usize, usize),
    role: TimingRole,
    times: Buffer,
    collected: Collected,
    idle: IdleRanks,
    /// Operations of the ranks' processors, if each has one and all take part.
    operations: Option<Operations>,
}

impl Taker {
    fn new(rank: &dyn Rank, plan: &LoopPlan<'_>) -> Result<Self> {
        let takes_part = |rank| TimingRole::of(plan.timing, rank, plan.pair) != TimingRole::Waits;
        // Computing takes no virtual time.
        let are_timed = rank.every_rank_has_a_processor()
            && !plan.is_virtual
            && (0..rank.size()).all(takes_part);
        Ok(Taker {
            timing: plan.timing,
            pair: plan.pair,
            role: TimingRole::of(plan.timing, rank.rank(), plan.pair),
            times: Buffer::try_zeroed(CHUNK_MAX * size_of::<u64>())?,
            collected: Collected::new(CHUNK_MAX)?,
            idle: IdleRanks::default(),
            operations: are_timed.then(Operations::new),
        })
    }

    /// Takes the chunk. Returns the durations of its samples in picoseconds at rank 0.
    fn take<E>(&mut self, rank: &mut dyn Rank, chunk: Chunk, event: &mut E) -> Result<&[u64]>
    where
        E: FnMut(&mut dyn Rank) -> Result<()>,
    {
        let Taker { timing, pair, role, .. } = *self;
        let between =
            if self.operations.is_some() { chunk.between_operations } else { chunk.samples };
        let mut taken = 0;
        while taken < chunk.samples {
            let part = Chunk { samples: between.min(chunk.samples - taken), ..chunk };
            if let Some(operations) = &mut self.operations {
                operations.time(rank);
                rank.barrier()?;
            }
            let times = &mut self.times.elements_mut()[taken..];
            sample::take(rank, pair, role, part, times, event)?;
            taken += part.samples;
        }
        self.idle.end_chunk(rank, role)?;
        self.collected.bring(rank, timing, pair, &self.times[..chunk.samples * size_of::<u64>()])
    }

    /// Returns the times of a simple operation during the measurement at rank 0, if they were timed. Collective.
    fn operations_ns(&mut self, rank: &mut dyn Rank) -> Result<Vec<f64>> {
        self.operations.take().map_or(Ok(Vec::new()), |operations| operations.finish(rank))
    }
}
