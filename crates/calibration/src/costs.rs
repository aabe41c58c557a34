//! The cost of a message, derived from the times between two ranks.
//!
//! Between two ranks a ping-pong shows the time of a message of each measured length from end to end, T. A stream of
//! such messages shows the time of each at the busier of its two ends, B. The twin has
//!
//! * a link as fast as the fastest stream, and as set-up of a message the time by which B exceeds that of the link;
//! * as latency the time by which T exceeds B for short messages: no end is busy in it;
//! * as the receiver's own cost the rest of T;
//! * an eager limit where T makes a step that no change of slope explains ([`knee`]), and a handshake beyond it;
//! * ends that either send or receive at a time, if long streams both ways are as slow as one after the other;
//! * a cost of posting an operation, if short streams both ways, which post each message, are slower than two streams;
//! * a rate of reducing, from the time by which a reduction of a long block exceeds its message.
//!
//! Set-up and the receiver's cost are exact at each measured length, with straight lines between. One disturbed length
//! therefore distorts no other.
//!
//! If the fabric describes its messages as copies in shared memory, [`copies`](crate::copies) derives their cost, and
//! [`boards`](crate::boards) that of collectives.

use crate::boards::BoardCosts;
use crate::copies::CopyCosts;
use crate::curve::Curve;
use crate::evidence::{Evidence, is_simplex};
use crate::knee::{self, Knee};
use crate::windows::WindowCosts;

/// Rate so high that it has no effect.
pub(crate) const NO_LIMIT_MB_PER_S: f64 = 1e9;

/// Costs of messages, copies and collectives in a machine file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Costs {
    pub(crate) ends: Vec<Ends>,
    pub(crate) latency_us: f64,
    pub(crate) link_mb_per_s: f64,
    /// Time to post an operation, if it was measured.
    pub(crate) post_us: Option<f64>,
    /// Time to read the clock, if it was measured.
    pub(crate) clock_us: Option<f64>,
    /// Millions of reducing operations a second, if they were measured.
    pub(crate) reduction_mops: Option<f64>,
    /// Ratio of one-way to two-way rates of streams, if it was measured.
    pub(crate) both_ways: Option<f64>,
    pub(crate) rendezvous: Option<Rendezvous>,
    /// Cost of messages that are copies in memory. It replaces `ends`.
    pub(crate) copies: Option<CopyCosts>,
    pub(crate) board: Option<BoardCosts>,
    pub(crate) windows: Option<WindowCosts>,
    /// Time of a copy by its length.
    pub(crate) copy: Curve,
    /// Size in bytes and time of one copy.
    pub(crate) one_copy: Option<(u64, f64)>,
}

/// Times of a message of a given length at its two ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ends {
    pub(crate) size_bytes: u64,
    pub(crate) setup_us: f64,
    pub(crate) receive_us: f64,
}

/// Handshake of messages longer than `eager_bytes`. It takes the receiver's end `answer_us` besides two short messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rendezvous {
    pub(crate) eager_bytes: u64,
    pub(crate) answer_us: f64,
    pub(crate) handshake_us: f64,
}

