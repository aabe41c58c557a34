//! The note in which a rank reports a long wait to the launcher: that it waits and that nothing has moved, and, on
//! request, what it waits for.
//!
//! The rank writes it only after a sleep that ran out or an equally long spin, so it is never on the path of a message.

use std::sync::atomic::AtomicU8;

use crate::primitive::{AtomicU32, AtomicU64, Ordering};

const TEXT_BYTES: usize = 2000;
/// Something else than messages and collectives may end the wait.
const OTHER_ENDS: u32 = 1;
/// The program polls.
const POLLS: u32 = 2;
/// Beginnings of the line of a wait and of the line of a remark in the text of an answer.
const WAIT: char = '\u{1}';
const REMARK: char = '\u{2}';
/// Mark before the return addresses at the end of a line, which the launcher replaces by a place in the program.
const PLACE: char = '\u{3}';
/// Maximum number of return addresses that a rank reports.
pub(crate) const CALLERS_MAX: usize = 8;

/// A rank's note, in its block.
#[repr(C, align(64))]
pub(crate) struct WaitNote {
    /// Number of the current long wait, counted from 1; 0 while the rank is in none.
    number: AtomicU64,
    /// Number of its long waits so far.
    count: AtomicU64,
    polls: AtomicU64,
    state: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    /// The launcher's latest question, and the question that the text answers.
    requested: AtomicU32,
    answered: AtomicU32,
    text_bytes: AtomicU32,
    /// What else may happen: [`OTHER_ENDS`], [`POLLS`].
    terms: AtomicU32,
    text: [AtomicU8; TEXT_BYTES],
}

/// State of a rank after an idle poll.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PollState {
    /// Changes whenever any of this rank's messages and collectives has moved.
    pub state: u64,
    /// What it has sent in ways that keep data outside of memory that ranks share: bytes of connections, messages of a
    /// network. What is under way is the difference to what all ranks have received.
    pub sent: u64,
    /// What it has received in these ways.
    pub received: u64,
    /// True if something else than messages and collectives may end its waits.
    pub may_end_otherwise: bool,
    /// True if the rank is in no wait: its program polls, and may do something else at any time.
    pub is_of_program: bool,
}

/// A long wait as the launcher sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LongWait {
    pub(crate) number: u64,
    /// Number of idle polls of this rank in long waits.
    pub(crate) polls: u64,
    pub(crate) found: PollState,
}

/// A rank's answer: the waits of its threads, and remarks, one line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) waits: Vec<AnsweredWait>,
    pub(crate) remarks: Vec<String>,
}

/// The wait of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AnsweredWait {
    /// Name of the function, if it is one of MPI's; empty otherwise.
    pub(crate) call: String,
    /// Return addresses in the program of the call and its callers, the innermost first.
    pub(crate) callers: Vec<u64>,
    /// What it waits for, one line each.
    pub(crate) lines: Vec<String>,
}

/// Returns the mark for the end of a line that names a call with these return addresses; none without addresses.
pub(crate) fn place_mark(callers: &[u64]) -> String {
    if callers.is_empty() {
        String::new()
    } else {
        format!("{PLACE}{}", addresses_to_text(callers))
    }
}

/// Separates a line from the return addresses of its mark, if it has one.
pub(crate) fn split_place(line: &str) -> (&str, Vec<u64>) {
    let (words, callers) = line.split_once(PLACE).unwrap_or((line, ""));
    (words, addresses_from_text(callers))
}

fn addresses_to_text(addresses: &[u64]) -> String {
    let words: Vec<String> = addresses.iter().map(|one| format!("{one:x}")).collect();
    words.join(" ")
}

fn addresses_from_text(text: &str) -> Vec<u64> {
    text.split(' ').filter_map(|word| u64::from_str_radix(word, 16).ok()).collect()
}

