//! Calls that complete started operations.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use profile::{Event, Kind};

use super::{around_ends, around_status_ends};
use crate::abi::*;
use crate::checks::Ends;
use crate::data::Call;
use crate::recorder::{Recorder, Span};
use crate::requests::{Pending, Started};

/// Maximum number of requests that are copied to the stack. More are copied to the heap.
const FEW: usize = 64;

/// Copies of requests, or room for statuses.
enum List<T> {
    Few([MaybeUninit<T>; FEW], usize),
    Many(Vec<MaybeUninit<T>>),
}

impl<T: Copy> List<T> {
    #[inline]
    fn room(count: usize) -> Self {
        if count <= FEW {
            return List::Few([const { MaybeUninit::uninit() }; FEW], count);
        }
        List::Many(vec![const { MaybeUninit::uninit() }; count])
    }

    /// Copies values.
    ///
    /// # Safety
    /// There are `count` values at the address.
    #[inline]
    unsafe fn copy(from: *const T, count: c_int) -> Self {
        let mut list = List::room(usize::try_from(count).unwrap_or(0));
        let room = list.slice();
        std::ptr::copy_nonoverlapping(from, room.as_mut_ptr().cast(), room.len());
        list
    }

    #[inline]
    fn slice(&mut self) -> &mut [MaybeUninit<T>] {
        match self {
            List::Few(array, count) => &mut array[..*count],
            List::Many(values) => values,
        }
    }

    /// Returns all values.
    ///
    /// # Safety
    /// All values were written.
    #[inline]
    unsafe fn all(&mut self) -> &[T] {
        self.slice().assume_init_ref()
    }
}

impl List<Status> {
    /// Returns the program's statuses, or our own if the program ignores them.
    #[inline]
    fn or_own(&mut self, statuses: *mut Status) -> *mut Status {
        if statuses.is_null() { self.slice().as_mut_ptr().cast() } else { statuses }
    }
}

impl Recorder {
    /// Records the operation that has ended in a call, if there is one. Returns whether its event stands for the call.
    #[inline]
    fn ended(&mut self, span: &Span, request: Request, status: *const Status, only: bool) -> bool {
        self.check_ended(span, request);
        let Some(pending) = self.requests.end(request) else { return false };
        let Pending { communicator: place, index, posted, bytes, peer, tag, .. } = pending;
        match pending.what {
            Started::Receive => {
                // SAFETY: the library has filled it in.
                self.received(span, place, index, posted, unsafe { &*status }, only);
            }
            Started::Neighbours => {
                if only {
                    self.note(&Recorder::event(Kind::Call, span));
                }
                self.received_from_neighbours(span, (place, index), posted);
            }
            Started::Send | Started::Parts | Started::ReceiveOfParts | Started::Collective => {
                let kind = match pending.what {
                    Started::Collective => Kind::CollectiveEnded,
                    Started::ReceiveOfParts => Kind::Received,
                    _ => Kind::SendEnded,
                };
                let event = Recorder::event(kind, span);
                let communicator = index;
                let is_span = only;
                self.note(&Event { is_span, posted, bytes, peer, tag, communicator, ..event });
            }
        }
        true
    }

    /// Records those of several operations that have ended, after the call itself.
    #[inline]
    unsafe fn ended_all(&mut self, span: &Span, requests: &[Request], statuses: *const Status) {
        self.note(&Recorder::event(Kind::Call, span));
        for (index, &request) in requests.iter().enumerate() {
            self.ended(span, request, statuses.add(index), false);
        }
    }

    /// Records the operations that have ended among several, with the reported indices.
    unsafe fn ended_some(
        &mut self,
        span: &Span,
        requests: &[Request],
        indices: &[c_int],
        statuses: *const Status,
    ) {
        self.note(&Recorder::event(Kind::Call, span));
        for (number, &index) in indices.iter().enumerate() {
            if let Ok(index) = usize::try_from(index) {
                self.ended(span, requests[index], statuses.add(number), false);
            }
        }
    }
}

/// Observes MPI_Wait.
#[inline(always)]
pub(crate) unsafe fn wait(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    request: *const Request,
    status: *mut Status,
) -> c_int {
    one(call, real, request, None, status)
}

/// Observes MPI_Test.
#[inline(always)]
pub(crate) unsafe fn test(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    request: *const Request,
    flag: *const c_int,
    status: *mut Status,
) -> c_int {
    one(call, real, request, Some(flag), status)
}

