//! Distributed Hartstone: pairs of periodic tasks that send messages from one node to another.

use contract::{Priority, Rank, Result, Source, WorkKind};
use record::Parameters;

use crate::bench::Bench;
use crate::case::{Case, Scope, sized};
use crate::data::{Blocks, Data, Received};
use crate::declaration::{Benchmark, Group, Repeats};
use crate::options::{PERIODS, RunOption};
use crate::paper;
use crate::period::{self, Deadlines, Trial};
use crate::program::{Program, Timing};
use crate::programs::common::{BENCHMARK, BETWEEN_TWO, ITS_TAG, TAG, compute};
use crate::ranks::{Placement, RankRule};
use crate::settings::RealTime;

pub(in crate::programs) const HARTSTONE: Benchmark = Benchmark {
    name: "hartstone",
    group: Group::RealTime,
    summary: "pairs of periodic tasks, periods 1:2:4: the shortest sustained base period",
    explains: "Rank i of the first half sends a message to rank i of the second half once in its period, which \
        is 2^i times the base period. A sender meets its deadline if its send ends within its period, a receiver \
        if its receive does; there are no acknowledgements. The result is an interval of base periods: the longest \
        that was refused and the shortest that was sustained. `rate` is the total rate of all pairs at the latter. \
        With 2 ranks there is one pair. With priority=rate-monotonic, tasks with shorter periods have higher fixed \
        priorities; priority=none leaves scheduling to the system. With --load, every task of load=senders or \
        load=receivers computes this number of floating-point operations in each of its periods: before it sends, \
        or after it has received. The stage of a late instance is its pair. The paper has messages of 256 KiB.",
    source: paper::MITRE.part("section 4.3.1"),
    ranks: RankRule::Pairs(3),
    placement: Placement::TwoProcessors,
    cases,
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
    lasts_s: Some(|settings, _| period::lasts_s(settings)),
    repeats: Repeats::Trials,
    options: &[PERIODS, &[RunOption::Load]],
    repeatable: false,
    ..BENCHMARK
};

/// Returns cases without priorities and, if there are several tasks, with them; with each requested load.
fn cases(scope: &Scope<'_>) -> Vec<Case> {
    let priorities =
        if scope.ranks > 3 { &["none", period::RATE_MONOTONIC][..] } else { &["none"] };
    let loads = if scope.settings.real_time.load.is_some() {
        &["none", "senders", "receivers"][..]
    } else {
        &["none"]
    };
    let mut cases = Vec::new();
    for (priority, load) in
        priorities.iter().flat_map(|&p| loads.iter().map(move |&load| (p, load)))
    {
        let parameters = [(period::PRIORITY.into(), priority.into()), ("load".into(), load.into())];
        let parameters = Parameters::from(parameters);
        let sized = sized(scope, &[256 << 10]).into_iter();
        cases.extend(sized.map(|case| Case { parameters: parameters.clone(), ..case }));
    }
    period::variants(scope, cases)
}

/// Priority of the task with the shortest period; each further one has one less.
const PRIORITY_MAX: u8 = 60;
const PRIORITY_MIN: u8 = 2;

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let computes = bench.step.parameters.get("load").is_some_and(|load| *load != "none".into());
    if computes && bench.skips_without_rate(&[WorkKind::FloatingPoint])? {
        return Ok(());
    }
    let shape = bench.shape.clone();
    let (blocks, received) = (bench.definition.program.blocks, bench.definition.program.received);
    let task = Task::of(shape.me, shape.ranks / 2);
    let receives = task.is_some_and(|task| !task.sends);
    let checked = if receives { received } else { Received::Nothing };
    let seed = bench.settings.seed;
    let mut data = Data::new(shape.clone(), blocks(&shape), checked, seed)?;
    let rate_monotonic =
        bench.step.parameters.get(period::PRIORITY) == Some(&period::RATE_MONOTONIC.into());
    if rate_monotonic {
        let pair = task.map_or(usize::MAX, |task| task.pair);
        let below = u8::try_from(pair).unwrap_or(u8::MAX);
        let priority = Priority::Fixed(PRIORITY_MAX.saturating_sub(below).max(PRIORITY_MIN));
        let granted = period::prioritise(bench.rank, priority);
        if let Some(why) = period::refusal(bench.rank, granted)? {
            // A rank that has the priority returns it. On a rank that was refused this has no effect.
            let _ = period::prioritise(bench.rank, Priority::TimeShared);
            return bench.skip(format!("rate-monotonic priorities are refused: {why}"));
        }
    }
    let load = task.map_or(0, |task| task.load(&bench.step.parameters, &bench.settings.real_time));
    let found = period::find(bench, &mut |rank, trial, deadlines| match task {
        Some(task) => task.keep_up(rank, trial, deadlines, &mut data, load),
        None => Ok(()),
    })?;
    let _ = period::prioritise(bench.rank, Priority::TimeShared);
    data.check(checked, seed)?;
    let (pairs, size) = (shape.ranks / 2, shape.size);
    period::report(bench, found, Parameters::new(), |first| {
        Ok(period::rate(first, moved_bytes(pairs, size)).into_iter().collect())
    })
}

