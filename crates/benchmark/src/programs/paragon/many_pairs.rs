//! Many pairs at once across the middle of a line, and how fairly they share it.

use analysis::statistics::{Sample, fairness, is_precise, precision_reached};
use contract::record::{
    Better, Measurement, ParameterValue, Parameters, StopReason, Timing as TimingRecord,
};
use contract::{Rank, Result, Source, Tag, TagSelector, Time};

use crate::Event;
use crate::catalogue::{Benchmark, Program, RankRule, Timing};
use crate::data::{Blocks, Data, Received};
use crate::execute::Bench;
use crate::plan::{Case, Scope, sized};
use crate::programs::{BENCHMARK, BETWEEN_TWO};
use crate::timed_loop::Outcome;

pub(in crate::programs) const MANY_PAIRS: Benchmark = Benchmark {
    name: "many-pairs",
    group: "paragon",
    summary: "pairs across the middle of a line: each one's rate, and the share left unsent",
    explains: "Each rank of the first half sends up to 64 messages to its mate in the second half, which acknowledges \
        each with an empty one. With layout=symmetric the mates are as far from the middle (of 16: 0-15, 1-14 ... 7-8), \
        with layout=asymmetric all are equally far apart (0-8 ... 7-15). The first sender to be done stops the others. \
        A pair's rate is what its receiver got, over the time until its last message; the rate is the sum. `unsent` is \
        the share of all messages that were left when the first pair was done, and `fairness` Jain's index of the \
        pairs' rates: 100 % where all are equal. An odd rank is left over. Source: MITRE real-time benchmarks (1995), \
        sections 4.1.2 and 4.1.3, which send 1000 messages of 256 KiB (so does `cornerstone reproduce`).",
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
    in_turns: false,
    ..BENCHMARK
};

/// The most that each pair sends in a run, unless its parameter says otherwise: few enough for a quick run, but a pair
/// that gets a fiftieth of the fastest one's rate sends one or two.
const MESSAGES: u64 = 64;
/// The parameter that says otherwise.
const MESSAGES_PARAMETER: &str = "messages";

const DATA: Tag = Tag::new(0);
const ACKNOWLEDGEMENT: Tag = Tag::new(1);
/// From a sender to its receiver: there is no more.
const END: Tag = Tag::new(2);
/// From the first sender that is done to all others.
const STOP: Tag = Tag::new(3);

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

/// What a pair's receiver saw of a run; as bytes, what ranks tell each other of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Seen {
    messages: u64,
    begin_ps: u64,
    end_ps: u64,
    /// 1 for a sender that was done and stopped the others.
    stopped_others: u64,
}

impl Seen {
    const BYTES: usize = 32;

    fn to_bytes(self) -> [u8; Seen::BYTES] {
        let words = [self.messages, self.begin_ps, self.end_ps, self.stopped_others];
        let mut bytes = [0; Seen::BYTES];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        Seen { messages: word(0), begin_ps: word(1), end_ps: word(2), stopped_others: word(3) }
    }

    fn rate_mb_per_s(&self, size: usize) -> f64 {
        let us = (self.end_ps - self.begin_ps) as f64 / 1e6;
        if us > 0.0 { self.messages as f64 * size as f64 / us } else { 0.0 }
    }
}

/// Who sends to whom.
struct Pairs {
    count: usize,
    symmetric: bool,
    /// The most that each sends in a run.
    messages: u64,
}

impl Pairs {
    fn of(parameters: &Parameters, ranks: usize) -> Pairs {
        let messages = match parameters.get(MESSAGES_PARAMETER) {
            Some(ParameterValue::Number(messages)) => *messages,
            _ => MESSAGES,
        };
        let symmetric = parameters.get("layout") != Some(&"asymmetric".into());
        Pairs { count: ranks / 2, symmetric, messages }
    }

