//! The system's counters after each pause.

use std::collections::BTreeMap;

use contract::record::PauseCause;
use contract::{Rank, Time, TimeSpan};

/// Reading what the system has counted may take one part in so many of the time. What is not read is said to be so.
const SPENT_AT_MOST: u64 = 20;
/// A pause that is so many times as long as a reading is always looked into: it costs little beside it.
const LONG: u64 = 10;
/// More different causes than this are put together.
const NAMES_MAX: usize = 16;
/// Of the events that came with a pause so many are named, the most telling first.
const NAMED: usize = 3;
const NOTHING: &str = "nothing that the system counts";
const NOT_READ: &str = "not looked into";
const OTHER: &str = "something else";

/// The pauses by what the system had counted after them.
#[derive(Default)]
pub(super) struct PauseCauses {
    last: Vec<(String, u64)>,
    /// Whether pauses have passed since `last` was read.
    is_behind: bool,
    spent: TimeSpan,
    /// The time of the latest reading.
    reading: TimeSpan,
    found: BTreeMap<String, Found>,
}

#[derive(Clone, Copy, Default)]
struct Found {
    count: u64,
    lost_ps: u64,
    longest_ps: u64,
}

impl PauseCauses {
    /// Reads the counts for the first time; twice, so that the memory that it takes is there.
    pub(super) fn begin(&mut self, rank: &dyn Rank) {
        drop(rank.system_counts());
        self.last = rank.system_counts();
    }

    /// Examines a pause that ended `now`; `since` is the beginning of the measurement. Returns the time afterwards.
    pub(super) fn after(
        &mut self,
        rank: &dyn Rank,
        (now, since): (Time, TimeSpan),
        length_ps: u64,
    ) -> Time {
        if self.last.is_empty() {
            return now;
        }
        let is_long = length_ps > LONG * self.reading.as_ps();
        if !is_long && self.spent.times(SPENT_AT_MOST) > since {
            self.is_behind = true;
            self.add(NOT_READ, length_ps);
            return now;
        }
        let counts = rank.system_counts();
        // What shorter pauses before it left behind is little beside a long one.
        let is_known = is_long || !self.is_behind;
        let name = if is_known { risen(&self.last, &counts) } else { NOT_READ.into() };
        self.add(&name, length_ps);
        (self.last, self.is_behind) = (counts, false);
        let done = rank.now();
        self.reading = done.since(now);
        self.spent = self.spent + self.reading;
        done
    }

    /// The time of reading.
    pub(super) fn spent(&self) -> TimeSpan {
        self.spent
    }

    fn add(&mut self, name: &str, length_ps: u64) {
        let has_room = self.found.len() < NAMES_MAX || self.found.contains_key(name);
        let found = self.found.entry(if has_room { name } else { OTHER }.into()).or_default();
        found.count += 1;
        found.lost_ps += length_ps;
        found.longest_ps = found.longest_ps.max(length_ps);
    }

    /// A line for each cause.
    pub(super) fn to_text(&self) -> String {
        let line = |(name, found): (&String, &Found)| {
            format!("{} {} {} {name}\n", found.count, found.lost_ps, found.longest_ps)
        };
        self.found.iter().map(line).collect()
    }
}

/// The causes in the lines of [`PauseCauses::to_text`], those that took most first.
pub(super) fn from_text(text: &str) -> Vec<PauseCause> {
    let cause = |line: &str| {
        let mut words = line.splitn(4, ' ');
        let mut number = || words.next()?.parse::<u64>().ok();
        let [count, lost_ps, longest_ps] = [number()?, number()?, number()?];
        let us = |ps: u64| ps as f64 / 1e6;
        Some(PauseCause {
            name: words.next()?.into(),
            count,
            lost_us: us(lost_ps),
            longest_us: us(longest_ps),
        })
    };
    let mut causes: Vec<PauseCause> = text.lines().filter_map(cause).collect();
    causes.sort_by(|a, b| b.lost_us.total_cmp(&a.lost_us));
    causes
}

/// The counters that increased between two readings.
fn risen(before: &[(String, u64)], after: &[(String, u64)]) -> String {
    let has_risen = |(a, b): &(&(String, u64), &(String, u64))| a.0 == b.0 && b.1 > a.1;
    let names = before.iter().zip(after).filter(has_risen).map(|(a, _)| a.0.as_str());
    let names: Vec<&str> = names.take(NAMED).collect();
    if names.is_empty() { NOTHING.into() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(values: [u64; 4]) -> Vec<(String, u64)> {
        let names = ["another program", "page fault", "softirq NET_RX", "timer interrupt"];
        names.iter().zip(values).map(|(name, count)| (name.to_string(), count)).collect()
    }

    #[test]
    fn what_has_risen_is_the_cause() {
        let before = counts([1, 2, 3, 4]);
        assert_eq!(risen(&before, &counts([1, 2, 3, 5])), "timer interrupt");
        assert_eq!(risen(&before, &counts([2, 2, 4, 4])), "another program, softirq NET_RX");
        assert_eq!(risen(&before, &before), NOTHING);
        assert_eq!(
            risen(&before, &counts([2, 3, 4, 5])),
            "another program, page fault, softirq NET_RX"
        );
    }

    #[test]
    fn causes_are_summed_and_survive_the_wire() {
        let mut causes = PauseCauses::default();
        causes.add("timer interrupt", 3_000_000);
        causes.add("timer interrupt", 5_000_000);
        causes.add("another program, page fault", 20_000_000);
        let found = from_text(&causes.to_text());
        let brief: Vec<(&str, u64, f64, f64)> = found
            .iter()
            .map(|one| (one.name.as_str(), one.count, one.lost_us, one.longest_us))
            .collect();
        let expected =
            [("another program, page fault", 1, 20.0, 20.0), ("timer interrupt", 2, 8.0, 5.0)];
        assert_eq!(brief, expected);
        (0..40).for_each(|one| causes.add(&one.to_string(), 1));
        assert_eq!(from_text(&causes.to_text()).len(), NAMES_MAX + 1);
        assert!(from_text("1 2 x\n\nno line").is_empty());
    }
}
