//! Measurements that are put together from turns, each made some time after the one before.
//!
//! A hypervisor may move a processor, and from then on a cache line takes longer from one to the other, for seconds. A
//! measurement made at one go has seen one such state; one made in turns, with the line timed beside each turn, shows which.

use analysis::statistics::{Sample, is_precise};
use contract::Result;
use contract::record::{Parameters, StopReason, Turn};

use crate::Settings;
use crate::execute::Bench;
use crate::programs::{put, wait_for};
use crate::timed_loop::Outcome;

/// What the turns so far have brought.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept {
    /// How they had to be made.
    pub(crate) more: Parameters,
    pub(crate) outcome: Outcome,
}

impl Kept {
    /// These turns and a later one, made the same way.
    pub(crate) fn and(self, later: Outcome, settings: &Settings) -> Outcome {
        let Outcome { mut samples_ps, mut warm_up_ps, timing: first, mut turns, .. } = self.outcome;
        let (earlier, now) = (samples_ps.len() as f64, later.samples_ps.len() as f64);
        samples_ps.extend(later.samples_ps);
        warm_up_ps.extend(later.warm_up_ps);
        turns.extend(later.turns);
        let mut timing = later.timing;
        timing.events_per_sample = timing.events_per_sample.max(first.events_per_sample);
        timing.clock_share =
            (earlier * first.clock_share + now * timing.clock_share) / (earlier + now);
        timing.late_starts += first.late_starts;
        timing.spent_s += first.spent_s;
        let precise = Sample::new(samples_ps.clone())
            .is_ok_and(|sample| is_precise(&sample, settings.confidence, settings.precision));
        let stop_reason = match later.stop_reason {
            _ if precise => StopReason::Precision,
            StopReason::Precision => StopReason::TimeLimit,
            other => other,
        };
        Outcome { samples_ps, warm_up_ps, stop_reason, timing, turns }
    }
}

/// So many times a line goes there and back between two readings of the clock, and so many times that is timed: together
/// less than 0.2 ms where a line takes 0.3 us.
const ROUNDS: usize = 16;
const BATCHES: usize = 15;

impl Bench<'_> {
    /// What handing a cache line from the first rank to the second takes, in microseconds, where this is one of several
    /// turns and the ranks can tell. All ranks call it alike; rank 0 gets the answer.
    pub(crate) fn line_us(&mut self) -> Result<Option<f64>> {
        let rank = &*self.rank;
        let apart = rank.every_rank_has_a_processor() && rank.shared_line().is_some();
        if !self.in_turns() || rank.size() < 2 || !apart {
            return Ok(None);
        }
        self.clear_shared_line()?;
        let rank = &mut *self.rank;
        let mut batches_us = Vec::with_capacity(BATCHES);
        for batch in 0..BATCHES {
            let begin = rank.now();
            for round in 0..ROUNDS {
                let there = 2 * (batch * ROUNDS + round) as u64 + 1;
                match rank.rank() {
                    0 => {
                        put(rank, there);
                        wait_for(rank, there + 1)?;
                    }
                    1 => {
                        wait_for(rank, there)?;
                        put(rank, there + 1);
                    }
                    _ => {}
                }
            }
            batches_us.push(rank.now().since(begin).as_us() / (2 * ROUNDS) as f64);
        }
        rank.barrier()?;
        Ok(Sample::new(batches_us).ok().map(|sample| sample.median()))
    }
}

/// The only turn of an outcome that was made at one go.
pub(crate) fn turn(outcome: &Outcome, before_us: Option<f64>, after_us: Option<f64>) -> Turn {
    Turn {
        samples: outcome.samples_ps.len() as u64,
        clock_share: outcome.timing.clock_share,
        line_us: before_us.zip(after_us).map(|(before, after)| [before, after]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::record::Timing;

    fn outcome(samples_ps: &[f64], stop_reason: StopReason) -> Outcome {
        let timing = Timing {
            events_per_sample: 2,
            clock_share: 0.01,
            start: "none".into(),
            late_starts: 3,
            spent_s: 0.5,
        };
        let (samples_ps, warm_up_ps) = (samples_ps.to_vec(), vec![1.0]);
        let mut outcome =
            Outcome { samples_ps, warm_up_ps, stop_reason, timing, turns: Vec::new() };
        outcome.turns = vec![turn(&outcome, Some(0.1), Some(0.2))];
        outcome
    }

    #[test]
    fn turns_are_put_together_and_told_apart() {
        let kept = |samples: &[f64]| Kept {
            more: Parameters::new(),
            outcome: outcome(samples, StopReason::Precision),
        };
        let settings = Settings::default();
        let mut second = outcome(&[5.0; 40], StopReason::TimeLimit);
        second.timing.clock_share = 0.08;
        let both = kept(&[5.0; 30]).and(second, &settings);
        // 70 equal samples are precise, whatever the last turn says by itself.
        assert_eq!((both.samples_ps.len(), both.stop_reason), (70, StopReason::Precision));
        assert_eq!(both.turns.iter().map(|turn| turn.samples).collect::<Vec<_>>(), [30, 40]);
        // A sample's share of the clock is 30 times 0.01 and 40 times 0.08: 3.5 of 70.
        assert!((both.timing.clock_share - 0.05).abs() < 1e-12, "{:?}", both.timing);
        assert_eq!((both.timing.spent_s, both.timing.late_starts), (1.0, 6));
        // Two states: each turn agrees with itself, both together do not.
        let apart = kept(&[5.0; 30]).and(outcome(&[9.0; 30], StopReason::Precision), &settings);
        assert_eq!(apart.stop_reason, StopReason::TimeLimit);
    }
}
