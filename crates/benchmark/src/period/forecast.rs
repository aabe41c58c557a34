//! What a search predicts of every period before it tries it: from instances that were recorded back to back, and from the
//! pauses that its trials met.

use analysis::replay::{LostInTrial, Recording, Replayed, lost_kinds, shortest};
use analysis::statistics::{MissRate, Prospect};
use contract::TimeSpan;
use record::{Forecast as ForecastRecord, ForecastPoint, WithoutPauses};

use super::acceptance::Acceptance;
use super::constants::CONSTANTS;
use super::outcome::SearchBasis;

/// A recording, and what trials lost.
pub(super) struct Forecast {
    recording: Recording,
    job: Replayed,
    wanted: Acceptance,
    /// Curve of miss rates of the recording, by period in microseconds.
    recorded: Vec<(f64, MissRate)>,
    /// What trials lost, with their periods in microseconds, in the order of these.
    trials: Vec<(f64, LostInTrial)>,
}

/// Returns the number of instances to record, if one takes about `each` and a period must be found within `finding_s`
/// seconds; or the reason why none can be recorded.
pub(super) fn instances(each: TimeSpan, finding_s: f64) -> Result<u64, String> {
    if finding_s < CONSTANTS.finding_min_s {
        return Err(format!(
            "nothing was predicted: {finding_s:.3} s to find a period within leave no time for it"
        ));
    }
    let least = CONSTANTS.recorded_min;
    let least_s = least as f64 * each.as_s();
    if least_s > finding_s / 2.0 {
        return Err(format!(
            "nothing was predicted: {least} instances take {least_s:.1} s, and a period is to be found within {finding_s:.1} s"
        ));
    }
    let within = (CONSTANTS.recording * finding_s / each.as_s()) as u64;
    Ok(within.clamp(least, CONSTANTS.recorded_max))
}

impl Forecast {
    /// Creates a forecast from the ends of instances back to back and from the times of single ones, in picoseconds.
    pub(super) fn new(
        ends_ps: &[u64],
        alone_ps: &[u64],
        basis: &SearchBasis,
        wanted: Acceptance,
    ) -> Result<Forecast, String> {
        let mut alone_us = us(alone_ps);
        alone_us.sort_by(f64::total_cmp);
        let latency_us = alone_us.get(alone_us.len() / 2).copied().unwrap_or_default();
        let recording = Recording::new(&us(ends_ps), latency_us)
            .map_err(|short| format!("nothing was predicted: {short}"))?;
        let SearchBasis { waiting, settling, .. } = *basis;
        let job = Replayed { period_us: 0.0, waiting, settling };
        let recorded = recording.curve(job, wanted.confidence);
        Ok(Forecast { recording, job, wanted, recorded, trials: Vec::new() })
    }

    /// Learns what instances at a period lost, in a trial or a part of one.
    pub(super) fn learn(&mut self, period: TimeSpan, responses_ps: &[u64]) {
        let period_us = period.as_us();
        let lost = LostInTrial::new(&us(responses_ps), period_us, self.recording.each_us());
        let place = self.trials.partition_point(|(tried_us, _)| *tried_us <= period_us);
        self.trials.splice(place..place, lost.map(|lost| (period_us, lost)));
    }

    /// Returns the miss rate of a period from that of the recording and what all trials of about this period or shorter
    /// ones lost.
    fn rate(&self, period_us: f64, recorded: MissRate, of_trials: &Recording) -> MissRate {
        let confidence = self.wanted.confidence;
        let tried = of_trials.miss_rate(Replayed { period_us, ..self.job }, confidence);
        let all = tried.map_or(recorded, |tried| recorded.together(tried, confidence));
        // A job that falls behind misses more in a longer trial.
        let falls_behind = recorded.max == 1.0;
        MissRate { max: if falls_behind { 1.0 } else { all.max }, ..all }
    }

    /// Returns what the trials that show something of a period lost, as one recording.
    fn of_trials(&self, period_us: f64) -> Recording {
        let longest_us = CONSTANTS.trials_until * period_us;
        let shown = self.trials.iter().take_while(|(tried_us, _)| *tried_us <= longest_us);
        self.recording.as_in(shown.map(|(_, lost)| lost))
    }

    /// Returns the miss rates of all periods.
    fn curve(&self) -> Vec<(f64, MissRate)> {
        let point = |&(period_us, recorded): &(f64, MissRate)| {
            (period_us, self.rate(period_us, recorded, &self.of_trials(period_us)))
        };
        self.recorded.iter().map(point).collect()
    }

    /// Returns the longest period that a trial of this length in seconds will probably refuse.
    pub(super) fn refutable(&self, trial_s: f64) -> Option<TimeSpan> {
        let is_refutable = |period_us: f64, rate: &MissRate| {
            self.wanted.prospect().is_refutable(rate, 1e6 * trial_s / period_us)
        };
        let curve = self.curve();
        let last = curve.iter().take_while(|(us, rate)| is_refutable(*us, rate)).last()?.0;
        Some(self.refined(last, is_refutable))
    }

