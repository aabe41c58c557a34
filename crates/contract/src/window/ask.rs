//! Requests of a member to others by message, and their answers.

use super::wire::{self, Kind};
use super::{Stretch, Window};
use crate::{
    Completion, Destination, Endpoint, Error, Readable, Request, Result, Selector, Writable,
};

/// Tags of a window's messages: requests to serving members, then answers by ticket. Those in between belong to the
/// face.
pub(super) const REQUESTS: u32 = 0;
const ANSWERS: u32 = 16;

/// An answer begins with a status word.
pub(super) const SUCCESS: u64 = 0;
pub(super) const OUT_OF_WINDOW: u64 = 1;
const WORD: usize = 8;

/// Returns the tag of the answer to a ticket.
pub(super) fn answer_tag(ticket: u32) -> u32 {
    ANSWERS + ticket
}

/// A request to another member whose answer can be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u32);

/// One request.
struct Pending {
    target: usize,
    send: Request,
    answer: Request,
    /// The request's data, which the fabric reads until the send is done.
    _sent: Vec<u8>,
    /// Room for the answer.
    room: Vec<u8>,
    is_done: bool,
    /// Nobody takes the answer.
    is_detached: bool,
}

/// All requests in progress.
pub(super) struct Asked {
    pending: Vec<Option<Pending>>,
    free: Vec<u32>,
    /// Tickets whose answers have not arrived.
    waiting: Vec<u32>,
    /// Number of answers that each member owes.
    owed: Vec<usize>,
    /// First failure of a detached request.
    failed: Option<Error>,
}

impl Asked {
    pub(super) fn new(members: usize) -> Self {
        let owed = vec![0; members];
        Asked { pending: vec![], free: vec![], waiting: vec![], owed, failed: None }
    }

    /// Returns whether all answers have arrived.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl Window {
    /// Sends a request to a member. The answer holds `answer_bytes` bytes of data, and is not taken if `detached`.
    pub(super) fn ask<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        kind: Kind,
        (stretches, operand): (&[Stretch], &[u8]),
        (answer_bytes, is_detached): (Option<usize>, bool),
    ) -> Result<Ticket> {
        let rank = self.targets[target].rank;
        let ticket = self.asked.free.pop().unwrap_or_else(|| {
            self.asked.pending.push(None);
            self.asked.pending.len() as u32 - 1
        });
        let sent = wire::write((kind, ticket, answer_bytes.is_some()), stretches, operand);
        let mut room = vec![0; WORD + answer_bytes.unwrap_or(0)];
        // SAFETY: both vectors are kept unchanged until both requests are done.
        let (place, data) = unsafe {
            (Writable::new(room.as_mut_ptr(), room.len()), Readable::new(sent.as_ptr(), sent.len()))
        };
        let tag = answer_tag(ticket);
        let [send, answer] = if self.has_agents {
            let access = wire::access(kind, operand.len(), answer_bytes.unwrap_or(0));
            endpoint.post_access(rank, self.context, access, data, (tag, place))?
        } else {
            let (source, tag) = (Some(rank as u32), Some(tag));
            let selector = Selector { context: self.context, source, tag };
            let answer = endpoint.post_receive(selector, place)?;
            let to = Destination { rank, context: self.context, tag: REQUESTS };
            let send = endpoint.post_send(to, data, Completion::Local)?;
            [send, answer]
        };
        let pending =
            Pending { target, send, answer, _sent: sent, room, is_done: false, is_detached };
        self.asked.pending[ticket as usize] = Some(pending);
        self.asked.waiting.push(ticket);
        self.asked.owed[target] += 1;
        Ok(Ticket(ticket))
    }

    /// Processes the answers that have arrived.
    pub(super) fn take_answers<E: Endpoint>(&mut self, endpoint: &mut E) {
        let Asked { pending, free, waiting, owed, failed } = &mut self.asked;
        waiting.retain(|&ticket| {
            let one = pending[ticket as usize].as_mut().expect("what is waited for is pending");
            if !endpoint.is_done(one.answer) || !endpoint.is_done(one.send) {
                return true;
            }
            endpoint.end(one.answer);
            endpoint.end(one.send);
            one.is_done = true;
            owed[one.target] -= 1;
            if one.is_detached {
                if failed.is_none() {
                    *failed = outcome(one).err();
                }
                pending[ticket as usize] = None;
                free.push(ticket);
            }
            false
        });
    }

    /// Returns the number of requests in progress to a member, or to all.
    pub fn under_way(&self, target: Option<usize>) -> usize {
        match target {
            Some(target) => self.asked.owed[target],
            None => self.asked.waiting.len(),
        }
    }

    /// Returns whether the answer to a ticket has arrived.
    pub fn has_come(&self, ticket: Ticket) -> bool {
        self.asked.pending[ticket.0 as usize].as_ref().is_none_or(|one| one.is_done)
    }

    /// Takes the data of an arrived answer. The ticket is invalid afterwards.
    ///
    /// # Errors
    /// [`Error::OutOfWindow`] if the member has no such memory.
    ///
    /// # Panics
    /// If it has not arrived.
    pub fn take(&mut self, ticket: Ticket) -> Result<Vec<u8>> {
        let pending = self.asked.pending[ticket.0 as usize].take();
        let mut one = pending.expect("a ticket is taken once");
        assert!(one.is_done, "the answer has not come");
        self.asked.free.push(ticket.0);
        outcome(&one)?;
        one.room.drain(..WORD);
        Ok(one.room)
    }

    /// Returns the first failure of a detached request since the last call, if any.
    ///
    /// # Errors
    /// [`Error::OutOfWindow`] if a member has no such memory.
    pub fn check(&mut self) -> Result<()> {
        self.asked.failed.take().map_or(Ok(()), Err)
    }

    /// Returns a message that can never arrive because the member that owes it has left the run.
    pub fn hopeless<E: Endpoint>(&self, endpoint: &E) -> Option<Request> {
        let waiting = self.asked.waiting.iter();
        let answers = waiting.filter_map(|&one| self.asked.pending[one as usize].as_ref());
        answers.map(|one| one.answer).find(|&answer| endpoint.is_hopeless(answer))
    }
}

/// Returns the outcome that an answer reports.
fn outcome(one: &Pending) -> Result<()> {
    let word = one.room.first_chunk().map_or(SUCCESS, |word| u64::from_ne_bytes(*word));
    match word {
        SUCCESS => Ok(()),
        _ => Err(Error::OutOfWindow { rank: one.target, offset: 0, bytes: 0, window_bytes: 0 }),
    }
}
