//! Requests of other members to this one by message, which it answers itself.

use std::collections::VecDeque;

use super::Window;
use super::requests::{REQUESTS, answer_tag};
use super::server::Answer;
use super::update::Stretch;
use endpoint::{
    Completion, Destination, Endpoint, Error, Readable, Request, Result, Selector, Writable,
};

/// An incoming request and its sender.
struct Incoming {
    request: Request,
    room: Vec<u8>,
    source: usize,
}

/// The requests in progress.
#[derive(Default)]
pub(super) struct Served {
    incoming: VecDeque<Incoming>,
    answers: Vec<(Request, Vec<u8>)>,
}

impl Window {
    /// Makes progress without waiting: serves the other members, and processes their answers.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn advance<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<()> {
        if !self.pending_requests.is_idle() {
            self.take_answers(endpoint);
        }
        if !self.is_served() {
            return Ok(());
        }
        self.forget_sent(endpoint);
        self.accept(endpoint)?;
        let mut answers = Vec::new();
        // In sequence, so that the requests of a member keep their order.
        while self.served.incoming.front().is_some_and(|one| endpoint.is_done(one.request)) {
            let Some(one) = self.served.incoming.pop_front() else { break };
            endpoint.end(one.request);
            self.server.borrow_mut().serve(one.source, &one.room, &mut answers);
        }
        answers.into_iter().try_for_each(|answer| self.answer(endpoint, answer))?;
        self.grant(endpoint)
    }

    /// Grants access to the waiting members, as far as that is possible now.
    pub(super) fn grant<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<()> {
        let mut answers = Vec::new();
        self.server.borrow_mut().grant(&mut answers);
        answers.into_iter().try_for_each(|answer| self.answer(endpoint, answer))
    }

    /// Returns the number of requests of others that this member has answered since the window was opened.
    pub fn requests_served(&self) -> u64 {
        self.server.borrow().count()
    }

    /// Returns whether no request to this member, and no answer of it, is under way.
    pub fn is_quiet<E: Endpoint>(&mut self, endpoint: &mut E) -> bool {
        self.forget_sent(endpoint);
        self.served.answers.is_empty() && self.served.incoming.is_empty()
    }

    /// Adds memory to a dynamic window.
    pub fn attach(&mut self, address: u64, bytes: u64) {
        self.server.borrow_mut().attach(address, bytes);
    }

    /// Removes memory from it. Returns false if no part begins there.
    pub fn detach(&mut self, address: u64) -> bool {
        self.server.borrow_mut().detach(address)
    }

    /// Returns whether this member has all of these bytes in its memory. Parts of a dynamic window may be adjacent.
    pub fn holds(&self, stretch: &Stretch) -> bool {
        self.server.borrow().holds(stretch)
    }

    /// Starts to receive the requests that have arrived.
    fn accept<E: Endpoint>(&mut self, endpoint: &mut E) -> Result<()> {
        let any = Selector { context: self.context, source: None, tag: Some(REQUESTS) };
        while let Some(found) = endpoint.probe(any, None)? {
            let rank = found.source as usize;
            let refused = |reason: String| Error::System {
                what: format!("receiving a request of rank {rank} to a window"),
                reason,
            };
            let mut room = Vec::new();
            room.try_reserve_exact(found.bytes).map_err(|error| refused(error.to_string()))?;
            room.resize(found.bytes, 0);
            let source = self.targets.iter().position(|target| target.rank == rank);
            let source = source.ok_or_else(|| refused("it is not a member".into()))?;
            // SAFETY: the vector is kept unchanged until the request is done.
            let place = unsafe { Writable::new(room.as_mut_ptr(), room.len()) };
            let this = Selector { source: Some(found.source), ..any };
            let request = endpoint.post_receive(this, place)?;
            self.served.incoming.push_back(Incoming { request, room, source });
        }
        Ok(())
    }

    fn answer<E: Endpoint>(&mut self, endpoint: &mut E, answer: Answer) -> Result<()> {
        let Answer { member, ticket, data: answer } = answer;
        let rank = self.targets[member].rank;
        let to = Destination { rank, context: self.context, tag: answer_tag(ticket) };
        // SAFETY: the vector is kept unchanged until the request is done.
        let data = unsafe { Readable::new(answer.as_ptr(), answer.len()) };
        let request = endpoint.post_send(to, data, Completion::Local)?;
        self.served.answers.push((request, answer));
        Ok(())
    }

    fn forget_sent<E: Endpoint>(&mut self, endpoint: &mut E) {
        self.served.answers.retain(|&(request, _)| {
            let is_done = endpoint.is_done(request);
            if is_done {
                endpoint.end(request);
            }
            !is_done
        });
    }
}
