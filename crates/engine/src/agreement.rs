//! The check that the members of a context make the same collectives by messages, in the same order.
//!
//! Each rank numbers its calls in a context and keeps the last ones. A rank in a long wait sends its
//! call to all other members, once. A rank that receives another call id than its own records the
//! difference and answers with its own call id, so that both ranks know. A rank that has not yet made the call compares
//! when it makes it.
//!
//! A rank that waits for a member that has left asks it before it gives up, because the difference explains the wait.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use contract::AgreedCall;

/// Number of calls of a context that a rank keeps.
const RECENT: usize = 64;
/// Number of closed contexts that a rank keeps: a rank may close one while another still waits in its last call.
const CLOSED: usize = 64;
/// Maximum numbers of call ids that a rank keeps for calls of a context that it has not made yet, and of contexts that it
/// has not opened yet. Beyond them it keeps none: they serve reports only.
const EARLY: usize = 1024;
const UNOPENED: usize = 1024;
/// Time per member after which a rank sends its call id. A context of N members then costs N - 1 small frames for each
/// N times this time, however many ranks share a processor.
const REPORT_AFTER_PER_MEMBER: Duration = Duration::from_millis(5);

/// What a rank tells another about its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallNote {
    /// The reason.
    pub kind: CallNoteKind,
    /// The context.
    pub context: u32,
    /// Number of the call in the context.
    pub number: u32,
    /// The call. `None` in an answer if the rank has not made it, or no longer keeps it.
    pub call: Option<AgreedCall>,
}

/// Why a rank tells another about its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallNoteKind {
    /// It waits in the call, or has found that the other is in another call.
    Report,
    /// It waits for a rank that has left, which answers.
    Question,
    /// The answer.
    Answer,
}

/// The calls of all contexts.
#[derive(Default)]
pub(crate) struct Agreement {
    contexts: HashMap<u32, Calls>,
    /// Contexts that this rank has closed, the oldest first.
    closed: VecDeque<u32>,
}

/// The calls of one context.
#[derive(Default)]
struct Calls {
    /// Ranks of the run. Empty before this rank opens the context, which others may have opened already.
    members: Vec<usize>,
    /// Number of the last call. The first call has number 1.
    last: u32,
    /// The last calls, the oldest first.
    recent: VecDeque<Call>,
    /// Call ids from other members for calls that this rank has not made yet.
    early: Vec<CallReport>,
}

struct Call {
    call: AgreedCall,
    made: Instant,
    /// True if the call id was sent to all members.
    is_reported: bool,
    /// A member and its call of the same number, if that differs.
    differing: Option<(usize, AgreedCall)>,
    /// The members that have left and were asked, and the number of their answers.
    requested: Vec<usize>,
    answers: usize,
}

impl Call {
    fn new(call: AgreedCall) -> Self {
        let made = Instant::now();
        Call { call, made, is_reported: false, differing: None, requested: Vec::new(), answers: 0 }
    }

    /// Returns whether another rank's call differs. The first that does is kept.
    fn note_difference(&mut self, CallReport { from, call: theirs, .. }: CallReport) -> bool {
        let differing = theirs.filter(|theirs| *theirs != self.call);
        if let Some(theirs) = differing {
            self.differing.get_or_insert((from, theirs));
        }
        differing.is_some()
    }
}

/// Another rank's call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallReport {
    pub(crate) from: usize,
    pub(crate) number: u32,
    /// `None` if it has not made the call or no longer keeps it.
    pub(crate) call: Option<AgreedCall>,
}

impl Calls {
    /// Returns the call with this number, if it was made and is still kept.
    fn call(&mut self, number: u32) -> Option<&mut Call> {
        let age = self.last.wrapping_sub(number) as usize;
        let place = self.recent.len().checked_sub(age.checked_add(1)?)?;
        self.recent.get_mut(place)
    }

