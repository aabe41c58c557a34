//! Requests: operations in progress, their end, and their restart.

mod life;
mod light;
mod list;
mod transfer;

use std::cell::RefCell;
use std::rc::Rc;

use contract::{Endpoint, LongWaits, Request as Started};

pub use light::LightRequest;
pub use list::*;
pub(crate) use transfer::{Role, SentData, Transfer};

pub use crate::engine::Generalized;
use crate::engine::{Activity, Engine, SendBuffer};
use crate::error::Result;
use crate::status::Status;

/// The operation of an active request.
pub(crate) enum Action<E: Endpoint> {
    /// It has ended, with this status and outcome.
    Done(Status, Result),
    Lightweight(LightRequest),
    Transfer(Transfer<E>),
    /// A receive and a send, which end together.
    Exchange(Box<[Action<E>; 2]>),
    Collective(Rc<dyn Activity<E>>),
    Staged(Rc<dyn Staged<E>>),
    Generalized(Rc<dyn Generalized>),
    /// Ends when these buffered sends have ended.
    Flush(Rc<SendBuffer>),
}

/// A message in several parts, which advances with the program.
pub(crate) trait Staged<E: Endpoint> {
    /// Returns whether all parts are known to have ended.
    fn has_ended(&self, endpoint: &E) -> bool;

    /// Returns a part that can never complete because the rank that it needs has left.
    fn unsatisfiable(&self, waits: &mut dyn LongWaits) -> Option<Started>;

    /// Records the end.
    fn finish(&self, endpoint: &mut E) -> (Status, Result);
}

/// Starts a persistent request again.
type Start<E> = Box<dyn Fn() -> Result<Action<E>>>;

/// An operation in progress, or one that can be started repeatedly.
///
/// The creator of its [`Memory`](crate::Memory) has promised that memory. Dropping an active request breaks the promise
/// unless the memory lasts: [`free`](Request::free) it instead.
pub struct Request<E: Endpoint> {
    engine: Rc<Engine<E>>,
    /// `None` while a persistent request is not started.
    action: RefCell<Option<Action<E>>>,
    start: Option<Start<E>>,
}

impl<E: Endpoint> Request<E> {
    pub(crate) fn new(engine: &Rc<Engine<E>>, action: Action<E>) -> Self {
        Request { engine: engine.clone(), action: RefCell::new(Some(action)), start: None }
    }

    /// Creates a persistent request, which `start` starts.
    pub(crate) fn persistent(
        engine: &Rc<Engine<E>>,
        start: impl Fn() -> Result<Action<E>> + 'static,
    ) -> Self {
        let start: Start<E> = Box::new(start);
        Request { engine: engine.clone(), action: RefCell::new(None), start: Some(start) }
    }

    /// Creates a request for a message that was started without one. Only one of the two may be ended.
    pub fn of_light(engine: &Rc<Engine<E>>, light: LightRequest) -> Self {
        Request::new(engine, Action::Lightweight(light))
    }

    /// Creates a request that the program completes.
    pub fn generalized(engine: &Rc<Engine<E>>, generalized: Rc<dyn Generalized>) -> Self {
        engine.note_generalized(&generalized);
        Request::new(engine, Action::Generalized(generalized))
    }

    /// Creates a request that ends when all sends in progress of a send buffer have ended.
    pub fn flush(engine: &Rc<Engine<E>>, buffer: Rc<SendBuffer>) -> Self {
        Request::new(engine, Action::Flush(buffer))
    }

    /// Returns its engine.
    pub fn engine(&self) -> &Rc<Engine<E>> {
        &self.engine
    }

    /// Returns whether it is started and its end was not taken.
    pub fn is_active(&self) -> bool {
        self.action.borrow().is_some()
    }

    /// Returns whether it may be started again after its end was taken.
    pub fn is_persistent(&self) -> bool {
        self.start.is_some()
    }

    /// Returns whether it is known to have ended. An inactive request has.
    pub fn has_ended(&self, endpoint: &E) -> bool {
        self.action.borrow().as_ref().is_none_or(|action| action.has_ended(endpoint))
    }

    /// Returns a message of it that can never complete because the rank that it needs has left.
    fn unsatisfiable(&self, waits: &mut dyn LongWaits) -> Option<Started> {
        self.action.borrow().as_ref().and_then(|action| action.unsatisfiable(waits))
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn wait_for_end(&self) -> Result {
        self.engine
            .wait_for(&mut |endpoint| self.has_ended(endpoint), &|waits| self.unsatisfiable(waits))
    }

    /// Polls once, and returns whether it has ended.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn test(&self) -> Result<bool> {
        self.engine.progress()?;
        let has_ended = self.has_ended(&*self.engine.endpoint()?);
        self.engine.note_poll(has_ended)?;
        Ok(has_ended)
    }