    /// Returns the shortest period that a confirmation of this length in seconds will probably prove.
    pub(super) fn provable(&self, wanted: Acceptance, confirmed_s: f64) -> Option<TimeSpan> {
        let prospect: Prospect = wanted.prospect();
        let is_provable = |period_us: f64, rate: &MissRate| {
            prospect.is_provable(rate, 1e6 * confirmed_s / period_us)
        };
        let curve = self.curve();
        // The time is too short to prove the longest periods.
        let from_longest = curve.iter().rev().skip_while(|(us, rate)| !is_provable(*us, rate));
        let provable = from_longest.take_while(|(us, rate)| is_provable(*us, rate));
        let first = provable.last()?.0;
        let below = curve.iter().rev().find(|(us, _)| *us < first);
        let is_not_provable = |us: f64, rate: &MissRate| !is_provable(us, rate);
        Some(below.map_or(span(first), |(us, _)| {
            let last = self.refined(*us, is_not_provable);
            span(last.as_us() * Recording::STEP.powf(1.0 / REFINED)).min(span(first))
        }))
    }

    /// Returns the longest period within the step of the curve from `us` on of which this holds.
    fn refined(&self, us: f64, holds: impl Fn(f64, &MissRate) -> bool) -> TimeSpan {
        let within =
            (1..REFINED as u32).map(|part| us * Recording::STEP.powf(f64::from(part) / REFINED));
        let rate = |us: f64| {
            self.recording.miss_rate(Replayed { period_us: us, ..self.job }, self.wanted.confidence)
        };
        let of_trials = self.of_trials(us);
        let found = within.take_while(|us| {
            rate(*us).is_some_and(|recorded| holds(*us, &self.rate(*us, recorded, &of_trials)))
        });
        span(found.last().unwrap_or(us))
    }

    /// Returns the share of instances of `period` that are expected to be missed.
    pub(super) fn share_missed(&self, period: TimeSpan) -> Option<f64> {
        let job = Replayed { period_us: period.as_us(), ..self.job };
        let recorded = self.recording.miss_rate(job, self.wanted.confidence)?;
        Some(share(&self.rate(job.period_us, recorded, &self.of_trials(job.period_us))))
    }

    /// Returns the shortest period of a curve that misses somewhat less than it may, in microseconds.
    fn shortest_us(&self, curve: &[(f64, MissRate)]) -> Option<f64> {
        shortest(curve, CONSTANTS.predicted * self.wanted.miss_rate, share)
    }

    /// Returns the usual time of an instance that follows another, in seconds.
    pub(super) fn each_s(&self) -> f64 {
        self.recording.each_us() / 1e6
    }

    /// Returns the period from which a search begins that predicts nothing else.
    pub(super) fn shortest(&self) -> Option<TimeSpan> {
        self.shortest_us(&self.recorded).map(span)
    }

    /// Returns the shortest period without some pauses, where it is `shortest_us` with them. Without pauses every instance
    /// ends as early or earlier, so that no longer period is needed. The curve of what remains may show another one: its
    /// instances are usually earlier, too, and what is later than usual counts.
    fn without_us(&self, without: &Recording, shortest_us: Option<f64>) -> Option<f64> {
        let found = self.shortest_us(&without.curve(self.job, self.wanted.confidence));
        found.into_iter().chain(shortest_us).reduce(f64::min)
    }

    /// For the record of the search, with the shortest periods without each kind of pauses if these are to be explained.
    pub(super) fn record(&self, explains: bool) -> ForecastRecord {
        let recording = &self.recording;
        let quiet = recording.without(&recording.lost());
        let point = |&(period_us, rate): &(f64, MissRate)| {
            let by_work =
                quiet.miss_rate(Replayed { period_us, ..self.job }, self.wanted.confidence);
            let miss_rate = share(&rate);
            ForecastPoint {
                period_us,
                miss_rate,
                miss_rate_min: rate.min,
                miss_rate_max: rate.max,
                by_work: by_work.map_or(0.0, |rate| share(&rate)).min(miss_rate),
            }
        };
        let shortest_us = self.shortest_us(&self.recorded);
        let kinds = if explains { lost_kinds(recording) } else { Vec::new() };
        let without = kinds.into_iter().map(|kind| WithoutPauses {
            kind: kind.kind,
            share: kind.share,
            shortest_us: self.without_us(&kind.without, shortest_us),
        });
        // A kind whose absence changes nothing explains nothing.
        let without = without.filter(|kind| kind.shortest_us != shortest_us);
        ForecastRecord {
            recorded_s: recording.length_us() / 1e6,
            instances: recording.instances() as u64,
            each_us: recording.each_us(),
            latency_us: recording.latency_us(),
            lost_share: recording.lost_share(),
            shortest_us,
            curve: self.recorded.iter().map(point).collect(),
            without: without.take(CONSTANTS.explained).collect(),
            without_all_us: self.without_us(&quiet, shortest_us).filter(|_| explains),
        }
    }
}

