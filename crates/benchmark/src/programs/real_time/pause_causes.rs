//! The causes of pauses, from the system's counts or from its tracer.

use std::collections::BTreeMap;

use contract::{OperatingSystem, Rank, Time, TimeSpan, TracedNoise};
use record::PauseCause;

/// Reciprocal of the largest share of the time for reading the system's counts. Pauses without a reading are reported
/// as such.
const SPENT_AT_MOST: u64 = 20;
/// Factor of a reading's time from which a pause is always examined, because the cost is small in comparison.
const LONG: u64 = 10;
/// Number of readings whose median is the usual time of a reading.
const READINGS_KEPT: usize = 15;
/// Maximum number of different causes. Further ones are combined.
const NAMES_MAX: usize = 16;
/// Number of the events in a pause that are named, the most informative first.
const NAMED: usize = 3;
const NOTHING: &str = "nothing that the system counts";
const NOTHING_TRACED: &str = "nothing that the tracer sees";
const TRACER: &str = "the tracer osnoise";
const COUNTS: &str = "what the system has counted";
/// Prefix of the line that names the source; lines of causes begin with a number.
const NAMED_BY: &str = "by ";
const NOT_READ: &str = "not examined";
const OTHER: &str = "something else";

/// The pauses by cause.
#[derive(Default)]
pub(super) struct PauseCauses {
    system: Option<Box<dyn OperatingSystem>>,
    /// True if the tracer names the causes; otherwise the counts do.
    is_traced: bool,
    /// Source of the causes, if the user requested the tracer.
    named_by: Option<String>,
    last: Vec<(String, u64)>,
    /// True if pauses have passed since `last` was read.
    is_behind: bool,
    spent: TimeSpan,
    readings: Readings,
    found: BTreeMap<String, Found>,
}

/// Times of the latest readings. One of them may have been interrupted for many times its own length.
#[derive(Default)]
struct Readings {
    latest: [TimeSpan; READINGS_KEPT],
    count: usize,
    /// Median of these, the lower one of two; zero before the first.
    usual: TimeSpan,
}

#[derive(Clone, Copy, Default)]
struct Found {
    count: u64,
    lost_ps: u64,
    longest_ps: u64,
}

impl PauseCauses {
    /// Returns the causes of no pause yet. Begins a trace if the user requests one and the system permits it.
    pub(super) fn of(system: Option<Box<dyn OperatingSystem>>, wants_trace: bool) -> PauseCauses {
        let mut causes = PauseCauses { system, ..PauseCauses::default() };
        if wants_trace {
            let begun = match &mut causes.system {
                Some(system) => system.begin_trace(),
                None => Err("this rank has no operating system".into()),
            };
            causes.is_traced = begun.is_ok();
            causes.named_by = Some(match begun {
                Ok(()) => TRACER.into(),
                Err(why) => format!("{COUNTS}, not {TRACER}: {}", why.replace('\n', " ")),
            });
        }
        causes
    }

    /// Begins the observation. Counts are read twice, so that their memory is mapped.
    pub(super) fn begin(&mut self, rank: &dyn Rank) {
        let Some(system) = &mut self.system else { return };
        if self.is_traced {
            // Discards earlier events.
            system.traced();
        } else {
            system.counts();
            let begin = rank.now();
            self.last = system.counts();
            self.readings.add(rank.now().since(begin));
        }
    }

    /// Examines a pause that ended `now`; `since` is the beginning of the measurement. Returns the time afterwards.
    pub(super) fn after(
        &mut self,
        rank: &dyn Rank,
        (now, since): (Time, TimeSpan),
        length_ps: u64,
    ) -> Time {
        if self.last.is_empty() && !self.is_traced {
            return now;
        }
        let is_long = length_ps > LONG * self.readings.usual.as_ps();
        if !is_long && self.spent.times(SPENT_AT_MOST) > since {
            self.is_behind = true;
            self.add(NOT_READ, length_ps);
            return now;
        }
        // The effect of shorter pauses before it is small compared with a long one.
        let is_known = is_long || !self.is_behind;
        let name = if self.is_traced {
            self.traced(rank, now, length_ps)
        } else {
            let counts = self.system.as_mut().map_or_else(Vec::new, |system| system.counts());
            let name = if is_known { risen(&self.last, &counts) } else { NOT_READ.into() };
            self.last = counts;
            name
        };
        self.is_behind = false;
        self.add(&name, length_ps);
        let done = rank.now();
        self.readings.add(done.since(now));
        // The time of an interruption of a reading is not the reading's cost.
        self.spent = self.spent + self.readings.usual;
        done
    }

