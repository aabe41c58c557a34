//! Many pairs at once across the middle of a line, and the fairness of their rates.

mod run;

use analysis::statistics::{Sample, fairness, is_precise, precision_reached};
use contract::{Result, Time};
use record::{Better, Measurement, Parameters, StopReason};

use crate::bench::Bench;
use crate::case::{Case, Scope, sized};
use crate::data::{Blocks, Data, Received};
use crate::declaration::{Benchmark, Group};
use crate::event::Event;
use crate::paper;
use crate::program::{Program, Timing};
use crate::programs::common::{BENCHMARK, BETWEEN_TWO};
use crate::ranks::RankRule;
use crate::timed_loop::Outcome;
use run::{MESSAGES, PairOutcome, Pairs, run_once, span_ps};

pub(in crate::programs) const MANY_PAIRS: Benchmark = Benchmark {
    name: "many-pairs",
    group: Group::Bandwidths,
    summary: "pairs across the middle of a line: the rate of each, and the unsent share",
    explains: "Each rank of the first half sends up to 64 messages to its partner in the second half, which \
        acknowledges each with an empty one. With layout=symmetric, partners have the same distance from the \
        middle (of 16: 0-15, 1-14 ... 7-8); with layout=asymmetric, all have the same distance from each other \
        (0-8 ... 7-15). The first sender that ends stops the others. The rate of a pair is the data received, \
        divided by the time until its last message; the rate is the sum. `unsent` is the share of all messages \
        that were not sent when the first pair ended, and `fairness` is Jain's index of the rates: 100 % if all \
        are equal. With an odd number, one rank is idle. The paper sends 1000 messages of 256 KiB, and so does \
        `cornerstone reproduce`.",
    source: paper::MITRE.part("sections 4.1.2 and 4.1.3"),
    ranks: RankRule::AtLeast(2),
    cases,
    program: Program {
        timing: Timing::Slowest,
        in_a_row: false,
        blocks: |shape| match shape.me {
            me if me < shape.ranks / 2 => Blocks { send: 1, ..Blocks::NONE },
            me if me < shape.ranks / 2 * 2 => Blocks { receive: 1, ..Blocks::NONE },
            _ => Blocks::NONE,
        },
        event: |_, _| Ok(()),
        received: Received::Nothing,
        moved: |shape| shape.size as u64 * MESSAGES * (shape.ranks / 2) as u64,
        ..BETWEEN_TWO
    },
    measure,
    repeatable: false,
    ..BENCHMARK
};

fn cases(scope: &Scope) -> Vec<Case> {
    let layouts = ["symmetric", "asymmetric"];
    let sizes = sized(scope, &[256 << 10]);
    let case = |layout: &str, size_bytes| Case {
        parameters: Parameters::from([("layout".into(), layout.into())]),
        size_bytes,
    };
    let sizes = |layout| sizes.iter().map(move |sized| case(layout, sized.size_bytes));
    layouts.into_iter().flat_map(sizes).collect()
}

/// Results of the runs, at rank 0.
#[derive(Default)]
struct PairResults {
    warm_up_ps: f64,
    time_ps: Vec<f64>,
    rate: Vec<f64>,
    unsent: Vec<f64>,
    fairness: Vec<f64>,
    pairs: Vec<Vec<f64>>,
}

