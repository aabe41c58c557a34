//! What share of a periodic job's instances would be missed at any period, from one recorded run.
//!
//! The run is recorded back to back: no instance waits for its time, so the machine is always at work, and everything
//! that keeps it from its work shows, on whichever rank, as an instance that ends late. The recording is how much work
//! was done until when: a line that rises by 1 with each instance, and is flat where time was lost to a pause.
//!
//! At a period T instance k may begin at k T. It takes b instances' worth of work from there to its last end (its
//! latency, which is more than 1 in a chain of stages that work on different instances at once), and ends no sooner
//! than one instance's worth after the instance before:
//!
//!   u(k) = max(done(k T) + b, u(k - 1) + 1),
//!
//! in the units of the recording, where done(t) is the line at t. That is the recursion of a chain of stages in
//! max-plus algebra (Baccelli, Cohen, Olsder and Quadrat, *Synchronization and Linearity*, chapter 1) in which the
//! slowest stage stands for all. The instance ends when the line reaches u(k), which is late if a pause lies before it.
//! So the pauses stay where they were in time, whatever the period.

mod kinds;
mod recording;

pub use kinds::{LostKind, lost_kinds};
pub use recording::{Recording, TooShort};

use crate::statistics::{MissRate, miss_rate};

/// Into how many stretches the instances are cut to see whether misses cluster.
const BLOCKS: usize = 32;

/// The most instances of one replay: more say nothing new, and take time.
const INSTANCES_MAX: usize = 1 << 20;

/// A job at a period.
#[derive(Clone, Copy, Debug)]
pub struct Replayed {
    /// The period, in microseconds; above 0.
    pub period_us: f64,
    /// How many further periods an instance may take before it is late.
    pub waiting: u64,
    /// How many times as long the work takes as in the recording; pauses stay as they are.
    pub pace: f64,
}

impl Recording {
    /// For each instance that the recording has time for, whether it would be missed.
    pub fn missed(&self, job: Replayed) -> Vec<bool> {
        let Replayed { period_us, waiting, pace } = job;
        assert!(period_us > 0.0 && pace > 0.0, "a period and a pace are above 0");
        let allowed_us = period_us * (waiting + 1) as f64;
        let latency = self.latency() * pace;
        let mut starts = self.cursor();
        let mut ends = self.cursor();
        let mut missed = Vec::new();
        let mut before = f64::NEG_INFINITY;
        while missed.len() < INSTANCES_MAX {
            let start_us = missed.len() as f64 * period_us;
            let Some(alone) = starts.done(start_us).map(|done| done + latency) else { break };
            let done = alone.max(before + pace);
            let Some(end_us) = ends.when(done) else { break };
            before = done;
            let is_missed = end_us - start_us > allowed_us;
            missed.push(is_missed);
            // Without a backlog, and as long as the line rises evenly, the next ones end after the same time.
            if alone >= done && starts.rate() * period_us >= pace {
                let steady_us =
                    starts.steady_until_us().min(ends.steady_until_us() - (end_us - start_us));
                let same = ((steady_us - start_us) / period_us).floor();
                let is_one_line = starts.rate() == ends.rate();
                if is_one_line && same >= 1.0 {
                    let same = (same as usize).min(INSTANCES_MAX - missed.len());
                    missed.extend(std::iter::repeat_n(is_missed, same));
                    before += same as f64 * period_us * starts.rate();
                }
            }
        }
        missed
    }

    /// How often instances are missed, with bounds; none where the recording has time for too few instances to say.
    pub fn miss_rate(&self, job: Replayed, confidence: f64) -> Option<MissRate> {
        const INSTANCES_MIN: usize = 32;
        let missed = self.missed(job);
        (missed.len() >= INSTANCES_MIN).then(|| miss_rate(&missed, BLOCKS, confidence))
    }

    /// The periods from about the work of an instance up to the longest that the recording says something of, with what
    /// is missed at each.
    pub fn curve(&self, waiting: u64, pace: f64, confidence: f64) -> Vec<(f64, MissRate)> {
        const STEP: f64 = 1.09;
        const BELOW: f64 = 0.8;
        const POINTS_MAX: usize = 96;
        let first_us = BELOW * pace * self.each_us();
        std::iter::successors(Some(first_us), |us| Some(us * STEP))
            .take(POINTS_MAX)
            .map_while(|period_us| {
                let job = Replayed { period_us, waiting, pace };
                Some((period_us, self.miss_rate(job, confidence)?))
            })
            .collect()
    }
}

/// The shortest period of a curve from which on what `measure` takes from each miss rate is no more than `most`. Of the
/// longest periods the recording may hold too few instances to say so; they must not show the contrary.
pub fn shortest(
    curve: &[(f64, MissRate)],
    most: f64,
    measure: fn(&MissRate) -> f64,
) -> Option<f64> {
    const MISSES_TO_TELL: f64 = 3.0;
    let is_kept = |rate: &MissRate| measure(rate) <= most;
    let says_little =
        |rate: &MissRate| rate.instances as f64 * most < MISSES_TO_TELL && rate.min <= most;
    let kept = curve.iter().rev().take_while(|(_, rate)| is_kept(rate) || says_little(rate));
    kept.filter(|(_, rate)| is_kept(rate)).last().map(|(period_us, _)| *period_us)
}

#[cfg(test)]
mod tests;