/// Returns a line without its last address if it was cut off, because that address may be wrong.
fn without_cut_address(line: &str, is_cut: bool) -> &str {
    let marks = |c: char| [PLACE, '\t', ' '].contains(&c);
    let has_addresses = line.contains(PLACE) || line.starts_with(WAIT);
    match line.rfind(marks).filter(|_| is_cut && has_addresses) {
        Some(end) => &line[..end],
        None => line,
    }
}

impl Answer {
    fn to_text(&self) -> String {
        let mut text = String::new();
        // The remarks come first: of a long text the end is cut off.
        self.remarks.iter().for_each(|line| text += &format!("{REMARK}{line}\n"));
        for wait in &self.waits {
            text += &format!("{WAIT}{}\t{}\n", wait.call, addresses_to_text(&wait.callers));
            wait.lines.iter().for_each(|line| text += &format!("{line}\n"));
        }
        text
    }

    fn from_text(text: &str) -> Self {
        let mut answer = Answer::default();
        for whole in text.split_inclusive('\n') {
            let is_cut = !whole.ends_with('\n');
            let line = without_cut_address(whole.trim_end_matches('\n'), is_cut);
            if let Some(wait) = line.strip_prefix(WAIT) {
                let (call, callers) = wait.split_once('\t').unwrap_or((wait, ""));
                let callers = addresses_from_text(callers);
                answer.waits.push(AnsweredWait { call: call.into(), callers, lines: Vec::new() });
            } else if let Some(remark) = line.strip_prefix(REMARK) {
                answer.remarks.push(remark.into());
            } else if let Some(wait) = answer.waits.last_mut() {
                wait.lines.push(line.into());
            }
        }
        answer
    }
}

impl WaitNote {
    /// Reports an idle poll of a long wait. Only the owner calls it.
    pub(crate) fn report(&self, found: PollState) {
        let PollState { state, sent, received, may_end_otherwise, is_of_program } = found;
        if self.number.load(Ordering::Relaxed) == 0 {
            let count = self.count.load(Ordering::Relaxed) + 1;
            self.count.store(count, Ordering::Relaxed);
            self.number.store(count, Ordering::Relaxed);
        }
        self.state.store(state, Ordering::Relaxed);
        self.sent.store(sent, Ordering::Relaxed);
        self.received.store(received, Ordering::Relaxed);
        let other_ends = if may_end_otherwise { OTHER_ENDS } else { 0 };
        let polls = if is_of_program { POLLS } else { 0 };
        self.terms.store(other_ends | polls, Ordering::Relaxed);
        let polls = self.polls.load(Ordering::Relaxed) + 1;
        // Release, partner of the acquire in `read`: a reader of the poll count sees what had moved until then.
        self.polls.store(polls, Ordering::Release);
    }

    /// Declares that the wait is over. Only the owner calls it.
    pub(crate) fn end(&self) {
        self.number.store(0, Ordering::Release);
    }

    /// Returns the long wait that the rank is in, if any.
    pub(crate) fn read(&self) -> Option<LongWait> {
        let polls = self.polls.load(Ordering::Acquire);
        let terms = self.terms.load(Ordering::Relaxed);
        let found = PollState {
            state: self.state.load(Ordering::Relaxed),
            sent: self.sent.load(Ordering::Relaxed),
            received: self.received.load(Ordering::Relaxed),
            may_end_otherwise: terms & OTHER_ENDS != 0,
            is_of_program: terms & POLLS != 0,
        };
        let number = self.number.load(Ordering::Acquire);
        (number != 0).then_some(LongWait { number, polls, found })
    }

    /// Asks what the rank waits for. `question` must differ each time.
    pub(crate) fn request(&self, question: u32) {
        self.requested.store(question, Ordering::Relaxed);
    }

    /// Returns the question that the owner has not answered, if there is one.
    pub(crate) fn question(&self) -> Option<u32> {
        let requested = self.requested.load(Ordering::Relaxed);
        (requested != self.answered.load(Ordering::Relaxed)).then_some(requested)
    }

