//! The prediction of a search for periods before it tries them, and its correction by trials.

use analysis::replay::{LostInTrial, Observed, Recording, Replayed, shortest};
use analysis::statistics::MissRate;
use contract::TimeSpan;
use record::{Forecast as ForecastRecord, ForecastPoint, Trial as TrialRecord};

use super::acceptance::Acceptance;
use super::decision::ExpectedVerdicts;
use super::notes::Interruption;
use super::outcome::SearchBasis;
use super::schedule::Schedule;
use super::segment::TrialSegment;
use crate::settings::RealTime;

mod explanation;
mod trials;

use explanation::Explanation;
pub(super) use trials::Confirmation;

/// The number of single instances.
pub(super) const ALONE: usize = 9;
/// Share of the time for finding that is used for the recording.
const SHARE: f64 = 0.12;
/// Minimum time of finding. In a shorter time the agreements on the beginning would take more than the recording.
const FINDING_MIN_S: f64 = 0.1;
pub(super) const INSTANCES_MIN: u64 = 96;
const INSTANCES_MAX: u64 = 1 << 18;
/// Share of the requested rate that a period must not exceed to be expected to be sustained.
const SUSTAINED: f64 = 0.7;
/// Minimum number of instances of a trial that corrects the prediction.
const TEACHING_MIN: u64 = 64;
/// The factors by which work may take longer in trials than in the recording.
const PACE_MIN: f64 = 0.8;
const PACE_MAX: f64 = 2.5;
const PACE_STEP: f64 = 1.03;

/// A recording, and the differences of trials from its prediction.
pub(super) struct Forecast {
    recording: Recording,
    /// The pauses that ranks observed in the recorded run.
    seen: Vec<Observed>,
    basis: SearchBasis,
    wanted: Acceptance,
    pace: f64,
    /// Curve of miss rates of the recording at this pace.
    recorded: Vec<(f64, MissRate)>,
    explains: bool,
    /// What trials lost, with their periods in microseconds, in the order of these.
    trials: Vec<(f64, LostInTrial)>,
    /// What the trial lost that is being made.
    now: Vec<LostInTrial>,
}

/// Share of the wanted time from which a recording is long enough, and the factor by which the next one grows at most.
const LONG_ENOUGH: f64 = 0.5;
const GROWTH_MAX: f64 = 16.0;

/// Returns the time that a recording should take, if a period must be found within `finding_s`, in seconds.
pub(super) fn recording_s(finding_s: f64) -> f64 {
    SHARE * finding_s
}

/// Returns the number of instances to record instead of `instances`, which took `took`, or `None` if they are enough.
pub(super) fn more_instances(instances: u64, took: TimeSpan, wanted_s: f64) -> Option<u64> {
    if instances >= INSTANCES_MAX || took.as_s() >= LONG_ENOUGH * wanted_s {
        return None;
    }
    let growth = (wanted_s / took.as_s().max(f64::MIN_POSITIVE)).min(GROWTH_MAX);
    Some(((instances as f64 * growth) as u64).min(INSTANCES_MAX))
}

/// Returns the number of instances to record, if one takes about `each` and a period must be found within `finding_s`;
/// or the reason why none can be recorded.
pub(super) fn instances(each: TimeSpan, finding_s: f64) -> Result<u64, String> {
    if finding_s < FINDING_MIN_S {
        return Err(format!(
            "nothing was predicted: {finding_s:.3} s to find a period within leave no time for it"
        ));
    }
    let within = (recording_s(finding_s) / each.as_s()) as u64;
    let least_s = INSTANCES_MIN as f64 * each.as_s();
    if least_s > finding_s / 2.0 {
        return Err(format!(
            "nothing was predicted: {INSTANCES_MIN} instances take {least_s:.1} s, and a period is to be found within {finding_s:.1} s"
        ));
    }
    Ok(within.clamp(INSTANCES_MIN, INSTANCES_MAX))
}

/// Returns the time for finding a period, if the search predicts and has the time for it, in seconds.
pub(crate) fn predicting_s(settings: &RealTime) -> Option<f64> {
    let is_search = settings.period_s.is_none() && settings.search_limit_s.is_some();
    let finding_s = Schedule::new(settings).finding_s;
    (is_search && finding_s >= FINDING_MIN_S).then_some(finding_s)
}

