//! Rank 0's decisions: the number of samples and of their events, their start, and the end of the measurement. The
//! controller has no clock and no rank: the loop passes the measured times to it, and the time that was needed.

use analysis::statistics::{
    Sample, WarmUp, is_precise, median_interval, next_check, precision_reached, warm_up,
};
use contract::TimeSpan;
use record::{StopReason, Timing as TimingRecord};

use super::chunk::{CHUNK_MAX, Chunk};
use super::operations::EVERY;
use super::plan::{LoopPlan, Outcome, Progress};
use super::start::{LATE, Start};
use crate::program::Timing;
use crate::settings::Settings;

/// Reciprocal of the largest share of the time limit for a chunk, so that a slow measurement still shows progress and
/// stops near its limit.
const CHUNK_SHARE: u64 = 4;
/// Number of samples of single events, from which the number of events of a sample is chosen.
const CALIBRATION: usize = 8;
/// Largest share of a sample for the cost of the clock, and for its step. Above it several events are timed as one
/// sample. The step matters too: the median of samples that are whole steps is a whole step, with an interval of no
/// width even if the step is coarse.
const CLOCK_SHARE_MAX: f64 = 0.05;
const EVENTS_MAX: f64 = 65_536.0;
/// Reciprocal of the share of the time limit, and number of samples, at which a warm-up that has not ended is cut.
const WARM_UP_SHARE: u64 = 4;
const WARM_UP_SAMPLES_MAX: usize = 1000;
/// Minimum number of samples in which a warm-up can be detected. With fewer nothing is cut.
const WARM_UP_SAMPLES_MIN: usize = 20;
/// Number of samples in virtual time that end a measurement if they are equal, unless it needs many.
const EQUAL_SAMPLES: usize = 8;
/// Share of late starts in a chunk above which the slack is doubled, and number of chunks with more than half of the
/// starts late after which a barrier replaces the agreed instant.
const LATE_SHARE_MAX: f64 = 0.05;
const LATE_CHUNKS_MAX: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Calibrating,
    WarmingUp,
    Measuring,
}

pub(super) struct Controller<'a> {
    settings: &'a Settings,
    limit: TimeSpan,
    clock_cost_ps: f64,
    clock_step_ps: f64,
    in_a_row: bool,
    is_virtual: bool,
    phase: Phase,
    events: u64,
    untimed: u64,
    start: Start,
    late_chunks: u32,
    late_starts: u64,
    warm_up: Vec<f64>,
    samples: Vec<f64>,
    spent: TimeSpan,
    /// Time of a sample with all other work for it.
    sample_cost: TimeSpan,
    half_width: Option<f64>,
    stop_reason: StopReason,
}

impl<'a> Controller<'a> {
    pub(super) fn new(plan: &LoopPlan<'a>, every_rank_has_a_processor: bool) -> Self {
        let start = match plan.timing {
            Timing::First => Start::None,
            Timing::OneWay => Start::Ready,
            Timing::Slowest | Timing::SlowerOfPair if every_rank_has_a_processor => {
                Start::Time { slack: plan.overheads.agreement.times(2) }
            }
            Timing::Slowest | Timing::SlowerOfPair => Start::Barrier,
        };
        Controller {
            settings: plan.settings,
            limit: plan.limit,
            clock_cost_ps: plan.overheads.clock_cost_ps,
            clock_step_ps: plan.overheads.clock_step_ps,
            in_a_row: plan.in_a_row,
            is_virtual: plan.is_virtual,
            phase: Phase::Calibrating,
            events: 1,
            untimed: 0,
            start,
            late_chunks: 0,
            late_starts: 0,
            warm_up: Vec::new(),
            samples: Vec::new(),
            spent: TimeSpan::ZERO,
            sample_cost: TimeSpan::ZERO,
            half_width: None,
            stop_reason: StopReason::TimeLimit,
        }
    }

