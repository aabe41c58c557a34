//! Rates of streams of messages between pairs of ranks.

pub(in crate::programs) mod adjacent_pair;
pub(in crate::programs) mod bandwidth;
pub(in crate::programs) mod many_pairs;
pub(in crate::programs) mod two_way_bandwidth;

use crate::shape::Shape;

/// Number of messages in progress at once, as in the OSU micro-benchmarks, so that numbers are comparable.
const WINDOW: usize = 64;
/// Maximum number of bytes of a sample, unless 4 messages are more: messages of 4 MiB still fill the window, and a
/// sample of very large ones does not last minutes.
const WINDOW_BYTES: usize = 256 << 20;

/// Returns the number of messages of a sample.
pub(in crate::programs) fn window(shape: &Shape) -> usize {
    (WINDOW_BYTES / shape.size.max(1)).clamp(4, WINDOW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Parameters;

    #[test]
    fn only_messages_beyond_4_mib_are_fewer_than_64() {
        let window = |size| window(&Shape::new(2, 0, size, &Parameters::new()));
        assert_eq!([0, 1, 4 << 20, 8 << 20, 1 << 30].map(window), [64, 64, 64, 32, 4]);
    }
}
