//! The times of a run from which a twin is made, and quantities that follow directly from them.

use contract::FabricDescription;
use record::{Measurement, Run};

use crate::states::TwinState;
use crate::times::{BySize, median};

/// Benchmarks from whose times between two ranks a twin is made.
pub const CALIBRATING: [&str; 9] =
    [PING_PONG, STREAM, TWO_WAY, REDUCE, BROADCAST, PUT, GET, ACCUMULATE, NOTIFIED_PUT];
/// Benchmark whose sizes a twin reproduces.
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

/// Longest message in bytes that shows the latency; longer ones show the copying.
pub(crate) const SHORT_BYTES: u64 = 256;
/// Length in bytes from which streams show whether both directions share something, and reductions how fast they are.
const LONG_BYTES: u64 = 16 * 1024;

/// Measurements between two ranks.
#[derive(Default)]
pub(crate) struct Evidence {
    /// T: time of one message from end to end.
    pub(crate) whole: BySize,
    /// B: time of each message of a stream at the busier of its ends.
    pub(crate) stream: BySize,
    /// Time of one message each way.
    pub(crate) two_way: BySize,
    /// Time of a reduction of double-precision numbers.
    pub(crate) reduce: BySize,
    pub(crate) broadcast: BySize,
    /// Time of puts into memory of the other rank, until they have arrived.
    pub(crate) put: BySize,
    /// Time of gets from that memory.
    pub(crate) get: BySize,
    /// Time of sums of double-precision numbers there, until they are complete.
    pub(crate) accumulate: BySize,
    /// Half the time of a round trip by notified puts.
    pub(crate) notified_put: BySize,
    /// Time of a copy by one rank.
    pub(crate) copy: BySize,
    /// Size in bytes and time of one copy, for a run without the cost of copies by size.
    pub(crate) one_copy: Option<(u64, f64)>,
    /// Time to read the clock once.
    pub(crate) clock_us: Option<f64>,
    /// The fabric's description of itself.
    pub(crate) fabric: FabricDescription,
}

impl Evidence {
    /// Returns the evidence in `run`, in the state of the machine of `states`.
    pub(crate) fn of(run: &Run, states: &TwinState) -> Evidence {
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

    /// Returns whether the fabric describes messages as copies in shared memory.
    pub(crate) fn are_copies(&self) -> bool {
        self.fabric.shared_memory.is_some()
    }

    /// Returns the time of a message at the busier of its ends; all of its time, if no stream was measured.
    pub(crate) fn busier_us(&self, size_bytes: u64, whole_us: f64) -> f64 {
        self.stream.get(&size_bytes).copied().unwrap_or(whole_us)
    }

    /// Returns the median of T - B over the short messages. For copies it is the least, because their ends' parts grow
    /// from the shortest message on.
    pub(crate) fn latency_us(&self) -> f64 {
        let short = self.whole.iter().filter(|&(&size, _)| size <= SHORT_BYTES);
        let idle = short.map(|(&size, &us)| us - self.busier_us(size, us));
        if self.are_copies() {
            return idle.reduce(f64::min).unwrap_or(0.0).max(0.0);
        }
        median(idle.collect()).unwrap_or(0.0).max(0.0)
    }

    /// Returns the cost of posting an operation: half of the time by which a short message each way exceeds its send
    /// and its receive (`busy_us`, of a size). `None` if that was not measured.
    pub(crate) fn post_us(&self, busy_us: impl Fn(u64) -> Option<f64>) -> Option<f64> {
        let short = self.two_way.iter().filter(|&(&size, _)| size <= SHORT_BYTES);
        let each = |(&size, us): (&u64, &f64)| Some((us - busy_us(size)?) / 2.0);
        median(short.filter_map(each).collect()).map(|us| us.max(0.0))
    }

    /// Returns the millions of reducing operations a second, if they were measured.
    pub(crate) fn reduction_mops(&self) -> Option<f64> {
        const OPERAND_BYTES: f64 = 8.0;
        // Reductions over boards are described with the boards.
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

    /// Returns the ratio of one-way to two-way rates of long streams, if it was measured.
    pub(crate) fn both_ways(&self) -> Option<f64> {
        self.both_ways_from(LONG_BYTES)
    }

    /// As [`both_ways`](Evidence::both_ways), for messages of `from_bytes` and more.
    pub(crate) fn both_ways_from(&self, from_bytes: u64) -> Option<f64> {
        let long = self.two_way.iter().filter(|&(&size, _)| size >= from_bytes);
        let ratio = |(size, us): (&u64, &f64)| Some(us / self.stream.get(size)?);
        median(long.filter_map(ratio).collect())
    }
}

/// Returns whether an end can only send or only receive at a time, if messages both ways take `both_ways` times as long
/// as one way. Returns true if it was not measured.
pub(crate) fn is_simplex(both_ways: Option<f64>) -> bool {
    both_ways.is_none_or(|ratio| ratio > 1.5)
}

/// Returns the times of a benchmark, on any number of ranks.
fn times<'a>(run: &'a Run, benchmark: &'a str) -> impl Iterator<Item = &'a Measurement> {
    run.measurements.iter().filter(move |m| m.benchmark == benchmark && m.metric == "time")
}

/// Returns the median time of a benchmark on `ranks` ranks, by size. A size that was measured only in another state is
/// absent.
fn medians_us(run: &Run, benchmark: &str, ranks: usize, states: &TwinState) -> BySize {
    times(run, benchmark)
        .filter(|m| m.ranks == ranks)
        .filter_map(|m| Some((m.size_bytes, states.time_us(m)?)))
        .collect()
}

/// Returns the median of a benchmark of one rank, at the size nearest to one that fits a cache of any machine.
fn median_of_one(run: &Run, benchmark: &str) -> Option<(u64, f64)> {
    const NEAR_BYTES: u64 = 64 * 1024;
    times(run, benchmark)
        .min_by_key(|m| m.size_bytes.abs_diff(NEAR_BYTES))
        .map(|m| (m.size_bytes, m.summary.median))
}
