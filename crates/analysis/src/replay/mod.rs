//! The share of a periodic job's instances that would be missed at any period, from one recorded run.
//!
//! The run is recorded back to back: no instance waits for its time, so the machine always works. Everything that
//! interrupts the work on any rank therefore appears as an instance that ends late. The recording is the work that was
//! done until each moment: a line that rises by 1 with each instance, and is flat where time was lost to a pause.
//!
//! At a period T instance k may begin at k T. From there to its last end it takes b instances' worth of work (its
//! latency, which is more than 1 in a chain of stages that work on different instances at once). It ends no sooner than
//! one instance's worth after the instance before:
//!
//!   u(k) = max(done(k T) + b, u(k - 1) + 1),
//!
//! in the units of the recording, where done(t) is the line at t. That is the recursion of a chain of stages in
//! max-plus algebra (Baccelli, Cohen, Olsder and Quadrat, *Synchronization and Linearity*, chapter 1) in which the
//! slowest stage represents all. The instance ends when the line reaches u(k), which is late if a pause is before it.
//! The pauses keep their moments at any period.

mod kinds;
mod lost_in_trial;
mod recording;

pub use kinds::{LostKind, lost_kinds};
pub use lost_in_trial::LostInTrial;
pub use recording::{Lost, Recording, TooShort};

use crate::constants::REPLAY;
use crate::statistics::{MissRate, STRETCHES, miss_rate};

/// A job at a period.
#[derive(Clone, Copy, Debug)]
pub struct Replayed {
    /// The period, in microseconds; above 0.
    pub period_us: f64,
    /// Number of further periods that an instance may take before it is late.
    pub waiting: u64,
    /// Number of the first instances of a trial that show the usual response, which later ones may take in addition. 0
    /// if an instance must end within its periods.
    pub settling: usize,
}

impl Recording {
    /// Factor from each period of a curve to the next.
    pub const STEP: f64 = REPLAY.curve_step;

    /// Returns whether each instance for which the recording has time would be missed.
    pub fn missed(&self, job: Replayed) -> Vec<bool> {
        late(&self.responses(job, 0.0, REPLAY.instances_max), job, 0.0)
    }

    /// Returns the times in microseconds from the beginning of at most this number of instances, the first of which begins at
    /// a moment, to their ends, as far as the recording has time for them.
    fn responses(&self, job: Replayed, from_us: f64, most: usize) -> Vec<f64> {
        let period_us = job.period_us;
        assert!(period_us > 0.0, "a period is above 0");
        let (mut starts, mut ends) = (self.cursor(), self.cursor());
        let mut responses = Vec::new();
        let mut before = f64::NEG_INFINITY;
        while responses.len() < most {
            let start_us = from_us + responses.len() as f64 * period_us;
            let Some(begun) = starts.done(start_us) else { break };
            let alone = begun + self.latency_us() / self.each_us();
            let done = alone.max(before + 1.0);
            let Some(end_us) = ends.when(done) else { break };
            before = done;
            responses.push(end_us - start_us);
            // Without a backlog, and as long as the line rises evenly, the next ones end after the same time.
            let is_even = starts.rate() * period_us >= 1.0 && ends.rate() == starts.rate();
            if alone >= done && is_even {
                let steady_us = starts.steady_until_us() - start_us;
                let steady_us = steady_us.min(ends.steady_until_us() - end_us);
                let same = (steady_us / period_us).floor().max(0.0);
                let count = (same as usize).min(most - responses.len());
                responses.extend(std::iter::repeat_n(end_us - start_us, count));
                before += count as f64 * period_us * starts.rate();
            }
        }
        responses
    }

    /// Returns the times that trials would consider usual, in microseconds, or one time if it is the same for all: the
    /// latest of the first instances of trials that begin at moments all over the recording. A pause among them makes
    /// later instances of its trial seem less late.
    fn usual_us(&self, job: Replayed) -> Vec<f64> {
        let of_trial = |trial: usize| {
            let from_us = self.length_us() * trial as f64 / REPLAY.trials as f64;
            let first = self.responses(job, from_us, job.settling);
            (first.len() == job.settling).then(|| first.into_iter().fold(0.0, f64::max))
        };
        let mut usual: Vec<f64> = (0..REPLAY.trials).filter_map(of_trial).collect();
        usual.sort_by(f64::total_cmp);
        if usual.first() == usual.last() {
            usual.truncate(1);
        }
        usual
    }

