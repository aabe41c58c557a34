//! The use of each link of a simulated network during a measurement.

use std::collections::HashMap;

use contract::{Time, TimeSpan};
use fabric_sim::{ChannelUse, Watched};
use record::LinkUse;

/// Maximum number of links that are kept: the busiest. Readers cannot use more.
const LINKS_MAX: usize = 64;

/// Measures the use of the links between two readings.
#[derive(Default)]
pub(super) struct LinkMeter {
    since: Option<Time>,
    /// The last reading of each channel, by its name.
    seen: HashMap<String, ChannelUse>,
}

impl LinkMeter {
    /// Returns the use since the last reading, or since the run began.
    pub(super) fn read(&mut self, run: &Watched<'_>) -> Vec<LinkUse> {
        self.since_last(run.now(), run.channel_use())
    }

    fn since_last(&mut self, now: Time, channels: Vec<ChannelUse>) -> Vec<LinkUse> {
        let passed = now.since(self.since.replace(now).unwrap_or(Time::ZERO));
        let mut used: Vec<(usize, LinkUse)> = Vec::new();
        for (place, channel) in channels.into_iter().enumerate() {
            let ChannelUse { name: link, busy, packets, waited, queue_max } = channel.clone();
            let before = self.seen.insert(link.clone(), channel);
            let since = |now: TimeSpan, of: fn(&ChannelUse) -> TimeSpan| {
                (now - before.as_ref().map_or(TimeSpan::ZERO, of)).as_us() / passed.as_us()
            };
            let packets = packets - before.as_ref().map_or(0, |before| before.packets);
            if packets > 0 && passed > TimeSpan::ZERO {
                // A packet is counted when it starts, so the last packets may end after the reading.
                let share = since(busy, |before| before.busy).clamp(0.0, 1.0);
                let queue_mean = since(waited, |before| before.waited);
                used.push((place, LinkUse { link, share, packets, queue_mean, queue_max }));
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
        ChannelUse {
            name: name.into(),
            busy: TimeSpan::from_us(busy_us),
            packets,
            waited: TimeSpan::from_us(2 * busy_us),
            queue_max: packets,
        }
    }

    fn at(us: u64) -> Time {
        Time::ZERO + TimeSpan::from_us(us)
    }

    #[test]
    fn a_reading_counts_what_was_carried_since_the_last_one() {
        let mut meter = LinkMeter::default();
        meter.since_last(at(100), vec![channel("a", 50, 5), channel("b", 10, 1)]);
        // 30 of 100 µs on a, and nothing more on b.
        let found = meter.since_last(at(200), vec![channel("a", 80, 8), channel("b", 10, 1)]);
        let [LinkUse { link, share, packets, queue_mean, queue_max }] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!((link.as_str(), *packets, *queue_max), ("a", 3, 8));
        assert!((share - 0.3).abs() < 1e-12, "{share}");
        // Packets waited for 160 us until now, and for 100 us until the reading before.
        assert!((queue_mean - 0.6).abs() < 1e-12, "{queue_mean}");
    }

    #[test]
    fn of_very_many_links_the_busiest_stay_in_their_order() {
        let links = (1..=100).map(|k| channel(&format!("link {k}"), k, 1)).collect();
        let found = LinkMeter::default().since_last(at(1000), links);
        assert_eq!(found.len(), LINKS_MAX);
        assert_eq!((found[0].link.as_str(), found[63].link.as_str()), ("link 37", "link 100"));
    }
}