impl Costs {
    /// Returns the costs that `evidence` shows.
    pub(crate) fn of(evidence: &Evidence) -> Costs {
        let latency_us = evidence.latency_us();
        let busy_us: Vec<(u64, f64)> = evidence
            .whole
            .iter()
            .map(|(&size, &us)| (size, evidence.busier_us(size, us).min(us - latency_us).max(0.0)))
            .collect();
        let link_mb_per_s = fastest(&busy_us);
        let on_link_us = |size: u64| size as f64 / link_mb_per_s;
        let setup_0_us = busy_us.first().map_or(0.0, |&(size, us)| us - on_link_us(size));
        let rendezvous = rendezvous(evidence, setup_0_us + latency_us);
        let ends = busy_us.iter().map(|&(size_bytes, busy_us)| {
            let handshake_us = rendezvous.filter(|found| size_bytes > found.eager_bytes);
            let rest_us = evidence.whole[&size_bytes]
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
        let copies = CopyCosts::of(evidence);
        let post_us = match &copies {
            Some(copies) => copies.post_us,
            // A short message each way is one send and one receive, as are two messages of a stream.
            None => evidence.post_us(|size| Some(2.0 * evidence.stream.get(&size)?)),
        };
        Costs {
            ends,
            latency_us,
            link_mb_per_s,
            post_us,
            clock_us: evidence.clock_us,
            reduction_mops: evidence.reduction_mops(),
            both_ways: evidence.both_ways(),
            rendezvous: rendezvous.filter(|_| copies.is_none()),
            copies,
            board: BoardCosts::of(evidence),
            windows: WindowCosts::of(evidence),
            copy: Curve::through(&evidence.copy, &[]),
            one_copy: evidence.one_copy,
        }
    }

    /// Returns the time of a copy of this number of bytes, in microseconds; none if no copy was measured.
    pub(crate) fn copy_us(&self, bytes: f64) -> f64 {
        match (&self.copy.pieces[..], self.one_copy) {
            ([_, _, ..], _) => self.copy.of(bytes as u64),
            (_, Some((size_bytes, us))) => us * bytes / size_bytes as f64,
            _ => 0.0,
        }
    }

    /// Returns whether an end can only send or only receive at a time.
    pub(crate) fn simplex(&self) -> bool {
        is_simplex(self.both_ways)
    }
}

/// Returns the step of the ping-pong as a handshake of two short messages of `short_us` each, if there is a step and it
/// is no shorter than they are.
fn rendezvous(evidence: &Evidence, short_us: f64) -> Option<Rendezvous> {
    let Knee { last_bytes, step_us } = knee::find(&evidence.whole)?;
    let answer_us = step_us - 2.0 * short_us;
    let found = Rendezvous { eager_bytes: last_bytes, answer_us, handshake_us: step_us };
    (answer_us >= 0.0).then_some(found)
}

/// Returns the highest rate of these times, in MB/s; without a byte sent, a rate so high that it has no effect.
fn fastest(times_us: &[(u64, f64)]) -> f64 {
    let rates = times_us.iter().filter(|(size, us)| *size > 0 && *us > 0.0);
    let highest = rates.map(|&(size, us)| size as f64 / us).fold(0.0, f64::max);
    if highest > 0.0 { highest.min(NO_LIMIT_MB_PER_S) } else { NO_LIMIT_MB_PER_S }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::times::BySize;

    fn found(whole: &[(u64, f64)], stream: &[(u64, f64)], two_way: &[(u64, f64)]) -> Costs {
        let by_size = |values: &[(u64, f64)]| values.iter().copied().collect();
        let (whole, stream, two_way) = (by_size(whole), by_size(stream), by_size(two_way));
        Costs::of(&Evidence { whole, stream, two_way, ..Evidence::default() })
    }

    #[test]
    fn a_stream_tells_what_the_ends_are_busy_with_from_the_latency() {
        // Short: 3 µs, in 1 of which an end is busy. Long: 12 µs, of which an end is busy for 8, so 10 of them, less
        // the latency of 2, leave 2 for the receiver alone. The fastest is 1024 bytes in 8 µs: 128 MB/s, at which 8
        // bytes take 1/16.
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
        // 65536 bytes are 8192 operands. The message takes 2 of 10 µs, which leaves 8 for them.
        let whole = BySize::from([(8, 1.0), (65536, 2.0)]);
        let reduce = BySize::from([(65536, 10.0)]);
        let evidence = Evidence { whole, reduce, ..Evidence::default() };
        assert_eq!(Costs::of(&evidence).reduction_mops, Some(1024.0));
    }

    /// Tests that a machine with known costs is derived from its own times: 1 µs of set-up, 2 µs of latency, 100 MB/s,
    /// and beyond 4096 bytes a handshake of two short messages and 4 µs.
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
