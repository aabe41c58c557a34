//! Requests of a member to others by message, and their answers.

use super::wire::{self, Kind};
use super::{Stretch, Window};
use endpoint::{
    Completion, Destination, Endpoint, Error, LongWaits, NetworkMemory, Readable, Request, Result,
    Selector, Writable,
};

/// Tags of a window's messages: requests to serving members, then answers by ticket. Those in between belong to the
/// face.
pub(super) const REQUESTS: u32 = 0;
/// The lowest tag of a window's answers to requests.
pub const WINDOW_ANSWERS: u32 = 16;

/// Status words at the beginning of an answer.
pub(super) const SUCCESS: u64 = 0;
pub(super) const OUT_OF_WINDOW: u64 = 1;
pub(super) const WORD: usize = 8;

/// Returns the tag of the answer to a ticket.
pub(super) fn answer_tag(ticket: u32) -> u32 {
    WINDOW_ANSWERS + ticket
}

/// A request to another member whose answer can be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u32);

/// One request, or one operation of the network.
pub(super) struct Pending {
    pub(super) target: usize,
    /// The message and its answer, in this order, or the operations of the network.
    pub(super) requests: Vec<Request>,
    pub(super) is_in_network: bool,
    /// The data, which the fabric reads until the requests are done.
    pub(super) sent: Vec<u8>,
    /// Room for the answer: a status, which remains [`SUCCESS`] for operations of the network, and the data.
    pub(super) room: Vec<u8>,
    /// True if the answer is not taken.
    pub(super) is_detached: bool,
    is_done: bool,
}

impl Pending {
    pub(super) fn new(target: usize, sent: Vec<u8>, answer_bytes: usize) -> Self {
        Pending {
            target,
            requests: Vec::new(),
            is_in_network: false,
            sent,
            room: vec![0; WORD + answer_bytes],
            is_detached: false,
            is_done: false,
        }
    }

    /// Returns the requests whose end depends on the other member.
    fn awaited(&self) -> &[Request] {
        if self.is_in_network { &self.requests } else { &self.requests[1..] }
    }
}

/// All requests in progress.
pub(super) struct PendingRequests {
    pending: Vec<Option<Pending>>,
    free: Vec<u32>,
    /// Tickets whose answers have not arrived.
    waiting: Vec<u32>,
    /// Number of answers that each member owes.
    owed: Vec<usize>,
    /// First failure of a detached request.
    failed: Option<Error>,
}

impl PendingRequests {
    pub(super) fn new(members: usize) -> Self {
        let owed = vec![0; members];
        PendingRequests { pending: vec![], free: vec![], waiting: vec![], owed, failed: None }
    }