/// One end of a pair.
#[derive(Clone, Copy)]
struct Task {
    pair: usize,
    sends: bool,
    /// Rank at the other end.
    peer: usize,
}

impl Task {
    /// Returns the task of rank `me` among this number of pairs; `None` for a rank without a partner.
    fn of(me: usize, pairs: usize) -> Option<Task> {
        match me {
            me if me < pairs => Some(Task { pair: me, sends: true, peer: me + pairs }),
            me if me < 2 * pairs => Some(Task { pair: me - pairs, sends: false, peer: me - pairs }),
            _ => None,
        }
    }

    /// Returns the task's period in base periods.
    fn ratio(&self) -> u64 {
        1 << self.pair.min(62)
    }

    /// Returns the floating-point operations that it computes in each of its periods.
    fn load(&self, parameters: &Parameters, real_time: &RealTime) -> u64 {
        let at = if self.sends { "senders" } else { "receivers" };
        let loaded = parameters.get("load") == Some(&at.into());
        if loaded { real_time.load.unwrap_or(0) } else { 0 }
    }

    fn keep_up(
        &self,
        rank: &mut dyn Rank,
        trial: &Trial,
        deadlines: &mut Deadlines,
        data: &mut Data,
        load: u64,
    ) -> Result<()> {
        let ratio = self.ratio();
        for job in 0..trial.instances / ratio {
            if self.sends {
                deadlines.wait_for(rank, job * ratio);
                compute(rank, load);
                rank.send(self.peer, TAG, &data.send)?;
            } else {
                rank.receive(Source::Rank(self.peer), ITS_TAG, &mut data.receive)?;
                compute(rank, load);
            }
            // Due at the end of its last base period.
            let due = (job + 1) * ratio - 1;
            let (pair, now) = (self.pair as u64, rank.now());
            deadlines.delivered((job * ratio, due), pair, now);
            deadlines.judged(due, pair, now);
        }
        Ok(())
    }
}

/// Returns the bytes that all pairs together move in a base period: each further pair half as often.
fn moved_bytes(pairs: usize, size: usize) -> f64 {
    (0..pairs).map(|pair| size as f64 * 0.5f64.powi(pair as i32)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn several_tasks_are_measured_with_and_without_priorities_and_at_either_load() {
        let count = |ranks, load| {
            let real_time = RealTime { load, ..RealTime::default() };
            let settings = Settings { real_time, ..Settings::default() };
            cases(&Scope { ranks, sizes: None, settings: &settings }).len()
        };
        assert_eq!([count(2, None), count(6, None), count(6, Some(1000))], [1, 2, 6]);
    }

    #[test]
    fn three_pairs_move_one_and_three_quarters_of_a_message_in_a_base_period() {
        assert_eq!(moved_bytes(3, 1000), 1750.0);
    }

    #[test]
    fn a_load_is_computed_at_its_own_end_only() {
        let real_time = RealTime { load: Some(500), ..RealTime::default() };
        let parameters = Parameters::from([("load".into(), "receivers".into())]);
        let load = |me| Task::of(me, 3).unwrap().load(&parameters, &real_time);
        assert_eq!([load(0), load(3)], [0, 500]);
    }

    #[test]
    fn periods_are_in_the_ratio_of_one_to_two_to_four() {
        let task = |me| Task::of(me, 3).unwrap();
        assert_eq!([0, 1, 2, 3, 4, 5].map(|me| task(me).ratio()), [1, 2, 4, 1, 2, 4]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|me| task(me).peer), [3, 4, 5, 0, 1, 2]);
        assert!(Task::of(6, 3).is_none());
    }
}
