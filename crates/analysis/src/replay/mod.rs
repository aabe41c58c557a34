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
//!
//! A chain may have a source that must complete an instance within its periods ([`Source`]). It takes s instances'
//! worth of work for that by itself, and can be l instances' worth ahead of the results, until the buffers between are
//! full:
//!
//!   v(k) = max(done(k T) + s, u(k) - l).

mod causes;
mod kinds;
mod lost_in_trial;
mod recording;

pub use causes::{Causes, Observed};
pub use kinds::{LostKind, lost_kinds};
pub use lost_in_trial::LostInTrial;
pub use recording::{Lost, Recording, Source, TooShort};

use recording::Cursor;

use crate::statistics::{MissRate, miss_rate};

/// Number of stretches into which the instances are cut to see whether misses cluster.
const BLOCKS: usize = 32;

/// Maximum number of instances of one replay: more take time and do not change the result.
const INSTANCES_MAX: usize = 1 << 20;

/// Number of moments of the recording at which trials begin. Their first instances show the usual response.
const TRIALS: usize = 24;

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
    /// Factor by which the work takes longer than in the recording; pauses are unchanged.
    pub pace: f64,
}

impl Recording {
    /// Returns whether each instance for which the recording has time would be missed.
    pub fn missed(&self, job: Replayed) -> Vec<bool> {
        late(&self.responses(job, 0.0, INSTANCES_MAX), job, 0.0)
    }

    /// Returns the responses of at most this number of instances that begin from a moment on, as far as the recording
    /// has time for them.
    fn responses(&self, job: Replayed, from_us: f64, most: usize) -> Vec<Response> {
        let Replayed { period_us, pace, .. } = job;
        assert!(period_us > 0.0 && pace > 0.0, "a period and a pace are above 0");
        let mut starts = self.cursor();
        // Cursors of the result and of the source.
        let mut ends = [self.cursor(), self.cursor()];
        let mut responses = Vec::new();
        let mut before = f64::NEG_INFINITY;
        while responses.len() < most {
            let start_us = from_us + responses.len() as f64 * period_us;
            let Some(begun) = starts.done(start_us) else { break };
            let alone = begun + self.latency() * pace;
            let done = alone.max(before + pace);
            let taken = self.taken(begun, done, pace);
            let [Some(end_us), Some(taken_us)] = [ends[0].when(done), ends[1].when(taken)] else {
                break;
            };
            before = done;
            let response =
                Response { result_us: end_us - start_us, source_us: taken_us - start_us };
            responses.push(response);
            // Without a backlog, and as long as the line rises evenly, the next ones end after the same time.
            if alone >= done && starts.rate() * period_us >= pace {
                let of_end = |(end, us): (&Cursor<'_>, f64)| end.steady_until_us() - us;
                let ends_us = ends.iter().zip([response.result_us, response.source_us]);
                let steady_us = ends_us.map(of_end).fold(starts.steady_until_us(), f64::min);
                let same = ((steady_us - start_us) / period_us).floor();
                if ends.iter().all(|end| end.rate() == starts.rate()) && same >= 1.0 {
                    let same = (same as usize).min(most - responses.len());
                    responses.extend(std::iter::repeat_n(response, same));
                    before += same as f64 * period_us * starts.rate();
                }
            }
        }
        responses
    }

    /// Returns the work that is done when the source has completed an instance that began at `begun` and whose result
    /// is complete at `done`.
    fn taken(&self, begun: f64, done: f64, pace: f64) -> f64 {
        self.source.map_or(begun, |source| {
            let [alone, ahead] = [source.alone_us, source.ahead_us].map(|us| us / self.each_us());
            (begun + alone * pace).max(done - ahead * pace)
        })
    }

    /// Returns the times that trials would consider usual, in microseconds, or one time if it is the same for all: the
    /// latest of the first instances of trials that begin at moments all over the recording. A pause among them makes
    /// later instances of its trial seem less late.
    fn usual_us(&self, job: Replayed) -> Vec<f64> {
        let of_trial = |trial: usize| {
            let from_us = self.length_us() * trial as f64 / TRIALS as f64;
            let first = self.responses(job, from_us, job.settling);
            let results = first.iter().map(|response| response.result_us);
            (first.len() == job.settling).then(|| results.fold(0.0, f64::max))
        };
        let mut usual: Vec<f64> = (0..TRIALS).filter_map(of_trial).collect();
        usual.sort_by(f64::total_cmp);
        if usual.first() == usual.last() {
            usual.truncate(1);
        }
        usual
    }

    /// Returns the rate of missed instances, with bounds; `None` if the recording has time for too few instances. If
    /// trials differ in what they consider usual, it is the mean rate of all, and the bounds are those of single ones.
    pub fn miss_rate(&self, job: Replayed, confidence: f64) -> Option<MissRate> {
        const INSTANCES_MIN: usize = 32;
        let period_us = job.period_us;
        let responses = self.responses(job, 0.0, INSTANCES_MAX);
        if responses.len() < INSTANCES_MIN {
            return None;
        }
        let (first, second) = responses.split_at(responses.len() / 2);
        let is_behind = falls_behind([first, second].map(least_us), period_us);
        let of_trial = |usual_us: &f64| {
            let mut missed = late(&responses, job, *usual_us);
            if is_behind && job.settling > 0 {
                missed[first.len()..].fill(true);
            }
            let rate = miss_rate(&missed, BLOCKS, confidence);
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
        self.periods_us(job.pace).map_while(point).collect()
    }

    /// Returns the periods of a curve, in microseconds, from about the work of an instance on.
    pub fn periods_us(&self, pace: f64) -> impl Iterator<Item = f64> + use<> {
        const STEP: f64 = 1.09;
        const BELOW: f64 = 0.8;
        const POINTS_MAX: usize = 96;
        let first_us = BELOW * pace * self.each_us();
        std::iter::successors(Some(first_us), |us| Some(us * STEP)).take(POINTS_MAX)
    }
}

/// Times from the beginning of the period of an instance, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Response {
    /// Time to its end.
    result_us: f64,
    /// Time until its source has completed it.
    source_us: f64,
}

/// Returns which instances with these responses are late, if results may take this long beyond their periods.
fn late(responses: &[Response], job: Replayed, usual_us: f64) -> Vec<bool> {
    let allowed_us = job.period_us * (job.waiting + 1) as f64;
    let is_late = |response: &Response| {
        response.result_us - usual_us > allowed_us || response.source_us > allowed_us
    };
    responses.iter().map(is_late).collect()
}

/// Returns whether a job falls behind, from the least time that it takes in the first and in the second half of a
/// trial. A pause alone does not raise the second, because the job catches up at some time. The unit is arbitrary.
pub fn falls_behind([first, second]: [f64; 2], period: f64) -> bool {
    /// The permitted increase, as a share of the period.
    const LATER_SHARE: f64 = 0.25;
    second - first > LATER_SHARE * period
}

/// Returns the shortest time to a result.
fn least_us(responses: &[Response]) -> f64 {
    responses.iter().map(|response| response.result_us).fold(f64::INFINITY, f64::min)
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
    const MISSES_NEEDED: f64 = 3.0;
    let is_kept = |rate: &MissRate| measure(rate) <= most;
    let says_little =
        |rate: &MissRate| rate.instances as f64 * most < MISSES_NEEDED && rate.min <= most;
    let kept = curve.iter().rev().take_while(|(_, rate)| is_kept(rate) || says_little(rate));
    kept.filter(|(_, rate)| is_kept(rate)).last().map(|(period_us, _)| *period_us)
}

#[cfg(test)]
mod tests;