impl Forecast {
    /// Creates a forecast from a run back to back, and from the times of single instances, in picoseconds.
    pub(super) fn new(
        run: &TrialSegment,
        alone_ps: &[u64],
        basis: SearchBasis,
        wanted: Acceptance,
        explains: bool,
    ) -> Result<Forecast, String> {
        let us = |ps: &u64| TimeSpan::from_ps(*ps).as_us();
        let ends_us: Vec<f64> = run.responses_ps.iter().map(us).collect();
        let mut alone: Vec<f64> = alone_ps.iter().map(us).collect();
        alone.sort_by(f64::total_cmp);
        let latency_us = alone.get(alone.len() / 2).copied().unwrap_or_default();
        let recording = Recording::new(&ends_us, latency_us)
            .map_err(|short| format!("nothing was predicted: {short}"))?;
        let recording = recording.with_source(basis.source);
        let pause = |&(rank, pause): &(usize, Interruption)| Observed {
            rank,
            stage: pause.stage.map(|stage| stage as usize),
            begin_us: pause.at.since(run.begin).as_us(),
            length_us: pause.length.as_us(),
        };
        let seen = run.pauses.iter().map(pause).collect();
        let mut forecast = Forecast {
            recording,
            seen,
            basis,
            wanted,
            pace: 1.0,
            recorded: Vec::new(),
            explains,
            trials: Vec::new(),
            now: Vec::new(),
        };
        forecast.recorded = forecast.curve(&forecast.recording);
        Ok(forecast)
    }

    fn curve(&self, recording: &Recording) -> Vec<(f64, MissRate)> {
        recording.curve(self.job(0.0), self.wanted.confidence)
    }

    /// Returns the job at a period.
    fn job(&self, period_us: f64) -> Replayed {
        let SearchBasis { waiting, settling, .. } = self.basis;
        Replayed { period_us, waiting, settling, pace: self.pace }
    }

    fn shortest_us(&self, curve: &[(f64, MissRate)]) -> Option<f64> {
        shortest(curve, SUSTAINED * self.wanted.miss_rate, share)
    }

    /// Returns the prediction from the recording and all trials: the longest period that a trial will probably refuse, and
    /// the shortest one that a confirmation will probably prove. If none follows or nothing is to be confirmed, the latter
    /// is one that misses somewhat less than it may.
    pub(super) fn expected_verdicts(
        &self,
        instances_of_trial: impl Fn(TimeSpan) -> u64,
        confirmation: Option<Confirmation>,
    ) -> Option<ExpectedVerdicts> {
        let span = |us: f64| TimeSpan::from_ps((us * 1e6) as u64);
        let curve = self.learnt_curve();
        let provable = confirmation.and_then(|confirmation| confirmation.shortest_us(&curve));
        let sustained_us = provable.or_else(|| self.shortest_us(&curve))?;
        let shorter = curve.iter().rev().find(|(period_us, _)| *period_us < sustained_us);
        let prospect = self.wanted.prospect();
        let is_refused = |(period_us, rate): &&(f64, MissRate)| {
            let instances = instances_of_trial(span(*period_us)) as f64;
            *period_us < sustained_us
                && match crate::period::without("refutable") {
                    true => rate.min > self.wanted.miss_rate,
                    false => prospect.is_refutable(rate, instances),
                }
        };
        let refused = curve.iter().take_while(is_refused).last();
        Some(ExpectedVerdicts {
            refused: refused.map(|(period_us, _)| span(*period_us)),
            sustained: span(sustained_us),
            is_provable: provable.is_some(),
            unprovable: shorter
                .filter(|_| provable.is_some())
                .map(|(period_us, _)| span(*period_us)),
        })
    }

    /// Corrects the pace, if a trial missed more or fewer instances than predicted and another pace explains that.
    pub(super) fn learn(&mut self, trial: &TrialRecord) {
        let now = std::mem::take(&mut self.now);
        if trial.instances < TEACHING_MIN || now.is_empty() || crate::period::without("pace") {
            return;
        }
        let recording = self.recording.as_in(&now);
        let agrees = |pace: f64| {
            let job = Replayed { pace, ..self.job(trial.period_us) };
            let rate = recording.miss_rate(job, self.wanted.confidence);
            rate.is_none_or(|rate| {
                rate.min <= trial.miss_rate_max && trial.miss_rate_min <= rate.max
            })
        };
        if agrees(self.pace) {
            return;
        }
        let paces = std::iter::successors(Some(PACE_MIN), |pace| Some(pace * PACE_STEP))
            .take_while(|pace| *pace <= PACE_MAX);
        let distance = |pace: &f64| (pace / self.pace).ln().abs();
        let nearest =
            paces.filter(|pace| agrees(*pace)).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        // If no pace explains the trial, its pauses are the cause and not the work.
        if let Some(pace) = nearest {
            self.pace = pace;
            self.recorded = self.curve(&self.recording);
        }
    }

