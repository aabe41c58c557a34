//! Requests: starting, waiting, testing, cancelling and freeing.

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use fabric_shm::Endpoint;

use crate::bindings::*;
use crate::collective::Schedule;
use crate::failure::{Failure, Result, ensure};
use crate::point::{SendBuffer, Transfer};
use crate::process::{check_running, endpoint, process};
use crate::status::Status;

/// What a request stands for while it is under way.
pub(crate) enum Action {
    /// It has ended: its status, and whether it ended well.
    Done(Status, Result),
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

/// A request that the program itself completes.
pub(crate) struct Generalized {
    query: *mut c_void,
    free: *mut c_void,
    cancel: *mut c_void,
    extra: *mut c_void,
    complete: Cell<bool>,
}

type Query = unsafe extern "C" fn(*mut c_void, *mut Status) -> c_int;
type Free = unsafe extern "C" fn(*mut c_void) -> c_int;
type Cancel = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

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
    let found = process().requests.borrow().get(request).cloned();
    found.map(Some).ok_or_else(|| Failure::new(ERR_REQUEST, "not a request"))
}

impl Action {
    fn has_ended(&self, endpoint: &Endpoint) -> bool {
        match self {
            Action::Done(..) => true,
            Action::Transfer(transfer) => transfer.has_ended(endpoint),
            Action::Exchange(both) => both.iter().all(|one| one.has_ended(endpoint)),
            Action::Collective(schedule) => schedule.borrow().has_ended(),
            Action::Generalized(one) => one.complete.get(),
            Action::Flush(of) => buffer_is_empty(*of, endpoint),
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
                (Status::empty(), schedule.borrow_mut().take_outcome())
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
            _ => (Status::empty(), Ok(())),
        })
    }

    /// Its status, for the last time: a persistent request may be started again, any other is no more.
    fn take(&self, handle: &mut Request) -> Result<(Status, Result)> {
        let (status, mut outcome) = self.look()?;
        if let Some(Action::Generalized(one)) = self.action.take() {
            outcome = outcome.and(one.release());
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

impl Generalized {
    fn query(&self) -> (Status, Result) {
        let mut status = Status::new(UNDEFINED, UNDEFINED, 0);
        // SAFETY: the user gave this function for this use, with these parameters.
        let code = unsafe {
            let function = std::mem::transmute::<*mut c_void, Query>(self.query);
            function(self.extra, &mut status)
        };
        (status, of_callback(code))
    }

    fn release(&self) -> Result {
        // SAFETY: as above.
        of_callback(unsafe {
            let function = std::mem::transmute::<*mut c_void, Free>(self.free);
            function(self.extra)
        })
    }

    fn cancel(&self) -> Result {
        // SAFETY: as above.
        of_callback(unsafe {
            let function = std::mem::transmute::<*mut c_void, Cancel>(self.cancel);
            function(self.extra, c_int::from(self.complete.get()))
        })
    }
}

fn of_callback(code: c_int) -> Result {
    ensure!(code == SUCCESS, code, "a function of a generalized request failed");
    Ok(())
}

/// Runs everything that is under way until `done` says so.
pub(crate) fn wait_until(done: &mut dyn FnMut(&mut Endpoint) -> bool) -> Result {
    let mut endpoint = endpoint()?;
    endpoint.wait_until(&mut |endpoint| {
        process().schedules.advance(endpoint);
        done(endpoint)
    })?;
    Ok(())
}

/// One look at everything that is under way.
pub(crate) fn progress() -> Result {
    let mut endpoint = endpoint()?;
    endpoint.progress()?;
    process().schedules.advance(&mut endpoint);
    Ok(())
}

fn ended(object: &RequestObject) -> Result<bool> {
    Ok(object.has_ended(&*endpoint()?))
}

pub(crate) unsafe fn wait(request: *mut Request, status: *mut Status) -> Result {
    let Some(object) = find(*request)? else {
        Status::give_empty(status);
        return Ok(());
    };
    wait_until(&mut |endpoint| object.has_ended(endpoint))?;
    let (found, outcome) = object.take(&mut *request)?;
    found.give(status);
    outcome
}

pub(crate) unsafe fn test(request: *mut Request, flag: *mut c_int, status: *mut Status) -> Result {
    let Some(object) = find(*request)? else {
        *flag = 1;
        Status::give_empty(status);
        return Ok(());
    };
    progress()?;
    *flag = c_int::from(ended(&object)?);
    if *flag == 0 {
        return Ok(());
    }
    let (found, outcome) = object.take(&mut *request)?;
    found.give(status);
    outcome
}

pub(crate) unsafe fn get_status(request: Request, flag: *mut c_int, status: *mut Status) -> Result {
    let Some(object) = find(request)? else {
        *flag = 1;
        Status::give_empty(status);
        return Ok(());
    };
    progress()?;
    *flag = c_int::from(ended(&object)?);
    if *flag != 0 {
        let (found, outcome) = object.look()?;
        found.give(status);
        outcome?;
    }
    Ok(())
}

type Objects = Vec<Option<Rc<RequestObject>>>;

/// The objects behind an array of handles.
unsafe fn objects(count: c_int, requests: *const Request) -> Result<Objects> {
    ensure!(count >= 0, ERR_COUNT, "{count} requests");
    (0..count as usize).map(|index| find(*requests.add(index))).collect()
}

fn all_ended(objects: &Objects, endpoint: &Endpoint) -> bool {
    objects.iter().flatten().all(|object| object.has_ended(endpoint))
}

/// The active requests that have ended.
fn which_ended(objects: &Objects, endpoint: &Endpoint) -> Vec<usize> {
    let ended = |object: &Rc<RequestObject>| object.is_active() && object.has_ended(endpoint);
    let found = objects.iter().enumerate();
    found.filter(|(_, one)| one.as_ref().is_some_and(ended)).map(|(index, _)| index).collect()
}

fn any_active(objects: &Objects) -> bool {
    objects.iter().flatten().any(|object| object.is_active())
}

/// Takes all; with an error in one of them, the statuses tell which.
unsafe fn take_all(objects: Objects, requests: *mut Request, statuses: *mut Status) -> Result {
    let mut failed = false;
    for (index, object) in objects.into_iter().enumerate() {
        let (status, outcome) = match object {
            Some(object) => object.take(&mut *requests.add(index))?,
            None => (Status::empty(), Ok(())),
        };
        let code = outcome.map_or_else(|failure| failure.code, |()| SUCCESS);
        failed |= code != SUCCESS;
        if !statuses.is_null() {
            *statuses.add(index) = status.with_error(code);
        }
    }
    ensure!(!failed, ERR_IN_STATUS, "a request failed; the statuses tell which");
    Ok(())
}

pub(crate) unsafe fn wait_all(
    count: c_int,
    requests: *mut Request,
    statuses: *mut Status,
) -> Result {
    let objects = objects(count, requests)?;
    wait_until(&mut |endpoint| all_ended(&objects, endpoint))?;
    take_all(objects, requests, statuses)
}

pub(crate) unsafe fn test_all(
    count: c_int,
    requests: *mut Request,
    flag: *mut c_int,
    statuses: *mut Status,
) -> Result {
    let objects = objects(count, requests)?;
    progress()?;
    *flag = c_int::from(all_ended(&objects, &*endpoint()?));
    if *flag == 0 { Ok(()) } else { take_all(objects, requests, statuses) }
}

/// Takes the one at `index`.
unsafe fn take_one(
    objects: &Objects,
    index: usize,
    requests: *mut Request,
    status: *mut Status,
) -> Result {
    let Some(object) = &objects[index] else { return Ok(()) };
    let (found, outcome) = object.take(&mut *requests.add(index))?;
    found.give(status);
    outcome
}

pub(crate) unsafe fn wait_any(
    count: c_int,
    requests: *mut Request,
    index: *mut c_int,
    status: *mut Status,
) -> Result {
    let objects = objects(count, requests)?;
    if !any_active(&objects) {
        *index = UNDEFINED;
        Status::give_empty(status);
        return Ok(());
    }
    let mut first = None;
    wait_until(&mut |endpoint| {
        first = which_ended(&objects, endpoint).first().copied();
        first.is_some()
    })?;
    let first = first.unwrap_or(0);
    *index = first as c_int;
    take_one(&objects, first, requests, status)
}

pub(crate) unsafe fn test_any(
    count: c_int,
    requests: *mut Request,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut Status,
) -> Result {
    let objects = objects(count, requests)?;
    (*index, *flag) = (UNDEFINED, 1);
    if !any_active(&objects) {
        Status::give_empty(status);
        return Ok(());
    }
    progress()?;
    let first = which_ended(&objects, &*endpoint()?).first().copied();
    match first {
        None => {
            *flag = 0;
            Ok(())
        }
        Some(first) => {
            *index = first as c_int;
            take_one(&objects, first, requests, status)
        }
    }
}

/// Whether to wait for the first.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Some_ {
    Wait,
    Test,
}

pub(crate) unsafe fn some(
    count: c_int,
    requests: *mut Request,
    taken: *mut c_int,
    indices: *mut c_int,
    statuses: *mut Status,
    way: Some_,
) -> Result {
    let objects = objects(count, requests)?;
    if !any_active(&objects) {
        *taken = UNDEFINED;
        return Ok(());
    }
    let mut found = Vec::new();
    if way == Some_::Wait {
        wait_until(&mut |endpoint| {
            found = which_ended(&objects, endpoint);
            !found.is_empty()
        })?;
    } else {
        progress()?;
        found = which_ended(&objects, &*endpoint()?);
    }
    *taken = found.len() as c_int;
    let mut failed = false;
    for (place, index) in found.into_iter().enumerate() {
        *indices.add(place) = index as c_int;
        let Some(object) = &objects[index] else { continue };
        let (status, outcome) = object.take(&mut *requests.add(index))?;
        let code = outcome.map_or_else(|failure| failure.code, |()| SUCCESS);
        failed |= code != SUCCESS;
        if !statuses.is_null() {
            *statuses.add(place) = status.with_error(code);
        }
    }
    ensure!(!failed, ERR_IN_STATUS, "a request failed; the statuses tell which");
    Ok(())
}

unsafe fn get_status_of(
    objects: &Objects,
    ended: impl Fn(&Objects) -> Vec<usize>,
) -> Result<Vec<usize>> {
    progress()?;
    Ok(ended(objects))
}

/// MPI_Request_get_status_all.
pub(crate) unsafe fn get_status_all(
    count: c_int,
    requests: *const Request,
    flag: *mut c_int,
    statuses: *mut Status,
) -> Result {
    let objects = objects(count, requests)?;
    progress()?;
    *flag = c_int::from(all_ended(&objects, &*endpoint()?));
    if *flag == 0 || statuses.is_null() {
        return Ok(());
    }
    for (index, object) in objects.iter().enumerate() {
        let status = match object {
            Some(object) => object.look()?.0,
            None => Status::empty(),
        };
        *statuses.add(index) = status;
    }
    Ok(())
}

/// MPI_Request_get_status_any.
pub(crate) unsafe fn get_status_any(
    count: c_int,
    requests: *const Request,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut Status,
) -> Result {
    let objects = objects(count, requests)?;
    (*index, *flag) = (UNDEFINED, 1);
    if !any_active(&objects) {
        Status::give_empty(status);
        return Ok(());
    }
    let found = get_status_of(&objects, |objects| {
        endpoint().map_or(vec![], |endpoint| which_ended(objects, &endpoint))
    })?;
    match found.first() {
        None => *flag = 0,
        Some(&first) => {
            *index = first as c_int;
            if let Some(object) = &objects[first] {
                object.look()?.0.give(status);
            }
        }
    }
    Ok(())
}

/// MPI_Request_get_status_some.
pub(crate) unsafe fn get_status_some(
    count: c_int,
    requests: *const Request,
    taken: *mut c_int,
    indices: *mut c_int,
    statuses: *mut Status,
) -> Result {
    let objects = objects(count, requests)?;
    if !any_active(&objects) {
        *taken = UNDEFINED;
        return Ok(());
    }
    let found = get_status_of(&objects, |objects| {
        endpoint().map_or(vec![], |endpoint| which_ended(objects, &endpoint))
    })?;
    *taken = found.len() as c_int;
    for (place, index) in found.into_iter().enumerate() {
        *indices.add(place) = index as c_int;
        if let (Some(object), false) = (&objects[index], statuses.is_null()) {
            *statuses.add(place) = object.look()?.0;
        }
    }
    Ok(())
}

pub(crate) unsafe fn start(request: *mut Request) -> Result {
    let object = find(*request)?.ok_or_else(|| Failure::new(ERR_REQUEST, "a null request"))?;
    let start = object.start.as_ref();
    let start = start.ok_or_else(|| Failure::new(ERR_REQUEST, "not a persistent request"))?;
    ensure!(!object.is_active(), ERR_REQUEST, "the request is active already");
    let action = start()?;
    *object.action.borrow_mut() = Some(action);
    Ok(())
}

pub(crate) unsafe fn start_all(count: c_int, requests: *mut Request) -> Result {
    ensure!(count >= 0, ERR_COUNT, "{count} requests");
    (0..count as usize).try_for_each(|index| start(requests.add(index)))
}

pub(crate) unsafe fn free(request: *mut Request) -> Result {
    let object = find(*request)?.ok_or_else(|| Failure::new(ERR_REQUEST, "a null request"))?;
    process().requests.borrow_mut().remove(*request);
    *request = REQUEST_NULL;
    if let Some(Action::Generalized(one)) = &*object.action.borrow()
        && one.complete.get()
    {
        return one.release();
    }
    if object.is_active() {
        process().orphans.borrow_mut().push(object);
    }
    settle_orphans()
}

fn settle_orphans() -> Result {
    let left = process().orphans.take();
    for object in left {
        if !ended(&object)? {
            process().orphans.borrow_mut().push(object);
        } else {
            object.settle()?;
        }
    }
    Ok(())
}

/// Waits for requests that nobody waits for any more.
pub(crate) fn finish_orphans() -> Result {
    let objects: Objects = process().orphans.take().into_iter().map(Some).collect();
    // Generalized ones end when the program says so, which it may never do.
    let own = |object: &&Rc<RequestObject>| {
        !matches!(&*object.action.borrow(), Some(Action::Generalized(_)))
    };
    wait_until(&mut |endpoint| {
        objects.iter().flatten().filter(own).all(|object| object.has_ended(endpoint))
    })
}

pub(crate) unsafe fn cancel(request: *mut Request) -> Result {
    let object = find(*request)?.ok_or_else(|| Failure::new(ERR_REQUEST, "a null request"))?;
    let mut action = object.action.borrow_mut();
    match &mut *action {
        None => Err(Failure::new(ERR_REQUEST, "an inactive request")),
        Some(Action::Transfer(transfer)) => {
            if let Some(status) = transfer.cancel(&mut *endpoint()?) {
                *action = Some(Action::Done(status, Ok(())));
            }
            Ok(())
        }
        Some(Action::Generalized(one)) => one.cancel(),
        Some(Action::Collective(_)) => {
            Err(Failure::new(ERR_REQUEST, "a collective operation cannot be cancelled"))
        }
        Some(_) => Ok(()),
    }
}

pub(crate) unsafe fn generalized_start(
    query: *mut c_void,
    free: *mut c_void,
    cancel: *mut c_void,
    extra: *mut c_void,
    request: *mut Request,
) -> Result {
    check_running()?;
    let complete = Cell::new(false);
    let one = Generalized { query, free, cancel, extra, complete };
    *request = register(Action::Generalized(Rc::new(one)));
    Ok(())
}

pub(crate) unsafe fn generalized_complete(request: Request) -> Result {
    let object = find(request)?.ok_or_else(|| Failure::new(ERR_REQUEST, "a null request"))?;
    match &*object.action.borrow() {
        Some(Action::Generalized(one)) => {
            one.complete.set(true);
            Ok(())
        }
        _ => Err(Failure::new(ERR_REQUEST, "not a generalized request")),
    }
}
