//! Messages that are copies in shared memory.
//!
//! A short message is copied twice: by the sender into a ring, and by the receiver out of it. A longer message is
//! copied once, by the receiver. A very long one is copied by both ends at once. The fabric describes these lengths. A
//! copy occupies a processor, so a rank that sends and receives does one after the other. Very long messages occupy
//! both ends at once, unless the sender also receives one: then it copies that one. Streams both ways show whether
//! messages in both directions take longer for it. If they do not, only the receiver is assumed to copy.
//!
//! T is the time of a message from end to end, B the time of each message of a stream, L the latency:
//!
//! * L is the least of T - B among short messages;
//! * the two ends have equal parts of T - L if both copy, and the receiver has all of it if it alone copies, as far as
//!   each part stays within B; the rest delays the message and occupies no end;
//! * a rank sends the next message no sooner than B after the last;
//! * a message that both ends copy occupies both for B, and the receiver for the rest.

use std::collections::BTreeMap;

use crate::curve::{Curve, follow};
use crate::evidence::{Evidence, is_simplex};
use crate::times::BySize;

/// Cost of messages.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CopyCosts {
    pub(crate) send: Curve,
    pub(crate) receive: Curve,
    pub(crate) setup: Curve,
    pub(crate) gap: Curve,
    /// Length in bytes from which a message occupies both ends. `None` if messages both ways do not delay each other.
    pub(crate) both_from_bytes: Option<u64>,
    /// Time to post an operation, if it was measured.
    pub(crate) post_us: Option<f64>,
}

/// The ends that copy a message.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Copier {
    /// The sender into a ring and the receiver out of it, one after the other.
    Each,
    /// The receiver, from the memory of the sender.
    Receiver,
    /// Both at once, a part each.
    Together,
}

/// Parts of the time of a message of some length.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Parts {
    send_us: f64,
    receive_us: f64,
    setup_us: f64,
    gap_us: f64,
}

impl CopyCosts {
    /// Returns the cost of messages, if the fabric describes them as copies.
    pub(crate) fn of(evidence: &Evidence) -> Option<CopyCosts> {
        let lengths = evidence.fabric.shared_memory?;
        let together_from_bytes = lengths.both_copy_from_bytes;
        let both_ways = evidence.both_ways_from(together_from_bytes);
        let both_from_bytes = is_simplex(both_ways).then_some(together_from_bytes);
        let one_from_bytes = lengths.one_copy_from_bytes;
        let mut breaks: Vec<u64> =
            one_from_bytes.into_iter().chain([together_from_bytes]).collect();
        breaks.sort_unstable();
        let latency_us = evidence.latency_us();
        let [whole, stream] =
            [&evidence.whole, &evidence.stream].map(|times| follow(times, &evidence.copy, &breaks));
        let parts = |(&size, &whole_us): (&u64, &f64)| {
            let gap_us = stream.get(&size).copied().unwrap_or(whole_us);
            let is_from = |from: Option<&u64>| from.is_some_and(|&from| size >= from);
            let copier = if is_from(both_from_bytes.as_ref()) {
                Copier::Together
            } else if is_from(breaks.first()) {
                Copier::Receiver
            } else {
                Copier::Each
            };
            (size, divide((whole_us - latency_us).max(0.0), gap_us, copier))
        };
        let parts: BTreeMap<u64, Parts> = whole.iter().map(parts).collect();
        let curve = |part: fn(&Parts) -> f64| {
            let points: BySize = parts.iter().map(|(&size, parts)| (size, part(parts))).collect();
            Curve::through(&points, &breaks)
        };
        let busy_us = |size| parts.get(&size).map(|parts| parts.send_us + parts.receive_us);
        Some(CopyCosts {
            send: curve(|parts| parts.send_us),
            receive: curve(|parts| parts.receive_us),
            setup: curve(|parts| parts.setup_us),
            gap: curve(|parts| parts.gap_us),
            both_from_bytes,
            post_us: evidence.post_us(busy_us),
        })
    }
}

/// Divides the time of a message without its latency.
fn divide(busy_us: f64, stream_us: f64, copier: Copier) -> Parts {
    let half_us = (busy_us / 2.0).min(stream_us);
    let (send_us, receive_us) = match copier {
        Copier::Each => (half_us, half_us),
        Copier::Receiver => (0.0, busy_us.min(stream_us)),
        Copier::Together => (0.0, (busy_us - stream_us).max(0.0)),
    };
    Parts { send_us, receive_us, setup_us: busy_us - send_us - receive_us, gap_us: stream_us }
}

#[cfg(test)]
mod tests {
    use contract::SharedMemory;

    use super::*;

    #[test]
    fn the_ends_share_a_message_as_far_as_the_stream_allows() {
        let parts =
            |send_us, receive_us, setup_us, gap_us| Parts { send_us, receive_us, setup_us, gap_us };
        // The stream is slower than either end's half.
        assert_eq!(divide(2.0, 1.5, Copier::Each), parts(1.0, 1.0, 0.0, 1.5));
        // The stream is faster: half of a message is on its way while the next is copied.
        assert_eq!(divide(4.0, 1.5, Copier::Each), parts(1.5, 1.5, 1.0, 1.5));
        // The receiver alone copies: the sender is free, and the time beyond that of a stream's message delays this
        // one.
        assert_eq!(divide(2.0, 2.5, Copier::Receiver), parts(0.0, 2.0, 0.0, 2.5));
        assert_eq!(divide(4.0, 3.0, Copier::Receiver), parts(0.0, 3.0, 1.0, 3.0));
        // Both ends copy at once.
        assert_eq!(divide(4.0, 3.0, Copier::Together), parts(0.0, 1.0, 3.0, 3.0));
    }

    #[test]
    fn only_a_fabric_that_says_so_copies() {
        let by_size = |values: &[(u64, f64)]| values.iter().copied().collect::<BySize>();
        let mut evidence = Evidence {
            whole: by_size(&[(8, 3.0), (64, 3.0), (1 << 20, 12.0)]),
            stream: by_size(&[(8, 1.0), (64, 1.0), (1 << 20, 9.0)]),
            two_way: by_size(&[(8, 2.0), (64, 2.0)]),
            ..Evidence::default()
        };
        assert_eq!(CopyCosts::of(&evidence), None);
        evidence.fabric.shared_memory = Some(SharedMemory {
            one_copy_from_bytes: None,
            both_copy_from_bytes: 4096,
            cma_is_fast: false,
            board_line_bytes: None,
        });
        let copies = CopyCosts::of(&evidence).unwrap();
        // The latency is 2: each end has half of what is left of 3. The long one takes 12 - 2, of which 9 occupy both.
        assert_eq!((copies.send.of(64), copies.receive.of(64)), (0.5, 0.5));
        assert_eq!((copies.setup.of(1 << 20), copies.receive.of(1 << 20)), (9.0, 1.0));
        // Long messages both ways were not measured: both ends are occupied. If a message each way takes no longer than
        // one, the receiver has all the time that the stream permits, and the rest delays the message.
        assert_eq!(copies.both_from_bytes, Some(4096));
        evidence.two_way.insert(1 << 20, 9.5);
        let separate = CopyCosts::of(&evidence).unwrap();
        assert_eq!(separate.both_from_bytes, None);
        assert_eq!((separate.setup.of(1 << 20), separate.receive.of(1 << 20)), (1.0, 9.0));
        // A message each way takes 0.5 to send, 0.5 to receive, and two posts.
        assert_eq!(copies.post_us, Some(0.5));
    }
}
