//! From a measured run to a machine: the twin of the machine that was measured.
//!
//! Between two ranks a ping-pong says what a message of each measured length takes from end to end, T, and a stream of
//! such messages what each takes the busier of its two ends, B. The twin has
//!
//! * a link as fast as the fastest stream, and as set-up of a message what B is longer than the link takes;
//! * as latency what T is longer than B for short messages: no end is busy then;
//! * as the receiver's own cost what is left of T;
//! * an eager limit where T makes a step that no change of slope explains ([`knee`]), and a handshake beyond it;
//! * ends that send or receive, but not both at once, where long streams both ways are as slow as one after the other;
//! * a cost of posting an operation, where short streams both ways, which post each message, are slower than two streams;
//! * a rate of reducing, from what a reduction of a long block takes longer than its message.
//!
//! Set-up and the receiver's cost are exact at each measured length and straight lines between, so that one length that
//! was disturbed spoils no other.
//!
//! Of a run in turns only those go in that were made in one state of the machine ([`states`]).
//!
//! Of a fabric that says that its messages are copies in shared memory, the twin's are, too ([`copies`]), and its collectives
//! go over boards ([`boards`]).

mod boards;
mod copies;
mod curve;
mod describe;
mod knee;
mod pauses;
mod states;

use std::collections::BTreeMap;

use contract::FileError;
use contract::record::{FabricDescription, Run};

use crate::machine;
use crate::{Kind, Machine, unloaded};
use boards::FoundBoard;
use copies::Copies;
use curve::Curve;
use knee::Knee;
pub use pauses::{TwinPause, TwinPauses};
pub use states::{LineStates, TurnCount};

/// The benchmarks whose times between two ranks a twin is made from.
pub const CALIBRATING: [&str; 5] = [PING_PONG, STREAM, TWO_WAY, REDUCE, BROADCAST];
const PING_PONG: &str = "ping-pong";
const STREAM: &str = "bandwidth";
const TWO_WAY: &str = "two-way-bandwidth";
const REDUCE: &str = "reduce";
const BROADCAST: &str = "broadcast";
const COPY: &str = "copy";

/// A machine made from a run, and how well it meets what it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The machine file.
    pub text: String,
    /// For each measured length of the ping-pong.
    pub residuals: Vec<Residual>,
    /// The pauses of its processors, where the run holds `clock`.
    pub pauses: TwinPauses,
}

/// A measured time and the twin's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// The message size in bytes.
    pub size_bytes: u64,
    /// The median of the measurement in microseconds.
    pub measured_us: f64,
    /// The twin's in microseconds.
    pub twin_us: f64,
}

/// Why a run cannot be made into a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CalibrationError {
    /// It does not hold what is needed.
    #[error(
        "the run holds {found} sizes of `ping-pong` between 2 ranks; at least 2 are needed (measure with `cornerstone run clock-cost copy ping-pong bandwidth two-way-bandwidth reduce broadcast --ranks 2 --turns 5`)"
    )]
    TooLittle {
        /// How many sizes there are.
        found: usize,
    },
    /// The machine made from it is refused, by a rule of machine files.
    #[error(transparent)]
    Machine(#[from] FileError),
}

/// Medians in microseconds, by size in bytes.
type BySize = BTreeMap<u64, f64>;

/// What was measured between two ranks.
#[derive(Default)]
struct Evidence {
    /// T.
    whole: BySize,
    /// B.
    stream: BySize,
    /// One message each way.
    two_way: BySize,
    /// A reduction of double-precision numbers.
    reduce: BySize,
    broadcast: BySize,
    /// A copy by one rank.
    copy: BySize,
    /// What the fabric says of itself.
    fabric: FabricDescription,
}

/// What a message of some length takes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ends {
    size_bytes: u64,
    setup_us: f64,
    receive_us: f64,
}

