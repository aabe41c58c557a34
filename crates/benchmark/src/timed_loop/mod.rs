//! The one timed loop.
//!
//! Rank 0 decides, chunk by chunk, how many samples to take and how ([`Controller`]), and spreads the [`Order`] by
//! broadcast. Every rank then takes the chunk ([`sample`]); the times are brought to rank 0 ([`collect`]), which looks
//! whether the wanted precision is reached. Chunks grow by half, so that the traffic of deciding stays a small share.
//! Nothing between the two clock readings of a sample allocates, formats or computes with floating point.

mod collect;
mod control;
mod overheads;
mod rest;
mod sample;
mod start;
#[cfg(test)]
mod tests;

use analysis::statistics::Sample;
use contract::record::{StopReason, Timing as TimingRecord, Turn};
use contract::{Buffer, Rank, Result, Time, TimeSpan};

pub(crate) use overheads::Overheads;
pub(crate) use start::latest_arrival;

use crate::Settings;
use crate::catalogue::Timing;
use collect::Collected;
use control::{CHUNK_MAX, Controller, Order};
use rest::Rest;
use start::Part;

/// What to time, and how.
pub(crate) struct Plan<'a> {
    pub(crate) timing: Timing,
    /// Whether events may follow each other without a new start: several timed as one, where the clock asks for it,
    /// and untimed ones between samples.
    pub(crate) in_a_row: bool,
    /// The ranks that communicate, where only two do.
    pub(crate) pair: (usize, usize),
    pub(crate) settings: &'a Settings,
    /// The time limit of this measurement.
    pub(crate) limit: TimeSpan,
    pub(crate) overheads: Overheads,
}

/// What the loop brings home.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// The time of each event in picoseconds (of a sample's mean event, where samples hold several), in order.
    pub(crate) samples_ps: Vec<f64>,
    /// The same for the warm-up.
    pub(crate) warm_up_ps: Vec<f64>,
    pub(crate) stop_reason: StopReason,
    pub(crate) timing: TimingRecord,
    /// What it is put together from, if anything.
    pub(crate) turns: Vec<Turn>,
}

impl Outcome {
    /// The median time of an event in picoseconds.
    pub(crate) fn median_ps(&self) -> f64 {
        Sample::new(self.samples_ps.clone()).map_or(0.0, |sample| sample.median())
    }
}

/// How far a measurement is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Progress {
    pub(crate) samples: u64,
    /// The half-width of the median's interval as a share of the median, once there are samples.
    pub(crate) half_width: Option<f64>,
    pub(crate) spent: TimeSpan,
}

/// Reports no more often than this.
const PROGRESS_EVERY: TimeSpan = TimeSpan::from_us(100_000);

/// Times `event` until the settings are met. All ranks call it alike; rank 0 gets the outcome.
pub(crate) fn measure<E>(
    rank: &mut dyn Rank,
    plan: &Plan<'_>,
    mut event: E,
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Option<Outcome>>
where
    E: FnMut(&mut dyn Rank) -> Result<()>,
{
    let mut chunks = Chunks::new(rank, plan)?;
    if rank.rank() != 0 {
        while let Some(order) = Order::receive(rank)? {
            chunks.take(rank, order, &mut event)?;
        }
        return Ok(None);
    }
    let begin = rank.now();
    let mut controller = Controller::new(plan, rank.every_rank_has_a_processor());
    let mut reported = Time::ZERO;
    while let Some(order) = controller.next(rank.now().since(begin)) {
        order.spread(rank)?;
        let durations = chunks.take(rank, order, &mut event)?;
        let now = rank.now();
        controller.take(durations, now.since(begin));
        if now.since(reported) >= PROGRESS_EVERY {
            reported = now;
            progress(controller.progress())?;
        }
    }
    Order::spread_end(rank)?;
    Ok(Some(controller.finish()))
}

/// What a rank needs for one chunk after the other.
struct Chunks {
    timing: Timing,
    pair: (usize, usize),
    part: Part,
    times: Buffer,
    collected: Collected,
    rest: Rest,
}

impl Chunks {
    fn new(rank: &dyn Rank, plan: &Plan<'_>) -> Result<Self> {
        Ok(Chunks {
            timing: plan.timing,
            pair: plan.pair,
            part: Part::of(plan.timing, rank.rank(), plan.pair),
            times: Buffer::try_zeroed(CHUNK_MAX * size_of::<u64>())?,
            collected: Collected::new(CHUNK_MAX)?,
            rest: Rest::default(),
        })
    }

    /// Takes the chunk; at rank 0 the durations of its samples in picoseconds.
    fn take<E>(&mut self, rank: &mut dyn Rank, order: Order, event: &mut E) -> Result<&[u64]>
    where
        E: FnMut(&mut dyn Rank) -> Result<()>,
    {
        let Chunks { timing, pair, part, ref mut times, .. } = *self;
        sample::take(rank, pair, part, order, times.elements_mut(), event)?;
        self.rest.end_chunk(rank, part)?;
        self.collected.bring(rank, timing, pair, &self.times[..order.samples * size_of::<u64>()])
    }
}