    /// Returns the rate of missed instances, with bounds; `None` if the recording has time for too few instances. If
    /// trials differ in what they consider usual, it is the mean rate of all, and the bounds are those of single ones.
    pub fn miss_rate(&self, job: Replayed, confidence: f64) -> Option<MissRate> {
        let period_us = job.period_us;
        let responses = self.responses(job, 0.0, REPLAY.instances_max);
        if responses.len() < STRETCHES {
            return None;
        }
        let (first, second) = responses.split_at(responses.len() / 2);
        let is_behind = falls_behind(
            [first, second].map(|all| all.iter().copied().fold(f64::INFINITY, f64::min)),
            period_us,
        );
        let of_trial = |usual_us: &f64| {
            let mut missed = late(&responses, job, *usual_us);
            if is_behind && job.settling > 0 {
                missed[first.len()..].fill(true);
            }
            let rate = miss_rate(&missed, confidence);
            // A longer trial of a job that falls behind misses more and more.
            MissRate { max: if is_behind { 1.0 } else { rate.max }, ..rate }
        };
        match &self.usual_us(job)[..] {
            [] => Some(of_trial(&0.0)),
            usual => Some(of_trials(usual.iter().map(of_trial))),
        }
    }

    /// Returns periods from about the work of an instance up to the longest that the recording covers, with the miss
    /// rate at each.
    pub fn curve(&self, job: Replayed, confidence: f64) -> Vec<(f64, MissRate)> {
        let point = |period_us| {
            Some((period_us, self.miss_rate(Replayed { period_us, ..job }, confidence)?))
        };
        let first_us = REPLAY.curve_from * self.each_us();
        let periods_us = std::iter::successors(Some(first_us), |us| Some(us * REPLAY.curve_step));
        periods_us.take(REPLAY.curve_points).map_while(point).collect()
    }
}

/// Returns which instances with these responses are late, if results may take this long beyond their periods.
fn late(responses_us: &[f64], job: Replayed, usual_us: f64) -> Vec<bool> {
    let allowed_us = job.period_us * (job.waiting + 1) as f64;
    responses_us.iter().map(|us| us - usual_us > allowed_us).collect()
}

/// Returns whether a job falls behind, from the least time that it takes in the first and in the second half of a
/// trial. A pause alone does not raise the second, because the job catches up at some time. The unit is arbitrary.
pub fn falls_behind([first, second]: [f64; 2], period: f64) -> bool {
    second - first > REPLAY.later_share * period
}

/// Returns the mean of the rates of trials, of which there is at least one, with the bounds of all together.
fn of_trials(rates: impl ExactSizeIterator<Item = MissRate>) -> MissRate {
    let trials = rates.len() as u64;
    let sum = |all: MissRate, one: MissRate| MissRate {
        missed: all.missed + one.missed,
        min: all.min.min(one.min),
        max: all.max.max(one.max),
        clustering: all.clustering.max(one.clustering),
        ..one
    };
    let all = rates.reduce(sum).expect("there is a trial");
    MissRate { missed: (all.missed + trials / 2) / trials, ..all }
}

/// Returns the shortest period of a curve from which `measure` of each miss rate is at most `most`. The recording may
/// contain too few instances of the longest periods to show it; they must not show the contrary.
pub fn shortest(
    curve: &[(f64, MissRate)],
    most: f64,
    measure: fn(&MissRate) -> f64,
) -> Option<f64> {
    let is_kept = |rate: &MissRate| measure(rate) <= most;
    let says_little =
        |rate: &MissRate| rate.instances as f64 * most < REPLAY.misses_needed && rate.min <= most;
    let kept = curve.iter().rev().take_while(|(_, rate)| is_kept(rate) || says_little(rate));
    kept.filter(|(_, rate)| is_kept(rate)).last().map(|(period_us, _)| *period_us)
}

#[cfg(test)]
mod tests;