/// All that is found.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    ends: Vec<Ends>,
    latency_us: f64,
    link_mb_per_s: f64,
    /// To post an operation, where that was measured.
    post_us: Option<f64>,
    /// Millions of reducing operations a second, where that was measured.
    reduction_mops: Option<f64>,
    /// How much slower streams are both ways at once than one way, where that was measured.
    both_ways: Option<f64>,
    rendezvous: Option<Rendezvous>,
    /// Where messages are copies in memory: what they cost instead of `ends`.
    copies: Option<Copies>,
    board: Option<FoundBoard>,
    /// A copy by its length.
    copy: Curve,
}

/// Longer messages than `eager_bytes` are agreed upon, which takes the receiver's end `answer_us` besides two short
/// messages.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rendezvous {
    eager_bytes: u64,
    answer_us: f64,
    handshake_us: f64,
}

/// A twin named `name` of the machine that `run` measured, in the state that `states` says.
///
/// # Errors
/// A run without a ping-pong of at least two sizes.
pub fn calibrate(
    name: &str,
    run: &Run,
    states: &LineStates,
) -> Result<Calibration, CalibrationError> {
    let medians_us = |benchmark| medians_us(run, benchmark, states);
    let evidence = Evidence {
        whole: medians_us(PING_PONG),
        stream: medians_us(STREAM),
        two_way: medians_us(TWO_WAY),
        reduce: medians_us(REDUCE),
        broadcast: medians_us(BROADCAST),
        copy: medians_us(COPY),
        fabric: run.header().fabric.clone(),
    };
    if evidence.whole.len() < 2 {
        return Err(CalibrationError::TooLittle { found: evidence.whole.len() });
    }
    let pauses = pauses::find(run);
    let text = describe::describe(name, run, states, &evidence.find(), &pauses);
    let machine = machine::parse(name, &text)?;
    let residual = |(&size_bytes, &measured_us): (&u64, &f64)| Residual {
        size_bytes,
        measured_us,
        twin_us: end_to_end_us(&machine, size_bytes),
    };
    Ok(Calibration { residuals: evidence.whole.iter().map(residual).collect(), text, pauses })
}

/// A message that finds its receiver waiting, from end to end.
fn end_to_end_us(machine: &Machine, bytes: u64) -> f64 {
    let ends = machine.endpoint.send.of(bytes) + machine.endpoint.receive.of(bytes);
    let data = ends + unloaded::transfer(machine, bytes, 2, Kind::Data);
    if machine.protocol.sends_at_once(bytes) {
        return data.as_us();
    }
    let control = unloaded::transfer(machine, 0, 2, Kind::Control);
    (data + control + machine.protocol.answer + control).as_us()
}

/// The median time of a benchmark between two ranks, or of one alone, by size. What was measured in another state only is not
/// there.
fn medians_us(run: &Run, benchmark: &str, states: &LineStates) -> BySize {
    let ranks = if benchmark == COPY { 1 } else { 2 };
    let wanted = run
        .measurements
        .iter()
        .filter(|m| m.benchmark == benchmark && m.metric == "time" && m.ranks == ranks);
    wanted.filter_map(|m| Some((m.size_bytes, states.time_us(m)?))).collect()
}

/// Messages up to this length show the latency; longer ones show the copying.
const SHORT_BYTES: u64 = 256;
/// From this length on streams show whether both ways share something, and reductions how fast they are.
const LONG_BYTES: u64 = 16 * 1024;

