//! Calls that complete what was started.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use profile::{Event, Kind};

use super::{around, around_status};
use crate::abi::*;
use crate::data::Call;
use crate::recorder::{Recorder, Sizes, Span};
use crate::requests::{Pending, Started};

/// As many requests are copied to the stack; more, to the heap.
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

    /// # Safety
    /// There are so many values at the address.
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

    /// # Safety
    /// The value was written.
    #[inline]
    unsafe fn get(&mut self, index: usize) -> T {
        self.slice()[index].assume_init()
    }
}

impl List<Status> {
    /// The program's statuses, or our own where it wants none.
    #[inline]
    fn or_own(&mut self, statuses: *mut Status) -> *mut Status {
        if statuses.is_null() { self.slice().as_mut_ptr().cast() } else { statuses }
    }
}

impl Recorder {
    /// Notes what has ended in a call, if anything has; whether it stands for the call.
    #[inline]
    fn ended(&mut self, span: &Span, request: Request, status: *const Status, only: bool) -> bool {
        self.check_ended(request, span.site);
        let Some(pending) = self.requests.end(request) else { return false };
        let Pending { communicator: place, index, posted, bytes, peer, tag, .. } = pending;
        match pending.what {
            Started::Receive => {
                // SAFETY: the library has filled it in.
                self.received(span, place, index, posted, unsafe { &*status }, only);
            }
            Started::Send | Started::Collective => {
                let is_send = pending.what == Started::Send;
                let kind = if is_send { Kind::SendEnded } else { Kind::CollectiveEnded };
                let event = Recorder::event(kind, span);
                let communicator = index;
                let is_span = only;
                self.note(&Event { is_span, posted, bytes, peer, tag, communicator, ..event });
            }
        }
        true
    }

    /// Notes what has ended of several, after the call itself.
    #[inline]
    unsafe fn ended_all(
        &mut self,
        span: &Span,
        requests: &mut List<Request>,
        statuses: *const Status,
    ) {
        self.note(&Recorder::event(Kind::Call, span));
        for index in 0..requests.slice().len() {
            self.ended(span, requests.get(index), statuses.add(index), false);
        }
    }

    /// Records the operations that have ended among several, with the reported indices.
    unsafe fn ended_some(
        &mut self,
        span: &Span,
        requests: &mut List<Request>,
        indices: &[c_int],
        statuses: *const Status,
    ) {
        self.note(&Recorder::event(Kind::Call, span));
        for (number, &index) in indices.iter().enumerate() {
            if let Ok(index) = usize::try_from(index) {
                self.ended(span, requests.get(index), statuses.add(number), false);
            }
        }
    }
}

/// MPI_Wait.
#[inline(always)]
pub(crate) unsafe fn wait(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    request: *const Request,
    status: *mut Status,
) -> c_int {
    test(call, real, request, &1, status)
}

/// MPI_Test.
#[inline(always)]
pub(crate) unsafe fn test(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    request: *const Request,
    flag: *const c_int,
    status: *mut Status,
) -> c_int {
    let handle = request.as_ref().copied().unwrap_or(REQUEST_NULL);
    around_status(call, real, status, |recorder, span, status| {
        if *flag == 0 {
            recorder.poll(span);
        } else if !recorder.ended(span, handle, status, true) {
            recorder.call(span);
        }
    })
}

/// Calls a function that completes several requests, and notes the call with the requests and statuses that it had: the
/// program's statuses, or ours where it wants none.
#[inline(always)]
unsafe fn around_requests(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    count: c_int,
    requests: *const Request,
    statuses: *mut Status,
    note: impl FnOnce(&mut Recorder, &Span, &mut List<Request>, *const Status),
) -> c_int {
    let mut requests = List::copy(requests, count);
    let mut own = List::room(requests.slice().len());
    let statuses = own.or_own(statuses);
    around(call, || real(statuses), |recorder, span| note(recorder, span, &mut requests, statuses))
}