    /// Returns the next chunk, `spent` after the beginning, or `None` if there are enough samples.
    pub(super) fn next(&mut self, spent: TimeSpan) -> Option<Chunk> {
        if let Some(stop_reason) = self.enough(spent) {
            self.stop_reason = stop_reason;
            return None;
        }
        let samples = match self.phase {
            Phase::Calibrating if self.warm_up.is_empty() => 1,
            Phase::Calibrating => self.affordable(spent, CALIBRATION - self.warm_up.len()),
            Phase::WarmingUp | Phase::Measuring => {
                let n = self.samples.len();
                let most = (self.settings.samples_max.max(1) as usize).saturating_sub(n).max(1);
                let next =
                    if self.is_virtual && n == 0 { EQUAL_SAMPLES } else { next_check(n) - n };
                self.affordable(spent, next.min(most))
            }
        };
        let Controller { events, untimed, start, .. } = *self;
        let between_operations = self.samples_within(EVERY);
        Some(Chunk { samples, events, untimed, start, between_operations })
    }

    /// Returns the number of samples that a span suffices for; at least one.
    fn samples_within(&self, span: TimeSpan) -> usize {
        let samples = span.as_ps().checked_div(self.sample_cost.as_ps()).unwrap_or(u64::MAX);
        usize::try_from(samples).unwrap_or(usize::MAX).max(1)
    }

    /// Returns the smaller of `wanted` and the number of samples for which the remaining time suffices; at least one.
    fn affordable(&self, spent: TimeSpan, wanted: usize) -> usize {
        let left = (self.limit - spent).as_ps().min(self.limit.as_ps() / CHUNK_SHARE);
        let room = self.samples_within(TimeSpan::from_ps(left));
        wanted.min(CHUNK_MAX).min(room).max(1)
    }

    /// Takes the durations of a chunk, in picoseconds, which ended `spent` after the beginning.
    pub(super) fn take(&mut self, durations_ps: &[u64], spent: TimeSpan) {
        let chunk = durations_ps.len() as u64;
        self.sample_cost = TimeSpan::from_ps((spent - self.spent).as_ps() / chunk.max(1));
        self.spent = spent;
        let in_time = durations_ps.iter().filter(|&&ps| ps != LATE);
        let events = self.events as f64;
        let values = in_time.map(|&ps| ps as f64 / events);
        match self.phase {
            Phase::Calibrating => self.warm_up.extend(values),
            Phase::WarmingUp | Phase::Measuring => self.samples.extend(values),
        }
        self.count_late(durations_ps);
        match self.phase {
            Phase::Calibrating => self.calibrate(),
            Phase::WarmingUp => self.end_warm_up(),
            Phase::Measuring => {}
        }
    }

    fn count_late(&mut self, durations_ps: &[u64]) {
        let late = durations_ps.iter().filter(|&&ps| ps == LATE).count();
        self.late_starts += late as u64;
        let share = late as f64 / durations_ps.len().max(1) as f64;
        self.late_chunks = if share > 0.5 { self.late_chunks + 1 } else { 0 };
        if let Start::Time { slack } = self.start
            && share > LATE_SHARE_MAX
        {
            let cannot_meet = self.late_chunks >= LATE_CHUNKS_MAX || self.spent >= self.limit;
            self.start =
                if cannot_meet { Start::Barrier } else { Start::Time { slack: slack.times(2) } };
        }
    }

    fn calibrate(&mut self) {
        let slow = self.sample_cost.times(CALIBRATION as u64).as_ps() > self.limit.as_ps() / 8;
        if (slow && !self.warm_up.is_empty()) || self.warm_up.len() >= CALIBRATION {
            self.phase = Phase::WarmingUp;
            self.events = self.events_for(&self.warm_up);
            self.sample_cost = self.sample_cost.times(self.events);
        }
    }

    /// Returns the number of events that a sample needs, given these times of events.
    fn events_for(&self, event_ps: &[f64]) -> u64 {
        let Ok(sample) = Sample::new(event_ps) else { return self.events };
        let clock_ps = self.clock_cost_ps.max(self.clock_step_ps);
        let sample_ps = sample.median() * self.events as f64;
        if !self.in_a_row || clock_ps <= CLOCK_SHARE_MAX * sample_ps {
            return self.events;
        }
        // A timed sample contains one reading of the clock besides the events.
        let event_ps = ((sample_ps - self.clock_cost_ps) / self.events as f64).max(1.0);
        (clock_ps / (CLOCK_SHARE_MAX * event_ps)).ceil().clamp(self.events as f64, EVENTS_MAX)
            as u64
    }