impl Evidence {
    fn find(&self) -> Found {
        let latency_us = self.latency_us();
        let setups: Vec<(u64, f64)> = self
            .whole
            .iter()
            .map(|(&size, &us)| (size, self.busier_us(size, us).min(us - latency_us).max(0.0)))
            .collect();
        let link_mb_per_s = fastest(&setups);
        let on_link_us = |size: u64| size as f64 / link_mb_per_s;
        let setup_0_us = setups.first().map_or(0.0, |&(size, us)| us - on_link_us(size));
        let rendezvous = knee::find(&self.whole).and_then(|Knee { last_bytes, step_us }| {
            let answer_us = step_us - 2.0 * (setup_0_us + latency_us);
            let found = Rendezvous { eager_bytes: last_bytes, answer_us, handshake_us: step_us };
            (answer_us >= 0.0).then_some(found)
        });
        let ends = setups.iter().map(|&(size_bytes, busy_us)| {
            let handshake_us = rendezvous.filter(|found| size_bytes > found.eager_bytes);
            let rest_us = self.whole[&size_bytes]
                - latency_us
                - handshake_us.map_or(0.0, |found| found.handshake_us);
            let busy_us = busy_us.min(rest_us).max(on_link_us(size_bytes));
            Ends {
                size_bytes,
                setup_us: busy_us - on_link_us(size_bytes),
                receive_us: (rest_us - busy_us).max(0.0),
            }
        });
        let ends = ends.collect();
        let copies = self.copies();
        let post_us = match &copies {
            Some(copies) => copies.post_us,
            None => self.post_us(),
        };
        Found {
            ends,
            latency_us,
            link_mb_per_s,
            post_us,
            reduction_mops: self.reduction_mops(),
            both_ways: self.both_ways(),
            rendezvous: rendezvous.filter(|_| copies.is_none()),
            copies,
            board: self.board(),
            copy: Curve::through(&self.copy, &[]),
        }
    }

    /// What a message takes the busier of its ends; all of its time, where no stream says more.
    fn busier_us(&self, size_bytes: u64, whole_us: f64) -> f64 {
        self.stream.get(&size_bytes).copied().unwrap_or(whole_us)
    }

    /// The median of T - B over the short messages; of copies the least, for their ends' shares grow from the shortest on.
    fn latency_us(&self) -> f64 {
        let short = self.whole.iter().filter(|&(&size, _)| size <= SHORT_BYTES);
        let idle = short.map(|(&size, &us)| us - self.busier_us(size, us));
        if self.are_copies() {
            return idle.fold(f64::INFINITY, f64::min).clamp(0.0, f64::MAX);
        }
        median(idle.collect()).unwrap_or(0.0).max(0.0)
    }

    /// Half of what a short message each way takes longer than two of a stream: it is one send and one receive.
    fn post_us(&self) -> Option<f64> {
        let short = self.two_way.iter().filter(|&(&size, _)| size <= SHORT_BYTES);
        let each = |(size, us): (&u64, &f64)| Some((us - 2.0 * self.stream.get(size)?) / 2.0);
        median(short.filter_map(each).collect()).map(|us| us.max(0.0))
    }

    fn reduction_mops(&self) -> Option<f64> {
        const OPERAND_BYTES: f64 = 8.0;
        // Those that go over boards are described there.
        let boards = self.fabric.number(FabricDescription::BOARDS_BYTES).unwrap_or(0);
        let from = LONG_BYTES.max(boards + 1);
        let long = self.reduce.iter().filter(|&(&size, _)| size >= from);
        let rate = |(size, us): (&u64, &f64)| {
            let reducing_us = us - self.whole.get(size)?;
            (reducing_us > 0.0).then(|| *size as f64 / OPERAND_BYTES / reducing_us)
        };
        median(long.filter_map(rate).collect())
    }

    fn both_ways(&self) -> Option<f64> {
        let long = self.two_way.iter().filter(|&(&size, _)| size >= LONG_BYTES);
        let ratio = |(size, us): (&u64, &f64)| Some(us / self.stream.get(size)?);
        median(long.filter_map(ratio).collect())
    }
}

impl Found {
    /// Whether an end can only send or only receive at a time. Where nobody measured it, it is taken to be so.
    fn simplex(&self) -> bool {
        self.both_ways.is_none_or(|ratio| ratio > 1.5)
    }
}

/// A rate so high that it never matters.
const NO_LIMIT_MB_PER_S: f64 = 1e9;