/// MPI_Waitall.
pub(crate) unsafe fn wait_all(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    count: c_int,
    requests: *const Request,
    statuses: *mut Status,
) -> c_int {
    test_all(call, real, count, requests, &1, statuses)
}

/// MPI_Testall.
#[inline(always)]
pub(crate) unsafe fn test_all(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    count: c_int,
    requests: *const Request,
    flag: *const c_int,
    statuses: *mut Status,
) -> c_int {
    around_requests(call, real, count, requests, statuses, |recorder, span, requests, statuses| {
        match *flag {
            0 => recorder.poll(span),
            _ => recorder.ended_all(span, requests, statuses),
        }
    })
}

/// MPI_Waitany.
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

/// MPI_Testany.
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
    around_status(call, real, status, |recorder, span, status| match *flag {
        0 => recorder.poll(span),
        _ => recorder.ended_some(span, &mut requests, &[*index], status),
    })
}

/// MPI_Waitsome.
pub(crate) unsafe fn wait_some(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    count: c_int,
    requests: *const Request,
    ended: *const c_int,
    indices: *const c_int,
    statuses: *mut Status,
) -> c_int {
    around_requests(call, real, count, requests, statuses, |recorder, span, requests, statuses| {
        recorder.ended_some(span, requests, told(ended, indices), statuses);
    })
}

/// MPI_Testsome.
pub(crate) unsafe fn test_some(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    count: c_int,
    requests: *const Request,
    ended: *const c_int,
    indices: *const c_int,
    statuses: *mut Status,
) -> c_int {
    around_requests(call, real, count, requests, statuses, |recorder, span, requests, statuses| {
        match told(ended, indices) {
            [] => recorder.poll(span),
            indices => recorder.ended_some(span, requests, indices, statuses),
        }
    })
}

/// The indices that the library has reported.
unsafe fn told<'a>(ended: *const c_int, indices: *const c_int) -> &'a [c_int] {
    match usize::try_from(*ended) {
        Ok(count) if count > 0 => std::slice::from_raw_parts(indices, count),
        _ => &[],
    }
}

/// MPI_Start and MPI_Startall.
pub(crate) unsafe fn restart(
    call: Call,
    real: impl FnOnce() -> c_int,
    count: c_int,
    requests: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.call(span);
        for index in 0..usize::try_from(count).unwrap_or(0) {
            recorder.restarted(span, *requests.add(index));
        }
    })
}

impl Recorder {
    /// Notes that an operation that was prepared has been started.
    fn restarted(&mut self, span: &Span, request: Request) {
        let Some(pending) = self.requests.get_mut(request) else { return };
        pending.is_active = true;
        pending.posted = span.begin;
        let Pending { what, communicator: place, index, bytes, peer, tag, .. } = *pending;
        let mut event = Recorder::event(Kind::SendStarted, span);
        let communicator = index;
        event = Event { bytes, peer, tag, communicator, is_span: false, ..event };
        match what {
            Started::Receive => {}
            Started::Send => {
                self.count(span, Sizes::Messages, bytes);
                self.count_peer(peer, bytes);
                self.note(&event);
            }
            Started::Collective => {
                let number = self.count_collective(place);
                if let Some(pending) = self.requests.get_mut(request) {
                    pending.posted = number;
                }
                self.count(span, Sizes::Collectives, bytes);
                self.note(&Event { kind: Kind::CollectiveStarted, posted: number, ..event });
            }
        }
    }
}

/// MPI_Request_free.
pub(crate) unsafe fn forget(
    call: Call,
    real: impl FnOnce() -> c_int,
    request: *const Request,
) -> c_int {
    let handle = request.as_ref().copied().unwrap_or(REQUEST_NULL);
    around(call, real, |recorder, span| {
        recorder.call(span);
        recorder.uncheck(handle);
        recorder.requests.remove(handle);
    })
}

/// MPI_Cancel. Whether the operation is cancelled shows later, so nothing more is said of it.
pub(crate) unsafe fn cancel(
    call: Call,
    real: impl FnOnce() -> c_int,
    request: *const Request,
) -> c_int {
    forget(call, real, request)
}
