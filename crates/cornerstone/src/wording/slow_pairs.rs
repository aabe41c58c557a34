//! The slow pairs of a map of pairs in words.

use analysis::pairs::{PairMap, PairTime};

use super::{quantity, size};

/// Maximum number of slow pairs that are named.
const NAMED_MAX: usize = 10;

/// Returns the place of the pairs of a map, with a space before it: ` inside a host`; empty if the map has none.
pub(crate) fn place_of_pairs(map: &PairMap) -> String {
    map.place.as_ref().map_or_else(String::new, |place| format!(" {}", place.replace('-', " ")))
}

/// Returns the median, the rule for slow pairs, and the slow pairs, the slowest first.
pub(crate) fn slow_pairs(map: &PairMap) -> String {
    let slow = map.slow();
    let us = |time_us: f64| quantity(time_us, "us");
    let place = place_of_pairs(map);
    let all = format!(
        "{}: {} pairs{place}, median {}",
        size(map.size_bytes),
        map.pairs.len(),
        us(map.median_us)
    );
    if slow.is_empty() {
        return format!("{all}; no slow pair (none above {}).", us(map.fence_us));
    }
    let name = |pair: &PairTime| {
        let factor = pair.time_us / map.median_us;
        format!("{} and {}: {} ({factor:.2} x)", pair.from, pair.to, us(pair.time_us))
    };
    let named: Vec<String> = slow.iter().take(NAMED_MAX).map(name).collect();
    let more = match slow.len() - named.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let above = us(map.fence_us);
    format!("{all}; slow (above {above}): ranks {}{more}.", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(slow: usize) -> PairMap {
        let pair = |to: usize| PairTime { from: 0, to: to as u64, time_us: 3.0 + to as f64 };
        let pairs = (1..=slow).map(pair).collect();
        PairMap { ranks: 50, size_bytes: 8, place: None, pairs, median_us: 2.0, fence_us: 3.5 }
    }

    #[test]
    fn the_slowest_pairs_are_named_and_others_counted() {
        let text = slow_pairs(&map(12));
        assert!(
            text.contains("slow (above 3.50 µs): ranks 0 and 12: 15.0 µs (7.50 x), 0 and 11"),
            "{text}"
        );
        assert!(text.ends_with("0 and 3: 6.00 µs (3.00 x), and 2 more."), "{text}");
    }

    #[test]
    fn maps_without_a_slow_pair_say_so() {
        let text = slow_pairs(&map(0));
        assert_eq!(text, "8 B: 0 pairs, median 2.00 µs; no slow pair (none above 3.50 µs).");
    }
}