    /// Compares the call of another rank. Returns this rank's call to answer with, if that rank does not know it.
    fn compare(&mut self, report: CallReport) -> Option<AgreedCall> {
        let call = self.call(report.number)?;
        if !call.note_difference(report) {
            return None;
        }
        (!call.is_reported).then_some(call.call)
    }

    /// Adds the next call. Returns its number, and the ranks to which its call id must be sent as an answer.
    fn announce(&mut self, call: AgreedCall) -> (u32, Vec<usize>) {
        self.last = self.last.wrapping_add(1);
        let number = self.last;
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(Call::new(call));
        let (now, later) = std::mem::take(&mut self.early)
            .into_iter()
            .partition::<Vec<_>, _>(|report| report.number == number);
        self.early = later;
        let answered = now.into_iter().filter(|report| self.compare(*report).is_some());
        (number, answered.map(|report| report.from).collect())
    }
}

impl Agreement {
    /// Records a call. Returns its number and the ranks to which its call id must be sent as an answer, or `None` if
    /// the context is not open.
    pub(crate) fn announce(&mut self, context: u32, call: AgreedCall) -> Option<(u32, Vec<usize>)> {
        self.contexts.get_mut(&context).map(|calls| calls.announce(call))
    }

    /// Opens a context. Call ids that others have sent before are kept.
    pub(crate) fn open(&mut self, context: u32, members: Vec<usize>) {
        self.contexts.entry(context).or_default().members = members;
    }

    pub(crate) fn close(&mut self, context: u32) {
        self.closed.push_back(context);
        if self.closed.len() > CLOSED
            && let Some(oldest) = self.closed.pop_front()
        {
            self.contexts.remove(&oldest);
        }
    }

    /// Records the call id of another rank. Returns the call id to answer with, if that rank does not know it.
    pub(crate) fn take(&mut self, context: u32, report: CallReport) -> Option<AgreedCall> {
        if !self.contexts.contains_key(&context) && self.unopened() >= UNOPENED {
            return None;
        }
        let calls = self.contexts.entry(context).or_default();
        // Numbers wrap around, so the nearer side counts.
        let is_early = report.number.wrapping_sub(calls.last) as i32 > 0;
        if is_early {
            if calls.early.len() < EARLY {
                calls.early.push(report);
            }
            return None;
        }
        calls.compare(report)
    }

    /// Returns the number of contexts of which others have told and which this rank has not opened.
    fn unopened(&self) -> usize {
        self.contexts.values().filter(|calls| calls.members.is_empty()).count()
    }

    /// Returns the call id of a call and the ranks to send it to, if that is due `waited` after the call was made. It
    /// is due once.
    pub(crate) fn take_due(
        &mut self,
        (context, number): (u32, u32),
        waited: impl Fn(Instant) -> Duration,
    ) -> Option<(AgreedCall, Vec<usize>)> {
        let calls = self.contexts.get_mut(&context)?;
        let report_after = REPORT_AFTER_PER_MEMBER * calls.members.len() as u32;
        let call = calls.call(number)?;
        if call.is_reported || waited(call.made) < report_after {
            return None;
        }
        call.is_reported = true;
        let own = call.call;
        Some((own, calls.members.clone()))
    }

    /// Compares the call id of a member that asks. Returns this rank's call id, if it has made the call and keeps it.
    pub(crate) fn answer(&mut self, context: u32, report: CallReport) -> Option<AgreedCall> {
        let calls = self.contexts.get_mut(&context)?;
        let call = calls.call(report.number)?;
        call.note_difference(report);
        Some(call.call)
    }

    /// Returns the call id of a call and the members to ask: those of which `answers` is true that were not asked
    /// before. `None` if there is no such call.
    pub(crate) fn take_questions(
        &mut self,
        (context, number): (u32, u32),
        answers: impl Fn(&usize) -> bool,
    ) -> Option<(AgreedCall, Vec<usize>)> {
        let calls = self.contexts.get_mut(&context)?;
        let members = calls.members.clone();
        let call = calls.call(number)?;
        let is_new = |rank: &usize| answers(rank) && !call.requested.contains(rank);
        let new: Vec<usize> = members.into_iter().filter(is_new).collect();
        call.requested.extend(&new);
        Some((call.call, new))
    }

