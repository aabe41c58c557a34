//! The use of each link of a simulated network during a measurement.

use std::collections::HashMap;

use contract::record::LinkUse;
use contract::{Time, TimeSpan};
use fabric_sim::{ChannelUse, Watched};

/// The most links that are kept. Of more the busiest are kept, because readers cannot use so many.
const LINKS_MAX: usize = 64;

/// Measures the use of the links between two readings.
#[derive(Default)]
pub(super) struct LinkMeter {
    since: Option<Time>,
    /// By the name of the channel: its busy time and its packets at the last reading.
    seen: HashMap<String, (TimeSpan, u64)>,
}

impl LinkMeter {
    /// The use since the last reading, or since the run began.
    pub(super) fn read(&mut self, run: &Watched<'_>) -> Vec<LinkUse> {
        self.since_last(run.now(), run.channel_use())
    }

    fn since_last(&mut self, now: Time, channels: Vec<ChannelUse>) -> Vec<LinkUse> {
        let passed = now.since(self.since.replace(now).unwrap_or(Time::ZERO));
        let mut used: Vec<(usize, LinkUse)> = Vec::new();
        for (place, ChannelUse { name, busy, packets }) in channels.into_iter().enumerate() {
            let before = self.seen.insert(name.clone(), (busy, packets)).unwrap_or_default();
            let carried = packets - before.1;
            if carried > 0 && passed > TimeSpan::ZERO {
                let busy_us = busy.as_us() - before.0.as_us();
                // A packet counts when it starts, so the last packets may end after the reading.
                let share = (busy_us / passed.as_us()).clamp(0.0, 1.0);
                used.push((place, LinkUse { link: name, share, packets: carried }));
            }
        }
        used.sort_by(|(_, a), (_, b)| b.share.total_cmp(&a.share));
        used.truncate(LINKS_MAX);
        used.sort_by_key(|&(place, _)| place);
        used.into_iter().map(|(_, link)| link).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(name: &str, busy_us: u64, packets: u64) -> ChannelUse {
        ChannelUse { name: name.into(), busy: TimeSpan::from_us(busy_us), packets }
    }

    fn at(us: u64) -> Time {
        Time::ZERO + TimeSpan::from_us(us)
    }

    #[test]
    fn a_reading_counts_what_was_carried_since_the_last_one() {
        let mut meter = LinkMeter::default();
        meter.since_last(at(100), vec![channel("a", 50, 5), channel("b", 10, 1)]);
        // 30 of 100 µs on a; nothing more on b.
        let found = meter.since_last(at(200), vec![channel("a", 80, 8), channel("b", 10, 1)]);
        let [LinkUse { link, share, packets }] = &found[..] else { panic!("{found:?}") };
        assert_eq!((link.as_str(), *packets), ("a", 3));
        assert!((share - 0.3).abs() < 1e-12, "{share}");
    }

    #[test]
    fn of_very_many_links_the_busiest_stay_in_their_order() {
        let links = (1..=100).map(|k| channel(&format!("link {k}"), k, 1)).collect();
        let found = LinkMeter::default().since_last(at(1000), links);
        assert_eq!(found.len(), LINKS_MAX);
        assert_eq!((found[0].link.as_str(), found[63].link.as_str()), ("link 37", "link 100"));
    }
}
