//! The process's end of its line: questions, answers, and how long the process has computed between them.

mod time;

use std::cell::{Cell, OnceCell, Ref, RefCell, RefMut};
use std::time::Duration;

use contract::{Awaited, Endpoint, Error, Request, Result, Time};
use fabric_shm::{PollState, ShmEndpoint};

use crate::ask::Ask;
use crate::library::LibraryTime;
use crate::line::{Line, RunState};
use crate::quiet::Quiet;
use crate::reply::{Head, Kind, read_error};
use crate::stopwatch::Stopwatch;
use crate::stream::{Reader, Writer};
use time::this_thread;

/// How long a process sleeps before it looks whether the run was given up, and at least how long for each rank:
/// thousands of them may not take the processors with looking.
const SLEEP: Duration = Duration::from_millis(100);
const SLEEP_OF_RANK: Duration = Duration::from_millis(5);
/// The same after a deadlock, which is reported to the launcher.
const STUCK_SLEEP: Duration = Duration::from_millis(30);

/// Questions that need no answer fill at most so much of the room.
const DEFERRED_BYTES: usize = 256 << 10;

/// The process's end of its line.
pub(crate) struct Caller {
    line: Line,
    /// The factor of measured computing, if computing is measured.
    factor: Option<f64>,
    longest_sleep: Duration,
    /// The thread whose computing counts: it has joined. Others may call, one at a time.
    thread: usize,
    /// Counts from the end of the last call on; none before the first, when all of the thread's time is the program's.
    stopwatch: OnceCell<Stopwatch>,
    /// The time in the library since the last call; for one that does not tell, what returning from a call takes.
    library: LibraryTime,
    returning_ns: Cell<u64>,
    /// The virtual time that the last answer told, if it told that.
    now: Cell<Option<Time>>,
    quiet: Quiet,
    /// The time that other threads of the process have used, as it was at one of the last calls.
    others_ns: Cell<u64>,
    calls: Cell<u64>,
    /// How many functions of the library's own the server has called, one inside the other: they are no computing.
    inside: Cell<u32>,
    /// Whether a question is being written or an answer read.
    is_busy: Cell<bool>,
    /// The bytes of the room with questions that need no answer, since the server's last turn.
    deferred: Cell<usize>,
    /// Requests that were ended since the last question.
    ended: RefCell<Vec<Request>>,
    any_has_left: Cell<bool>,
    /// Whether the launcher knows of the wait under way, and how often it was told of such that may end.
    has_told: Cell<bool>,
    told: Cell<u64>,
    /// Why no further question is asked.
    failed: RefCell<Option<Error>>,
    /// The launcher's identification of this process; none in tests.
    launched: RefCell<Option<ShmEndpoint>>,
}

/// The result of a wait for a reply.
pub(crate) enum Answer<'a> {
    /// The answer, and its data.
    Given(Head, Reader<'a>),
    /// None will come, and the launcher wants to know what is waited for.
    Question,
}

