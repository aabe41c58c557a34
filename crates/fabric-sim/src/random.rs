//! Random numbers by seed, stream and counter.

use random::{STEP, finalise, mix};

/// A stream of random numbers. Number `n` of a stream depends only on the seed, the stream and `n`, not on the other
/// numbers drawn. A change in one part of a simulation therefore does not change the numbers of another part.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    key: u64,
    counter: u64,
}

impl Random {
    /// Creates stream `stream` under `seed`.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Random { key: finalise(mix(seed) ^ stream.wrapping_mul(STEP)), counter: 0 }
    }

    /// Returns the next number, each of the 2^64 equally likely.
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.counter += 1;
        self.number(self.counter - 1)
    }

    /// Returns number `n` of the stream. The first is number 0.
    fn number(&self, n: u64) -> u64 {
        finalise(self.key.wrapping_add((n + 1).wrapping_mul(STEP)))
    }

    /// Returns number `n` of the stream, scaled to less than `bound`, which is above zero.
    pub(crate) fn number_below(&self, n: u64, bound: u64) -> u64 {
        scale(self.number(n), bound)
    }

    /// Returns the next number, scaled to less than `bound`, which is above zero.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        scale(self.next_u64(), bound)
    }
}

/// Multiplies and shifts (Lemire 2019). The bias is less than bound / 2^64.
fn scale(number: u64, bound: u64) -> u64 {
    ((u128::from(number) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_repeats_and_differs_from_its_neighbour() {
        let draw = |stream| {
            let mut random = Random::new(7, stream);
            [random.next_u64(), random.next_u64()]
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn a_number_can_be_had_without_those_before_it() {
        let mut random = Random::new(7, 1);
        let stream = random.clone();
        let drawn: Vec<u64> = (0..5).map(|_| random.below(1000)).collect();
        assert_eq!(drawn[4], stream.number_below(4, 1000));
    }

    #[test]
    fn numbers_below_a_bound_fill_it_evenly() {
        let mut random = Random::new(1, 1);
        let mut count = [0u32; 10];
        for _ in 0..10_000 {
            count[random.below(10) as usize] += 1;
        }
        // Each is binomial with mean 1000 and standard deviation 30; six of them never happen by chance.
        assert!(count.iter().all(|n| (820..=1180).contains(n)), "{count:?}");
    }
}