    fn receiver(&self, sender: usize, ranks: usize) -> usize {
        // With an odd rank left over, the last one stands aside.
        let last = ranks - ranks % 2 - 1;
        if self.symmetric { last - sender } else { sender + self.count }
    }

    /// What a receiver's block holds at the end: its sender's.
    fn received(&self) -> Received {
        if self.symmetric {
            Received::Blocks(|shape, _| (shape.ranks - shape.ranks % 2 - 1 - shape.me, 0))
        } else {
            Received::Blocks(|shape, _| (shape.me - shape.ranks / 2, 0))
        }
    }

    fn sender(&self, receiver: usize, ranks: usize) -> Option<usize> {
        (0..self.count).find(|&sender| self.receiver(sender, ranks) == receiver)
    }
}

/// What the runs showed, at rank 0.
#[derive(Default)]
struct Found {
    warm_up_ps: f64,
    time_ps: Vec<f64>,
    rate: Vec<f64>,
    unsent: Vec<f64>,
    fairness: Vec<f64>,
    pairs: Vec<Vec<f64>>,
}

impl Found {
    /// A run in which each pair could send `messages`.
    fn add(&mut self, pairs: &[Seen], messages: u64, size: usize) {
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

/// From the first receiver's beginning to the last one's end.
fn span_ps(pairs: &[Seen]) -> f64 {
    let begin = pairs.iter().map(|pair| pair.begin_ps).min().unwrap_or(0);
    let end = pairs.iter().map(|pair| pair.end_ps).max().unwrap_or(0);
    (end - begin) as f64
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let (ranks, size) = (bench.shape.ranks, bench.shape.size);
    let pairs = Pairs::of(&bench.step.parameters, ranks);
    let blocks = (bench.benchmark.program.blocks)(&bench.shape);
    let mut data = Data::new(bench.shape.clone(), blocks, Received::Nothing, bench.settings.seed)?;
    let begin = bench.rank.now();
    let run = |bench: &mut Bench<'_>, data: &mut Data| {
        let seen = run_once(bench.rank, &pairs, data)?;
        let receivers = (0..pairs.count).map(|sender| seen[pairs.receiver(sender, ranks)]);
        Ok::<Vec<Seen>, contract::Error>(receivers.collect())
    };
    let warm_up_ps = span_ps(&run(bench, &mut data)?);
    let mut found = Found { warm_up_ps, ..Found::default() };
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

/// What rank 0 may decide after a run: to go on, or to stop for a reason.
const REASONS: [Option<StopReason>; 4] =
    [None, Some(StopReason::Precision), Some(StopReason::TimeLimit), Some(StopReason::SampleLimit)];

fn decide(bench: &Bench<'_>, found: &Found, begin: Time) -> u8 {
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

/// One run; every rank gets what each saw.
fn run_once(rank: &mut dyn Rank, pairs: &Pairs, data: &mut Data) -> Result<Vec<Seen>> {
    let (me, ranks) = (rank.rank(), rank.size());
    rank.barrier()?;
    let mut stops_taken = 0;
    let mine = if me < pairs.count {
        let stopped_others = send_all(rank, pairs, data, &mut stops_taken)?;
        Seen { stopped_others: u64::from(stopped_others), ..Seen::default() }
    } else if let Some(sender) = pairs.sender(me, ranks) {
        receive_all(rank, sender, data)?
    } else {
        Seen::default()
    };
    let mut all = vec![0; ranks * Seen::BYTES];
    rank.allgather(&mine.to_bytes(), &mut all)?;
    let seen: Vec<Seen> = all.chunks_exact(Seen::BYTES).map(Seen::from_bytes).collect();
    if me < pairs.count {
        let stoppers: u64 = seen.iter().map(|seen| seen.stopped_others).sum();
        for _ in stops_taken..stoppers - mine.stopped_others {
            rank.receive(Source::Any, STOP.into(), &mut [])?;
        }
    }
    Ok(seen)
}

/// Sends until all is sent or another sender is done; says whether this one was done, and stopped the others.
fn send_all(
    rank: &mut dyn Rank,
    pairs: &Pairs,
    data: &Data,
    stops_taken: &mut u64,
) -> Result<bool> {
    let me = rank.rank();
    let to = pairs.receiver(me, rank.size());
    let mut done = true;
    for _ in 0..pairs.messages {
        if rank.probe(Source::Any, STOP.into())?.is_some() {
            rank.receive(Source::Any, STOP.into(), &mut [])?;
            *stops_taken += 1;
            done = false;
            break;
        }
        rank.send(to, DATA, &data.send)?;
        rank.receive(Source::Rank(to), ACKNOWLEDGEMENT.into(), &mut [])?;
    }
    if done {
        for other in (0..pairs.count).filter(|&other| other != me) {
            rank.send(other, STOP, &[])?;
        }
    }
    rank.send(to, END, &[])?;
    Ok(done)
}

fn receive_all(rank: &mut dyn Rank, from: usize, data: &mut Data) -> Result<Seen> {
    let begin_ps = rank.now().as_ps();
    let mut seen = Seen { begin_ps, end_ps: begin_ps, ..Seen::default() };
    loop {
        let status = rank.receive(Source::Rank(from), TagSelector::Any, &mut data.receive)?;
        if status.tag == END {
            return Ok(seen);
        }
        seen.end_ps = rank.now().as_ps();
        seen.messages += 1;
        rank.send(from, ACKNOWLEDGEMENT, &[])?;
    }
}

fn report(
    bench: &mut Bench<'_>,
    pairs: &Pairs,
    found: Found,
    stop_reason: StopReason,
    begin: Time,
) -> Result<()> {
    let timing = TimingRecord {
        events_per_sample: 1,
        clock_share: 0.0,
        start: "barrier".into(),
        late_starts: 0,
        spent_s: bench.rank.now().since(begin).as_s(),
    };
    let samples_ps = found.time_ps;
    let warm_up_ps = vec![found.warm_up_ps];
    let outcome = Outcome { samples_ps, warm_up_ps, stop_reason, timing, turns: Vec::new() };
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
    bench.tell(Event::Measured(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_are_those_of_the_two_layouts() {
        let mates = |symmetric, ranks: usize| {
            let pairs = Pairs { count: ranks / 2, symmetric, messages: 1 };
            (0..pairs.count).map(|sender| pairs.receiver(sender, ranks)).collect::<Vec<_>>()
        };
        assert_eq!(mates(true, 6), [5, 4, 3]);
        assert_eq!(mates(false, 6), [3, 4, 5]);
        assert_eq!(mates(true, 7), [5, 4, 3]);
        let pairs = Pairs { count: 3, symmetric: true, messages: 1 };
        assert_eq!((pairs.sender(4, 7), pairs.sender(6, 7)), (Some(1), None));
    }

    #[test]
    fn what_a_rank_saw_survives_the_wire() {
        let seen = Seen { messages: 3, begin_ps: 5, end_ps: 2_000_005, stopped_others: 1 };
        assert_eq!(Seen::from_bytes(&seen.to_bytes()), seen);
        // 3 messages of 100 bytes in 2 µs.
        assert_eq!(seen.rate_mb_per_s(100), 150.0);
    }

    /// Two pairs: one sends all of its messages, the other half as many, at half the rate. A quarter is unsent; Jain's
    /// index of rates 2 and 1 is 3² / (2 (4 + 1)).
    #[test]
    fn unsent_share_and_fairness_of_two_pairs() {
        let pair = |messages| Seen { messages, end_ps: 64_000_000, ..Seen::default() };
        let mut found = Found::default();
        found.add(&[pair(64), pair(32)], 64, 1000);
        assert_eq!((found.rate[0], found.unsent[0], found.fairness[0]), (1500.0, 25.0, 90.0));
        assert_eq!(found.pairs, [[1000.0], [500.0]]);
    }
}