    /// Processes the answer to such a question.
    pub(crate) fn take_answer(&mut self, context: u32, report: CallReport) {
        let call = self.contexts.get_mut(&context).and_then(|calls| calls.call(report.number));
        let Some(call) = call else { return };
        call.answers += 1;
        call.note_difference(report);
    }

    /// Returns whether all questions about a call were answered.
    pub(crate) fn are_answered(&mut self, (context, number): (u32, u32)) -> bool {
        let call = self.contexts.get_mut(&context).and_then(|calls| calls.call(number));
        call.is_none_or(|call| call.answers >= call.requested.len())
    }

    /// Returns this rank's call, and a member with its call of this number, if that differs.
    pub(crate) fn differing(
        &mut self,
        context: u32,
        number: u32,
    ) -> Option<(AgreedCall, usize, AgreedCall)> {
        let call = self.contexts.get_mut(&context)?.call(number)?;
        let (from, theirs) = call.differing?;
        Some((call.call, from, theirs))
    }
}

#[cfg(test)]
mod tests {
    use contract::CallId;

    use super::*;

    const CONTEXT: u32 = 7;
    /// A call whose id is this number.
    fn call(id: u32) -> AgreedCall {
        AgreedCall { id: CallId::from_bits(id), bytes: 4 }
    }

    const LONG: fn(Instant) -> Duration = |_| Duration::from_secs(1);

    fn open(ranks: usize) -> Agreement {
        let mut agreement = Agreement::default();
        agreement.open(CONTEXT, (0..ranks).collect());
        agreement
    }

    /// The ids of this rank's call and of another one, with its member.
    fn differing(agreement: &mut Agreement, number: u32) -> Option<(u32, usize, u32)> {
        let (own, from, theirs) = agreement.differing(CONTEXT, number)?;
        Some((own.id.bits(), from, theirs.id.bits()))
    }

    #[test]
    fn an_equal_call_id_is_no_difference_and_another_is_answered_once() {
        let mut agreement = open(3);
        assert_eq!(agreement.announce(CONTEXT, call(50)), Some((1, vec![])));
        assert_eq!(agreement.announce(CONTEXT, call(60)), Some((2, vec![])));
        let report = |from, number, id| CallReport { from, number, call: Some(call(id)) };
        assert_eq!(agreement.take(CONTEXT, report(1, 1, 50)), None);
        assert_eq!(differing(&mut agreement, 1), None);
        assert_eq!(agreement.take(CONTEXT, report(2, 1, 51)), Some(call(50)));
        assert_eq!(differing(&mut agreement, 1), Some((50, 2, 51)));
        assert_eq!(differing(&mut agreement, 2), None);
        // A rank that was sent the call id does not get it again as an answer.
        assert_eq!(agreement.take_due((CONTEXT, 2), LONG), Some((call(60), vec![0, 1, 2])));
        assert_eq!(agreement.take(CONTEXT, report(1, 2, 61)), None);
        assert_eq!(differing(&mut agreement, 2), Some((60, 1, 61)));
    }

    #[test]
    fn a_call_id_is_reported_once_and_after_a_delay_for_each_member() {
        let mut agreement = open(4);
        agreement.announce(CONTEXT, call(50));
        // 4 members of 5 ms each.
        assert_eq!(agreement.take_due((CONTEXT, 1), |_| Duration::from_millis(19)), None);
        let due = agreement.take_due((CONTEXT, 1), |_| Duration::from_millis(20));
        assert_eq!(due, Some((call(50), vec![0, 1, 2, 3])));
        assert_eq!(agreement.take_due((CONTEXT, 1), LONG), None);
        for unknown in [0, 2] {
            assert_eq!(agreement.take_due((CONTEXT, unknown), LONG), None);
        }
    }

