//! Requests of plain messages, which need no object: a handle is a place in a list of what the engine has started, and all
//! sends that were over when they began share one handle.
//!
//! Who waits for such requests one by one or all together goes the short way here. Every other call sees them as objects
//! ([`find`](super::find)), made for the moment.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;

use contract::Request as Started;
use fabric_shm::ShmEndpoint as Endpoint;

use super::wait::wait_for;
use crate::abi::Handle;
use crate::abi::*;
use crate::failure::{Error, Result, code_of, error_of};
use crate::process::{endpoint, process};
use crate::status::Status;

/// Handles from here on are of this kind. They are positive as `int` too, as MPI_Request_toint wants them.
const MARK: usize = 1 << 30;
/// A send whose data were gone when it began.
const SENT: Request = Request(MARK);

/// What such a handle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Light {
    Sent,
    Send(Started),
    /// Into memory in one piece, from a communicator whose ranks are those of the world.
    Receive(Started),
    Cancelled,
}

/// All of them.
#[derive(Default)]
pub(crate) struct Lights {
    places: RefCell<Vec<Option<Light>>>,
    free: RefCell<Vec<usize>>,
    /// How often [`SENT`] was given out and not taken back.
    sent: Cell<usize>,
}

impl Lights {
    /// A handle for something that was started.
    #[inline]
    pub(crate) fn add(&self, light: Light) -> Request {
        if light == Light::Sent {
            self.sent.set(self.sent.get() + 1);
            return SENT;
        }
        let mut places = self.places.borrow_mut();
        let index = self.free.borrow_mut().pop().unwrap_or_else(|| {
            places.push(None);
            places.len() - 1
        });
        places[index] = Some(light);
        Request(MARK + 1 + index)
    }

    #[inline]
    pub(super) fn get(&self, request: Request) -> Option<Light> {
        if request == SENT {
            return (self.sent.get() > 0).then_some(Light::Sent);
        }
        let index = request.number().checked_sub(MARK + 1)?;
        *self.places.borrow().get(index)?
    }

    /// Forgets a handle, and gives what it stands for.
    #[inline]
    pub(super) fn take(&self, request: Request) -> Option<Light> {
        if request == SENT {
            let left = self.sent.get().checked_sub(1)?;
            self.sent.set(left);
            return Some(Light::Sent);
        }
        let index = request.number().checked_sub(MARK + 1)?;
        let light = self.places.borrow_mut().get_mut(index)?.take()?;
        self.free.borrow_mut().push(index);
        Some(light)
    }

    /// A receive has ended without a message.
    pub(super) fn cancel(&self, request: Request) {
        let index = request.number() - MARK - 1;
        self.places.borrow_mut()[index] = Some(Light::Cancelled);
    }

    /// How many handles are given out.
    pub(crate) fn count(&self) -> usize {
        self.sent.get() + self.places.borrow().iter().flatten().count()
    }
}

impl Light {
    fn started(self) -> Option<Started> {
        match self {
            Light::Send(started) | Light::Receive(started) => Some(started),
            Light::Sent | Light::Cancelled => None,
        }
    }

    #[inline]
    pub(super) fn has_ended(self, endpoint: &Endpoint) -> bool {
        self.started().is_none_or(|started| endpoint.is_done(started))
    }

    pub(super) fn hopeless(self, endpoint: &Endpoint) -> Option<Started> {
        self.started().filter(|&started| endpoint.is_hopeless(started))
    }

    /// Whether the message that has come fits its receive.
    #[inline]
    fn fits(self, endpoint: &Endpoint) -> bool {
        let Light::Receive(started) = self else { return true };
        let envelope = endpoint.envelope(started);
        envelope.bytes <= envelope.room
    }

    /// What the end says, once it has come.
    #[inline]
    pub(super) fn status(self, endpoint: &Endpoint) -> (Status, Result) {
        let Light::Receive(started) = self else {
            let empty = Status::empty();
            let status = if self == Light::Cancelled { empty.with_cancelled() } else { empty };
            return (status, Ok(()));
        };
        let envelope = endpoint.envelope(started);
        let kept = envelope.bytes.min(envelope.room);
        let status = Status::new(envelope.source as c_int, envelope.tag as c_int, kept as i64);
        let outcome = if envelope.bytes > envelope.room {
            let what = format!(
                "a message of {} bytes from rank {} with tag {} is too long for a buffer of {} bytes",
                envelope.bytes, envelope.source, envelope.tag, envelope.room
            );
            Err(error_of(ERR_TRUNCATE, what).in_context(envelope.context / 2))
        } else {
            Ok(())
        };
        (status, outcome)
    }

