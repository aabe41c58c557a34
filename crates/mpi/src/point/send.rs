//! Sends.

use std::rc::Rc;

use contract::{Completion, Destination, Endpoint};

use crate::engine::Context;
use crate::error::{Error, ErrorClass, Result};
use crate::memory::{Memory, Piece, Storage};
use crate::request::{Action, Request, Role, SentData, Transfer};
use crate::status::{Peer, Status};

/// The meaning of the end of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The memory may be changed.
    Standard,
    /// The receive has begun.
    Synchronous,
    /// The data were copied.
    Buffered,
    /// As standard. The program promises that the receive is posted, which has no effect here.
    Ready,
}

/// A send with checked arguments.
pub struct SendCall<E: Endpoint> {
    context: Rc<Context<E>>,
    memory: Memory,
    /// Receiver as a rank of the run; `None` for the null process.
    to: Option<usize>,
    tag: u32,
    mode: Mode,
}

impl<E: Endpoint> SendCall<E> {
    /// Creates a send of `memory` to a member of a context, or to the null process.
    ///
    /// # Errors
    /// [`ErrorClass::Rank`].
    #[inline]
    pub fn new(
        context: Rc<Context<E>>,
        memory: Memory,
        to: Peer,
        tag: u32,
        mode: Mode,
    ) -> Result<Self> {
        let to = match to {
            Peer::Rank(rank) => Some(context.member(rank as usize)?),
            Peer::Nobody => None,
            Peer::Any => return Err(Error::new(ErrorClass::Rank, "a send to any rank")),
        };
        let waits = mode == Mode::Standard && context.engine().is_synchronous();
        let mode = if waits { Mode::Synchronous } else { mode };
        Ok(SendCall { context, memory, to, tag, mode })
    }

    pub(super) fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(super) fn action(&self) -> Result<Action<E>> {
        self.action_of(None)
    }

    /// Starts it. If given, `data` are sent instead of the memory's.
    pub(super) fn action_of(&self, data: Option<&Storage>) -> Result<Action<E>> {
        let Some(to) = self.to else { return Ok(Action::Done(Status::empty(), Ok(()))) };
        let mut endpoint = self.context.engine().endpoint()?;
        let to = self.destination(to);
        self.context.engine().note_sent(to, self.memory.of().signature(self.memory.count()));
        if self.mode == Mode::Buffered {
            self.context.send_buffers().in_use(self.context.engine()).send(
                &mut *endpoint,
                to,
                self.memory.packed(),
            )?;
            return Ok(Action::Done(Status::empty(), Ok(())));
        }
        let data = match data {
            Some(data) => SentData::Copy(data.clone()),
            None => SentData::Own(Piece::filled(&self.memory)),
        };
        let completion = match self.mode {
            Mode::Synchronous => Completion::Synchronous,
            _ => Completion::Local,
        };
        let started = endpoint.post_send(to, data.readable(), completion)?;
        let context = self.context.clone();
        Ok(Action::Transfer(Transfer { started, context, role: Role::Send(data) }))
    }

    #[inline]
    fn destination(&self, rank: usize) -> Destination {
        Destination { rank, context: self.context.of_programs(), tag: self.tag }
    }

    /// Tries the fastest path of a blocking send. Returns false if that is not possible.
    #[inline]
    fn send_now(&self) -> Result<bool> {
        let engine = self.context.engine();
        let (Some(to), Mode::Standard | Mode::Ready) = (self.to, self.mode) else {
            return Ok(false);
        };
        let Some(data) = self.memory.readable() else { return Ok(false) };
        if !engine.is_idle() || to == engine.rank() {
            return Ok(false);
        }
        engine.note_sent(self.destination(to), self.memory.of().signature(self.memory.count()));
        engine.endpoint()?.send(self.destination(to), data.as_slice())?;
        Ok(true)
    }
}

impl<E: Endpoint + 'static> SendCall<E> {
    /// Runs it to completion.
    ///
    /// # Errors
    /// [`ErrorClass::Buffer`] if a buffered send does not fit the buffer, and errors that end the run.
    pub fn run(self) -> Result {
        if self.send_now()? {
            return Ok(());
        }
        self.start()?.wait().map(drop)
    }

    /// Starts it.
    ///
    /// # Errors
    /// As for [`run`](SendCall::run).
    pub fn start(self) -> Result<Request<E>> {
        Ok(Request::new(self.context.engine(), self.action()?))
    }

    /// Returns a persistent request.
    pub fn persistent(self) -> Request<E> {
        let engine = self.context.engine().clone();
        Request::persistent(&engine, move || self.action())
    }
}