impl PairResults {
    /// Adds a run in which each pair could send `messages`.
    fn add(&mut self, pairs: &[PairOutcome], messages: u64, size: usize) {
        let rates: Vec<f64> = pairs.iter().map(|pair| pair.rate_mb_per_s(size)).collect();
        let sent: u64 = pairs.iter().map(|pair| pair.messages).sum();
        self.time_ps.push(span_ps(pairs));
        self.rate.push(rates.iter().sum());
        self.unsent.push(100.0 * (1.0 - sent as f64 / (messages * pairs.len() as u64) as f64));
        self.fairness.push(100.0 * fairness(&rates).unwrap_or(1.0));
        self.pairs.resize(pairs.len(), Vec::new());
        self.pairs.iter_mut().zip(rates).for_each(|(all, rate)| all.push(rate));
    }
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let (ranks, size) = (bench.shape.ranks, bench.shape.size);
    let pairs = Pairs::of(&bench.step.parameters, ranks);
    let blocks = (bench.definition.program.blocks)(&bench.shape);
    let mut data = Data::new(bench.shape.clone(), blocks, Received::Nothing, bench.settings.seed)?;
    let begin = bench.rank.now();
    let run = |bench: &mut Bench<'_>, data: &mut Data| {
        let seen = run_once(bench.rank, &pairs, data)?;
        let receivers = (0..pairs.count).map(|sender| seen[pairs.receiver(sender, ranks)]);
        Ok::<Vec<PairOutcome>, contract::Error>(receivers.collect())
    };
    let warm_up_ps = span_ps(&run(bench, &mut data)?);
    let mut found = PairResults { warm_up_ps, ..PairResults::default() };
    let stop_reason = loop {
        let receivers = run(bench, &mut data)?;
        found.add(&receivers, pairs.messages, size);
        let mut decision = [decide(bench, &found, begin)];
        bench.rank.broadcast(0, &mut decision)?;
        if let Some(reason) = REASONS[usize::from(decision[0])] {
            break reason;
        }
    };
    data.check(pairs.received(), bench.settings.seed)?;
    if bench.shape.me == 0 { report(bench, &pairs, found, stop_reason, begin) } else { Ok(()) }
}

/// Decisions of rank 0 after a run: to continue, or to stop for a reason.
const REASONS: [Option<StopReason>; 4] =
    [None, Some(StopReason::Precision), Some(StopReason::TimeLimit), Some(StopReason::SampleLimit)];

fn decide(bench: &Bench<'_>, found: &PairResults, begin: Time) -> u8 {
    let settings = bench.settings;
    let late = bench.rank.now().since(begin) >= bench.limit;
    let narrow = if late { is_precise } else { precision_reached };
    let narrow = Sample::new(found.rate.clone())
        .is_ok_and(|sample| narrow(&sample, settings.confidence, settings.precision));
    if narrow {
        1
    } else if found.rate.len() as u64 >= settings.samples_max {
        3
    } else if late && found.rate.len() > 1 {
        2
    } else {
        0
    }
}

fn report(
    bench: &mut Bench<'_>,
    pairs: &Pairs,
    found: PairResults,
    stop_reason: StopReason,
    begin: Time,
) -> Result<()> {
    let timing = record::Timing::of_single_events("barrier", bench.rank.now().since(begin).as_s());
    let samples_ps = found.time_ps;
    let warm_up_ps = vec![found.warm_up_ps];
    let outcome = Outcome {
        samples_ps,
        warm_up_ps,
        stop_reason,
        timing: timing.clone(),
        operations_ns: Vec::new(),
        repetitions: Vec::new(),
    };
    let time = bench.subject(Parameters::new()).time(1, &outcome)?;
    let metric = |name: &str, unit: &str, better, values: Vec<f64>, more: Parameters| {
        let subject = bench.subject(more);
        Ok(Measurement {
            parameters: subject.parameters.clone(),
            metric: name.into(),
            unit: unit.into(),
            better,
            summary: subject.summary(&values)?,
            samples: values,
            ..time.clone()
        })
    };
    let mut all = vec![
        metric("rate", "MB/s", Better::Higher, found.rate, Parameters::new())?,
        metric("unsent", "%", Better::Lower, found.unsent, Parameters::new())?,
        metric("fairness", "%", Better::Higher, found.fairness, Parameters::new())?,
    ];
    for (sender, rates) in found.pairs.into_iter().enumerate() {
        let name = format!("{sender}-{}", pairs.receiver(sender, bench.shape.ranks));
        let more = Parameters::from([("pair".into(), name.as_str().into())]);
        all.push(metric("pair-rate", "MB/s", Better::Higher, rates, more)?);
    }
    all.insert(0, time);
    bench.emit(Event::Measured(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests two pairs: one sends all of its messages, the other half as many, at half the rate. A quarter is unsent;
    /// Jain's index of rates 2 and 1 is 3² / (2 (4 + 1)).
    #[test]
    fn unsent_share_and_fairness_of_two_pairs() {
        let pair =
            |messages| PairOutcome { messages, end_ps: 64_000_000, ..PairOutcome::default() };
        let mut found = PairResults::default();
        found.add(&[pair(64), pair(32)], 64, 1000);
        assert_eq!((found.rate[0], found.unsent[0], found.fairness[0]), (1500.0, 25.0, 90.0));
        assert_eq!(found.pairs, [[1000.0], [500.0]]);
    }
}