impl Caller {
    pub(crate) fn new(line: Line, factor: Option<f64>, launched: Option<ShmEndpoint>) -> Self {
        let ranks = launched.as_ref().map_or(1, Endpoint::size) as u32;
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
            inside: Cell::new(0),
            is_busy: Cell::new(false),
            deferred: Cell::new(0),
            ended: RefCell::default(),
            any_has_left: Cell::new(false),
            has_told: Cell::new(false),
            told: Cell::new(0),
            failed: RefCell::new(None),
            launched: RefCell::new(launched),
        }
    }

    /// Whether any rank had left the run at the last answer.
    pub(crate) fn any_has_left(&self) -> bool {
        self.any_has_left.get()
    }

    /// Whether a question is under way, within which no other may be asked. After a failure a question is answered
    /// with the error at once: a sleep of the program must end then and not go over to the real clock.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_busy.get()
    }

    /// Lets the endpoint know with the next question that a request was ended.
    pub(crate) fn note_ended(&self, request: Request) {
        self.ended.borrow_mut().push(request);
    }

    /// The launcher's identification of this process.
    pub(crate) fn launched(&self) -> Ref<'_, Option<ShmEndpoint>> {
        self.launched.borrow()
    }

    pub(crate) fn launched_mut(&self) -> RefMut<'_, Option<ShmEndpoint>> {
        self.launched.borrow_mut()
    }

    /// Asks, with what `fill` adds, and waits for the answer of a call that asks nothing back.
    pub(crate) fn call<R>(
        &self,
        ask: Ask,
        fill: impl FnOnce(&mut Writer<'_>),
        read: impl FnOnce(Head, Reader<'_>) -> R,
    ) -> Result<R> {
        self.ask(ask, fill)?;
        loop {
            match self.await_answer()? {
                Answer::Given(head, reader) => return self.finish(head, reader, read),
                Answer::Question => self.tell(ask.awaited()),
            }
        }
    }

    /// Hands an answer to `read`, or returns the error that it is.
    pub(crate) fn finish<R>(
        &self,
        head: Head,
        mut reader: Reader<'_>,
        read: impl FnOnce(Head, Reader<'_>) -> R,
    ) -> Result<R> {
        let result = match head.kind {
            Kind::Failed => Err(read_error(&mut reader)),
            _ => Ok(read(head, reader)),
        };
        self.begin_computing();
        result
    }

    /// Asks without waiting.
    pub(crate) fn ask(&self, ask: Ask, fill: impl FnOnce(&mut Writer<'_>)) -> Result<()> {
        self.write(ask, fill, false)?;
        self.line.ask();
        Ok(())
    }

    /// Whether a question with so many bytes of data may be asked by [`Caller::defer`].
    pub(crate) fn may_defer(&self, bytes: usize) -> bool {
        self.deferred.get() + bytes <= DEFERRED_BYTES
    }

    /// Asks what needs no answer, and goes on: the server does it before the next question, or earlier. An error is
    /// that of the next question.
    ///
    /// # Errors
    /// If the run has failed.
    pub(crate) fn defer(&self, ask: Ask, fill: impl FnOnce(&mut Writer<'_>)) -> Result<()> {
        self.write(ask, fill, true)?;
        self.is_busy.set(false);
        // Before the turn is left open: as long as it is, the server takes nothing of what is computed for certain.
        self.begin_computing();
        self.line.leave_open();
        Ok(())
    }

    /// Writes a question into the room, behind those that need no answer. After a failure it is refused with the error.
    fn write(&self, ask: Ask, fill: impl FnOnce(&mut Writer<'_>), deferred: bool) -> Result<()> {
        if let Some(error) = &*self.failed.borrow() {
            return Err(error.clone());
        }
        let computed = self.computed_ns();
        self.now.set(None);
        self.is_busy.set(true);
        let mut writer = Writer::behind(&self.line, self.take_turn()?);
        let begin = writer.begin_part();
        if !ask.is_poll() {
            self.quiet.end();
        }
        let mut ended = self.ended.borrow_mut();
        let polled = self.quiet.take_polled().as_ps();
        writer.numbers(&[deferred.into(), computed, polled, ended.len() as u64]);
        ended.drain(..).for_each(|request| writer.number(request.0.into()));
        ask.write(&mut writer);
        fill(&mut writer);
        let end = writer.end_part(begin);
        self.deferred.set(if deferred { end } else { 0 });
        Ok(())
    }

    /// Takes the turn back if it was left open; how many bytes of the room hold questions that the server has not read.
    fn take_turn(&self) -> Result<usize> {
        let deferred = self.deferred.take();
        if deferred == 0 || self.line.close() {
            return Ok(deferred);
        }
        while !self.await_turn()? {
            self.tell(Vec::new());
        }
        Ok(0)
    }

    /// Waits for the turn. Returns whether it is there: if not, the launcher wants to know what is waited for.
    fn await_turn(&self) -> Result<bool> {
        let is_there = self.line.spin_for_answer();
        while !(is_there || self.line.await_answer(self.sleep())) {
            if let Some(error) = self.why_none_comes() {
                *self.failed.borrow_mut() = Some(error.clone());
                self.is_busy.set(false);
                return Err(error);
            }
            if self.is_asked() {
                return Ok(false);
            }
            if self.line.state() == RunState::Stuck {
                self.tell_wait();
            }
        }
        if self.has_told.take()
            && let Some(launched) = &mut *self.launched_mut()
        {
            launched.end_wait_reports();
        }
        Ok(true)
    }

    /// Waits until there is an answer.
    pub(crate) fn await_answer(&self) -> Result<Answer<'_>> {
        if !self.await_turn()? {
            return Ok(Answer::Question);
        }
        let mut reader = Reader::new(&self.line);
        let head = Head::read(&mut reader);
        self.any_has_left.set(head.any_has_left);
        self.is_busy.set(false);
        if matches!(head.kind, Kind::Poll | Kind::Combine) {
            self.begin_computing();
        }
        Ok(Answer::Given(head, reader))
    }

    fn sleep(&self) -> Duration {
        if self.line.state() == RunState::Stuck { STUCK_SLEEP } else { self.longest_sleep }
    }

    /// Why no answer will come, if none will.
    fn why_none_comes(&self) -> Option<Error> {
        let given_up = self.launched().as_ref().and_then(ShmEndpoint::abort_reason);
        given_up.or_else(|| match self.line.state() {
            RunState::Over => Some(Error::Aborted { why: "the simulation has ended".into() }),
            RunState::Stuck if self.launched().is_none() => Some(Error::Deadlock {
                explanation: "all ranks wait, and no message is under way".into(),
            }),
            RunState::Runs | RunState::Stuck => None,
        })
    }

    fn is_asked(&self) -> bool {
        self.launched().as_ref().is_some_and(ShmEndpoint::is_asked_what_it_awaits)
    }

    /// Tells the launcher of a wait. It takes waits of which nothing changes for waits that cannot end, so only they do
    /// not.
    fn tell_wait(&self) {
        self.has_told.set(true);
        if self.line.state() != RunState::Stuck {
            self.told.set(self.told.get() + 1);
        }
        if let Some(launched) = &*self.launched() {
            launched.report_wait(PollState { state: self.told.get(), ..PollState::default() });
        }
    }

    /// Reports to the launcher what this process waits for, on request.
    pub(crate) fn tell(&self, awaited: Vec<Awaited>) {
        self.tell_wait();
        if let Some(launched) = &*self.launched() {
            launched.answer(&awaited);
        }
    }
}