/// Observes a call that completes a request if the flag is set. Without a flag it waits for completion.
#[inline(always)]
unsafe fn one(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    request: *const Request,
    flag: Option<*const c_int>,
    status: *mut Status,
) -> c_int {
    let handle = request.as_ref().copied().unwrap_or(REQUEST_NULL);
    let requests = std::slice::from_ref(&handle);
    let note = |recorder: &mut Recorder, span: &Span, status| {
        if flag.is_some_and(|flag| *flag == 0) {
            recorder.poll(span);
        } else if !recorder.ended(span, handle, status, true) {
            recorder.call(span);
        }
    };
    around_status_ends(call, real, status, note, requests)
}

/// Calls a function that completes several requests. Records the call with the requests before it, and with the
/// program's statuses, or ours if the program ignores them.
#[inline(always)]
unsafe fn around_requests(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    (count, requests): (c_int, *const Request),
    statuses: *mut Status,
    note: impl FnOnce(&mut Recorder, &Span, &[Request], *const Status),
) -> c_int {
    let mut requests = List::copy(requests, count);
    let mut own = List::room(requests.slice().len());
    let statuses = own.or_own(statuses);
    let requests = requests.all();
    let note = |recorder: &mut Recorder, span: &Span| note(recorder, span, requests, statuses);
    around_ends(call, || real(statuses), note, Ends::Requests(requests))
}

/// Observes MPI_Waitall.
pub(crate) unsafe fn wait_all(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    count: c_int,
    requests: *const Request,
    statuses: *mut Status,
) -> c_int {
    all(call, real, (count, requests), None, statuses)
}

/// Observes MPI_Testall.
pub(crate) unsafe fn test_all(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    count: c_int,
    requests: *const Request,
    flag: *const c_int,
    statuses: *mut Status,
) -> c_int {
    all(call, real, (count, requests), Some(flag), statuses)
}

/// Observes a call that completes all requests if the flag is set. Without a flag it waits for completion.
#[inline(always)]
unsafe fn all(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    requests: (c_int, *const Request),
    flag: Option<*const c_int>,
    statuses: *mut Status,
) -> c_int {
    let note = |recorder: &mut Recorder, span: &Span, requests: &[Request], statuses| match flag
        .is_some_and(|flag| *flag == 0)
    {
        true => recorder.poll(span),
        false => recorder.ended_all(span, requests, statuses),
    };
    around_requests(call, real, requests, statuses, note)
}

/// Observes MPI_Waitany.
pub(crate) unsafe fn wait_any(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    count: c_int,
    requests: *const Request,
    index: *const c_int,
    status: *mut Status,
) -> c_int {
    test_any(call, real, count, requests, index, &1, status)
}

/// Observes MPI_Testany.
#[inline(always)]
pub(crate) unsafe fn test_any(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    count: c_int,
    requests: *const Request,
    index: *const c_int,
    flag: *const c_int,
    status: *mut Status,
) -> c_int {
    let mut requests = List::copy(requests, count);
    let requests = requests.all();
    let note = |recorder: &mut Recorder, span: &Span, status| match *flag {
        0 => recorder.poll(span),
        _ => recorder.ended_some(span, requests, &[*index], status),
    };
    around_status_ends(call, real, status, note, requests)
}

/// Observes MPI_Waitsome.
pub(crate) unsafe fn wait_some(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    count: c_int,
    requests: *const Request,
    ended: *const c_int,
    indices: *const c_int,
    statuses: *mut Status,
) -> c_int {
    let note = |recorder: &mut Recorder, span: &Span, requests: &[Request], statuses| {
        recorder.ended_some(span, requests, reported(ended, indices), statuses);
    };
    around_requests(call, real, (count, requests), statuses, note)
}

/// Observes MPI_Testsome.
pub(crate) unsafe fn test_some(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    count: c_int,
    requests: *const Request,
    ended: *const c_int,
    indices: *const c_int,
    statuses: *mut Status,
) -> c_int {
    let note = |recorder: &mut Recorder, span: &Span, requests: &[Request], statuses| match reported(
        ended, indices,
    ) {
        [] => recorder.poll(span),
        indices => recorder.ended_some(span, requests, indices, statuses),
    };
    around_requests(call, real, (count, requests), statuses, note)
}

/// Returns the indices that the library has reported.
pub(super) unsafe fn reported<'a>(ended: *const c_int, indices: *const c_int) -> &'a [c_int] {
    match usize::try_from(*ended) {
        Ok(count) if count > 0 => std::slice::from_raw_parts(indices, count),
        _ => &[],
    }
}
