//! Windows, and access to the memory of other ranks.

use std::ffi::c_int;

use profile::{AccessKind, Event, Kind, NOBODY, Synchronisation};

use super::{around, around_ends};
use crate::abi::*;
use crate::checks::{Access, Ends, Owner, Stored, Use};
use crate::clock::ticks;
use crate::data::{At, Call, Data};
use crate::mpi;
use crate::recorder::{Recorder, Sizes, Span};

/// Maximum number of pieces of an access that are recorded.
const PIECES_MAX: usize = 64;

/// Observes a call that creates a window with units of displacements of `unit` bytes.
pub(crate) unsafe fn make_window(
    call: Call,
    real: impl FnOnce() -> c_int,
    unit: impl Into<i64>,
    comm: Comm,
    win: *const Win,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.all_come(span, comm);
        if *win != WIN_NULL {
            recorder.windows.remove(*win);
            recorder.note_unit(span, *win, unit.into());
            recorder.observe_stores(*win);
        }
    })
}

/// Observes a call that frees a window.
pub(crate) unsafe fn free_window(
    call: Call,
    real: impl FnOnce() -> c_int,
    win: *const Win,
) -> c_int {
    let handle = win.as_ref().copied().unwrap_or(WIN_NULL);
    let note = |recorder: &mut Recorder, span: &Span| {
        recorder.check_accesses(span, handle, None);
        recorder.all_come_of_window(span, handle);
        recorder.windows.remove(handle);
        if let Some(stores) = &mut recorder.stores {
            stores.remove(handle);
        }
    };
    around_ends(call, real, note, Ends::Accesses(handle, None))
}

/// Records an access to the memory of another rank that combines it with `sources`, and fetches what was there to `result`.
/// Its bytes count as sent to that rank, even if they come from there. It has a request if `request` is not null.
pub(crate) unsafe fn fetch(
    call: Call,
    real: impl FnOnce() -> c_int,
    (sources, result): ([Data; 2], Data),
    at: At,
    win: Win,
    request: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        let peer = recorder.accessed(span, result, at, win);
        recorder.synchronised(span, Synchronisation::Fetched, Some(at.rank), win);
        let read = sources.map(|data| Use::of(data, Access::Reads));
        // An operation that only reads ignores its operand.
        let read = if at.kind.writes() { &read[..] } else { &[] };
        let uses = [read, &[Use::of(result, Access::Writes)]].concat();
        recorder.check_access(span, (at, peer, win), request, &uses);
    })
}

/// Records an access that uses this rank's data until it has ended: a get writes them, all others read them. It has a request
/// if `request` is not null.
pub(crate) unsafe fn access(
    call: Call,
    real: impl FnOnce() -> c_int,
    data: Data,
    at: At,
    win: Win,
    request: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        let peer = recorder.accessed(span, data, at, win);
        let access = if at.kind == AccessKind::Get { Access::Writes } else { Access::Reads };
        recorder.check_access(span, (at, peer, win), request, &[Use::of(data, access)]);
    })
}

/// Observes MPI_Win_lock.
pub(crate) unsafe fn lock(
    call: Call,
    real: impl FnOnce() -> c_int,
    kind: c_int,
    rank: c_int,
    win: Win,
) -> c_int {
    let what = match kind {
        LOCK_EXCLUSIVE => Synchronisation::LockExclusive,
        _ => Synchronisation::Lock,
    };
    synchronise(call, real, what, Some(rank), win)
}

/// Observes a call that synchronises accesses to the memory of a rank, or of all, without ending any.
pub(crate) unsafe fn synchronise(
    call: Call,
    real: impl FnOnce() -> c_int,
    what: Synchronisation,
    rank: Option<c_int>,
    win: Win,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.call(span);
        recorder.synchronised(span, what, rank, win);
    })
}

/// Observes a call that ends accesses to the memory of a rank, or of all.
pub(crate) unsafe fn end_accesses(
    call: Call,
    real: impl FnOnce() -> c_int,
    what: Synchronisation,
    rank: Option<c_int>,
    win: Win,
) -> c_int {
    let note = |recorder: &mut Recorder, span: &Span| {
        recorder.call(span);
        recorder.synchronised(span, what, rank, win);
        recorder.check_accesses(span, win, rank);
    };
    around_ends(call, real, note, Ends::Accesses(win, rank))
}