    /// Returns the events that were traced in the pause that ended at `now`.
    fn traced(&mut self, rank: &dyn Rank, now: Time, length_ps: u64) -> String {
        let noise = self.system.as_mut().map_or_else(Vec::new, |system| system.traced());
        during(&noise, rank.now().since(now), TimeSpan::from_ps(length_ps))
    }

    fn add(&mut self, name: &str, length_ps: u64) {
        let has_room = self.found.len() < NAMES_MAX || self.found.contains_key(name);
        let found = self.found.entry(if has_room { name } else { OTHER }.into()).or_default();
        found.count += 1;
        found.lost_ps += length_ps;
        found.longest_ps = found.longest_ps.max(length_ps);
    }

    /// Returns a line for each cause.
    pub(super) fn to_text(&self) -> String {
        let line = |(name, found): (&String, &Found)| {
            format!("{} {} {} {name}\n", found.count, found.lost_ps, found.longest_ps)
        };
        let named_by = self.named_by.iter().map(|by| format!("{NAMED_BY}{by}\n"));
        named_by.chain(self.found.iter().map(line)).collect()
    }
}

impl Readings {
    fn add(&mut self, reading: TimeSpan) {
        self.latest[self.count % READINGS_KEPT] = reading;
        self.count += 1;
        let mut sorted = self.latest;
        let sorted = &mut sorted[..self.count.min(READINGS_KEPT)];
        sorted.sort_unstable();
        self.usual = sorted[(sorted.len() - 1) / 2];
    }
}

/// Returns the source of the causes in the lines of [`PauseCauses::to_text`], if the user requested the tracer.
pub(super) fn named_by(text: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix(NAMED_BY)).map(String::from)
}

/// Returns the causes in the lines of [`PauseCauses::to_text`], the longest in total first.
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

/// Returns the counters that increased between two readings.
fn risen(before: &[(String, u64)], after: &[(String, u64)]) -> String {
    let has_risen = |(a, b): &(&(String, u64), &(String, u64))| a.0 == b.0 && b.1 > a.1;
    let names = before.iter().zip(after).filter(has_risen).map(|(a, _)| a.0.as_str());
    let names: Vec<&str> = names.take(NAMED).collect();
    if names.is_empty() { NOTHING.into() } else { names.join(", ") }
}

