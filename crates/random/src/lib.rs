//! Random numbers of a seed: the same from the same seed on every machine and with every version of every library, so
//! that orders, resamples and made-up data can be had again.
//!
//! All are SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014).
#![forbid(unsafe_code)]

/// The increment of a generator's state for each number: 2^64 by the golden ratio, made odd.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser: a bijection in which every bit of the input changes about half of the bits of the output. It keeps 0.
pub const fn finalise(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A bijection of 64-bit numbers whose results look random: the first number of the generator with this seed.
pub const fn mix(value: u64) -> u64 {
    finalise(value.wrapping_add(STEP))
}

/// A generator with 64 bits of state. Every seed is a good one.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The generator with this seed.
    pub fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        let number = mix(self.0);
        self.0 = self.0.wrapping_add(STEP);
        number
    }

    /// A number below `bound`, which is above 0. The bias is below `bound` / 2^64.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    /// Uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// One of `items`, of which there is at least one.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Puts `items` into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers that the authors' program gives for seed 1234567.
    #[test]
    fn the_numbers_are_those_of_the_paper() {
        let mut random = SplitMix64::new(1_234_567);
        let numbers = [(); 3].map(|()| random.bits());
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(numbers, published);
    }

    #[test]
    fn an_order_keeps_what_it_orders_and_numbers_stay_below_their_bound() {
        let mut random = SplitMix64::new(7);
        let mut items: Vec<usize> = (0..100).collect();
        random.shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
        assert!((0..1000).all(|_| random.below(3) < 3 && (0.0..1.0).contains(&random.uniform())));
        // The mean of 10000 standard normal numbers is off by 0.01, so by 0.05 never.
        assert!(((0..10_000).map(|_| random.normal()).sum::<f64>() / 1e4).abs() < 0.05);
    }
}
