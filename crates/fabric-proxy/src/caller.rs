//! The process's end of its line: requests, replies, and the computing time of the process between them.

mod time;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::time::Duration;

use contract::{Awaited, Envelope, Error, Request, Result, Time, WaitPlace};
use launcher::{PollState, Seat};

use crate::library::LibraryTime;
use crate::quiet::Quiet;
use crate::stopwatch::Stopwatch;
use crate::wire::line::{Line, RunState};
use crate::wire::message::{self, Writer, WrittenMessage};
use crate::wire::reply::{Completed, Reply, ReplyKind, Value};
use crate::wire::request::{Before, ProcessRequest, RequestHead};
use time::this_thread;

/// Duration of a sleep before the process checks whether the run was given up, and minimum for each rank: the checks of
/// thousands of ranks must not use up the processors.
const SLEEP: Duration = Duration::from_millis(100);
const SLEEP_OF_RANK: Duration = Duration::from_millis(5);
/// The same after a deadlock, which is reported to the launcher.
const STUCK_SLEEP: Duration = Duration::from_millis(30);

/// Maximum length of requests without reply in the buffer.
const DEFERRED_BYTES: usize = 256 << 10;

/// The process's end of its line.
pub(crate) struct Caller {
    line: Line,
    /// Factor of measured computing, if computing is measured.
    factor: Option<f64>,
    longest_sleep: Duration,
    /// The thread that has joined, whose computing counts. Others may call, one at a time.
    thread: usize,
    /// Counts from the end of the last call on; empty before the first, when all of the thread's time is the program's.
    stopwatch: OnceCell<Stopwatch>,
    /// Time in the library since the last call. For a library that does not report it, the time of returning from a
    /// call.
    library: LibraryTime,
    returning_ns: Cell<u64>,
    /// Virtual time from the last reply, if the reply contained it.
    now: Cell<Option<Time>>,
    quiet: Quiet,
    /// Time that other threads of the process have used, as of one of the last calls.
    others_ns: Cell<u64>,
    calls: Cell<u64>,
    /// Number of nested functions of the library itself that replies have requested: they are not computing.
    library_depth: Cell<u32>,
    /// True while a request is being written or a reply read.
    is_busy: Cell<bool>,
    /// Bytes of the buffer with requests without reply, since the server's last turn.
    deferred: Cell<usize>,
    /// Operations that were ended since the last request.
    ended: RefCell<Vec<Request>>,
    any_has_left: Cell<bool>,
    /// True if the current wait was reported to the launcher, and the number of such reports about waits that may end.
    has_reported: Cell<bool>,
    reports: Cell<u64>,
    /// The error after which no further request is made.
    failed: RefCell<Option<Error>>,
    /// The seat of this process; `None` in tests.
    seat: Option<Seat>,
}

/// Result of a wait for a reply.
pub(crate) enum Received<'a> {
    /// The reply, and its data.
    Reply(Reply, &'a [u8]),
    /// No reply has arrived, and the launcher requests a report of the awaited events.
    ReportRequest,
}

/// Returns the error of a machine that sends a reply which the call does not have.
pub(crate) fn unexpected_reply() -> Error {
    Error::Program("the simulation sent a reply that this call does not have".into())
}

impl Caller {
    pub(crate) fn new(line: Line, factor: Option<f64>, seat: Option<Seat>) -> Self {
        let ranks = seat.as_ref().map_or(1, Seat::size) as u32;
        line.name_process();
        Caller {
            line,
            factor,
            longest_sleep: SLEEP.max(SLEEP_OF_RANK * ranks),
            thread: this_thread(),
            stopwatch: OnceCell::new(),
            library: LibraryTime::default(),
            returning_ns: Cell::new(0),
            now: Cell::new(None),
            quiet: Quiet::default(),
            others_ns: Cell::new(0),
            calls: Cell::new(0),
            library_depth: Cell::new(0),
            is_busy: Cell::new(false),
            deferred: Cell::new(0),
            ended: RefCell::default(),
            any_has_left: Cell::new(false),
            has_reported: Cell::new(false),
            reports: Cell::new(0),
            failed: RefCell::new(None),
            seat,
        }
    }