    fn end_warm_up(&mut self) {
        let n = self.samples.len();
        let late = self.spent >= self.limit;
        let events = self.events_for(&self.samples);
        if events > self.events && !late {
            // The first events were slower than the later ones. Samples with different numbers of events are not mixed.
            self.warm_up.append(&mut self.samples);
            self.sample_cost = self.sample_cost.times(events.div_ceil(self.events));
            self.events = events;
            return;
        }
        let long = self.spent.as_ps() >= self.limit.as_ps() / WARM_UP_SHARE;
        let cut = match warm_up(&self.samples) {
            WarmUp::Ended { samples } => samples,
            WarmUp::NotEnded if n < WARM_UP_SAMPLES_MIN && late => 0,
            WarmUp::NotEnded if n < WARM_UP_SAMPLES_MIN => return,
            WarmUp::NotEnded if long || n >= WARM_UP_SAMPLES_MAX => n,
            WarmUp::NotEnded => return,
        };
        self.untimed = self.untimed_for(&self.samples);
        self.warm_up.extend(self.samples.drain(..cut));
        self.phase = Phase::Measuring;
    }

    /// Returns the number of untimed events between samples that spreads the most samples over the shortest time, given
    /// these times of events. Zero if all times are equal, because then nothing changes with time. Zero also if events
    /// in a row overlap, because untimed ones would leave messages in progress during the timed event.
    fn untimed_for(&self, event_ps: &[f64]) -> u64 {
        let Ok(sample) = Sample::new(event_ps) else { return 0 };
        if sample.min() == sample.max() || !self.in_a_row {
            return 0;
        }
        let least = TimeSpan::from_s(self.settings.time_min_s).as_ps().min(self.limit.as_ps());
        let pause =
            (least / self.settings.samples_max.max(1)).saturating_sub(self.sample_cost.as_ps());
        (pause as f64 / sample.median()) as u64
    }

    /// Returns the reason to stop, or `None` to continue.
    fn enough(&mut self, spent: TimeSpan) -> Option<StopReason> {
        let sample = Sample::new(self.samples.clone()).ok()?;
        let Settings { confidence, precision, .. } = *self.settings;
        let interval = median_interval(&sample, confidence);
        self.half_width = Some(interval.relative_half_width(sample.median()));
        let n = sample.len() as u64;
        if self.is_virtual && n >= self.equal_samples() && sample.min() == sample.max() {
            return Some(StopReason::Precision);
        }
        let all = n >= self.settings.samples_max;
        let late = spent >= self.limit;
        let many = n >= self.settings.samples_min.min(self.settings.samples_max);
        let precise = self.phase == Phase::Measuring
            && (many && precision_reached(&sample, confidence, precision)
                || late && is_precise(&sample, confidence, precision));
        let settled = sample.min() == sample.max() || spent.as_s() >= self.settings.time_min_s;
        match precise {
            true if settled || all || late => Some(StopReason::Precision),
            false if all => Some(StopReason::SampleLimit),
            false if late => Some(StopReason::TimeLimit),
            _ => None,
        }
    }

    /// Returns the number of samples in virtual time that are enough if they are equal.
    fn equal_samples(&self) -> u64 {
        let wanted = self.settings.samples_min.min(self.settings.samples_max);
        if wanted > Settings::default().samples_min { wanted } else { EQUAL_SAMPLES as u64 }
    }

    pub(super) fn progress(&self) -> Progress {
        Progress {
            samples: self.samples.len() as u64,
            half_width: self.half_width,
            spent: self.spent,
        }
    }

    pub(super) fn finish(self) -> Outcome {
        let sample = Sample::new(self.samples.clone()).expect("no stop before the first sample");
        let sample_ps = sample.median() * self.events as f64;
        let timing = TimingRecord {
            events_per_sample: self.events,
            clock_share: if sample_ps > 0.0 { self.clock_cost_ps / sample_ps } else { 0.0 },
            start: self.start.name().into(),
            late_starts: self.late_starts,
            spent_s: self.spent.as_s(),
        };
        Outcome {
            samples_ps: self.samples,
            warm_up_ps: self.warm_up,
            stop_reason: self.stop_reason,
            timing,
            operations_ns: Vec::new(),
            repetitions: Vec::new(),
        }
    }
}
