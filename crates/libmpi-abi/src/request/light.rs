//! Handles of plain messages, which need no object. A handle is a place in a list of messages that the engine has
//! started. All sends that had ended when they began share one handle.
//!
//! Waits for such requests one by one or all together take the fast path here. Every other call converts them to
//! temporary objects ([`find`](super::find)).

use std::cell::{Cell, RefCell};
use std::ffi::c_int;

use call_stack::CallSite;
use contract::{Endpoint, LongWaits};
use mpi::{Engine, LightRequest};

use super::list::in_statuses;
use crate::abi::*;
use crate::chosen::Chosen;
use crate::failure::{Error, Result, code_of};
use crate::process::{engine, engine_if_any};
use crate::shared::Shared;
use crate::status::Status;

/// First handle of this kind. The handles are also positive as `int`, as MPI_Request_toint requires.
const MARK: usize = 1 << 30;
/// A send whose data were sent when it began.
const SENT: Request = Request(MARK);

/// All light requests.
#[derive(Default)]
pub(crate) struct LightRequests {
    /// Each with the call that has started it.
    places: RefCell<Vec<Option<(LightRequest, CallSite)>>>,
    free: RefCell<Vec<usize>>,
    /// Number of copies of [`SENT`] that are in use.
    sent: Cell<usize>,
}

/// The light requests of this process.
pub(crate) static LIGHT_REQUESTS: Shared<LightRequests> = Shared::new(LightRequests::default);

impl LightRequests {
    /// Returns a handle for a started message.
    #[inline]
    pub(crate) fn add(&self, light: LightRequest) -> Request {
        if light == LightRequest::Sent {
            self.sent.set(self.sent.get() + 1);
            return SENT;
        }
        let mut places = self.places.borrow_mut();
        let index = self.free.borrow_mut().pop().unwrap_or_else(|| {
            places.push(None);
            places.len() - 1
        });
        places[index] = Some((light, CallSite::latest()));
        Request(MARK + 1 + index)
    }

    #[inline]
    pub(super) fn get(&self, request: Request) -> Option<LightRequest> {
        if request == SENT {
            return (self.sent.get() > 0).then_some(LightRequest::Sent);
        }
        let index = request.0.checked_sub(MARK + 1)?;
        self.places.borrow().get(index)?.map(|(light, _)| light)
    }

    /// Frees a handle, and returns its message.
    #[inline]
    pub(super) fn take(&self, request: Request) -> Option<LightRequest> {
        if request == SENT {
            let left = self.sent.get().checked_sub(1)?;
            self.sent.set(left);
            return Some(LightRequest::Sent);
        }
        let index = request.0.checked_sub(MARK + 1)?;
        let (light, _) = self.places.borrow_mut().get_mut(index)?.take()?;
        self.free.borrow_mut().push(index);
        Some(light)
    }

    /// Records that a receive has ended without a message.
    pub(super) fn cancel(&self, request: Request) {
        let index = request.0 - MARK - 1;
        self.places.borrow_mut()[index] = Some((LightRequest::Cancelled, CallSite::latest()));
    }

    /// Returns the calls that have made the handles in use. Those of sends that had ended when they began are not known.
    pub(super) fn makers(&self) -> Vec<CallSite> {
        let sent = std::iter::repeat_n(CallSite::default(), self.sent.get());
        let places = self.places.borrow();
        places.iter().flatten().map(|(_, maker)| *maker).chain(sent).collect()
    }
}

