//! The judged instances of a period: their times, and which of them are missed.

use analysis::statistics::MissRate;
use contract::TimeSpan;
use record::{JudgedTimes, Trial as TrialRecord};

use super::acceptance::{Acceptance, Limits, Verdict};
use super::segment::TrialSegment;

/// Instances of one period.
#[derive(Clone, Debug, Default)]
pub(super) struct Instances {
    pub(super) responses_ps: Vec<u64>,
    pub(super) latencies_ps: Vec<u64>,
    pub(super) jitters_ps: Vec<u64>,
    /// Whether each was missed. Trials of an earlier run come first, of which only the counts are known.
    pub(super) missed: Vec<bool>,
}

impl Instances {
    /// Returns the number of instances whose times are known.
    pub(super) fn len(&self) -> usize {
        self.responses_ps.len()
    }

    /// Adds and judges the instances of a segment of `period`.
    pub(super) fn judge(&mut self, segment: &TrialSegment, period: TimeSpan, limits: Limits) {
        let TrialSegment { responses_ps, latencies_ps, jitters_ps, .. } = segment;
        let others = latencies_ps.iter().zip(jitters_ps);
        let missed = responses_ps.iter().zip(others).map(|(&response, (&latency, &jitter))| {
            response > period.as_ps() || latency > limits.latency_ps || jitter > limits.jitter_ps
        });
        self.missed.extend(missed);
        self.responses_ps.extend(responses_ps);
        self.latencies_ps.extend(latencies_ps);
        self.jitters_ps.extend(jitters_ps);
    }

    /// Adds a trial of an earlier run. Its misses count as one burst, which proves least.
    pub(super) fn add_earlier(&mut self, trial: &TrialRecord) {
        let met = trial.instances.saturating_sub(trial.missed);
        self.missed.extend(std::iter::repeat_n(true, trial.missed as usize));
        self.missed.extend(std::iter::repeat_n(false, met as usize));
    }

    /// Returns the instances from this one on, of those that were made here.
    pub(super) fn since(&self, first: usize) -> Instances {
        Instances {
            responses_ps: self.responses_ps[first..].to_vec(),
            latencies_ps: self.latencies_ps[first..].to_vec(),
            jitters_ps: self.jitters_ps[first..].to_vec(),
            missed: self.missed[self.missed.len() - self.len() + first..].to_vec(),
        }
    }

    /// Returns whether the later half of them took the same times. On a machine whose work always takes the same time,
    /// the next ones take it, too.
    pub(super) fn are_settled(&self) -> bool {
        let later = |times: &[u64]| {
            let half = &times[times.len() / 2..];
            half.len() > 1 && half.iter().all(|time| *time == half[0])
        };
        [&self.responses_ps, &self.latencies_ps, &self.jitters_ps].into_iter().all(|t| later(t))
    }

    /// Adds these instances of the same period.
    pub(super) fn extend(&mut self, more: Instances) {
        self.missed.extend(more.missed);
        self.responses_ps.extend(more.responses_ps);
        self.latencies_ps.extend(more.latencies_ps);
        self.jitters_ps.extend(more.jitters_ps);
    }

    /// Returns the distribution of each time, of which a share of `miss_rate` may be beyond what is required.
    pub(super) fn distributions(&self, miss_rate: f64) -> Vec<JudgedTimes> {
        let all = [
            ("response", &self.responses_ps),
            ("latency", &self.latencies_ps),
            ("jitter", &self.jitters_ps),
        ];
        all.into_iter().filter_map(|(name, times)| distribution(name, times, miss_rate)).collect()
    }
}

/// Returns the record of a trial of `period` that began at `begin_s` of its search.
pub(super) fn record_of(
    wanted: Acceptance,
    period: TimeSpan,
    begin_s: f64,
    instances: &Instances,
    rate: &MissRate,
) -> TrialRecord {
    let verdict = wanted.verdict(rate);
    let mut sorted = instances.responses_ps.clone();
    sorted.sort_unstable();
    let us = |ps: u64| TimeSpan::from_ps(ps).as_us();
    TrialRecord {
        period_us: period.as_us(),
        begin_s,
        instances: rate.instances,
        missed: rate.missed,
        miss_rate_max: rate.max,
        miss_rate_min: rate.min,
        sustained: verdict == Verdict::Sustained,
        refused: verdict == Verdict::Refused,
        proven: wanted.is_proven(rate),
        response_median_us: us(sorted[sorted.len() / 2]),
    }
}

