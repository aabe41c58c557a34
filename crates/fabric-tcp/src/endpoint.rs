//! A rank over TCP: the [`Endpoint`](contract::Endpoint) over the engine.

mod composed;

use std::ptr::NonNull;
use std::time::Duration;

use contract::{
    AgreedCall, ClockQuality, Completion, ContextPlace, Destination, Endpoint, Envelope, Error,
    FabricDescription, LongWaits, NewContext, OperatingSystem, Priority, PriorityGranted, Process,
    Readable, RemoteMemory, Request, Result, Selector, Time, TimeSpan, WaitPlace, WaitReports,
    Writable, end_together, receive_together,
};
use hosts::{Clock, LocalClock, Placement};
use launcher::{Backoff, BackoffStep, Seat};

use crate::Reporter;
use crate::engine::{CREDIT_BYTES, EAGER_MAX, Engine};

/// One rank's endpoint of a run over TCP.
///
/// Every pair of ranks has a connection of its own, which carries the messages of all contexts in sequence. A message
/// to this rank itself is copied, whatever its length, and waits for nobody unless it is synchronous.
pub struct TcpEndpoint {
    engine: Engine,
    placement: Placement,
    clock: Clock,
    address: String,
    /// Memory for the requests of a window, kept so that no allocation falls into a measurement.
    window: Vec<Request>,
    /// True if the current wait has slept until a limit. From then on a check at every poll costs little.
    waits_long: bool,
    /// The activity when the program last polled without success.
    rested_at: u64,
}

/// Number of idle polls after which a polling program checks whether its wait can end.
const POLLS_BETWEEN_CHECKS: u32 = 1024;

impl TcpEndpoint {
    /// Creates the rank over `engine`, with the placement and the clock that it determines together with the others.
    pub(crate) fn meet(engine: Engine, address: String) -> Result<Process<Self>> {
        let known = engine.supervision.placement();
        let local = LocalClock::ONE_HOST;
        let mut rank = Process::new(TcpEndpoint {
            engine,
            placement: known.unwrap_or(Placement {
                every_rank_has_a_processor: false,
                hosts: 1,
                processor: None,
            }),
            clock: Clock::common(local, local.ns()),
            address,
            window: Vec::new(),
            waits_long: false,
            rested_at: 0,
        });
        match Self::find_placement_and_clock(&mut rank, known.is_some()) {
            Ok(()) => Ok(rank),
            Err(error) => {
                rank.finish(Err(error.clone()));
                Err(error)
            }
        }
    }

    fn find_placement_and_clock(rank: &mut Process<Self>, is_placement_known: bool) -> Result<()> {
        if !is_placement_known {
            rank.endpoint_mut().placement = hosts::discover_placement(&mut rank.world())?;
        }
        let endpoint = rank.endpoint_mut();
        endpoint.engine.spins = endpoint.placement.every_rank_has_a_processor;
        rank.endpoint_mut().clock = hosts::shared_clock(&mut rank.world(), None)?;
        Ok(())
    }

    /// Returns a handle that passes reports to the process that started the run, also while a program holds this rank.
    pub fn reporter(&self) -> Reporter {
        self.engine.supervision.reporter()
    }
}

impl LongWaits for TcpEndpoint {
    fn wait_reports(&self) -> Option<&dyn WaitReports> {
        self.seat().map(|seat| seat as _)
    }

    fn report_wait(&mut self, place: WaitPlace) {
        self.engine.report_wait(place);
    }
}

/// Windows use messages, except those whose memory the program itself shares among ranks of one host.
impl RemoteMemory for TcpEndpoint {
    fn place_on_host(&self, memory: *const u8, bytes: usize) -> Option<u64> {
        self.seat()?.place_of(memory, bytes)
    }

    fn allocate_on_host(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        self.seat()?.allocate(bytes)
    }

    fn memory_at(&self, place: u64, bytes: usize) -> Option<NonNull<u8>> {
        self.seat()?.memory_at(place, bytes)
    }
}

// SAFETY: the engine uses the memory of an operation only while the operation stands in its table and is not done: a
// write takes the bytes of sends in the queue, which leave it when they are done; a read goes into a receive that was
// matched and is not done, and a matched receive can neither be cancelled nor ended before. Once a call has failed
// for good, every later one returns that error before anything is read or written.
#[allow(unsafe_code)]
unsafe impl Endpoint for TcpEndpoint {
    #[inline]
    fn rank(&self) -> usize {
        self.engine.rank()
    }

    #[inline]
    fn size(&self) -> usize {
        self.engine.size()
    }

    fn processor(&self) -> Option<usize> {
        self.placement.processor
    }

    fn every_rank_has_a_processor(&self) -> bool {
        self.placement.every_rank_has_a_processor
    }

    fn operating_system(&self) -> Option<Box<dyn OperatingSystem>> {
        Some(linux::operating_system(self.placement.processor))
    }

    fn describe(&self) -> FabricDescription {
        let binding = match self.placement.processor {
            Some(processor) => format!("rank {} on processor {processor}", self.rank()),
            None => "not bound to one processor".into(),
        };
        let waiting = if self.engine.spins {
            "polls for 200 us, then sleeps"
        } else {
            "sleeps (more ranks than processors)"
        };
        let details = [
            ("address", self.address.clone()),
            ("hosts", self.placement.hosts.to_string()),
            ("clock", self.clock.describe()),
            ("binding", binding),
            ("waiting", waiting.into()),
            ("eager_max_bytes", EAGER_MAX.to_string()),
            ("unexpected_max_bytes", CREDIT_BYTES.to_string()),
        ];
        FabricDescription {
            name: "tcp".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            details: details.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            ..FabricDescription::default()
        }
    }