    fn ticket(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.pending.push(None);
            self.pending.len() as u32 - 1
        })
    }

    fn keep(&mut self, ticket: u32, one: Pending) -> Ticket {
        self.owed[one.target] += 1;
        self.waiting.push(ticket);
        self.pending[ticket as usize] = Some(one);
        Ticket(ticket)
    }

    /// Keeps operations of the network that have been started, until they are done.
    pub(super) fn keep_started(&mut self, one: Pending) -> Ticket {
        let ticket = self.ticket();
        self.keep(ticket, one)
    }

    /// Returns whether all answers have arrived.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl Window {
    /// Sends a request to a member. The answer has `answer_bytes` bytes of data, and is not taken if `detached`.
    pub(super) fn request<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        kind: Kind,
        (stretches, operand): (&[Stretch], &[u8]),
        (answer_bytes, is_detached): (Option<usize>, bool),
    ) -> Result<Ticket> {
        let rank = self.targets[target].rank;
        let ticket = self.pending_requests.ticket();
        let sent = wire::write((kind, ticket, answer_bytes.is_some()), stretches, operand);
        let mut pending = Pending::new(target, sent, answer_bytes.unwrap_or(0));
        let Pending { sent, room, .. } = &mut pending;
        // SAFETY: both vectors are kept unchanged until both requests are done.
        let (place, data) = unsafe {
            (Writable::new(room.as_mut_ptr(), room.len()), Readable::new(sent.as_ptr(), sent.len()))
        };
        let tag = answer_tag(ticket);
        let agents = match endpoint.network_memory() {
            Some(NetworkMemory::Agents(agents)) if self.has_agents => Some(agents),
            _ => None,
        };
        let [send, answer] = if let Some(agents) = agents {
            let access = wire::access(kind, operand.len(), answer_bytes.unwrap_or(0));
            agents.post_access(rank, self.context, access, data, (tag, place))?
        } else {
            let (source, tag) = (Some(rank as u32), Some(tag));
            let selector = Selector { context: self.context, source, tag };
            let answer = endpoint.post_receive(selector, place)?;
            let to = Destination { rank, context: self.context, tag: REQUESTS };
            let send = endpoint.post_send(to, data, Completion::Local)?;
            [send, answer]
        };
        let requests = vec![send, answer];
        Ok(self.pending_requests.keep(ticket, Pending { requests, is_detached, ..pending }))
    }

    /// Processes the answers that have arrived.
    pub(super) fn take_answers<E: Endpoint>(&mut self, endpoint: &mut E) {
        let PendingRequests { pending, free, waiting, owed, failed, .. } =
            &mut self.pending_requests;
        waiting.retain(|&ticket| {
            let one = pending[ticket as usize].as_mut().expect("what is waited for is pending");
            // In reverse, because a message is done before its answer.
            if !one.requests.iter().rev().all(|&request| endpoint.is_done(request)) {
                return true;
            }
            for request in one.requests.drain(..) {
                endpoint.end(request);
            }
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

    /// Returns whether the network has an operation on a member under way.
    pub fn has_in_network(&self, target: usize) -> bool {
        let waiting = self.pending_requests.waiting.iter();
        let mut pending =
            waiting.filter_map(|&one| self.pending_requests.pending[one as usize].as_ref());
        pending.any(|one| one.is_in_network && one.target == target)
    }

    /// Returns the number of requests in progress to a member, or to all.
    pub fn under_way(&self, target: Option<usize>) -> usize {
        match target {
            Some(target) => self.pending_requests.owed[target],
            None => self.pending_requests.waiting.len(),
        }
    }

    /// Returns whether the answer to a ticket has arrived.
    pub fn has_come(&self, ticket: Ticket) -> bool {
        self.pending_requests.pending[ticket.0 as usize].as_ref().is_none_or(|one| one.is_done)
    }

    /// Takes the data of an arrived answer. The ticket is invalid afterwards.
    ///
    /// # Errors
    /// [`Error::OutOfWindow`] if the member has no such memory.
    ///
    /// # Panics
    /// If it has not arrived.
    pub fn take(&mut self, ticket: Ticket) -> Result<Vec<u8>> {
        let pending = self.pending_requests.pending[ticket.0 as usize].take();
        let mut one = pending.expect("a ticket is taken once");
        assert!(one.is_done, "the answer has not come");
        self.pending_requests.free.push(ticket.0);
        outcome(&one)?;
        one.room.drain(..WORD);
        Ok(one.room)
    }

    /// Returns the first failure of a detached request since the last call, if any.
    ///
    /// # Errors
    /// [`Error::OutOfWindow`] if a member has no such memory.
    pub fn check(&mut self) -> Result<()> {
        self.pending_requests.failed.take().map_or(Ok(()), Err)
    }

    /// Returns a message that can never arrive because the member that must send it has left the run.
    pub fn unsatisfiable(&self, waits: &mut dyn LongWaits) -> Option<Request> {
        let waiting = self.pending_requests.waiting.iter();
        let answers =
            waiting.filter_map(|&one| self.pending_requests.pending[one as usize].as_ref());
        let mut awaited = answers.flat_map(|one| one.awaited().iter().copied());
        awaited.find(|&request| waits.cannot_complete(request))
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
