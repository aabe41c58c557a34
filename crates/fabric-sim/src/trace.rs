//! A trace of a run, for the viewers Chrome's `about:tracing` and Perfetto.

mod chrome;

use std::io::{self, Write};

use contract::Time;

/// Activity of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// A blocking send.
    Send,
    /// A blocking receive.
    Receive,
    /// A send and a receive in one call.
    Exchange,
    /// A wait for a posted operation.
    Wait,
    /// A computation.
    Compute,
    /// A call with a name of its own: an index into the names of the trace.
    Call(u32),
}

/// Spans of a run in virtual time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Each activity: its rank, its kind, its beginning and its end.
    pub activities: Vec<(usize, Activity, Time, Time)>,
    /// Each message: its sender, its receiver, its bytes, and the times of its sending and its arrival.
    pub messages: Vec<(usize, usize, usize, Time, Time)>,
    /// Each time in which a channel was busy: its name, the beginning and the end (level L2).
    pub channels: Vec<(String, Time, Time)>,
    /// Names of activities.
    pub names: Vec<String>,
    /// The critical path, if it is known: for each part its rank, its beginning and its end.
    pub path: Vec<(usize, Time, Time)>,
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
    fn name(self, trace: &Trace) -> &str {
        match self {
            Activity::Call(index) => trace.names.get(index as usize).map_or("", String::as_str),
            Activity::Send => "send",
            Activity::Receive => "receive",
            Activity::Exchange => "send and receive",
            Activity::Wait => "wait",
            Activity::Compute => "compute",
        }
    }
}

/// Text at the head of a file with a trace, by which it is recognised.
pub const MARK: &str = "\"traceEvents\":[";

/// Largest number of events in a file. Viewers open files with more slowly or not at all.
const EVENTS_MAX: usize = 500_000;

impl Trace {
    /// Returns the moment at which the trace must be cut so that at most `most` events begin before it, or `None` if it
    /// has no more than that.
    fn cut(&self, most: usize) -> Option<Time> {
        let messages = self.messages.iter().flat_map(|&(_, _, _, sent, _)| [sent, sent]);
        let activities = self.activities.iter().map(|&(_, _, begin, _)| begin);
        let channels = self.channels.iter().map(|&(_, begin, _)| begin);
        let path = self.path.iter().map(|&(_, begin, _)| begin);
        let all = activities.chain(messages).chain(channels).chain(path);
        let mut begins: Vec<Time> = all.collect();
        (begins.len() > most).then(|| *begins.select_nth_unstable(most).1)
    }

    /// Writes the trace in the JSON format of Chrome's trace viewer: ranks and links as tracks, messages as arrows. Of
    /// a trace that is too large for viewers, writes the beginning and returns the moment at which that ends.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_chrome(&self, out: &mut dyn Write) -> io::Result<Option<Time>> {
        let cut = self.cut(EVENTS_MAX);
        chrome::write(self, cut, out).map(|()| cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::TimeSpan;

    /// Returns three activities, a message of two events and a packet, which begin at intervals of a microsecond.
    fn trace() -> Trace {
        let at = |us| Time::ZERO + TimeSpan::from_us(us);
        Trace {
            activities: (0..3).map(|us| (0, Activity::Send, at(us), at(us + 1))).collect(),
            messages: vec![(0, 1, 8, at(3), at(9))],
            channels: vec![("link".into(), at(4), at(5))],
            ..Trace::default()
        }
    }

    fn names(trace: &Trace, cut: Option<Time>) -> Vec<String> {
        let mut text = Vec::new();
        chrome::write(trace, cut, &mut text).unwrap();
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

    #[test]
    fn calls_have_names_and_the_path_is_a_track_of_its_own() {
        let at = |us| Time::ZERO + TimeSpan::from_us(us);
        let calls = Trace {
            activities: vec![(0, Activity::Call(1), at(0), at(1))],
            names: vec!["other".into(), "MPI_Recv (main)".into()],
            path: vec![(3, at(0), at(1))],
            ..Trace::default()
        };
        assert_eq!(names(&calls, None), ["MPI_Recv (main)", "rank 3"]);
    }

    /// At most four of six events may be written. The fifth, which is the message's second, begins at 3 us, so the
    /// events that begin before 3 us are written.
    #[test]
    fn a_longer_one_is_cut_at_a_moment_and_says_so() {
        let cut = trace().cut(4);
        assert_eq!(cut, Some(Time::ZERO + TimeSpan::from_us(3)));
        let expected = ["the trace ends here; the run went on", "send", "send", "send"];
        assert_eq!(names(&trace(), cut), expected);
    }
}