    /// Returns whether any rank had left the run at the last reply.
    pub(crate) fn any_has_left(&self) -> bool {
        self.any_has_left.get()
    }

    /// Returns whether a request is under way, during which no other may be made. After a failure a request returns the
    /// error at once: a sleep of the program must end then, and must not continue by the real clock.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_busy.get()
    }

    /// Reports with the next request that an operation was ended.
    pub(crate) fn note_ended(&self, request: Request) {
        self.ended.borrow_mut().push(request);
    }

    /// Returns the seat of this process, until its part of the run has ended.
    pub(crate) fn seat(&self) -> Option<&Seat> {
        self.seat.as_ref().filter(|seat| !seat.has_ended())
    }

    /// Makes a request with data, and waits for the reply, for a call during which the machine requests nothing. Passes
    /// the result, the completed operations and the data of the reply to `read`.
    pub(crate) fn call<R>(
        &self,
        request: &ProcessRequest,
        data: &[u8],
        read: impl FnOnce(Value, &[Completed], &[u8]) -> R,
    ) -> Result<R> {
        self.send(request, data)?;
        loop {
            match self.receive()? {
                Received::Reply(reply, data) => return self.finish(reply, data, read),
                Received::ReportRequest => self.report(request.awaited(data.len())),
            }
        }
    }

    /// Passes the last reply of a call to `read`, or returns the error in it.
    pub(crate) fn finish<R>(
        &self,
        reply: Reply,
        data: &[u8],
        read: impl FnOnce(Value, &[Completed], &[u8]) -> R,
    ) -> Result<R> {
        let result = match reply.kind {
            ReplyKind::Done(value) => Ok(read(value, &reply.completed, data)),
            ReplyKind::Failed(error) => Err(error),
            ReplyKind::Poll | ReplyKind::Combine => Err(unexpected_reply()),
        };
        self.begin_computing();
        result
    }

    /// Makes a request without waiting for its reply.
    pub(crate) fn send(&self, request: &ProcessRequest, data: &[u8]) -> Result<()> {
        self.write(request, data, false)?;
        self.line.request();
        Ok(())
    }

    /// Returns whether a request with so many bytes of data may be made by [`Caller::defer`].
    pub(crate) fn may_defer(&self, bytes: usize) -> bool {
        self.deferred.get() + bytes <= DEFERRED_BYTES
    }

    /// Makes a request without reply, and continues. The server executes it before the next request, or earlier. An
    /// error is returned by the next request.
    ///
    /// # Errors
    /// If the run has failed.
    pub(crate) fn defer(&self, request: &ProcessRequest, data: &[u8]) -> Result<()> {
        self.write(request, data, true)?;
        self.is_busy.set(false);
        // This comes before the turn is left open: while it is open, the server assumes no computing as certain.
        self.begin_computing();
        self.line.leave_open();
        Ok(())
    }

    /// Writes a request into the buffer, behind those without reply. After a failure it returns the error.
    fn write(&self, request: &ProcessRequest, data: &[u8], is_deferred: bool) -> Result<()> {
        if let Some(error) = &*self.failed.borrow() {
            return Err(error.clone());
        }
        let computed_ns = self.computed_ns();
        self.now.set(None);
        self.is_busy.set(true);
        let mut writer = Writer::behind(&self.line, self.take_turn()?);
        writer.data(data);
        if !request.is_poll() {
            self.quiet.end();
        }
        let before = Before { is_deferred, computed_ns, polled: self.quiet.take_polled() };
        let mut ended = self.ended.borrow_mut();
        let (all, request) = (Cow::Borrowed(&ended[..]), Cow::Borrowed(request));
        let end = writer.end(&RequestHead { before, ended: all, request });
        ended.clear();
        self.deferred.set(if is_deferred { end } else { 0 });
        Ok(())
    }

    /// Takes the turn back if it was left open. Returns the number of bytes of the buffer with requests that the server
    /// has not read.
    fn take_turn(&self) -> Result<usize> {
        let deferred = self.deferred.take();
        if deferred == 0 || self.line.close() {
            return Ok(deferred);
        }
        while !self.await_turn()? {
            self.report(None);
        }
        Ok(0)
    }

    /// Waits for the turn. Returns false if the launcher requests a report of the awaited events first.
    fn await_turn(&self) -> Result<bool> {
        let is_there = self.line.spin_for_reply();
        while !(is_there || self.line.await_reply(self.sleep())) {
            if let Some(error) = self.why_none_comes() {
                *self.failed.borrow_mut() = Some(error.clone());
                self.is_busy.set(false);
                return Err(error);
            }
            if self.seat().is_some_and(Seat::must_report_wait) {
                return Ok(false);
            }
            if self.line.state() == RunState::Stuck {
                let state = self.poll_state();
                self.seat().into_iter().for_each(|seat| seat.report_idle_poll(state));
            }
        }
        if self.has_reported.take()
            && let Some(seat) = self.seat()
        {
            seat.end_wait_reports();
        }
        Ok(true)
    }

    /// Waits for a reply.
    pub(crate) fn receive(&self) -> Result<Received<'_>> {
        if !self.await_turn()? {
            return Ok(Received::ReportRequest);
        }
        self.is_busy.set(false);
        let read = message::read(&self.line, 0).ok_or_else(unexpected_reply)?;
        let WrittenMessage::<Reply> { head: reply, data, .. } = read;
        self.any_has_left.set(reply.any_has_left);
        if matches!(reply.kind, ReplyKind::Poll | ReplyKind::Combine) {
            self.begin_computing();
        }
        Ok(Received::Reply(reply, data.bytes()))
    }

    fn sleep(&self) -> Duration {
        if self.line.state() == RunState::Stuck { STUCK_SLEEP } else { self.longest_sleep }
    }

    /// Returns the reason why no reply will arrive, if there is one.
    fn why_none_comes(&self) -> Option<Error> {
        let given_up = self.seat().and_then(Seat::abort_reason);
        given_up.or_else(|| match self.line.state() {
            RunState::Over => Some(Error::Aborted { why: "the simulation has ended".into() }),
            RunState::Stuck if self.seat().is_none() => Some(Error::Deadlock {
                explanation: "all ranks wait, and no message is under way".into(),
            }),
            RunState::Runs | RunState::Stuck => None,
        })
    }

    /// Returns the state in a report. The launcher takes waits whose reports do not change for waits that cannot end, so
    /// it changes unless the run is in a deadlock.
    fn poll_state(&self) -> PollState {
        self.has_reported.set(true);
        if self.line.state() != RunState::Stuck {
            self.reports.set(self.reports.get() + 1);
        }
        PollState { state: self.reports.get(), ..PollState::default() }
    }

    /// Begins to report to the launcher, on request, what this process waits for.
    pub(crate) fn begin_report(&self) {
        self.seat().into_iter().for_each(Seat::begin_wait_report);
    }

    /// Notes an awaited event of this report.
    pub(crate) fn note_awaited(&self, awaited: Awaited) {
        self.seat().into_iter().for_each(|seat| seat.note_awaited(|| awaited.clone()));
    }

    /// Ends this report.
    pub(crate) fn end_report(&self) {
        let state = self.poll_state();
        let unexpected = || match self.line.is_stuck() {
            true => message::read(&self.line, 0).map_or(Vec::new(), |left| left.head),
            false => Vec::<Envelope>::new(),
        };
        if let Some(seat) = self.seat() {
            seat.report_wait(WaitPlace::ALONE, state, unexpected);
        }
    }

    /// Reports to the launcher, on request, that this process waits for `awaited`.
    fn report(&self, awaited: Option<Awaited>) {
        self.begin_report();
        awaited.into_iter().for_each(|one| self.note_awaited(one));
        self.end_report();
    }
}