    #[test]
    fn members_that_have_left_are_asked_once_and_each_answers() {
        let (mut asking, mut left) = (open(3), open(3));
        asking.announce(CONTEXT, call(50));
        let next_questions = |asking: &mut Agreement, left: &[usize]| {
            asking.take_questions((CONTEXT, 1), |rank| left.contains(rank))
        };
        assert_eq!(next_questions(&mut asking, &[1]), Some((call(50), vec![1])));
        assert!(!asking.are_answered((CONTEXT, 1)));
        assert_eq!(next_questions(&mut asking, &[1, 2]), Some((call(50), vec![2])));
        let report = |from, call| CallReport { from, number: 1, call };
        // A member that has not made the call has nothing to compare.
        assert_eq!(left.answer(CONTEXT, report(0, Some(call(50)))), None);
        asking.take_answer(CONTEXT, report(1, None));
        assert!(!asking.are_answered((CONTEXT, 1)) && differing(&mut asking, 1).is_none());
        left.announce(CONTEXT, call(51));
        assert_eq!(left.answer(CONTEXT, report(0, Some(call(50)))), Some(call(51)));
        assert_eq!(differing(&mut left, 1), Some((51, 0, 50)));
        asking.take_answer(CONTEXT, report(2, Some(call(51))));
        assert!(asking.are_answered((CONTEXT, 1)));
        assert_eq!(differing(&mut asking, 1), Some((50, 2, 51)));
        // There is no call of this number to ask about.
        assert_eq!(asking.take_questions((CONTEXT, 2), |_| true), None);
    }

    #[test]
    fn a_report_on_a_later_call_waits_for_it_even_before_the_context_is_open() {
        let mut agreement = Agreement::default();
        for (from, number, id) in [(1, 2, 60), (2, 1, 51), (1, 1, 50)] {
            let report = CallReport { from, number, call: Some(call(id)) };
            assert_eq!(agreement.take(CONTEXT, report), None);
        }
        agreement.open(CONTEXT, vec![0, 1, 2]);
        assert_eq!(agreement.announce(CONTEXT, call(50)), Some((1, vec![2])));
        assert_eq!(differing(&mut agreement, 1), Some((50, 2, 51)));
        assert_eq!(agreement.announce(CONTEXT, call(61)), Some((2, vec![1])));
        assert_eq!(differing(&mut agreement, 2), Some((61, 1, 60)));
    }

    #[test]
    fn reports_without_end_take_memory_up_to_a_limit() {
        let mut agreement = open(2);
        for number in 1..=2 * EARLY as u32 {
            let report = CallReport { from: 1, number, call: Some(call(9)) };
            assert_eq!(agreement.take(CONTEXT, report), None);
            assert_eq!(agreement.take(CONTEXT + number, report), None);
        }
        assert_eq!(agreement.contexts[&CONTEXT].early.len(), EARLY);
        assert_eq!(agreement.contexts.len(), 1 + UNOPENED);
    }

    #[test]
    fn the_last_64_calls_are_remembered_and_the_last_64_closed_contexts() {
        let mut agreement = open(2);
        for id in 1..=65 {
            agreement.announce(CONTEXT, call(id));
        }
        let other = |number| CallReport { from: 1, number, call: Some(call(1000)) };
        assert_eq!(agreement.take(CONTEXT, other(1)), None);
        assert_eq!(agreement.take(CONTEXT, other(2)), Some(call(2)));
        agreement.close(CONTEXT);
        for context in 100..163 {
            agreement.open(context, vec![0, 1]);
            agreement.close(context);
        }
        assert_eq!(agreement.take(CONTEXT, other(3)), Some(call(3)));
        agreement.close(163);
        assert!(!agreement.contexts.contains_key(&CONTEXT));
    }
}