/// Implements MPI_Wait, if the request is a light one.
#[inline]
pub(super) unsafe fn wait(request: *mut Request, status: *mut Status) -> Option<Result> {
    let table = &*LIGHT_REQUESTS;
    let light = table.get(*request)?;
    let engine = engine_if_any()?;
    if let Some(started) = light.started() {
        let waited = engine.wait_for(&mut |endpoint| endpoint.is_done(started), &|waits| {
            light.unsatisfiable(waits)
        });
        if waited.is_err() {
            return Some(waited);
        }
    }
    let mut endpoint = match engine.endpoint() {
        Ok(endpoint) => endpoint,
        Err(error) => return Some(Err(error)),
    };
    let (found, outcome) = match light.end_plainly(engine, &mut *endpoint) {
        Some((source, tag, bytes)) => {
            (Status::new(source as c_int, tag as c_int, bytes as i64), Ok(()))
        }
        None => {
            let (found, outcome) = light.status(&*endpoint);
            light.end(engine, &mut *endpoint);
            (found.into(), outcome)
        }
    };
    table.take(*request);
    *request = REQUEST_NULL;
    found.give(status);
    Some(outcome)
}

/// Implements MPI_Waitall, if all requests are light ones or null.
pub(super) unsafe fn wait_all(
    count: c_int,
    requests: *mut Request,
    statuses: *mut Status,
) -> Option<Result> {
    if count <= 0 || requests.is_null() {
        return None;
    }
    let requests = std::slice::from_raw_parts_mut(requests, count as usize);
    let table = &*LIGHT_REQUESTS;
    let is_lightweight =
        |&request: &Request| request == REQUEST_NULL || table.get(request).is_some();
    if !requests.iter().all(is_lightweight) {
        return None;
    }
    let engine = engine_if_any()?;
    let mut course = Course { engine, requests, statuses, ended: 0, failed: None };
    Some(course.run().and_then(|()| course.outcome()))
}

/// The progress of a list of requests. Each is ended as soon as those before it have ended, while the others are still
/// in progress. See docs/measurements.md#short-messages.
struct Course<'a> {
    engine: &'a Engine<Chosen>,
    requests: &'a mut [Request],
    /// As many statuses as requests, or null.
    statuses: *mut Status,
    ended: usize,
    failed: Option<Error>,
}

impl Course<'_> {
    /// Ends requests up to the first that is in progress. Returns whether there is none.
    fn advance(&mut self, endpoint: &mut Chosen) -> bool {
        let table = &*LIGHT_REQUESTS;
        while let Some(&request) = self.requests.get(self.ended) {
            let status = match table.get(request) {
                None | Some(LightRequest::Sent) => Status::empty(),
                Some(light) if !light.has_ended(endpoint) => return false,
                Some(light) => match light.end_plainly(self.engine, endpoint) {
                    Some((source, tag, bytes)) => {
                        Status::new(source as c_int, tag as c_int, bytes as i64)
                    }
                    None => self.end(light, endpoint),
                },
            };
            table.take(request);
            self.requests[self.ended] = REQUEST_NULL;
            if !self.statuses.is_null() {
                // SAFETY: the caller has room for as many statuses as there are requests.
                unsafe { *self.statuses.add(self.ended) = status };
            }
            self.ended += 1;
        }
        true
    }

    /// Ends a request that may have failed, and returns its status.
    fn end(&mut self, light: LightRequest, endpoint: &mut Chosen) -> Status {
        let (status, outcome) = light.status(endpoint);
        light.end(self.engine, endpoint);
        let status = Status::from(status);
        let Err(error) = outcome else { return status };
        let code = code_of(error.class);
        self.failed.get_or_insert(error);
        status.with_error(code)
    }

    fn run(&mut self) -> Result {
        let table = &*LIGHT_REQUESTS;
        let unsatisfiable = |course: &Self, waits: &mut dyn LongWaits| {
            let all = course.requests.iter().filter_map(|&request| table.get(request));
            all.filter_map(|light| light.unsatisfiable(waits)).next()
        };
        let course = RefCell::new(self);
        engine()?.wait_for(&mut |endpoint| course.borrow_mut().advance(endpoint), &|waits| {
            unsatisfiable(&course.borrow(), waits)
        })
    }

    fn outcome(self) -> Result {
        self.failed.map_or(Ok(()), |first| Err(in_statuses(&first)))
    }
}