/// The highest rate of these times, in MB/s; a rate so high that it never matters where no byte was sent.
fn fastest(times_us: &[(u64, f64)]) -> f64 {
    let rates = times_us.iter().filter(|(size, us)| *size > 0 && *us > 0.0);
    let highest = rates.map(|&(size, us)| size as f64 / us).fold(0.0, f64::max);
    if highest > 0.0 { highest.min(NO_LIMIT_MB_PER_S) } else { NO_LIMIT_MB_PER_S }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(whole: &[(u64, f64)], stream: &[(u64, f64)], two_way: &[(u64, f64)]) -> Found {
        let by_size = |values: &[(u64, f64)]| values.iter().copied().collect();
        let (whole, stream, two_way) = (by_size(whole), by_size(stream), by_size(two_way));
        Evidence { whole, stream, two_way, ..Evidence::default() }.find()
    }

    #[test]
    fn a_stream_tells_what_the_ends_are_busy_with_from_the_latency() {
        // Short: 3 µs of which an end is busy for 1. Long: 12 µs, an end is busy for 8, so 10 of them, less the latency
        // of 2, leave 2 for the receiver alone. The fastest is 1024 bytes in 8 µs: 128 MB/s, on which 8 bytes take 1/16.
        let found = found(&[(8, 3.0), (1024, 12.0)], &[(8, 1.0), (1024, 8.0)], &[]);
        assert_eq!((found.latency_us, found.link_mb_per_s), (2.0, 128.0));
        let ends = |size_bytes, setup_us, receive_us| Ends { size_bytes, setup_us, receive_us };
        assert_eq!(found.ends, [ends(8, 1.0 - 0.0625, 0.0), ends(1024, 0.0, 2.0)]);
    }

    #[test]
    fn a_disturbed_size_spoils_no_other() {
        let clean = [(8, 1.0), (64, 1.5), (512, 2.0)];
        let noisy = [(8, 1.0), (64, 9.0), (512, 2.0)];
        let last = |whole: &[(u64, f64)]| *found(whole, &[], &[]).ends.last().unwrap();
        assert_eq!(last(&clean), last(&noisy));
    }

    #[test]
    fn streams_both_ways_tell_whether_the_ends_do_one_thing_at_a_time() {
        let whole = [(8, 1.0), (65536, 2.0)];
        let stream = [(65536, 2.0)];
        assert!(found(&whole, &stream, &[(65536, 4.0)]).simplex());
        assert!(!found(&whole, &stream, &[(65536, 2.1)]).simplex());
    }

    #[test]
    fn short_streams_both_ways_tell_what_posting_costs() {
        // A message each way takes 5 µs where two of a stream take 2: 1.5 µs for each of the two posts.
        let found = found(&[(8, 2.0), (64, 2.0)], &[(8, 1.0)], &[(8, 5.0)]);
        assert_eq!(found.post_us, Some(1.5));
    }

    #[test]
    fn a_long_reduction_tells_how_fast_operands_are_combined() {
        // 65536 bytes are 8192 operands; 10 µs of which the message takes 2 leave 8 for them.
        let whole = BySize::from([(8, 1.0), (65536, 2.0)]);
        let reduce = BySize::from([(65536, 10.0)]);
        let evidence = Evidence { whole, reduce, ..Evidence::default() };
        assert_eq!(evidence.find().reduction_mops, Some(1024.0));
    }

    /// A machine whose every cost is known gives itself back: 1 µs of set-up, 2 µs of latency, 100 MB/s, and beyond 4096
    /// bytes a handshake of two short messages and 4 µs.
    #[test]
    fn a_machine_with_a_rendezvous_is_found_again() {
        let busy = |size: u64| 1.0 + size as f64 / 100.0;
        let sizes = [8u64, 64, 512, 1024, 2048, 4096, 8192, 16384, 32768];
        let stream: Vec<(u64, f64)> = sizes.iter().map(|&size| (size, busy(size))).collect();
        let handshake = |size: u64| if size > 4096 { 2.0 * 3.0 + 4.0 } else { 0.0 };
        let whole: Vec<(u64, f64)> =
            sizes.iter().map(|&size| (size, busy(size) + 2.0 + handshake(size))).collect();
        let found = found(&whole, &stream, &[]);
        let rendezvous = found.rendezvous.expect("the step is seen");
        assert_eq!(rendezvous.eager_bytes, 4096);
        assert!((rendezvous.handshake_us - 10.0).abs() < 0.1, "{rendezvous:?}");
    }
}
