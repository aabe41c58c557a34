//! A hash of all events, which shows whether two runs were the same.

use contract::Time;

use random::finalise;

/// Hash of a run's events so far, in their order and with their times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventHash(u64);

impl EventHash {
    pub(crate) fn new() -> Self {
        EventHash(0)
    }

    /// Adds an event: its time, its kind and its subject.
    pub(crate) fn add(&mut self, time: Time, kind: u32, thing: u32) {
        let what = u64::from(kind) << 32 | u64::from(thing);
        self.0 = finalise(self.0.rotate_left(5) ^ time.as_ps() ^ finalise(what));
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_time_matter() {
        let hash = |events: &[(u64, u32)]| {
            let mut hash = EventHash::new();
            for &(ps, thing) in events {
                hash.add(Time::from_ps(ps), 1, thing);
            }
            hash.value()
        };
        assert_eq!(hash(&[(1, 2), (1, 3)]), hash(&[(1, 2), (1, 3)]));
        assert_ne!(hash(&[(1, 2), (1, 3)]), hash(&[(1, 3), (1, 2)]));
        assert_ne!(hash(&[(1, 2)]), hash(&[(2, 2)]));
    }
}
