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

impl Trace {
    /// Writes the trace in the JSON format of Chrome's trace viewer: ranks and links as tracks, messages as arrows.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_chrome(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut comma = "";
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let mut event = |value: serde_json::Value| {
            let written = write!(out, "{comma}\n{value}");
            comma = ",";
            written
        };
        event(json!({"ph": "M", "pid": RANKS, "name": "process_name", "args": {"name": "ranks"}}))?;
        event(json!({"ph": "M", "pid": LINKS, "name": "process_name", "args": {"name": "links"}}))?;
        for &(rank, activity, begin, end) in &self.activities {
            event(json!({
                "ph": "X", "pid": RANKS, "tid": rank, "name": activity.name(),
                "ts": us(begin), "dur": us(end) - us(begin),
            }))?;
        }
        for (id, &(from, to, bytes, sent, there)) in self.messages.iter().enumerate() {
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
        for (name, begin, end) in &self.channels {
            let number = names.binary_search(&name.as_str()).unwrap_or_default();
            event(json!({
                "ph": "X", "pid": LINKS, "tid": number, "name": "packet",
                "ts": us(*begin), "dur": us(*end) - us(*begin),
            }))?;
        }
        writeln!(out, "\n]}}")
    }
}
