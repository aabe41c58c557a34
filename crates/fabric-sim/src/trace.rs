//! What happened when, as a trace that Chrome's `about:tracing` and Perfetto show.

use std::io::{self, Write};

use contract::Time;
use serde_json::json;

/// What a rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// A blocking send.
    Send,
    /// A blocking receive.
    Receive,
    /// Both at once.
    Exchange,
    /// A wait for a posted operation.
    Wait,
    /// A computation.
    Compute,
}

/// The spans of a run in virtual time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Which rank did what, from when to when.
    pub activities: Vec<(usize, Activity, Time, Time)>,
    /// Each message: its sender, its receiver, its bytes, when it was sent and when it was there.
    pub messages: Vec<(usize, usize, usize, Time, Time)>,
    /// Which channel was busy, from when to when (level L2).
    pub channels: Vec<(String, Time, Time)>,
}

/// Collects a trace during a run.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) trace: Trace,
}

impl Recorder {
    pub(crate) fn activity(&mut self, rank: usize, activity: Activity, begin: Time, end: Time) {
        if end > begin {
            self.trace.activities.push((rank, activity, begin, end));
        }
    }

    pub(crate) fn message(&mut self, from: u32, to: u32, bytes: usize, sent: Time, there: Time) {
        self.trace.messages.push((from as usize, to as usize, bytes, sent, there));
    }
}

impl Activity {
    fn name(self) -> &'static str {
        match self {
            Activity::Send => "send",
            Activity::Receive => "receive",
            Activity::Exchange => "send and receive",
            Activity::Wait => "wait",
            Activity::Compute => "compute",
        }
    }
}

const RANKS: u32 = 1;
const LINKS: u32 = 2;
const PS_PER_US: f64 = 1e6;

fn us(time: Time) -> f64 {
    time.as_ps() as f64 / PS_PER_US
}

/// With more events a file has more than some 60 MB, which viewers open slowly or not at all.
const EVENTS_MAX: usize = 500_000;

impl Trace {
    /// The moment at which the trace is cut: before it at most `most` events begin. `None` where there are no more.
    fn cut(&self, most: usize) -> Option<Time> {
        let messages = self.messages.iter().flat_map(|&(_, _, _, sent, _)| [sent, sent]);
        let activities = self.activities.iter().map(|&(_, _, begin, _)| begin);
        let channels = self.channels.iter().map(|&(_, begin, _)| begin);
        let mut begins: Vec<Time> = activities.chain(messages).chain(channels).collect();
        (begins.len() > most).then(|| *begins.select_nth_unstable(most).1)
    }

    /// Writes the trace in the JSON format of Chrome's trace viewer: ranks and links as tracks, messages as arrows. Of a
    /// trace that viewers could not open it writes the beginning, and gives the moment at which that ends.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_chrome(&self, out: &mut dyn Write) -> io::Result<Option<Time>> {
        let cut = self.cut(EVENTS_MAX);
        self.write_until(cut, out).map(|()| cut)
    }

    fn write_until(&self, cut: Option<Time>, out: &mut dyn Write) -> io::Result<()> {
        let is_in = |begin: Time| cut.is_none_or(|cut| begin < cut);
        let mut comma = "";
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let mut event = |value: serde_json::Value| {
            let written = write!(out, "{comma}\n{value}");
            comma = ",";
            written
        };
        event(json!({"ph": "M", "pid": RANKS, "name": "process_name", "args": {"name": "ranks"}}))?;
        event(json!({"ph": "M", "pid": LINKS, "name": "process_name", "args": {"name": "links"}}))?;
        if let Some(cut) = cut {
            let name = "the trace ends here; the run went on";
            event(
                json!({"ph": "i", "s": "g", "pid": RANKS, "tid": 0, "name": name, "ts": us(cut)}),
            )?;
        }
        let activities = self.activities.iter().filter(|activity| is_in(activity.2));
        for &(rank, activity, begin, end) in activities {
            event(json!({
                "ph": "X", "pid": RANKS, "tid": rank, "name": activity.name(),
                "ts": us(begin), "dur": us(end) - us(begin),
            }))?;
        }
        let messages = self.messages.iter().filter(|message| is_in(message.3));
        for (id, &(from, to, bytes, sent, there)) in messages.enumerate() {
            let name = format!("{bytes} bytes");
            let arrow = |phase: &str, rank: usize, time: Time| {
                json!({
                    "ph": phase, "bp": "e", "cat": "message", "id": id, "pid": RANKS, "tid": rank,
                    "name": name, "ts": us(time),
                })
            };
            event(arrow("s", from, sent))?;
            event(arrow("f", to, there))?;
        }
        let mut names: Vec<&str> = self.channels.iter().map(|channel| channel.0.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for (number, name) in names.iter().enumerate() {
            event(
                json!({"ph": "M", "pid": LINKS, "tid": number, "name": "thread_name", "args": {"name": name}}),
            )?;
        }
        for (name, begin, end) in self.channels.iter().filter(|channel| is_in(channel.1)) {
            let number = names.binary_search(&name.as_str()).unwrap_or_default();
            event(json!({
                "ph": "X", "pid": LINKS, "tid": number, "name": "packet",
                "ts": us(*begin), "dur": us(*end) - us(*begin),
            }))?;
        }
        writeln!(out, "\n]}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::TimeSpan;

    /// Three activities, a message of two events and a packet, which begin a microsecond after each other.
    fn trace() -> Trace {
        let at = |us| Time::ZERO + TimeSpan::from_us(us);
        Trace {
            activities: (0..3).map(|us| (0, Activity::Send, at(us), at(us + 1))).collect(),
            messages: vec![(0, 1, 8, at(3), at(9))],
            channels: vec![("link".into(), at(4), at(5))],
        }
    }

    fn names(trace: &Trace, cut: Option<Time>) -> Vec<String> {
        let mut text = Vec::new();
        trace.write_until(cut, &mut text).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let events = json["traceEvents"].as_array().unwrap().iter();
        let shown = events.filter(|event| event["ph"] != "M");
        shown.map(|event| event["name"].as_str().unwrap().to_string()).collect()
    }

    #[test]
    fn a_trace_that_fits_is_written_whole() {
        assert_eq!(trace().cut(6), None);
        let all = ["send", "send", "send", "8 bytes", "8 bytes", "packet"];
        assert_eq!(names(&trace(), None), all);
    }

    /// Of six events four may be there: the fifth, which is the message's second, begins at 3 us, and what begins before is
    /// written.
    #[test]
    fn a_longer_one_is_cut_at_a_moment_and_says_so() {
        let cut = trace().cut(4);
        assert_eq!(cut, Some(Time::ZERO + TimeSpan::from_us(3)));
        let expected = ["the trace ends here; the run went on", "send", "send", "send"];
        assert_eq!(names(&trace(), cut), expected);
    }
}