    /// For the record of the search.
    pub(super) fn record(&self) -> ForecastRecord {
        let recording = &self.recording;
        let quiet = recording.without(&recording.lost());
        let point = |(period_us, rate): &(f64, MissRate)| {
            let by_work = quiet.miss_rate(self.job(*period_us), self.wanted.confidence);
            let by_work = by_work.map_or(0.0, |rate| share(&rate));
            ForecastPoint {
                period_us: *period_us,
                miss_rate: share(rate),
                miss_rate_min: rate.min,
                miss_rate_max: rate.max,
                by_work: by_work.min(share(rate)),
            }
        };
        let curve = &self.recorded;
        let shortest_us = self.shortest_us(curve);
        let Explanation { without, without_stages } = match self.explains {
            true => self.explanation(shortest_us),
            false => Explanation::default(),
        };
        ForecastRecord {
            recorded_s: recording.length_us() / 1e6,
            instances: recording.instances() as u64,
            each_us: recording.each_us(),
            latency_us: recording.latency_us(),
            lost_share: recording.lost_share(),
            pace: self.pace,
            shortest_us,
            curve: curve.iter().map(point).collect(),
            without,
            without_stages,
            without_all_us: self.without_us(&quiet, shortest_us).filter(|_| self.explains),
        }
    }
}

fn share(rate: &MissRate) -> f64 {
    rate.missed as f64 / rate.instances.max(1) as f64
}

#[cfg(test)]
mod tests {

    use super::*;

    const WANTED: Acceptance = Acceptance { miss_rate: 0.01, confidence: 0.95 };

    pub(super) fn run(responses_ps: Vec<u64>) -> TrialSegment {
        TrialSegment { responses_ps, ..TrialSegment::default() }
    }

    /// Returns the forecast of a job whose instances take 20 us, and one in `pausing` 1 ms more.
    fn forecast(pausing: usize) -> Forecast {
        let mut end_ps = 0;
        let ends: Vec<u64> = (1..=20_000)
            .map(|instance: usize| {
                end_ps += if instance.is_multiple_of(pausing) { 1_020_000_000 } else { 20_000_000 };
                end_ps
            })
            .collect();
        Forecast::new(&run(ends), &[20_000_000; 9], SearchBasis::default(), WANTED, true).unwrap()
    }

    fn trial(period_us: f64, missed: u64) -> TrialRecord {
        let rate = missed as f64 / 10_000.0;
        TrialRecord {
            period_us,
            begin_s: 0.0,
            instances: 10_000,
            missed,
            miss_rate_max: rate + 0.002,
            miss_rate_min: (rate - 0.002).max(0.0),
            sustained: false,
            refused: false,
            proven: false,
            response_median_us: 20.0,
            response_max_us: 20.0,
        }
    }

    #[test]
    fn a_quiet_machine_is_foreseen_to_keep_what_its_work_takes() {
        let quiet = forecast(usize::MAX);
        let expected = quiet.expected_verdicts(|_| 1000, None).unwrap();
        // Steps of the curve are 9 %.
        assert!((20.0..22.0).contains(&expected.sustained.as_us()), "{expected:?}");
        assert!((18.0..20.0).contains(&expected.refused.unwrap().as_us()), "{expected:?}");
        let record = quiet.record();
        assert_eq!((record.each_us, record.latency_us, record.lost_share), (20.0, 20.0, 0.0));
        assert!(record.without.is_empty());
    }