impl Recorder {
    /// Counts an access, and records it if windows are checked. Returns the rank of the world that owns the memory.
    unsafe fn accessed(&mut self, span: &Span, data: Data, at: At, win: Win) -> u32 {
        self.call(span);
        let (peer, event) = self.at_window(span, win, Some(at.rank));
        let bytes = data.bytes(1);
        self.count(span, Sizes::Windows, bytes);
        self.count_peer(peer, bytes);
        if peer != NOBODY {
            self.note_pieces(&event, peer, at);
        }
        peer
    }

    /// Checks the data of an access to the memory of a rank, which is `peer` of the world. One to the rank's own memory is not
    /// checked: its two sides are in the same memory.
    unsafe fn check_access(
        &mut self,
        span: &Span,
        (at, peer, win): (At, u32, Win),
        request: *const Request,
        uses: &[Use],
    ) {
        let request = request.as_ref().copied().unwrap_or(REQUEST_NULL);
        if at.rank >= 0 && !self.is_me(peer) {
            self.check_posted(span, Owner { request, window: Some((win, at.rank)) }, uses);
        }
        // What it reads is there when its request ends, at a call that says nothing of the window.
        if request != REQUEST_NULL {
            self.synchronised(span, Synchronisation::FlushLocal, Some(at.rank), win);
        }
    }

    /// Returns the rank of the world of a rank of a window, or [`NOBODY`] for all, and an event of the window without details.
    fn at_window(&mut self, span: &Span, win: Win, rank: Option<c_int>) -> (u32, Event) {
        let (place, communicator) = self.window(win);
        let window = self.windows.at(place as usize);
        let peer = rank.map_or(NOBODY, |rank| window.world_rank(rank));
        (peer, Event { communicator, ..Recorder::event(Kind::Call, span) })
    }

    /// Records the pieces of an access, if windows are checked. An access in very many pieces is not recorded.
    unsafe fn note_pieces(&mut self, event: &Event, target: u32, at: At) {
        let Some(checks) = &mut self.checks else { return };
        let At { displacement, count, datatype, kind, .. } = at;
        let pieces = checks.types.offsets(count, datatype).unwrap_or_default();
        if pieces.len() > PIECES_MAX {
            return;
        }
        for (offset, bytes) in pieces {
            let (Ok(offset), Ok(bytes)) = (i32::try_from(offset), u32::try_from(bytes)) else {
                continue;
            };
            let access = profile::WindowAccess { kind, target, displacement, offset, bytes };
            self.note(&access.event(*event));
        }
    }

    /// Records a synchronisation, if windows are checked.
    pub(super) fn synchronised(
        &mut self,
        span: &Span,
        what: Synchronisation,
        rank: Option<c_int>,
        win: Win,
    ) {
        if self.checks.is_some() {
            let (target, event) = self.at_window(span, win, rank);
            self.note(&what.event(target, event));
        }
    }

    /// Observes the program's stores to a window that was made. In a shared one other ranks store, too, and the memory of a
    /// dynamic one is not known.
    fn observe_stores(&mut self, win: Win) {
        let Some(stores) = &mut self.stores else { return };
        if let Some((start, bytes)) = mpi::own_memory(win) {
            stores.add(win, start, bytes);
        }
    }

    /// Records the stores of the program that are found at the beginning of a call.
    #[cold]
    pub(crate) fn note_stores(&mut self, call: Call) {
        let Some(stores) = &mut self.stores else { return };
        let changed = stores.changed();
        if changed.is_empty() {
            return;
        }
        let now = ticks();
        let span = Span { begin: now, end: now, site: self.site(call) };
        let target = self.rank();
        for Stored { win, offset, bytes } in changed {
            let (_, event) = self.at_window(&span, win, None);
            let (offset, bytes) = (offset as i32, bytes as u32);
            let kind = AccessKind::Store;
            let store = profile::WindowAccess { kind, target, displacement: 0, offset, bytes };
            self.note(&store.event(event));
        }
    }

    /// Records a window that was made, and its unit of displacements if windows are checked.
    fn note_unit(&mut self, span: &Span, win: Win, unit: i64) {
        let (_, event) = self.at_window(span, win, None);
        if self.checks.is_some() {
            let event = Event { posted: unit as u64, ..event };
            self.note(&Synchronisation::Create.event(NOBODY, event));
        }
    }
}