    /// Answers a question. Only the owner calls it.
    pub(crate) fn answer(&self, question: u32, answer: &Answer) {
        let text = answer.to_text();
        let bytes = text.floor_char_boundary(TEXT_BYTES);
        for (place, byte) in self.text.iter().zip(&text.as_bytes()[..bytes]) {
            place.store(*byte, Ordering::Relaxed);
        }
        self.text_bytes.store(bytes as u32, Ordering::Relaxed);
        // Release, partner of the acquire in `answer_to`.
        self.answered.store(question, Ordering::Release);
    }

    /// Returns the answer to a question, once it is there.
    pub(crate) fn answer_to(&self, question: u32) -> Option<Answer> {
        if self.answered.load(Ordering::Acquire) != question {
            return None;
        }
        let bytes = (self.text_bytes.load(Ordering::Relaxed) as usize).min(TEXT_BYTES);
        let text: Vec<u8> =
            self.text[..bytes].iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
        Some(Answer::from_text(&String::from_utf8_lossy(&text)))
    }
}

#[cfg(loom)]
crate::primitive::fresh! {
    WaitNote {
        number, count, polls, state, sent, received, requested, answered, text_bytes, terms, text
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    fn note() -> Box<WaitNote> {
        // SAFETY: all of it is atomic numbers, for which zero is a value.
        unsafe { Box::new(std::mem::zeroed()) }
    }

    #[test]
    fn each_long_wait_has_a_number_of_its_own() {
        let note = note();
        assert_eq!(note.read(), None);
        let found = PollState { state: 5, sent: 2, received: 3, ..PollState::default() };
        let found = PollState { may_end_otherwise: true, ..found };
        note.report(found);
        note.report(found);
        assert_eq!(note.read(), Some(LongWait { number: 1, polls: 2, found }));
        note.end();
        assert_eq!(note.read(), None);
        let found = PollState { is_of_program: true, may_end_otherwise: false, ..found };
        note.report(found);
        assert_eq!(note.read(), Some(LongWait { number: 2, polls: 3, found }));
    }

    #[test]
    fn a_question_is_answered_once_and_long_answers_are_cut() {
        let note = note();
        assert_eq!(note.question(), None);
        note.request(3);
        assert_eq!((note.question(), note.answer_to(3)), (Some(3), None));
        let wait = |call: &str, lines: &[&str]| AnsweredWait {
            call: call.into(),
            callers: vec![7, 0x55d0_a000_1234],
            lines: lines.iter().map(|line| (*line).into()).collect(),
        };
        let waits = vec![wait("MPI_Recv", &["for rank 1", "for rank 2"]), wait("", &[])];
        let answer = Answer { waits, remarks: vec!["not received there so far: 1 message".into()] };
        note.answer(3, &answer);
        assert_eq!((note.question(), note.answer_to(3)), (None, Some(answer)));
        // A line that names a call, of which the last address was cut off.
        let mark = place_mark(&[0xabc, 0xdef]);
        let filler = "x".repeat(TEXT_BYTES - 3 - mark.len() + 1);
        let lines = vec![format!("{filler}{mark}")];
        let cut = AnsweredWait { lines, ..AnsweredWait::default() };
        note.answer(5, &Answer { waits: vec![cut], remarks: Vec::new() });
        let kept = note.answer_to(5).unwrap();
        assert_eq!(split_place(&kept.waits[0].lines[0]), (&*filler, vec![0xabc]));
        assert_eq!(split_place("for rank 1"), ("for rank 1", vec![]));
        // Two bytes each; before them a mark, a tabulator and the end of a line, which make three.
        let lines = vec!["é".repeat(TEXT_BYTES)];
        let long = AnsweredWait { lines, ..AnsweredWait::default() };
        note.answer(4, &Answer { waits: vec![long], remarks: Vec::new() });
        let kept = note.answer_to(4).unwrap();
        assert_eq!(kept.waits[0].lines[0].chars().count(), (TEXT_BYTES - 3) / 2);
    }
}