    /// Forgets what has ended.
    #[inline]
    pub(super) fn end(self, endpoint: &mut Endpoint) {
        if let Some(started) = self.started() {
            endpoint.end(started);
        }
    }
}

/// MPI_Wait, if the request is of this kind.
#[inline]
pub(super) unsafe fn wait(request: *mut Request, status: *mut Status) -> Option<Result> {
    let lights = &process().lights;
    let light = lights.get(*request)?;
    if let Some(started) = light.started() {
        let waited = wait_for(&mut |endpoint| endpoint.is_done(started), &|endpoint| {
            light.hopeless(endpoint)
        });
        if waited.is_err() {
            return Some(waited);
        }
    }
    let mut endpoint = match endpoint() {
        Ok(endpoint) => endpoint,
        Err(failure) => return Some(Err(failure)),
    };
    let (found, outcome) = light.status(&endpoint);
    light.end(&mut endpoint);
    lights.take(*request);
    *request = REQUEST_NULL;
    found.give(status);
    Some(outcome)
}

/// MPI_Waitall, if all requests are of this kind or null.
pub(super) unsafe fn wait_all(
    count: c_int,
    requests: *mut Request,
    statuses: *mut Status,
) -> Option<Result> {
    if count <= 0 || requests.is_null() {
        return None;
    }
    let requests = std::slice::from_raw_parts_mut(requests, count as usize);
    let lights = &process().lights;
    let is_light = |&request: &Request| request == REQUEST_NULL || lights.get(request).is_some();
    if !requests.iter().all(is_light) {
        return None;
    }
    let mut course = Course { requests, statuses, ended: 0, failed: None };
    Some(course.run().and_then(|()| course.outcome()))
}

/// How far a list of requests has come. Each is ended as soon as those before it have: while the rest is still under way
/// there is time for it (64 messages of 8 bytes: 1.1 times as many in the same time as when all are ended at last).
struct Course<'a> {
    requests: &'a mut [Request],
    /// As many, or null.
    statuses: *mut Status,
    ended: usize,
    failed: Option<Error>,
}

impl Course<'_> {
    /// Goes on to the first that has not ended, and says whether there is none.
    fn go_on(&mut self, endpoint: &mut Endpoint) -> bool {
        let lights = &process().lights;
        while let Some(&request) = self.requests.get(self.ended) {
            let status = match lights.get(request) {
                None | Some(Light::Sent) => Status::empty(),
                Some(light) if !light.has_ended(endpoint) => return false,
                Some(Light::Receive(started)) if Light::Receive(started).fits(endpoint) => {
                    let message = endpoint.end(started);
                    Status::new(message.source as c_int, message.tag as c_int, message.bytes as i64)
                }
                Some(light) => self.end(light, endpoint),
            };
            lights.take(request);
            self.requests[self.ended] = REQUEST_NULL;
            if !self.statuses.is_null() {
                // SAFETY: whoever called has room for as many statuses as there are requests.
                unsafe { *self.statuses.add(self.ended) = status };
            }
            self.ended += 1;
        }
        true
    }

    /// Ends a request that need not end well, and gives its status.
    fn end(&mut self, light: Light, endpoint: &mut Endpoint) -> Status {
        let (status, outcome) = light.status(endpoint);
        light.end(endpoint);
        let Err(failure) = outcome else { return status };
        let code = code_of(failure.class);
        self.failed.get_or_insert(failure);
        status.with_error(code)
    }

    fn run(&mut self) -> Result {
        let lights = &process().lights;
        let hopeless = |course: &Self, endpoint: &Endpoint| {
            let all = course.requests.iter().filter_map(|&request| lights.get(request));
            all.filter_map(|light| light.hopeless(endpoint)).next()
        };
        let course = RefCell::new(self);
        wait_for(&mut |endpoint| course.borrow_mut().go_on(endpoint), &|endpoint| {
            hopeless(&course.borrow(), endpoint)
        })
    }

    fn outcome(self) -> Result {
        self.failed.map_or(Ok(()), |first| Err(super::list::in_statuses(first)))
    }
}