    /// Waits until it has ended, and takes its end.
    ///
    /// # Errors
    /// Errors of the operation, and errors that end the run.
    pub fn wait(&self) -> Result<Status> {
        self.wait_for_end()?;
        let (status, outcome) = self.take()?;
        outcome.map(|()| status)
    }

    /// Returns the status and the outcome of a request that has ended. May be called again.
    ///
    /// # Errors
    /// As for [`Engine::endpoint`].
    pub fn status_and_outcome(&self) -> Result<(Status, Result)> {
        self.handle_end(&mut *self.engine.endpoint()?);
        let action = self.action.borrow();
        Ok(match &*action {
            Some(Action::Done(status, outcome)) => (*status, outcome.clone()),
            Some(Action::Lightweight(light)) => light.status(&*self.engine.endpoint()?),
            Some(Action::Generalized(one)) => {
                // The program's function may call this again.
                let one = one.clone();
                drop(action);
                one.status()
            }
            _ => (Status::empty(), Ok(())),
        })
    }

    /// As [`status_and_outcome`](Request::status_and_outcome), for the last time: a persistent request may be started
    /// again, any other becomes invalid.
    ///
    /// # Errors
    /// As for [`Engine::endpoint`].
    pub fn take(&self) -> Result<(Status, Result)> {
        let (status, mut outcome) = self.status_and_outcome()?;
        match self.action.take() {
            Some(Action::Generalized(one)) => outcome = outcome.and(one.release()),
            Some(Action::Lightweight(light)) => {
                light.end(&self.engine, &mut *self.engine.endpoint()?)
            }
            _ => {}
        }
        Ok((status, outcome))
    }

    /// Replaces messages that have ended by their status.
    fn handle_end(&self, endpoint: &mut E) {
        let mut action = self.action.borrow_mut();
        let (status, outcome) = match action.take() {
            Some(Action::Transfer(transfer)) => transfer.finish(endpoint),
            Some(Action::Exchange(both)) => {
                let [receive, send] = *both;
                let (_, sent) = send.finish(endpoint);
                let (status, received) = receive.finish(endpoint);
                (status, received.and(sent))
            }
            Some(Action::Collective(one)) => {
                let outcome = one.take_outcome();
                (Status::empty(), outcome.map_err(|error| error.in_context(one.context())))
            }
            Some(Action::Staged(one)) => one.finish(endpoint),
            Some(Action::Flush(_)) => (Status::empty(), Ok(())),
            other => {
                *action = other;
                return;
            }
        };
        *action = Some(Action::Done(status, outcome));
    }
}

impl<E: Endpoint> Action<E> {
    fn has_ended(&self, endpoint: &E) -> bool {
        match self {
            Action::Done(..) => true,
            Action::Lightweight(light) => light.has_ended(endpoint),
            Action::Transfer(transfer) => transfer.has_ended(endpoint),
            Action::Exchange(both) => both.iter().all(|one| one.has_ended(endpoint)),
            Action::Collective(one) => one.has_ended(),
            Action::Staged(one) => one.has_ended(endpoint),
            Action::Generalized(one) => one.is_complete(),
            Action::Flush(buffer) => buffer.is_empty(endpoint),
        }
    }

    /// Returns a message of this action that can never complete because the rank that it needs has left.
    fn unsatisfiable(&self, waits: &mut dyn LongWaits) -> Option<Started> {
        match self {
            Action::Lightweight(light) => light.unsatisfiable(waits),
            Action::Transfer(transfer) => transfer.unsatisfiable(waits),
            Action::Exchange(both) => both.iter().find_map(|one| one.unsatisfiable(waits)),
            Action::Collective(one) => one.unsatisfiable(waits),
            Action::Staged(one) => one.unsatisfiable(waits),
            _ => None,
        }
    }

    /// Returns the status of a message that has ended.
    fn finish(self, endpoint: &mut E) -> (Status, Result) {
        match self {
            Action::Transfer(transfer) => transfer.finish(endpoint),
            Action::Done(status, outcome) => (status, outcome),
            _ => (Status::empty(), Ok(())),
        }
    }
}