    fn set_priority(&mut self, priority: Priority) -> PriorityGranted {
        self.engine.supervision.set_priority(priority)
    }

    #[inline]
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn clock(&self) -> ClockQuality {
        self.clock.quality()
    }

    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        self.engine.check()?;
        self.engine.open_context(context.number, context.members);
        Ok(ContextPlace(context.number))
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        self.engine.close_context(place.0);
        self.engine.check()
    }

    #[inline]
    fn post_send(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        self.engine.post_send(to, data, until)
    }

    #[inline]
    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        self.engine.post_receive(selector, room)
    }

    #[inline]
    fn is_done(&self, request: Request) -> bool {
        self.engine.is_done(request)
    }

    #[inline]
    fn envelope(&self, request: Request) -> Envelope {
        self.engine.envelope(request)
    }

    #[inline]
    fn end(&mut self, request: Request) -> Envelope {
        self.engine.end(request)
    }

    fn cancel_receive(&mut self, request: Request) -> bool {
        self.engine.cancel_receive(request)
    }

    fn probe(&mut self, selector: Selector) -> Result<Option<Envelope>> {
        self.engine.probe(&selector)
    }

    fn claim(&mut self, selector: Selector, context: u32, tag: u32) -> Result<Option<Envelope>> {
        self.engine.claim(&selector, context, tag)
    }

    fn progress(&mut self) -> Result<()> {
        self.engine.poll_all().map(drop)
    }

    #[inline]
    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        self.engine.wait_any(requests)
    }

    fn sleep_a_while(&mut self, longest: TimeSpan) -> Result<bool> {
        self.engine.check()?;
        self.engine.poll_all()?;
        let has_moved = self.engine.activity() != self.rested_at;
        self.rested_at = self.engine.activity();
        if !has_moved {
            self.engine.sleep(Duration::from_nanos(longest.as_ps() / 1000))?;
        }
        Ok(has_moved)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        let mut backoff = Backoff::on_descriptors(self.engine.spins);
        self.waits_long = false;
        let mut tells = false;
        loop {
            self.engine.check()?;
            let before = self.engine.activity();
            if done(self) {
                self.waits_long = false;
                if backoff.is_reported() {
                    self.seat().into_iter().for_each(Seat::end_wait_reports);
                }
                return Ok(());
            }
            if std::mem::take(&mut tells) {
                self.engine.report_wait(WaitPlace::ALONE);
            }
            self.engine.poll_all()?;
            // What `done` itself has moved counts as well: it may not have seen that this was what it waits for.
            if self.engine.activity() != before {
                backoff.reset();
            } else if backoff.wait() == BackoffStep::Sleep {
                let has_run_out = !self.engine.sleep(backoff.next_sleep())?;
                self.waits_long |= has_run_out;
                if has_run_out && backoff.is_report_due() {
                    self.seat().into_iter().for_each(Seat::begin_wait_report);
                    backoff.note_reported();
                    tells = true;
                }
            }
        }
    }

    fn send_window(&mut self, to: Destination, data: &[u8], count: usize) -> Result<()> {
        let mut requests = std::mem::take(&mut self.window);
        for _ in 0..count {
            // SAFETY: `data` is borrowed until all requests are done or the call has failed for good.
            let data = unsafe { Readable::new(data.as_ptr(), data.len()) };
            requests.push(self.engine.queue_send(to, data, Completion::Local)?);
        }
        // All frames were queued before the first is written, so that short messages share system calls.
        self.engine.write_to(to.rank)?;
        end_together(self, &mut requests)?;
        self.window = requests;
        Ok(())
    }

    fn receive_window(
        &mut self,
        (selector, buffer): (Selector, &mut [u8]),
        count: usize,
    ) -> Result<Option<Envelope>> {
        let mut requests = std::mem::take(&mut self.window);
        let cut = receive_together(self, &mut requests, (selector, buffer), count)?;
        self.window = requests;
        Ok(cut)
    }

    fn announce_by_messages(&mut self, place: ContextPlace, call: AgreedCall) -> u32 {
        self.engine.announce_by_messages(place.0, call)
    }

    fn find_mismatch(&mut self, place: ContextPlace, number: u32) -> Option<Error> {
        self.engine.find_mismatch(place.0, number)
    }

    fn have_left_compared(&mut self, place: ContextPlace, number: u32) -> bool {
        self.engine.have_left_compared(place.0, number)
    }

    fn is_liveness_check_due(&self, polls: u32) -> bool {
        self.waits_long || polls.is_multiple_of(POLLS_BETWEEN_CHECKS)
    }

    unsafe fn release(&mut self, memory: NonNull<u8>, bytes: usize) {
        if let Some(seat) = self.seat() {
            // SAFETY: the caller promises the same, and memory comes from nowhere else.
            unsafe { seat.release(memory, bytes) };
        }
    }

    fn leave(&mut self) -> Result<()> {
        self.engine.leave()
    }

    #[inline]
    fn any_has_left(&self) -> bool {
        self.engine.any_has_left()
    }

    fn is_hopeless(&self, request: Request) -> bool {
        self.engine.note_request(request);
        self.engine.is_hopeless(request)
    }

    fn none_will_send(&self, selector: Selector) -> bool {
        self.engine.note_probe(selector);
        self.engine.none_will_send(&selector)
    }

    fn give_up_on(&mut self, request: Request) -> Error {
        self.engine.give_up_on(request)
    }

    fn finish(mut self, outcome: Result<()>) -> i32 {
        let outcome = outcome.and_then(|()| self.engine.finish());
        self.engine.close(outcome)
    }
}
