//! Messages that are copies in shared memory.
//!
//! A short one is copied twice, by the sender into a ring and by the receiver out of it; a longer one once, by the receiver;
//! a very long one by both at once. The fabric says from which lengths on. Either way it is work for processors, which a
//! rank that sends and receives has to do one after the other, except that very long messages occupy both ends at once.
//!
//! With T what a message takes from end to end, B what each takes in a stream, and the latency L:
//!
//! * L is the least of T - B among short messages;
//! * the ends share T - L evenly, as far as each stays within B; what is left delays the message and occupies nobody;
//! * a rank sends the next message no sooner than B after the last;
//! * of messages that both ends copy, B occupies both, and the rest is the receiver's.

use contract::record::FabricDescription;

use super::curve::{Curve, follow};
use super::{BySize, Evidence, SHORT_BYTES, median};

/// What messages cost.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Copies {
    pub(super) send: Curve,
    pub(super) receive: Curve,
    pub(super) setup: Curve,
    pub(super) gap: Curve,
    /// From this length on a message occupies both ends.
    pub(super) both_from_bytes: u64,
    /// To post an operation, where that was measured.
    pub(super) post_us: Option<f64>,
}

/// The parts of a message of some length.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Parts {
    send_us: f64,
    receive_us: f64,
    setup_us: f64,
    gap_us: f64,
}

impl Evidence {
    /// Whether the fabric says that messages are copies.
    pub(super) fn are_copies(&self) -> bool {
        self.fabric.number(FabricDescription::BOTH_COPY_FROM).is_some()
    }

    /// What messages cost, if the fabric says that they are copies.
    pub(super) fn copies(&self) -> Option<Copies> {
        let both_from_bytes = self.fabric.number(FabricDescription::BOTH_COPY_FROM)?;
        let one_from_bytes = self.fabric.number(FabricDescription::ONE_COPY_FROM);
        let mut breaks: Vec<u64> = one_from_bytes.into_iter().chain([both_from_bytes]).collect();
        breaks.sort_unstable();
        let latency_us = self.latency_us();
        let [whole, stream] =
            [&self.whole, &self.stream].map(|times| follow(times, &self.copy, &breaks));
        let parts = |(&size, &whole_us): (&u64, &f64)| {
            let gap_us = stream.get(&size).copied().unwrap_or(whole_us);
            (size, divide((whole_us - latency_us).max(0.0), gap_us, size >= both_from_bytes))
        };
        let parts: Vec<(u64, Parts)> = whole.iter().map(parts).collect();
        let curve = |part: fn(&Parts) -> f64| {
            let points: BySize = parts.iter().map(|(size, parts)| (*size, part(parts))).collect();
            Curve::through(&points, &breaks)
        };
        Some(Copies {
            send: curve(|parts| parts.send_us),
            receive: curve(|parts| parts.receive_us),
            setup: curve(|parts| parts.setup_us),
            gap: curve(|parts| parts.gap_us),
            both_from_bytes,
            post_us: self.post_copies_us(&parts),
        })
    }

    /// Half of what a short message each way takes longer than one sent and one received.
    fn post_copies_us(&self, parts: &[(u64, Parts)]) -> Option<f64> {
        let short = parts.iter().filter(|&&(size, _)| size <= SHORT_BYTES);
        let each = |(size, parts): &(u64, Parts)| {
            Some((self.two_way.get(size)? - parts.send_us - parts.receive_us) / 2.0)
        };
        median(short.filter_map(each).collect()).map(|us| us.max(0.0))
    }
}

/// Divides what a message takes besides the latency.
fn divide(busy_us: f64, stream_us: f64, both_copy: bool) -> Parts {
    if both_copy {
        let setup_us = stream_us.min(busy_us);
        let receive_us = busy_us - setup_us;
        return Parts { send_us: 0.0, receive_us, setup_us, gap_us: stream_us };
    }
    let half_us = (busy_us / 2.0).min(stream_us);
    let setup_us = busy_us - 2.0 * half_us;
    Parts { send_us: half_us, receive_us: half_us, setup_us, gap_us: stream_us }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_share_a_message_as_far_as_the_stream_allows() {
        let parts =
            |send_us, receive_us, setup_us, gap_us| Parts { send_us, receive_us, setup_us, gap_us };
        // The stream is slower than either end's half.
        assert_eq!(divide(2.0, 1.5, false), parts(1.0, 1.0, 0.0, 1.5));
        // It is faster: half of a message is on its way while the next is copied.
        assert_eq!(divide(4.0, 1.5, false), parts(1.5, 1.5, 1.0, 1.5));
        // Both ends at once.
        assert_eq!(divide(4.0, 3.0, true), parts(0.0, 1.0, 3.0, 3.0));
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
        assert_eq!(evidence.copies(), None);
        let details = [(FabricDescription::BOTH_COPY_FROM.into(), "4096 bytes".into())];
        evidence.fabric.details = details.into();
        let copies = evidence.copies().unwrap();
        // The latency is 2: each end has half of what is left of 3. The long one takes 12 - 2, of which 9 occupy both.
        assert_eq!((copies.send.of(64), copies.receive.of(64)), (0.5, 0.5));
        assert_eq!((copies.setup.of(1 << 20), copies.receive.of(1 << 20)), (9.0, 1.0));
        // A message each way is 0.5 to send, 0.5 to receive, and two posts.
        assert_eq!(copies.post_us, Some(0.5));
    }
}
