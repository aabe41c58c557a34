//! Distributed Hartstone: pairs of periodic tasks that send messages from one node to another.

use contract::record::{Better, Measurement, Parameters, Summary};
use contract::{Rank, Result, Source};

use crate::catalogue::{Benchmark, Placement, Program, RankRule, Timing};
use crate::data::{Blocks, Data, Received};
use crate::execute::Bench;
use crate::period::{self, Deadlines, Trial};
use crate::plan::{Case, Scope, sized};
use crate::programs::{BENCHMARK, BETWEEN_TWO, ITS_TAG, TAG};

pub(in crate::programs) const HARTSTONE: Benchmark = Benchmark {
    name: "hartstone",
    group: "real-time",
    summary: "pairs of periodic tasks, periods 1:2:4: the shortest base period that is kept",
    explains: "Rank i of the first half sends a message to rank i of the second half once in its period, which is 2^i \
        times the base period. A sender is in time if its send ends within its period, a receiver if its receive does; \
        there are no acknowledgements. The result is an interval of base periods: the longest that was refused and the \
        shortest that was sustained. `rate` is what all pairs together move at the latter. With 2 ranks there is \
        one pair. Source: MITRE real-time benchmarks (1995), section 4.3.1, with messages of 256 KiB.",
    ranks: RankRule::Pairs(3),
    placement: Placement::TwoProcessors,
    cases: |scope: &Scope| -> Vec<Case> { sized(scope, &[256 << 10]) },
    program: Program {
        timing: Timing::Slowest,
        in_a_row: false,
        blocks: |shape| match shape.me {
            me if me < shape.ranks / 2 => Blocks { send: 1, ..Blocks::NONE },
            me if me < shape.ranks / 2 * 2 => Blocks { receive: 1, ..Blocks::NONE },
            _ => Blocks::NONE,
        },
        received: Received::Blocks(|shape, _| (shape.me - shape.ranks / 2, 0)),
        ..BETWEEN_TWO
    },
    measure,
    ..BENCHMARK
};

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let shape = bench.shape.clone();
    let (blocks, received) = (bench.benchmark.program.blocks, bench.benchmark.program.received);
    let task = Task::of(shape.me, shape.ranks / 2);
    let receives = task.is_some_and(|task| !task.sends);
    let checked = if receives { received } else { Received::Nothing };
    let seed = bench.settings.seed;
    let mut data = Data::new(shape.clone(), blocks(&shape), checked, seed)?;
    let found = period::find(bench, &mut |rank, trial, deadlines| match task {
        Some(task) => task.keep_up(rank, trial, deadlines, &mut data),
        None => Ok(()),
    })?;
    data.check(checked, seed)?;
    let (pairs, size) = (shape.ranks / 2, shape.size);
    period::report(bench, found, Parameters::new(), |first| {
        Ok((first.metric == "period").then(|| rate(first, pairs, size)).into_iter().collect())
    })
}

/// One end of a pair.
#[derive(Clone, Copy)]
struct Task {
    pair: usize,
    sends: bool,
    /// The rank at the other end.
    peer: usize,
}

impl Task {
    /// The task of rank `me` among so many pairs; none for a rank that is left over.
    fn of(me: usize, pairs: usize) -> Option<Task> {
        match me {
            me if me < pairs => Some(Task { pair: me, sends: true, peer: me + pairs }),
            me if me < 2 * pairs => Some(Task { pair: me - pairs, sends: false, peer: me - pairs }),
            _ => None,
        }
    }

    /// The task's period in base periods.
    fn ratio(&self) -> u64 {
        1 << self.pair.min(62)
    }

    fn keep_up(
        &self,
        rank: &mut dyn Rank,
        trial: &Trial,
        deadlines: &mut Deadlines,
        data: &mut Data,
    ) -> Result<()> {
        let ratio = self.ratio();
        for job in 0..trial.instances / ratio {
            if self.sends {
                rank.wait_until(trial.start(job * ratio));
                rank.send(self.peer, TAG, &data.send)?;
            } else {
                rank.receive(Source::Rank(self.peer), ITS_TAG, &mut data.receive)?;
            }
            // Due at the end of the last base period of its own.
            let due = (job + 1) * ratio - 1;
            deadlines.ended(due, self.pair as u64, rank.now());
        }
        Ok(())
    }
}

/// What all pairs together move at the period that was found.
fn rate(period: &Measurement, pairs: usize, size: usize) -> Measurement {
    let messages: f64 = (0..pairs).map(|pair| 0.5f64.powi(pair as i32)).sum();
    let rate = |us: f64| messages * size as f64 / us;
    let Summary { ci_low, ci_high, median, .. } = period.summary;
    let summary = Summary {
        median: rate(median),
        mean: rate(median),
        ci_low: rate(ci_high),
        ci_high: rate(ci_low),
        min: rate(ci_high),
        max: rate(ci_low),
        p99: rate(ci_low),
        p999: rate(ci_low),
        ..period.summary
    };
    Measurement {
        metric: "rate".into(),
        unit: "MB/s".into(),
        better: Better::Higher,
        summary,
        search: None,
        ..period.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_in_the_ratio_of_one_to_two_to_four() {
        let task = |me| Task::of(me, 3).unwrap();
        assert_eq!([0, 1, 2, 3, 4, 5].map(|me| task(me).ratio()), [1, 2, 4, 1, 2, 4]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|me| task(me).peer), [3, 4, 5, 0, 1, 2]);
        assert!(Task::of(6, 3).is_none());
    }
}
