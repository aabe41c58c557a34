//! The output of one stream of a rank, as whole lines.

use std::time::{Duration, Instant};

/// Time after which the beginning of a line is written without its end, because the program may wait for an answer to it.
const LINE_LIMIT: Duration = Duration::from_millis(200);
/// Length from which a line is written in pieces.
const LINE_MAX: usize = 64 << 10;

/// What stands before each line.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    /// The rank, if it does.
    pub(super) rank: Option<usize>,
    /// The time, by this function, if it does.
    pub(super) time: Option<fn() -> String>,
}

impl Marks {
    fn text(&self) -> String {
        let time = self.time.map(|now| format!("{} ", now()));
        let rank = self.rank.map(|rank| format!("[{rank}] "));
        time.unwrap_or_default() + &rank.unwrap_or_default()
    }

    fn are_none(&self) -> bool {
        self.rank.is_none() && self.time.is_none()
    }
}

/// Collects bytes and returns them as whole lines, so that one write never ends within a line of another rank.
#[derive(Debug)]
pub(super) struct Lines {
    marks: Marks,
    /// The beginning of a line that has no end yet.
    begun: Vec<u8>,
    since: Instant,
}

impl Lines {
    pub(super) fn new(marks: Marks) -> Self {
        Lines { marks, begun: Vec::new(), since: Instant::now() }
    }

    /// Adds bytes, and returns what is to be written now.
    pub(super) fn add(&mut self, bytes: &[u8], now: Instant) -> Vec<u8> {
        if self.begun.is_empty() {
            self.since = now;
        }
        // What was there before has no end of a line.
        let before = self.begun.len();
        self.begun.extend_from_slice(bytes);
        let last = bytes.iter().rposition(|&byte| byte == b'\n');
        let ended = last.map_or(0, |last| before + last + 1);
        let is_long = self.marks.are_none() && self.begun.len() - ended > LINE_MAX;
        let rest = self.begun.split_off(if is_long { self.begun.len() } else { ended });
        let lines = std::mem::replace(&mut self.begun, rest);
        if !lines.is_empty() {
            self.since = now;
        }
        self.marked(lines)
    }

    /// Returns the time after which [`overdue`](Lines::overdue) has something. A line with marks waits for its end: in
    /// the middle of it, no mark would say whose it is.
    pub(super) fn due(&self) -> Option<Instant> {
        (self.marks.are_none() && !self.begun.is_empty()).then(|| self.since + LINE_LIMIT)
    }

    /// Returns the beginning of a line that has waited for long.
    pub(super) fn overdue(&mut self, now: Instant) -> Vec<u8> {
        match self.due().is_some_and(|due| now >= due) {
            true => std::mem::take(&mut self.begun),
            false => Vec::new(),
        }
    }

    /// Returns what is left at the end of the stream. A last line without an end gets one if it has marks.
    pub(super) fn end(&mut self) -> Vec<u8> {
        let mut last = std::mem::take(&mut self.begun);
        if !last.is_empty() && !self.marks.are_none() {
            last.push(b'\n');
        }
        self.marked(last)
    }

    fn marked(&self, lines: Vec<u8>) -> Vec<u8> {
        if self.marks.are_none() || lines.is_empty() {
            return lines;
        }
        let mark = self.marks.text();
        let mut marked = Vec::with_capacity(lines.len() + mark.len());
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            marked.extend_from_slice(mark.as_bytes());
            marked.extend_from_slice(line);
        }
        marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn lines_leave_whole_and_their_bytes_stay_as_they_are() {
        let now = Instant::now();
        let mut lines = Lines::new(Marks::default());
        assert_eq!(text(lines.add(b"one\ntw", now)), "one\n");
        assert_eq!(text(lines.add(b"o\r\n\n", now)), "two\r\n\n");
        assert_eq!(lines.due(), None);
        assert_eq!(text(lines.add(b"no end", now)), "");
        assert_eq!(text(lines.overdue(now)), "");
        assert_eq!(text(lines.overdue(now + LINE_LIMIT)), "no end");
        assert_eq!(text(lines.add(b" yet", now)), "");
        assert_eq!(text(lines.end()), " yet");
        // A line that has no end is written in pieces.
        let long = vec![b'x'; LINE_MAX + 1];
        assert_eq!(lines.add(&long, now), long);
        assert_eq!(lines.add(b"y\nz", now), b"y\n");
    }

    #[test]
    fn each_line_gets_its_marks_once_and_an_end() {
        let now = Instant::now();
        let marks = Marks { rank: Some(3), time: Some(|| "noon".into()) };
        let mut lines = Lines::new(marks);
        assert_eq!(text(lines.add(b"a\n\nb", now)), "noon [3] a\nnoon [3] \n");
        assert_eq!(text(lines.overdue(now + LINE_LIMIT)), "");
        assert_eq!(text(lines.add(b"c\nd", now)), "noon [3] bc\n");
        assert_eq!(text(lines.end()), "noon [3] d\n");
        assert_eq!(text(lines.end()), "");
    }
}
