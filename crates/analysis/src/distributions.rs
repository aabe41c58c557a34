//! The distributions from which tests draw their samples.

use random::SplitMix64;

/// A distribution with a known median.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Distribution {
    /// Mean 100, standard deviation 10.
    Normal,
    /// exp(normal): the shape of many latencies.
    Lognormal,
    /// 7 of 10 around 1 and 3 of 10 around 3, as with two paths through a library.
    Bimodal,
    /// Pareto with exponent 1.1: a mean that hardly converges, and no variance.
    HeavyTail,
    /// Normal rounded to whole numbers, with many ties: a coarse clock.
    Coarse,
}

pub(crate) const DISTRIBUTIONS: [Distribution; 5] = [
    Distribution::Normal,
    Distribution::Lognormal,
    Distribution::Bimodal,
    Distribution::HeavyTail,
    Distribution::Coarse,
];

impl Distribution {
    pub(crate) fn draw(self, random: &mut SplitMix64) -> f64 {
        match self {
            Distribution::Normal => 100.0 + 10.0 * random.normal(),
            Distribution::Lognormal => random.normal().exp(),
            // The wide slow mode is uniform from 2 to 4, the fast one uniform from 0.5 to 1.5.
            Distribution::Bimodal if random.uniform() < 0.7 => 0.5 + random.uniform(),
            Distribution::Bimodal => 2.0 + 2.0 * random.uniform(),
            Distribution::HeavyTail => random.uniform().powf(-1.0 / 1.1),
            Distribution::Coarse => (20.0 + random.normal()).round(),
        }
    }

    pub(crate) fn median(self) -> f64 {
        match self {
            Distribution::Normal => 100.0,
            Distribution::Lognormal => 1.0,
            // The median is where 0.7 (x - 0.5) = 0.5.
            Distribution::Bimodal => 0.5 + 0.5 / 0.7,
            Distribution::HeavyTail => 2f64.powf(1.0 / 1.1),
            Distribution::Coarse => 20.0,
        }
    }

    pub(crate) fn draws(self, n: usize, random: &mut SplitMix64) -> Vec<f64> {
        (0..n).map(|_| self.draw(random)).collect()
    }
}
