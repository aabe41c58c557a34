//! Pairs of ranks that are slower than the other pairs.

use std::collections::BTreeMap;

use record::{Measurement, ParameterValue};

use crate::statistics::Sample;

/// Number of interquartile ranges above the upper quartile beyond which a pair is slow (Tukey's fence).
/// [`LEAST_FACTOR`] must be exceeded as well.
pub const FENCE_RANGES: f64 = 1.5;
/// Factor over the median beyond which a pair is slow. If almost all pairs agree, the fence is so near that it has no
/// meaning.
pub const LEAST_FACTOR: f64 = 1.05;

/// The time of a message between two ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairTime {
    /// One rank.
    pub from: u64,
    /// The other rank.
    pub to: u64,
    /// The median time in microseconds.
    pub time_us: f64,
}

/// Times of all pairs of ranks for messages of one length.
#[derive(Clone, Debug, PartialEq)]
pub struct PairMap {
    /// The number of ranks.
    pub ranks: usize,
    /// The length of the messages in bytes.
    pub size_bytes: u64,
    /// Place of the pairs in a run on several hosts, as the parameter `pair` has it: inside a host, or between hosts.
    pub place: Option<String>,
    /// Pairs, in the order of measuring.
    pub pairs: Vec<PairTime>,
    /// The median of all pairs in microseconds.
    pub median_us: f64,
    /// Time in microseconds above which a pair is slow.
    pub fence_us: f64,
}

impl PairMap {
    /// Returns the maps among measurements of times, by number of ranks, length and place of the pairs. Measurements that name no pair are
    /// ignored.
    pub fn of<'a>(times: impl IntoIterator<Item = &'a Measurement>) -> Vec<PairMap> {
        let mut maps: BTreeMap<(usize, u64, Option<String>), Vec<PairTime>> = BTreeMap::new();
        for one in times {
            let number = |name: &str| match one.parameters.get(name) {
                Some(ParameterValue::Number(number)) => Some(*number),
                _ => None,
            };
            if let (Some(from), Some(to)) = (number("from"), number("to")) {
                let pair = PairTime { from, to, time_us: one.summary.median };
                let place = one.parameters.get("pair").map(ToString::to_string);
                maps.entry((one.ranks, one.size_bytes, place)).or_default().push(pair);
            }
        }
        let map = |((ranks, size_bytes, place), pairs): ((usize, u64, _), Vec<PairTime>)| {
            let times: Vec<f64> = pairs.iter().map(|pair| pair.time_us).collect();
            let sample = Sample::new(times).ok()?;
            let (median_us, q3) = (sample.median(), sample.quantile(0.75));
            let fence_us = q3 + FENCE_RANGES * (q3 - sample.quantile(0.25));
            let fence_us = fence_us.max(median_us * LEAST_FACTOR);
            Some(PairMap { ranks, size_bytes, place, pairs, median_us, fence_us })
        };
        maps.into_iter().filter_map(map).collect()
    }

    /// Returns the slow pairs, the slowest first.
    pub fn slow(&self) -> Vec<PairTime> {
        let mut slow: Vec<PairTime> = self.pairs.clone();
        slow.retain(|pair| pair.time_us > self.fence_us);
        slow.sort_by(|a, b| b.time_us.total_cmp(&a.time_us));
        slow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::measurement;

    fn map(times: &[(u64, u64, f64)]) -> PairMap {
        let of = |&(from, to, time_us): &(u64, u64, f64)| Measurement {
            parameters: [("from".into(), from.into()), ("to".into(), to.into())].into(),
            ..measurement("pair-map", 8, &[time_us])
        };
        let all: Vec<Measurement> = times.iter().map(of).collect();
        let mut maps = PairMap::of(&all);
        assert_eq!(maps.len(), 1);
        maps.remove(0)
    }

    #[test]
    fn pairs_beyond_the_fence_are_slow_and_the_slowest_is_first() {
        // Six pairs of four ranks: sorted 1.0 1.1 1.2 1.3 2.0 9.0, quartiles at positions 1.25 and 3.75: 1.125 and
        // 1.825. The fence is 1.825 + 1.5 * 0.7 = 2.875.
        let pairs = [(0, 1, 1.0), (0, 2, 9.0), (0, 3, 1.1), (1, 2, 1.2), (1, 3, 1.3), (2, 3, 2.0)];
        let found = map(&pairs);
        assert!((found.fence_us - 2.875).abs() < 1e-12, "{found:?}");
        assert_eq!(found.slow(), [PairTime { from: 0, to: 2, time_us: 9.0 }]);
        let two = pairs.map(|(from, to, us)| (from, to, if us == 2.0 { 9.5 } else { us }));
        // Now 1.825 is 1.3 + 0.75 * 7.7 = 7.075, and no time is beyond 7.075 + 1.5 * 5.95.
        assert!(map(&two).slow().is_empty());
    }

    #[test]
    fn equal_pairs_have_no_slow_one_among_them() {
        let equal = [(0, 1, 4.0), (0, 2, 4.0), (1, 2, 4.0), (0, 3, 4.0), (1, 3, 4.1)];
        // The fence of the quartiles is 4.0, 5 % above the median is 4.2.
        assert!(map(&equal).slow().is_empty());
        let slow = equal.map(|(from, to, us)| (from, to, if us > 4.0 { 4.3 } else { us }));
        assert_eq!(map(&slow).slow().len(), 1);
    }
}