/// Returns the names of the events in a pause of this length that ended `ago` before the trace was read: the longest
/// ones, in the order of their names.
fn during(noise: &[TracedNoise], ago: TimeSpan, length: TimeSpan) -> String {
    let (end, begin) = (ago, ago + length);
    let is_in = |one: &&TracedNoise| one.age < begin && one.age + one.length > end;
    let mut names: BTreeMap<&str, TimeSpan> = BTreeMap::new();
    for one in noise.iter().filter(is_in) {
        let sum = names.entry(&one.name).or_default();
        *sum = *sum + one.length;
    }
    let mut names: Vec<(&str, TimeSpan)> = names.into_iter().collect();
    names.sort_by_key(|(_, length)| std::cmp::Reverse(*length));
    names.truncate(NAMED);
    // In a fixed order, so that pauses with the same causes are counted together.
    names.sort_unstable();
    let names: Vec<&str> = names.into_iter().map(|(name, _)| name).collect();
    if names.is_empty() { NOTHING_TRACED.into() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use contract::SleepCall;

    use super::*;
    use crate::testing::Altered;

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
    fn the_events_that_were_traced_in_a_pause_are_its_causes() {
        let us = TimeSpan::from_us;
        let noise = |name: &str, age, length| TracedNoise {
            name: name.into(),
            age: us(age),
            length: us(length),
        };
        let all = [
            noise("thread cc1", 2000, 900),
            noise("interrupt local_timer", 31, 2),
            noise("softirq RCU", 20, 9),
            noise("softirq RCU", 15, 4),
            noise("interrupt eth0", 3, 2),
        ];
        // The pause was over 10 us before the reading, and 30 us long: from 40 to 10 us before.
        assert_eq!(during(&all, us(10), us(30)), "interrupt local_timer, softirq RCU");
        assert_eq!(during(&all, us(500), us(200)), NOTHING_TRACED);
        // An event that outlasts the pause counts, too.
        assert_eq!(during(&all, us(2500), us(10)), "thread cc1");
        let many = ["d", "c", "b", "a"].map(|name| noise(name, 20, 1));
        assert_eq!(during(&many, us(10), us(30)), "a, b, c");
    }

    #[test]
    fn counts_replace_a_tracer_that_is_refused() {
        let causes = PauseCauses::of(None, true);
        assert!(!causes.is_traced);
        let by = named_by(&causes.to_text()).unwrap();
        assert_eq!(
            by,
            "what the system has counted, not the tracer osnoise: this rank has no operating system"
        );
        assert_eq!(named_by(&PauseCauses::of(None, false).to_text()), None);
    }

    /// A system on which a reading takes 50 us, but the third one 5 ms, and which shows another interrupt each time.
    struct Interrupted {
        time_ps: Rc<Cell<u64>>,
        readings: u64,
    }

    impl OperatingSystem for Interrupted {
        fn counts(&mut self) -> Vec<(String, u64)> {
            self.readings += 1;
            let took_us = if self.readings == 3 { 5000 } else { 50 };
            self.time_ps.set(self.time_ps.get() + took_us * US_PS);
            counts([0, 0, 0, self.readings])
        }

        fn begin_trace(&mut self) -> Result<(), String> {
            unreachable!("nobody wants a trace")
        }

        fn traced(&mut self) -> Vec<TracedNoise> {
            unreachable!("nobody wants a trace")
        }

        fn sleep(&mut self, _: SleepCall, _: TimeSpan) -> Result<(), String> {
            unreachable!("nobody sleeps")
        }

        fn yield_processor(&self) {}

        fn open_wake_up(&mut self) -> Result<Vec<u8>, String> {
            unreachable!("nobody sleeps")
        }

        fn sleep_until_woken(&mut self, _: TimeSpan) -> Result<bool, String> {
            unreachable!("nobody sleeps")
        }

        fn wake(&mut self, _: &[u8]) -> Result<(), String> {
            unreachable!("nobody sleeps")
        }

        fn hold_off_idle_states(&mut self, _: bool) -> Result<(), String> {
            unreachable!("nobody sleeps")
        }

        fn load_processor(&mut self, _: bool) -> Result<(), String> {
            unreachable!("nobody is disturbed")
        }
    }

    const US_PS: u64 = 1_000_000;

    #[test]
    fn an_interrupted_reading_keeps_no_later_pause_from_being_examined() {
        conformance::reference::run(1, |rank| {
            let time_ps = Rc::new(Cell::new(0));
            let system = Interrupted { time_ps: Rc::clone(&time_ps), readings: 0 };
            let rank = Altered { time_ps: Some(&*time_ps), ..Altered::new(rank) };
            let mut causes = PauseCauses::of(Some(Box::new(system)), false);
            causes.begin(&rank);
            // A pause of 1 ms in each 2 ms. The first of them is examined by the reading of 5 ms. A reading of 50 us is
            // 2.5 % of 2 ms and a twentieth of the pause.
            for _ in 0..40 {
                time_ps.set(time_ps.get() + 2000 * US_PS);
                let now = rank.now();
                causes.after(&rank, (now, now.since(Time::ZERO)), 1000 * US_PS);
            }
            let found = from_text(&causes.to_text());
            let [one] = &found[..] else { panic!("{found:?}") };
            assert_eq!((one.name.as_str(), one.count), ("timer interrupt", 40));
            Ok(())
        })
        .unwrap();
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
