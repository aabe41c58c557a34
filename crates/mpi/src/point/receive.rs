//! Receives.

use std::rc::Rc;

use contract::{Endpoint, Envelope, Selector};

use crate::engine::Context;
use crate::error::{Error, ErrorClass, Result};
use crate::memory::{Memory, Piece};
use crate::request::{Action, Request, Role, Transfer};
use crate::status::{Peer, Status};

impl<E: Endpoint> Context<E> {
    /// Returns the messages that a receive or probe accepts, or `None` for the null process.
    pub(super) fn selector(&self, source: Peer, tag: Option<u32>) -> Result<Option<Selector>> {
        let source = match source {
            Peer::Rank(rank) => Some(self.member(rank as usize)? as u32),
            Peer::Any => None,
            Peer::Nobody => return Ok(None),
        };
        Ok(Some(Selector { context: self.of_programs(), source, tag }))
    }

    /// Returns the rank of the run on the other side, and the program's rank, or `None` for the null process.
    pub(super) fn partner(&self, peer: Peer) -> Result<Option<(usize, u32)>> {
        match peer {
            Peer::Rank(rank) => Ok(Some((self.member(rank as usize)?, rank))),
            Peer::Nobody => Ok(None),
            Peer::Any => Err(Error::new(ErrorClass::Rank, "any rank where one must be named")),
        }
    }
}

/// A receive with checked arguments.
pub struct ReceiveCall<E: Endpoint> {
    context: Rc<Context<E>>,
    memory: Memory,
    /// `None` for the null process.
    selector: Option<Selector>,
    /// Envelope of a matched message before it was claimed.
    claimed: Option<Envelope>,
}

impl<E: Endpoint> ReceiveCall<E> {
    /// Creates a receive into `memory` of a message with any tag, or one.
    ///
    /// # Errors
    /// [`ErrorClass::Rank`](crate::ErrorClass::Rank).
    #[inline]
    pub fn new(
        context: Rc<Context<E>>,
        memory: Memory,
        source: Peer,
        tag: Option<u32>,
    ) -> Result<Self> {
        let selector = context.selector(source, tag)?;
        Ok(ReceiveCall { context, memory, selector, claimed: None })
    }

    /// Creates the receive of a claimed message.
    pub(super) fn of_claimed(
        context: Rc<Context<E>>,
        memory: Memory,
        claimed: Option<(Selector, Envelope)>,
    ) -> Self {
        let (selector, claimed) = claimed.unzip();
        ReceiveCall { context, memory, selector, claimed }
    }

    pub(super) fn action(&self) -> Result<Action<E>> {
        let Some(selector) = self.selector else {
            return Ok(Action::Done(Status::of_nobody(), Ok(())));
        };
        let mut piece = Piece::room(&self.memory);
        if self.context.engine().is_synchronous() {
            piece.keep_separate();
        }
        let started = self.context.engine().endpoint()?.post_receive(selector, piece.writable())?;
        let role = Role::Receive(piece, self.claimed);
        Ok(Action::Transfer(Transfer { started, context: self.context.clone(), role }))
    }

    /// Tries the fastest path of a blocking receive.
    #[inline]
    fn receive_now(&self) -> Result<Option<(Status, Result)>> {
        let (Some(selector), None) = (self.selector, self.claimed) else { return Ok(None) };
        let Some(mut room) = self.memory.writable() else { return Ok(None) };
        let engine = self.context.engine();
        if !engine.is_idle() {
            return Ok(None);
        }
        let bytes = room.bytes();
        let envelope = engine.endpoint()?.receive(selector, room.part_mut(0..bytes))?;
        engine.note_received(&envelope, self.memory.of().signature_of_bytes(envelope.bytes));
        Ok(Some(self.context.status_of(&envelope)))
    }
}

impl<E: Endpoint + 'static> ReceiveCall<E> {
    /// Runs it to completion. Returns the message's status, and whether the message fitted.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn run(self) -> Result<(Status, Result)> {
        if let Some(ended) = self.receive_now()? {
            return Ok(ended);
        }
        let request = self.start()?;
        request.wait_for_end()?;
        request.take()
    }

    /// Starts it.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn start(self) -> Result<Request<E>> {
        Ok(Request::new(self.context.engine(), self.action()?))
    }

    /// Returns a persistent request.
    pub fn persistent(self) -> Request<E> {
        let engine = self.context.engine().clone();
        Request::persistent(&engine, move || self.action())
    }
}