    #[test]
    fn pauses_are_foreseen_and_what_would_follow_without_them() {
        // 1 ms is lost in each 21 ms: short periods miss a twentieth of all, and one of more than a millisecond
        // nothing.
        let record = forecast(1000).record();
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
    fn a_trial_that_missed_more_teaches_a_slower_pace_and_one_that_agrees_teaches_nothing() {
        let mut quiet = forecast(usize::MAX);
        watch(&mut quiet, 30.0, |_| 20.0);
        quiet.learn(&trial(30.0, 0));
        assert_eq!(quiet.pace, 1.0);
        // All instances of 22 us are missed: the work takes more than 22 us here, 1.1 times as long.
        watch(&mut quiet, 22.0, |_| 22.4);
        quiet.learn(&trial(22.0, 10_000));
        assert!((1.1..1.14).contains(&quiet.pace), "{}", quiet.pace);
        let sustained = quiet.expected_verdicts(|_| 1000, None).unwrap().sustained.as_us();
        assert!((22.0..25.5).contains(&sustained), "{sustained}");
        // Pauses explain that 3 % are missed at 1 ms, and no pace would.
        watch(&mut quiet, 1000.0, |instance| if instance % 33 == 0 { 1500.0 } else { 22.4 });
        quiet.learn(&trial(1000.0, 300));
        assert!((1.1..1.14).contains(&quiet.pace), "{}", quiet.pace);
    }

    /// Shows a forecast 10 000 instances of a job that takes these times at a period.
    fn watch(forecast: &mut Forecast, period_us: f64, work_us: impl Fn(u64) -> f64) {
        let mut end_us = 0.0f64;
        let responses_ps: Vec<u64> = (0..10_000)
            .map(|instance| {
                let start_us = instance as f64 * period_us;
                end_us = end_us.max(start_us) + work_us(instance);
                ((end_us - start_us) * 1e6) as u64
            })
            .collect();
        forecast.watch(TimeSpan::from_ps((period_us * 1e6) as u64), &responses_ps);
    }

    #[test]
    fn pauses_that_only_trials_met_are_foreseen_for_their_period_and_longer_ones() {
        let confirmation = Some(Confirmation { wanted: WANTED, time_s: 6.0 });
        let sustained_us = |forecast: &Forecast| {
            let expected = forecast.expected_verdicts(|_| 1000, confirmation).unwrap();
            assert!(expected.is_provable, "{expected:?}");
            expected.sustained.as_us()
        };
        let mut quiet = forecast(usize::MAX);
        assert!((20.0..22.0).contains(&sustained_us(&quiet)));
        // A pause of 400 us in each 1000 instances of 40 us delays some 20 of them, 2 %. The recording contains as much
        // time, so half of that is expected at 40 us. Periods from 32 us on may have met these pauses.
        watch(&mut quiet, 40.0, |instance| if instance % 1000 == 499 { 420.0 } else { 20.0 });
        let share = |period_us| quiet.share_missed(TimeSpan::from_us(period_us)).unwrap();
        assert!((0.008..0.016).contains(&share(40)), "{}", share(40));
        assert!(share(30) == 0.0 && share(450) == 0.0, "{} {}", share(30), share(450));
        // Nothing is known of pauses below 32 us, but a longer period that cannot be proven excludes shorter ones.
        let sustained = sustained_us(&quiet);
        assert!((40.0..450.0).contains(&sustained), "{sustained}");
    }

    #[test]
    fn what_is_too_short_to_predict_from_is_said_to_be_so() {
        let second = TimeSpan::from_s(1.0);
        let why = instances(second, 9.0).unwrap_err();
        assert!(why.contains("96 instances take 96.0 s"), "{why}");
        assert!(instances(TimeSpan::from_us(1), 0.05).unwrap_err().contains("0.050 s"));
        // 12 % of 9 s contain 10 800 instances of 100 us.
        assert_eq!(instances(TimeSpan::from_us(100), 9.0), Ok(10_800));
        assert_eq!(instances(TimeSpan::from_ps(1), 9.0), Ok(INSTANCES_MAX));
        let few = Forecast::new(&run(vec![1, 2, 3]), &[1], SearchBasis::default(), WANTED, false)
            .err()
            .unwrap();
        assert!(few.contains("3 recorded instances are too few"), "{few}");
    }

    #[test]
    fn a_recording_that_is_too_short_is_made_again_by_hand() {
        let ms = |ms: u64| TimeSpan::from_us(1000 * ms);
        // 100 instances in 10 ms: 1 s has room for 10 000, but the next recording has 16 times as many.
        assert_eq!(more_instances(100, ms(10), 1.0), Some(1600));
        assert_eq!(more_instances(1600, ms(400), 1.0), Some(4000));
        assert_eq!(more_instances(4000, ms(500), 1.0), None);
        assert_eq!(more_instances(INSTANCES_MAX, ms(10), 1.0), None);
        assert_eq!(more_instances(INSTANCES_MAX / 2, ms(10), 1.0), Some(INSTANCES_MAX));
        assert_eq!(more_instances(96, TimeSpan::ZERO, 1.0), Some(1536));
    }
}