/// Number of parts of a step of the curve between which a period is chosen: 1 % each.
const REFINED: f64 = 9.0;

fn us(times_ps: &[u64]) -> Vec<f64> {
    times_ps.iter().map(|ps| TimeSpan::from_ps(*ps).as_us()).collect()
}

fn span(us: f64) -> TimeSpan {
    TimeSpan::from_s(us / 1e6)
}

fn share(rate: &MissRate) -> f64 {
    rate.missed as f64 / rate.instances.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Acceptance = Acceptance { miss_rate: 0.01, confidence: 0.95 };

    /// Returns the forecast of a job whose instances take 20 us, and one in `pausing` 1 ms more.
    fn forecast(pausing: usize) -> Forecast {
        let mut end_ps = 0;
        let ends: Vec<u64> = (1..=20_000)
            .map(|instance: usize| {
                end_ps += if instance.is_multiple_of(pausing) { 1_020_000_000 } else { 20_000_000 };
                end_ps
            })
            .collect();
        Forecast::new(&ends, &[20_000_000; 9], &SearchBasis::default(), WANTED).unwrap()
    }

    #[test]
    fn a_quiet_machine_is_predicted_to_keep_what_its_work_takes() {
        let quiet = forecast(usize::MAX);
        let us = |period: Option<TimeSpan>| period.unwrap().as_us();
        // The curve is refined to 1 %.
        let (refutable, provable) = (us(quiet.refutable(1.0)), us(quiet.provable(WANTED, 1.0)));
        assert!((19.7..20.0).contains(&refutable), "{refutable}");
        assert!((20.0..20.3).contains(&provable), "{provable}");
        let record = quiet.record(true);
        assert_eq!((record.each_us, record.latency_us, record.lost_share), (20.0, 20.0, 0.0));
        assert!(record.without.is_empty());
    }

    #[test]
    fn pauses_are_predicted_and_what_would_follow_without_them() {
        // 1 ms is lost in each 21 ms: short periods miss a twentieth of all, and one of more than a millisecond
        // nothing.
        let record = forecast(1000).record(true);
        let shortest_us = record.shortest_us.unwrap();
        assert!((400.0..1200.0).contains(&shortest_us), "{shortest_us}");
        assert!((record.lost_share - 1.0 / 21.0).abs() < 0.005, "{}", record.lost_share);
        let [pauses] = &record.without[..] else { panic!("{:?}", record.without) };
        assert!((20.0..22.0).contains(&pauses.shortest_us.unwrap()), "{pauses:?}");
        assert_eq!(pauses.shortest_us, record.without_all_us);
        let at_40 = record.curve.iter().find(|point| point.period_us > 40.0).unwrap();
        assert!(at_40.miss_rate > 0.04 && at_40.by_work == 0.0, "{at_40:?}");
    }

    #[test]
    fn pauses_that_only_trials_met_are_predicted_for_their_period_and_longer_ones() {
        let provable_us = |forecast: &Forecast| forecast.provable(WANTED, 6.0).unwrap().as_us();
        let mut quiet = forecast(usize::MAX);
        // A pause of 400 us in each 1000 instances of 40 us delays some 20 of them, 2 %. The recording contains as much
        // time, so half of that is expected at 40 us. Periods from 32 us on may have met these pauses.
        let mut end_us = 0.0f64;
        let responses_ps: Vec<u64> = (0..10_000)
            .map(|instance| {
                let start_us = f64::from(instance) * 40.0;
                end_us = end_us.max(start_us) + if instance % 1000 == 499 { 420.0 } else { 20.0 };
                ((end_us - start_us) * 1e6) as u64
            })
            .collect();
        quiet.learn(TimeSpan::from_us(40), &responses_ps);
        let share = |period_us| quiet.share_missed(TimeSpan::from_us(period_us)).unwrap();
        assert!((0.008..0.016).contains(&share(40)), "{}", share(40));
        assert!(share(30) == 0.0 && share(450) == 0.0, "{} {}", share(30), share(450));
        // Nothing is known of pauses below 32 us, but a longer period that cannot be proven excludes shorter ones.
        let provable = provable_us(&quiet);
        assert!((40.0..450.0).contains(&provable), "{provable}");
    }

    #[test]
    fn what_is_too_short_to_predict_from_is_said_to_be_so() {
        let second = TimeSpan::from_s(1.0);
        let why = instances(second, 9.0).unwrap_err();
        assert!(why.contains("96 instances take 96.0 s"), "{why}");
        assert!(instances(TimeSpan::from_us(1), 0.05).unwrap_err().contains("0.050 s"));
        // 12 % of 9 s contain 10 800 instances of 100 us.
        assert_eq!(instances(TimeSpan::from_us(100), 9.0), Ok(10_800));
        assert_eq!(instances(TimeSpan::from_ps(1), 9.0), Ok(CONSTANTS.recorded_max));
        let few = Forecast::new(&[1, 2, 3], &[1], &SearchBasis::default(), WANTED).err().unwrap();
        assert!(few.contains("3 recorded instances are too few"), "{few}");
    }
}
