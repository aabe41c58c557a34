//! The recording of a rank's calls.

use std::collections::HashMap;
use std::ffi::c_int;

use profile::layout::{WANTS_CHECKS, WANTS_SPANS, bin_of, head, histogram, peer, site, start};
use profile::{Event, IDLE_TICKS, Kind, NOBODY};

use crate::abi::*;
use crate::bindings::Bindings;
use crate::checks::{Checks, Ends, Owner, Stores, Use};
use crate::communicators::{Communicators, of_communicator, of_window};
use crate::data::{Call, To};
use crate::mapped::Mapped;
use crate::python;
use crate::requests::Requests;

/// Duration from which on any call is an event: some microseconds.
const LONG_TICKS: u64 = 8192;

/// A call that has ended.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) site: u16,
}

/// Kinds of messages with a histogram of sizes.
#[derive(Clone, Copy)]
pub(crate) enum Sizes {
    Messages = 0,
    Collectives = 1,
    Windows = 2,
}

/// A message that a probe has found.
#[derive(Clone, Copy)]
pub(crate) struct Probed {
    pub(crate) span: Span,
    pub(crate) place: u32,
    pub(crate) index: u16,
    pub(crate) peer: u32,
    pub(crate) tag: c_int,
}

/// All data that the recording of a rank's calls needs.
pub(crate) struct Recorder {
    pub(crate) mapped: Mapped,
    pub(crate) communicators: Communicators,
    pub(crate) windows: Communicators,
    pub(crate) requests: Requests,
    pub(crate) checks: Option<Checks>,
    /// The program's own stores to its windows, if they are observed.
    pub(crate) stores: Option<Stores>,
    /// The result of the last blocking probe, and of each matched one, by the message's handle.
    pub(crate) probed: Option<Probed>,
    pub(crate) matched: HashMap<Message, Probed>,
    /// Bytes for each neighbour of persistent collectives.
    pub(crate) prepared_bytes: HashMap<Request, Vec<u64>>,
    /// Its rank in MPI_COMM_WORLD.
    rank: u32,
    wants_spans: bool,
    lines: Option<python::Lines>,
    bindings: Option<Bindings>,
}

impl Recorder {
    pub(crate) fn new(mapped: Mapped, rank: u32) -> Self {
        let wanted = mapped.wanted;
        Recorder {
            mapped,
            communicators: Communicators::new(),
            windows: Communicators::new(),
            requests: Requests::new(),
            checks: (wanted & WANTS_CHECKS != 0).then(Checks::default),
            stores: None,
            probed: None,
            matched: HashMap::new(),
            prepared_bytes: HashMap::new(),
            rank,
            wants_spans: wanted & WANTS_SPANS != 0,
            lines: python::Lines::find(),
            bindings: Bindings::find(),
        }
    }

    /// Counts a call at its place.
    #[inline]
    pub(crate) fn span(&mut self, call: Call, begin: u64, end: u64) -> Span {
        let index = self.site(call);
        let at = start::SITES + usize::from(index) * site::WORDS;
        let ticks = end.saturating_sub(begin);
        self.mapped.add(at + site::CALLS, 1);
        self.mapped.add(at + site::TICKS, ticks);
        if ticks > self.mapped.read(at + site::LONGEST) {
            self.mapped.write(at + site::LONGEST, ticks);
            if self.mapped.read(at + site::CALLS) == 1 {
                self.note_memory();
            }
        }
        self.mapped.write(head::LAST_TICKS, end);
        Span { begin, end, site: index }
    }

    /// Returns the index of the place of a call.
    #[inline]
    pub(crate) fn site(&mut self, call: Call) -> u16 {
        let call = match &self.bindings {
            None => call,
            Some(bindings) => Call { address: bindings.caller(call.address), ..call },
        };
        match &mut self.lines {
            None => self.mapped.site(call.address, call.function),
            Some(lines) => lines.site(&mut self.mapped, call),
        }
    }

