//! The times of a run that a twin is made from, and what follows directly from them.

use contract::FabricDescription;
use record::{Measurement, Run};

use crate::states::LineStates;
use crate::times::{BySize, median};

/// The benchmarks whose times between two ranks a twin is made from.
pub const CALIBRATING: [&str; 9] =
    [PING_PONG, STREAM, TWO_WAY, REDUCE, BROADCAST, PUT, GET, ACCUMULATE, NOTIFIED_PUT];
/// The benchmark whose sizes a twin meets.
pub const PING_PONG: &str = "ping-pong";
const STREAM: &str = "bandwidth";
const TWO_WAY: &str = "two-way-bandwidth";
const REDUCE: &str = "reduce";
const BROADCAST: &str = "broadcast";
const PUT: &str = "put";
const GET: &str = "get";
const ACCUMULATE: &str = "accumulate";
const NOTIFIED_PUT: &str = "notified-put";
const COPY: &str = "copy";
const CLOCK_COST: &str = "clock-cost";

/// Messages up to this length show the latency; longer ones show the copying.
pub(crate) const SHORT_BYTES: u64 = 256;
/// From this length on streams show whether both ways share something, and reductions how fast they are.
const LONG_BYTES: u64 = 16 * 1024;

/// The measurements between two ranks.
#[derive(Default)]
pub(crate) struct Evidence {
    /// T: one message from end to end.
    pub(crate) whole: BySize,
    /// B: what each message of a stream takes the busier of its ends.
    pub(crate) stream: BySize,
    /// One message each way.
    pub(crate) two_way: BySize,
    /// A reduction of double-precision numbers.
    pub(crate) reduce: BySize,
    pub(crate) broadcast: BySize,
    /// Puts into memory of the other rank, until they are there.
    pub(crate) put: BySize,
    /// Gets from there.
    pub(crate) get: BySize,
    /// Sums of double-precision numbers there, until they are done.
    pub(crate) accumulate: BySize,
    /// Half a round trip by puts with a notice.
    pub(crate) notified_put: BySize,
    /// A copy by one rank.
    pub(crate) copy: BySize,
    /// One copy and its size, for a run that does not say what a copy costs by size.
    pub(crate) one_copy: Option<(u64, f64)>,
    /// To read the clock once.
    pub(crate) clock_us: Option<f64>,
    /// The fabric's description of itself.
    pub(crate) fabric: FabricDescription,
}

impl Evidence {
    /// The evidence in `run`, in the state of the machine of `states`.
    pub(crate) fn of(run: &Run, states: &LineStates) -> Evidence {
        let medians_us = |benchmark, ranks| medians_us(run, benchmark, ranks, states);
        Evidence {
            whole: medians_us(PING_PONG, 2),
            stream: medians_us(STREAM, 2),
            two_way: medians_us(TWO_WAY, 2),
            reduce: medians_us(REDUCE, 2),
            broadcast: medians_us(BROADCAST, 2),
            put: medians_us(PUT, 2),
            get: medians_us(GET, 2),
            accumulate: medians_us(ACCUMULATE, 2),
            notified_put: medians_us(NOTIFIED_PUT, 2),
            copy: medians_us(COPY, 1),
            one_copy: median_of_one(run, COPY),
            clock_us: median_of_one(run, CLOCK_COST).map(|(_, us)| us),
            fabric: run.header().fabric.clone(),
        }
    }

    /// Whether the fabric says that messages are copies in shared memory.
    pub(crate) fn are_copies(&self) -> bool {
        self.fabric.shared_memory.is_some()
    }

    /// The time of a message at the busier of its ends; all of its time, if no stream was measured.
    pub(crate) fn busier_us(&self, size_bytes: u64, whole_us: f64) -> f64 {
        self.stream.get(&size_bytes).copied().unwrap_or(whole_us)
    }

    /// The median of T - B over the short messages. Of copies it is the least, because their ends' shares grow from the
    /// shortest message on.
    pub(crate) fn latency_us(&self) -> f64 {
        let short = self.whole.iter().filter(|&(&size, _)| size <= SHORT_BYTES);
        let idle = short.map(|(&size, &us)| us - self.busier_us(size, us));
        if self.are_copies() {
            return idle.fold(f64::INFINITY, f64::min).clamp(0.0, f64::MAX);
        }
        median(idle.collect()).unwrap_or(0.0).max(0.0)
    }

    /// The cost of posting an operation: half of what a short message each way takes longer than its send and its
    /// receive (`busy_us`, of a size). `None` where that was not measured.
    pub(crate) fn post_us(&self, busy_us: impl Fn(u64) -> Option<f64>) -> Option<f64> {
        let short = self.two_way.iter().filter(|&(&size, _)| size <= SHORT_BYTES);
        let each = |(&size, us): (&u64, &f64)| Some((us - busy_us(size)?) / 2.0);
        median(short.filter_map(each).collect()).map(|us| us.max(0.0))
    }

    /// Millions of reducing operations a second, where that was measured.
    pub(crate) fn reduction_mops(&self) -> Option<f64> {
        const OPERAND_BYTES: f64 = 8.0;
        // Reductions that go over boards are described with the boards.
        let plans = self.fabric.plans.as_ref();
        let boards = plans.map_or(0, |plans| plans.capabilities.boards.most_bytes as u64);
        let from = LONG_BYTES.max(boards.saturating_add(1));
        let long = self.reduce.iter().filter(|&(&size, _)| size >= from);
        let rate = |(size, us): (&u64, &f64)| {
            let reducing_us = us - self.whole.get(size)?;
            (reducing_us > 0.0).then(|| *size as f64 / OPERAND_BYTES / reducing_us)
        };
        median(long.filter_map(rate).collect())
    }

    /// The ratio of one-way to two-way rates of long streams, if that was measured.
    pub(crate) fn both_ways(&self) -> Option<f64> {
        self.both_ways_from(LONG_BYTES)
    }

    /// The same ratio for messages of `from_bytes` and more.
    pub(crate) fn both_ways_from(&self, from_bytes: u64) -> Option<f64> {
        let long = self.two_way.iter().filter(|&(&size, _)| size >= from_bytes);
        let ratio = |(size, us): (&u64, &f64)| Some(us / self.stream.get(size)?);
        median(long.filter_map(ratio).collect())
    }
}

/// Whether an end can only send or only receive at a time, where messages both ways take `both_ways` times as long as
/// one way. If it was not measured, this is assumed.
pub(crate) fn is_simplex(both_ways: Option<f64>) -> bool {
    both_ways.is_none_or(|ratio| ratio > 1.5)
}

/// The times of a benchmark, on any number of ranks.
fn times<'a>(run: &'a Run, benchmark: &'a str) -> impl Iterator<Item = &'a Measurement> {
    run.measurements.iter().filter(move |m| m.benchmark == benchmark && m.metric == "time")
}

/// The median time of a benchmark on `ranks` ranks, by size. A size that was measured in another state only is not
/// there.
fn medians_us(run: &Run, benchmark: &str, ranks: usize, states: &LineStates) -> BySize {
    times(run, benchmark)
        .filter(|m| m.ranks == ranks)
        .filter_map(|m| Some((m.size_bytes, states.time_us(m)?)))
        .collect()
}

/// The median of a benchmark of one rank, at the size nearest to what fits a cache of any machine.
fn median_of_one(run: &Run, benchmark: &str) -> Option<(u64, f64)> {
    const NEAR_BYTES: u64 = 64 * 1024;
    times(run, benchmark)
        .min_by_key(|m| m.size_bytes.abs_diff(NEAR_BYTES))
        .map(|m| (m.size_bytes, m.summary.median))
}