/// Returns the distribution of one time; `None` without instances.
fn distribution(metric: &str, times_ps: &[u64], miss_rate: f64) -> Option<JudgedTimes> {
    let mut sorted = times_ps.to_vec();
    sorted.sort_unstable();
    let n = sorted.len();
    let us = |ps: u64| TimeSpan::from_ps(ps).as_us();
    let max_us = us(*sorted.last()?);
    let mut shares = vec![0.99, 0.999, 1.0 - miss_rate];
    shares.sort_by(f64::total_cmp);
    shares.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    let tail = |share: f64| {
        // So many of n may be longer; the next one is the percentile.
        let beyond = ((1.0 - share) * n as f64 + 1e-9) as usize;
        (share, (beyond > 0).then(|| us(sorted[n - 1 - beyond.min(n - 1)])))
    };
    let tail_us = shares.into_iter().map(tail).collect();
    Some(JudgedTimes {
        metric: metric.into(),
        n: n as u64,
        median_us: us(sorted[n / 2]),
        tail_us,
        max_us,
    })
}

#[cfg(test)]
mod tests {
    use record::Required;

    use super::*;

    #[test]
    fn an_instance_is_missed_if_any_requirement_is_broken() {
        let required = Required { latency_us: Some(3.0), jitter_us: Some(0.5) };
        let us = |us: [u64; 4]| us.map(|us| 1_000_000 * us).to_vec();
        let segment = TrialSegment {
            responses_ps: us([10, 11, 10, 10]),
            latencies_ps: us([3, 3, 4, 3]),
            jitters_ps: us([0, 0, 0, 1]),
            ..TrialSegment::default()
        };
        let judged = |limits| {
            let mut all = Instances::default();
            all.judge(&segment, TimeSpan::from_us(10), limits);
            all.missed
        };
        assert_eq!(judged(Limits::default()), [false, true, false, false]);
        assert_eq!(judged(Limits::of(Some(required))), [false, true, true, true]);
    }

    #[test]
    fn instances_are_settled_once_the_later_half_is_alike_in_every_time() {
        let of = |responses_ps: &[u64], jitters_ps: &[u64]| Instances {
            responses_ps: responses_ps.into(),
            latencies_ps: responses_ps.into(),
            jitters_ps: jitters_ps.into(),
            missed: vec![false; responses_ps.len()],
        };
        assert!(of(&[9, 3, 5, 5], &[0, 2, 0, 0]).are_settled());
        // It still becomes later, or its results come at other distances.
        assert!(!of(&[9, 3, 5, 6], &[0, 2, 0, 0]).are_settled());
        assert!(!of(&[9, 3, 5, 5], &[0, 0, 1, 0]).are_settled());
        assert!(!of(&[5], &[0]).are_settled() && !Instances::default().are_settled());
    }

    #[test]
    fn earlier_trials_count_and_have_no_times() {
        let mut all = Instances::default();
        let us: Vec<u64> = (1..=100).map(|us| 1_000_000 * us).collect();
        let segment = TrialSegment {
            responses_ps: us.clone(),
            latencies_ps: us.clone(),
            jitters_ps: us,
            ..TrialSegment::default()
        };
        all.judge(&segment, TimeSpan::from_us(98), Limits::default());
        assert_eq!((all.len(), all.missed.iter().filter(|missed| **missed).count()), (100, 2));
        let [response, ..] = &all.distributions(0.05)[..] else { panic!() };
        // One of 100 is beyond the 99th percentile, five are beyond the 95th, and none may be beyond the 99.9th.
        assert_eq!(response.tail_us, [(0.95, Some(95.0)), (0.99, Some(99.0)), (0.999, None)]);
        assert_eq!((response.n, response.median_us, response.max_us), (100, 51.0, 100.0));
        assert!(Instances::default().distributions(0.05).is_empty());
    }
}