    /// Records the peak memory of the process.
    pub(crate) fn note_memory(&mut self) -> u64 {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the place is live; zeros are a valid value.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
            usage.assume_init()
        };
        let kib = usage.ru_maxrss as u64;
        self.mapped.write(head::MEMORY_KIB, kib);
        kib
    }

    /// Creates the event of a call, without details.
    #[inline]
    pub(crate) fn event(kind: Kind, span: &Span) -> Event {
        Event {
            kind,
            is_span: true,
            begin: span.begin,
            end: span.end,
            posted: span.begin,
            bytes: 0,
            peer: NOBODY,
            tag: 0,
            site: span.site,
            communicator: 0,
        }
    }

    #[inline]
    pub(crate) fn note(&mut self, event: &Event) {
        self.mapped.note(event);
    }

    /// Records only the time of a call.
    #[inline]
    pub(crate) fn call(&mut self, span: &Span) {
        if self.wants_spans || span.end.saturating_sub(span.begin) >= LONG_TICKS {
            self.note(&Self::event(Kind::Call, span));
        }
    }

    /// Records an idle poll. Those of one loop are one event.
    pub(crate) fn poll(&mut self, span: &Span) {
        if let Some(mut last) = self.mapped.last_event()
            && last.kind == Kind::Polls
            && span.begin.saturating_sub(last.end) < IDLE_TICKS
        {
            last.end = span.end;
            return self.mapped.replace_last(&last);
        }
        self.note(&Self::event(Kind::Polls, span));
    }

    /// Returns the place and the index of a communicator.
    #[inline]
    pub(crate) fn communicator(&mut self, comm: Comm) -> (u32, u16) {
        let place = self.communicators.place(comm, &mut self.mapped, of_communicator);
        (place as u32, self.communicators.at(place).index)
    }

    /// Returns the place and the index of a window.
    pub(crate) fn window(&mut self, win: Win) -> (u32, u16) {
        let place = self.windows.place(win, &mut self.mapped, of_window);
        (place as u32, self.windows.at(place).index)
    }

    /// Returns the rank of the world of a rank of a communicator.
    #[inline]
    pub(crate) fn world_rank(&mut self, place: u32, rank: c_int) -> u32 {
        self.communicators.at(place as usize).world_rank(rank)
    }

    /// Counts bytes at a place, and among the sizes of its kind.
    #[inline]
    pub(crate) fn count(&mut self, span: &Span, sizes: Sizes, bytes: u64) {
        let at = start::SITES + usize::from(span.site) * site::WORDS;
        self.mapped.add(at + site::BYTES, bytes);
        let bin = sizes as usize * histogram::BINS + bin_of(bytes);
        let at = start::HISTOGRAMS + bin * histogram::WORDS;
        self.mapped.add(at, 1);
        self.mapped.add(at + 1, bytes);
    }

    /// Counts a message to a rank of the world.
    #[inline]
    pub(crate) fn count_peer(&mut self, rank: u32, bytes: u64) {
        if (rank as usize) < self.mapped.peers() {
            let at = start::PEERS + rank as usize * peer::WORDS;
            self.mapped.add(at, 1);
            self.mapped.add(at + 1, bytes);
        }
    }

    /// Counts and records a send. A send to MPI_PROC_NULL is recorded only as a call, and returns `None`.
    #[inline]
    pub(crate) fn sent(&mut self, span: &Span, kind: Kind, bytes: u64, to: To) -> Option<Event> {
        let sent = self.sent_as(span, Self::event(kind, span), bytes, to);
        if sent.is_none() {
            self.call(span);
        }
        sent
    }

    /// Counts and records a send by an event that has everything except the message. Returns `None` for a send to
    /// MPI_PROC_NULL.
    #[inline]
    pub(crate) fn sent_as(
        &mut self,
        span: &Span,
        event: Event,
        bytes: u64,
        to: To,
    ) -> Option<Event> {
        if to.rank < 0 {
            return None;
        }
        let (place, communicator) = self.communicator(to.comm);
        let (peer, tag) = (self.world_rank(place, to.rank), to.tag);
        let event = Event { bytes, peer, tag, communicator, ..event };
        self.note_message(span, &event);
        Some(event)
    }

    /// Counts and records a sent message.
    #[inline]
    pub(crate) fn note_message(&mut self, span: &Span, event: &Event) {
        self.count(span, Sizes::Messages, event.bytes);
        self.count_peer(event.peer, event.bytes);
        self.note(event);
    }

    /// Counts a collective of a communicator. Returns its number.
    pub(crate) fn count_collective(&mut self, place: u32) -> u64 {
        let communicator = self.communicators.at(place as usize);
        communicator.collectives += 1;
        communicator.collectives
    }

    /// Returns the rank of the world of the root of a collective.
    pub(crate) fn root(&mut self, place: u32, root: Option<c_int>) -> u32 {
        match root {
            None => NOBODY,
            Some(ROOT) => self.rank,
            Some(root) => self.world_rank(place, root),
        }
    }

    /// Returns this rank in MPI_COMM_WORLD.
    pub(crate) fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns whether this is the given rank of the world.
    pub(crate) fn is_me(&self, rank: u32) -> bool {
        rank == self.rank
    }

    /// Checks the memory of operations and of windows at the beginning of a call that may complete operations.
    pub(crate) fn check_before(&mut self, call: Call, ends: Ends<'_>) {
        if let Some(checks) = &mut self.checks {
            checks.before(ends);
        }
        if self.stores.as_ref().is_some_and(|stores| !stores.are_none()) {
            self.note_stores(call);
        }
    }

    /// Prepares for the program's stores after a call.
    #[inline]
    pub(crate) fn check_after(&mut self) {
        if let Some(stores) = &mut self.stores {
            stores.remember();
        }
    }

    /// Checks that memory that a call has used is not in use by an operation.
    ///
    /// # Safety
    /// The arrays of counts and displacements have a number for each part.
    #[inline(always)]
    pub(crate) unsafe fn check_used(&mut self, span: &Span, uses: &[Use]) {
        if let Some(checks) = &mut self.checks {
            checks.used(&mut self.mapped, uses, span.site);
        }
    }

    /// Records a posted operation, and checks that its memory is not in use by another.
    ///
    /// # Safety
    /// As of [`Recorder::check_used`].
    #[inline(always)]
    pub(crate) unsafe fn check_posted(&mut self, span: &Span, owner: Owner, uses: &[Use]) {
        if let Some(checks) = &mut self.checks {
            checks.posted(&mut self.mapped, owner, uses, span.site);
        }
    }

    /// Records the creation of a persistent operation.
    ///
    /// # Safety
    /// As of [`Recorder::check_used`].
    pub(crate) unsafe fn check_prepared(&mut self, request: Request, uses: &[Use]) {
        if let Some(checks) = &mut self.checks {
            checks.prepared(request, uses);
        }
    }

    /// Records and checks the start of a persistent operation.
    pub(crate) fn check_restarted(&mut self, span: &Span, request: Request) {
        if let Some(checks) = &mut self.checks {
            checks.restarted(&mut self.mapped, request, span.site);
        }
    }

    /// Records the end of an operation in a call.
    #[inline]
    pub(crate) fn check_ended(&mut self, span: &Span, request: Request) {
        if let Some(checks) = &mut self.checks {
            checks.ended(&mut self.mapped, request, span.site);
        }
    }

    /// Records the end of the accesses to the memory of a rank of a window, or of all, in a call.
    pub(crate) fn check_accesses(&mut self, span: &Span, win: Win, rank: Option<c_int>) {
        if let Some(checks) = &mut self.checks {
            checks.ended_accesses(&mut self.mapped, (win, rank), span.site);
        }
    }

    /// Checks whether a request that was freed was that of a receive under way.
    pub(crate) fn check_freed(&mut self, span: &Span, request: Request) {
        if let Some(checks) = &mut self.checks
            && request != REQUEST_NULL
        {
            checks.freed(&mut self.mapped, request, span.site);
        }
    }

    /// Removes an operation without checking it.
    pub(crate) fn uncheck(&mut self, request: Request) {
        if let Some(checks) = &mut self.checks {
            checks.forget(request);
        }
    }

    /// Removes a datatype that was freed.
    pub(crate) fn forget_type(&mut self, datatype: Datatype) {
        if let Some(checks) = &mut self.checks {
            checks.types.remove(datatype);
        }
    }
}
