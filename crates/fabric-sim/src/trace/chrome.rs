//! A trace in the JSON format of Chrome's trace viewer: ranks and links as tracks, messages as arrows.

use std::cmp::Reverse;
use std::io::{self, Write};

use contract::Time;
use serde_json::{Value, json};

use super::{Activity, Trace};

const RANKS: u32 = 1;
const LINKS: u32 = 2;
const PATH: u32 = 3;
const PS_PER_US: f64 = 1e6;

/// The part of a trace that begins before a cut, in the order that viewers need.
struct Part<'a> {
    trace: &'a Trace,
    activities: Vec<&'a (usize, Activity, Time, Time)>,
    messages: Vec<&'a (usize, usize, usize, Time, Time)>,
    channels: Vec<&'a (String, Time, Time)>,
    /// Names of all links of the trace, each once, in ascending order. The index of a link is the number of its track.
    links: Vec<&'a str>,
    path: Vec<&'a (usize, Time, Time)>,
}

/// Writes the events of a list, with commas between them.
struct Events<'a> {
    out: &'a mut dyn Write,
    comma: &'static str,
}

/// Writes the part that begins before `cut`, or everything if there is no cut.
///
/// # Errors
/// Those of `out`.
pub(super) fn write(trace: &Trace, cut: Option<Time>, out: &mut dyn Write) -> io::Result<()> {
    let part = Part::of(trace, cut);
    write!(out, "{{\"displayTimeUnit\":\"ns\",{}", super::MARK)?;
    let mut events = Events { out, comma: "" };
    part.write_tracks(&mut events)?;
    if let Some(cut) = cut {
        let name = "the trace ends here; the run went on";
        let end = json!({"ph": "i", "s": "g", "pid": RANKS, "tid": 0, "name": name, "ts": us(cut)});
        events.write(&end)?;
    }
    part.write_spans_of_ranks(&mut events)?;
    part.write_messages(&mut events)?;
    part.write_spans_of_links(&mut events)?;
    part.write_path(&mut events)?;
    writeln!(events.out, "\n]}}")
}

impl<'a> Part<'a> {
    fn of(trace: &'a Trace, cut: Option<Time>) -> Self {
        let is_in = |begin: Time| cut.is_none_or(|cut| begin < cut);
        let mut activities: Vec<_> =
            trace.activities.iter().filter(|activity| is_in(activity.2)).collect();
        // Activities are recorded as they end. Viewers need each track in order of the beginnings, and of spans that
        // begin together the longest first.
        activities.sort_by_key(|&&(rank, _, begin, end)| (rank, begin, Reverse(end)));
        let mut links: Vec<&str> =
            trace.channels.iter().map(|channel| channel.0.as_str()).collect();
        links.sort_unstable();
        links.dedup();
        Part {
            trace,
            activities,
            messages: trace.messages.iter().filter(|message| is_in(message.3)).collect(),
            channels: trace.channels.iter().filter(|channel| is_in(channel.1)).collect(),
            links,
            path: trace.path.iter().filter(|stretch| is_in(stretch.1)).collect(),
        }
    }

    /// Returns the number of ranks that have a track.
    fn ranks(&self) -> usize {
        let of_messages = self.messages.iter().map(|message| message.0.max(message.1));
        let of_activities = self.activities.iter().map(|activity| activity.0);
        of_messages.chain(of_activities).max().map_or(0, |last| last + 1)
    }

    fn write_tracks(&self, events: &mut Events) -> io::Result<()> {
        let path = (!self.path.is_empty()).then_some((PATH, "critical path"));
        for (pid, name) in [(RANKS, "ranks"), (LINKS, "links")].into_iter().chain(path) {
            events.write(&metadata(pid, None, "process_name", json!({"name": name})))?;
            events.write(&metadata(pid, None, "process_sort_index", json!({"sort_index": pid})))?;
        }
        let of_ranks = (0..self.ranks()).map(|rank| (RANKS, rank, format!("rank {rank}")));
        let of_links = self.links.iter().enumerate().map(|(n, name)| (LINKS, n, name.to_string()));
        for (pid, number, name) in of_ranks.chain(of_links) {
            let tid = Some(number);
            events.write(&metadata(pid, tid, "thread_name", json!({"name": name})))?;
            events.write(&metadata(
                pid,
                tid,
                "thread_sort_index",
                json!({"sort_index": number}),
            ))?;
        }
        Ok(())
    }

    fn write_spans_of_ranks(&self, events: &mut Events) -> io::Result<()> {
        for &&(rank, activity, begin, end) in &self.activities {
            events.write(&span(RANKS, rank, activity.name(self.trace), begin, end))?;
        }
        Ok(())
    }

    fn write_messages(&self, events: &mut Events) -> io::Result<()> {
        for (id, &&(from, to, bytes, sent, there)) in self.messages.iter().enumerate() {
            let name = format!("{bytes} bytes, {from} to {to}");
            let arrow = |phase: &str, rank: usize, time: Time| {
                json!({
                    "ph": phase, "cat": "message", "id": id, "pid": RANKS, "tid": rank,
                    "name": name, "ts": us(time),
                })
            };
            events.write(&arrow("s", from, sent))?;
            let mut end = arrow("f", to, there);
            // Binds the arrow's end to the span around it, not to the beginning of the next one.
            end["bp"] = "e".into();
            events.write(&end)?;
        }
        Ok(())
    }

    fn write_spans_of_links(&self, events: &mut Events) -> io::Result<()> {
        for (name, begin, end) in &self.channels {
            let number = self.links.binary_search(&name.as_str()).unwrap_or_default();
            events.write(&span(LINKS, number, "packet", *begin, *end))?;
        }
        Ok(())
    }

    fn write_path(&self, events: &mut Events) -> io::Result<()> {
        for &&(rank, begin, end) in &self.path {
            events.write(&span(PATH, 0, &format!("rank {rank}"), begin, end))?;
        }
        Ok(())
    }
}

impl Events<'_> {
    fn write(&mut self, event: &Value) -> io::Result<()> {
        write!(self.out, "{}\n{event}", self.comma)?;
        self.comma = ",";
        Ok(())
    }
}

fn us(time: Time) -> f64 {
    time.as_ps() as f64 / PS_PER_US
}

/// Returns a property of a process, or of one of its tracks.
fn metadata(pid: u32, tid: Option<usize>, name: &str, args: Value) -> Value {
    let mut event = json!({"ph": "M", "pid": pid, "name": name, "args": args});
    if let Some(tid) = tid {
        event["tid"] = tid.into();
    }
    event
}

/// Returns a span on a track. Its length is computed in whole picoseconds, because the difference of two rounded
/// numbers could overlap the next span.
fn span(pid: u32, tid: usize, name: &str, begin: Time, end: Time) -> Value {
    let length_us = us(Time::ZERO + end.since(begin));
    json!({"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": us(begin), "dur": length_us})
}
