//! The times that messages and collectives take, from those of a run.

use std::collections::BTreeMap;

/// The least time from the beginning of a part to the end of the call that it ended, by size of the message or kind of
/// the collective. All take at least as long, so a part that began shortly before the call was under way for at least
/// the rest of this time.
#[derive(Debug)]
pub(crate) struct Least<K>(BTreeMap<K, (f64, bool)>);

impl<K: Ord> Least<K> {
    pub(crate) fn new() -> Self {
        Least(BTreeMap::new())
    }

    /// Adds a part that began at `came_s` to a call from `from_s` to `end_s`.
    pub(crate) fn add(&mut self, key: K, came_s: f64, (from_s, end_s): (f64, f64)) {
        let took_s = end_s - came_s;
        if took_s > 0.0 {
            let (least_s, has_waited) = self.0.entry(key).or_insert((took_s, false));
            *least_s = least_s.min(took_s);
            *has_waited |= came_s > from_s;
        }
    }

    /// Returns the least time. It is 0 if no call has waited: nothing is known then, because a message that lies ready is
    /// received at any later time.
    pub(crate) fn of(&self, key: &K) -> f64 {
        self.0.get(key).filter(|(_, has_waited)| *has_waited).map_or(0.0, |(least_s, _)| *least_s)
    }
}

/// Medians of times.
#[derive(Debug)]
pub(crate) struct Usual<K>(BTreeMap<K, Vec<f64>>);

impl<K: Ord> Usual<K> {
    /// Collects times by their keys.
    pub(crate) fn of_all(times: impl Iterator<Item = (K, f64)>) -> Self {
        let mut all: BTreeMap<K, Vec<f64>> = BTreeMap::new();
        times.for_each(|(key, s)| all.entry(key).or_default().push(s));
        all.values_mut().for_each(|times| times.sort_by(f64::total_cmp));
        Usual(all)
    }

    /// Returns the median, or 0 if there is none.
    pub(crate) fn of(&self, key: &K) -> f64 {
        self.0.get(key).map_or(0.0, |times| times[times.len() / 2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 8 bytes, one message took 10 - 7 = 3 s and its receive waited, another one 9 - 8 = 1 s, one lay ready. Of 16
    /// bytes none waited.
    #[test]
    fn the_least_time_is_known_where_a_call_has_waited() {
        let mut least = Least::new();
        least.add(8, 7.0, (5.0, 10.0));
        assert_eq!(least.of(&8), 3.0);
        least.add(8, 8.0, (8.5, 9.0));
        least.add(8, 1.0, (8.0, 9.0));
        least.add(16, 1.0, (2.0, 3.0));
        assert_eq!((least.of(&8), least.of(&16), least.of(&32)), (1.0, 0.0, 0.0));
        let usual = Usual::of_all([(1, 5.0), (1, 2.0), (1, 3.0)].into_iter());
        assert_eq!((usual.of(&1), usual.of(&2)), (3.0, 0.0));
    }
}
