//! What happened when, as a trace that Chrome's `about:tracing` and Perfetto show.

use std::cmp::Reverse;
use std::io::{self, Write};

use contract::Time;
use serde_json::{Value, json};

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
        let mut event = |value: Value| {
            let written = write!(out, "{comma}\n{value}");
            comma = ",";
            written
        };
        let messages: Vec<_> = self.messages.iter().filter(|message| is_in(message.3)).collect();
        let mut activities: Vec<_> =
            self.activities.iter().filter(|activity| is_in(activity.2)).collect();
        // Noted as they end; viewers want each track in order, and of spans that begin together the longest first.
        activities.sort_by_key(|&&(rank, _, begin, end)| (rank, begin, Reverse(end)));
        let ranks = messages
            .iter()
            .map(|message| message.0.max(message.1))
            .chain(activities.iter().map(|activity| activity.0))
            .max();
        let mut links: Vec<&str> = self.channels.iter().map(|channel| channel.0.as_str()).collect();
        links.sort_unstable();
        links.dedup();
        for (pid, name) in [(RANKS, "ranks"), (LINKS, "links")] {
            event(about(pid, None, "process_name", json!({"name": name})))?;
            event(about(pid, None, "process_sort_index", json!({"sort_index": pid})))?;
        }
        let names = ranks.map_or(0..0, |last| 0..last + 1).map(|rank| format!("rank {rank}"));
        let tracks = names.enumerate().map(|(number, name)| (RANKS, number, name));
        let of_links = links.iter().enumerate().map(|(n, name)| (LINKS, n, name.to_string()));
        for (pid, number, name) in tracks.chain(of_links) {
            event(about(pid, Some(number), "thread_name", json!({"name": name})))?;
            event(about(pid, Some(number), "thread_sort_index", json!({"sort_index": number})))?;
        }
        if let Some(cut) = cut {
            let name = "the trace ends here; the run went on";
            event(
                json!({"ph": "i", "s": "g", "pid": RANKS, "tid": 0, "name": name, "ts": us(cut)}),
            )?;
        }
        for &&(rank, activity, begin, end) in &activities {
            event(span(RANKS, rank, activity.name(), begin, end))?;
        }
        for (id, &&(from, to, bytes, sent, there)) in messages.iter().enumerate() {
            let name = format!("{bytes} bytes, {from} to {to}");
            let arrow = |phase: &str, rank: usize, time: Time| {
                json!({
                    "ph": phase, "cat": "message", "id": id, "pid": RANKS, "tid": rank,
                    "name": name, "ts": us(time),
                })
            };
            event(arrow("s", from, sent))?;
            let mut end = arrow("f", to, there);
            // It ends in the span around it, not at the beginning of the next.
            end["bp"] = "e".into();
            event(end)?;
        }
        for (name, begin, end) in self.channels.iter().filter(|channel| is_in(channel.1)) {
            let number = links.binary_search(&name.as_str()).unwrap_or_default();
            event(span(LINKS, number, "packet", *begin, *end))?;
        }
        writeln!(out, "\n]}}")
    }
}

/// A word about a process, or about one of its tracks.
fn about(pid: u32, tid: Option<usize>, name: &str, args: Value) -> Value {
    let mut event = json!({"ph": "M", "pid": pid, "name": name, "args": args});
    if let Some(tid) = tid {
        event["tid"] = tid.into();
    }
    event
}

/// A span on a track. Its length is that of whole picoseconds: the difference of two rounded numbers would let it reach
/// into the next span.
fn span(pid: u32, tid: usize, name: &str, begin: Time, end: Time) -> Value {
    let length_us = us(Time::ZERO + end.since(begin));
    json!({"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": us(begin), "dur": length_us})
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
        let message = "8 bytes, 0 to 1";
        let all = ["send", "send", "send", message, message, "packet"];
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
