//! Requests: starting, waiting, testing, cancelling and freeing.

mod generalized;
mod life;
mod light;
mod list;
mod test;
mod wait;

use std::cell::RefCell;
use std::rc::Rc;

use contract::Request as Started;
use fabric_shm::ShmEndpoint as Endpoint;

pub(crate) use generalized::*;
pub(crate) use life::*;
pub(crate) use light::{Light, Lights};
pub(crate) use test::*;
pub(crate) use wait::*;

use crate::abi::*;
use crate::collective::Schedule;
use crate::failure::{Result, error_of};
use crate::point::{SendBuffer, Transfer};
use crate::process::{endpoint, process};
use crate::status::Status;

/// What a request stands for while it is under way.
pub(crate) enum Action {
    /// It has ended: its status, and whether it ended well.
    Done(Status, Result),
    /// Seen as an object for the moment.
    Light(Light),
    Transfer(Transfer),
    /// A send and a receive, which end together.
    Exchange(Box<[Action; 2]>),
    Collective(Rc<RefCell<Schedule>>),
    Generalized(Rc<Generalized>),
    /// Ends when the buffered sends of a communicator, or those of none, have.
    Flush(Option<Comm>),
}

/// Starts a persistent request once more.
pub(crate) type Start = Box<dyn Fn() -> Result<Action>>;

/// What a handle of a request refers to.
pub(crate) struct RequestObject {
    /// None while a persistent request is not started.
    action: RefCell<Option<Action>>,
    start: Option<Start>,
}

pub(crate) fn register(action: Action) -> Request {
    let object = RequestObject { action: RefCell::new(Some(action)), start: None };
    process().requests.borrow_mut().add(Rc::new(object))
}

pub(crate) fn register_persistent(start: Start) -> Request {
    let object = RequestObject { action: RefCell::new(None), start: Some(start) };
    process().requests.borrow_mut().add(Rc::new(object))
}

/// The object behind a handle; none behind the null handle.
fn find(request: Request) -> Result<Option<Rc<RequestObject>>> {
    if request == REQUEST_NULL {
        return Ok(None);
    }
    if let Some(light) = process().lights.get(request) {
        let action = RefCell::new(Some(Action::Light(light)));
        return Ok(Some(Rc::new(RequestObject { action, start: None })));
    }
    let found = process().requests.borrow().get(request).cloned();
    found.map(Some).ok_or_else(|| error_of(ERR_REQUEST, "not a request"))
}

/// The object behind a handle that must not be null.
fn given(request: Request) -> Result<Rc<RequestObject>> {
    find(request)?.ok_or_else(|| error_of(ERR_REQUEST, "a null request"))
}

fn ended(object: &RequestObject) -> Result<bool> {
    Ok(object.has_ended(&*endpoint()?))
}

impl Action {
    fn has_ended(&self, endpoint: &Endpoint) -> bool {
        match self {
            Action::Done(..) => true,
            Action::Light(light) => light.has_ended(endpoint),
            Action::Transfer(transfer) => transfer.has_ended(endpoint),
            Action::Exchange(both) => both.iter().all(|one| one.has_ended(endpoint)),
            Action::Collective(schedule) => schedule.borrow().has_ended(),
            Action::Generalized(one) => one.complete.get(),
            Action::Flush(of) => buffer_is_empty(*of, endpoint),
        }
    }

    /// A message of this action that can never come to its end, because the rank that it needs has left.
    fn hopeless(&self, endpoint: &Endpoint) -> Option<Started> {
        match self {
            Action::Light(light) => light.hopeless(endpoint),
            Action::Transfer(transfer) => transfer.hopeless(endpoint),
            Action::Exchange(both) => both.iter().find_map(|one| one.hopeless(endpoint)),
            Action::Collective(schedule) => schedule.borrow().hopeless(endpoint),
            _ => None,
        }
    }

    /// The status of a message that has ended.
    fn finish(self, endpoint: &mut Endpoint) -> (Status, Result) {
        match self {
            Action::Transfer(transfer) => transfer.finish(endpoint),
            Action::Done(status, outcome) => (status, outcome),
            _ => (Status::empty(), Ok(())),
        }
    }
}

impl RequestObject {
    fn is_active(&self) -> bool {
        self.action.borrow().is_some()
    }

    /// Whether it has ended, as far as is known.
    fn has_ended(&self, endpoint: &Endpoint) -> bool {
        self.action.borrow().as_ref().is_none_or(|action| action.has_ended(endpoint))
    }

    fn hopeless(&self, endpoint: &Endpoint) -> Option<Started> {
        self.action.borrow().as_ref().and_then(|action| action.hopeless(endpoint))
    }

    /// Turns an operation that has ended into its status.
    fn settle(&self) -> Result {
        let mut action = self.action.borrow_mut();
        let (status, outcome) = match action.take() {
            Some(Action::Transfer(transfer)) => transfer.finish(&mut *endpoint()?),
            Some(Action::Exchange(both)) => {
                let mut endpoint = endpoint()?;
                let [receive, send] = *both;
                let (_, sent) = send.finish(&mut endpoint);
                let (status, received) = receive.finish(&mut endpoint);
                (status, received.and(sent))
            }
            Some(Action::Collective(schedule)) => {
                let mut schedule = schedule.borrow_mut();
                let context = schedule.party.context / 2;
                let outcome = schedule.take_outcome().map_err(|one| one.in_context(context));
                (Status::empty(), outcome)
            }
            Some(Action::Flush(_)) => (Status::empty(), Ok(())),
            other => {
                *action = other;
                return Ok(());
            }
        };
        *action = Some(Action::Done(status, outcome));
        Ok(())
    }

    /// Its status, to be asked for again.
    fn look(&self) -> Result<(Status, Result)> {
        self.settle()?;
        Ok(match &*self.action.borrow() {
            Some(Action::Done(status, outcome)) => (*status, outcome.clone()),
            Some(Action::Generalized(one)) => one.query(),
            Some(Action::Light(light)) => light.status(&*endpoint()?),
            _ => (Status::empty(), Ok(())),
        })
    }

    /// Its status, for the last time: a persistent request may be started again, any other is no more.
    fn take(&self, handle: &mut Request) -> Result<(Status, Result)> {
        let (status, mut outcome) = self.look()?;
        match self.action.take() {
            Some(Action::Generalized(one)) => outcome = outcome.and(one.release()),
            Some(Action::Light(light)) => {
                light.end(&mut *endpoint()?);
                process().lights.take(*handle);
            }
            _ => {}
        }
        if self.start.is_none() {
            process().requests.borrow_mut().remove(*handle);
            *handle = REQUEST_NULL;
        }
        Ok((status, outcome))
    }
}

fn buffer_is_empty(of: Option<Comm>, endpoint: &Endpoint) -> bool {
    match of {
        None => process().send_buffer.is_empty(endpoint),
        Some(comm) => crate::communicator::get(comm)
            .map_or(true, |one| SendBuffer::is_empty(&one.buffer, endpoint)),
    }
}
