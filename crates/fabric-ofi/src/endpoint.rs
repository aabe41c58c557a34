//! The endpoint of a rank over libfabric. The engine passes its messages. The connections of `fabric-tcp` serve the run
//! as a whole: collectives that do not match, ranks that die, and the end.

mod composed;
mod memory;
mod one_sided;
mod wait;

use std::os::fd::OwnedFd;
use std::ptr::NonNull;

use contract::{
    AgreedCall, ClockQuality, Completion, ContextPlace, Destination, Endpoint, Envelope, Error,
    FabricDescription, NewContext, Priority, PriorityGranted, Readable, Request, Result, Selector,
    Time, TimeSpan, Writable, end_together, receive_together,
};
use fabric_tcp::{Reporter, TcpEndpoint};

use crate::engine::{EAGER_MAX, Engine};
pub(crate) use memory::RankOnHost;
use wait::Sleep;

/// One rank's end of a run over libfabric.
pub struct OfiEndpoint {
    engine: Engine,
    /// The connections with all ranks and with the process that started the run.
    outer: TcpEndpoint,
    /// The descriptor that becomes readable when one of these connections does.
    waker: OwnedFd,
    /// The seat of this rank on its host, if the process of a host has started it.
    launched: Option<RankOnHost>,
    spins: bool,
    /// True if the provider has one-sided operations.
    has_one_sided: bool,
    details: Vec<(&'static str, String)>,
    /// Room for the requests of a window, kept so that measurements contain no allocation.
    window: Vec<Request>,
    /// True if the present wait has found nothing for so long that a check at each poll costs little.
    waits_long: bool,
    /// The engine's activity at the program's last idle poll.
    rested_at: u64,
    polls: composed::Polls,
}

/// Number of idle polls after which a program that polls checks whether its wait can end.
const POLLS_BETWEEN_CHECKS: u32 = 1024;

impl OfiEndpoint {
    /// Returns the endpoint over an engine that has the addresses of all ranks of `outer`'s run.
    ///
    /// # Errors
    /// The system's, with the given parts.
    pub(crate) fn new(
        engine: Engine,
        mut outer: TcpEndpoint,
        launched: Option<RankOnHost>,
    ) -> std::result::Result<Self, Box<(Error, TcpEndpoint, Option<RankOnHost>)>> {
        let (waker, details, has_one_sided) = match (outer.descriptor(), engine.objects()) {
            (Ok(waker), Ok(objects)) => {
                (waker, details(objects), objects.provider.remote.is_some())
            }
            (Err(error), _) | (_, Err(error)) => {
                return Err(Box::new((error, outer, launched)));
            }
        };
        let (spins, window) = (outer.every_rank_has_a_processor(), Vec::new());
        Ok(OfiEndpoint {
            engine,
            outer,
            waker,
            launched,
            spins,
            has_one_sided,
            details,
            window,
            waits_long: false,
            rested_at: 0,
            polls: composed::Polls::default(),
        })
    }

    /// Returns the object that sends reports to the process that started the run, also while a program uses this rank.
    pub fn reporter(&self) -> Reporter {
        self.outer.reporter()
    }

    /// Replaces an error of the engine by its cause, such as a dead rank, if the process that started the run has it.
    fn known<T>(&mut self, outcome: Result<T>) -> Result<T> {
        match outcome {
            // Concerns one call only. The run continues.
            Err(error @ Error::Unsupported { .. }) => Err(error),
            Err(error) if self.engine.check().is_ok() => {
                let cause = self.outer.cause_of(error);
                Err(self.engine.fail(cause))
            }
            other => other,
        }
    }

    fn end_together(&mut self) -> Result<()> {
        self.leave()?;
        self.wait_for(Sleep::Briefly, &[], &mut |this| !this.is_sending())?;
        self.begin_goodbye()?;
        self.wait_for(Sleep::Briefly, &[], &mut |this| !this.is_telling())?;
        self.say_goodbye()?;
        self.wait_for(Sleep::Briefly, &[], &mut |this| this.is_through())
    }
}

fn details(objects: &crate::objects::Objects) -> Vec<(&'static str, String)> {
    let provider = &objects.provider;
    let sleeps = match objects.can_sleep() {
        true => "on a descriptor",
        false => "for increasing times, because the provider has no descriptor",
    };
    let windows = match provider.remote {
        Some(remote) if remote.has_atomics => "writes, reads and atomic operations of the provider",
        Some(_) => "writes and reads of the provider, updates by messages",
        None => "by messages, because the provider has no one-sided operations",
    };
    vec![
        ("provider", provider.name.clone()),
        ("domain", provider.domain.clone()),
        ("libfabric", provider.library().version()),
        ("sleeps", sleeps.into()),
        ("windows", windows.into()),
        ("eager_max_bytes", EAGER_MAX.to_string()),
        ("receives_max", provider.receives_max.to_string()),
    ]
}

// SAFETY: the provider uses the memory of a request until the operation has completed, and only then is the request
// done, or until the queue reports that it was cancelled. A call that fails permanently closes the provider's endpoint,
// which ends all operations, and every later call returns that error first.
unsafe impl Endpoint for OfiEndpoint {
    #[inline]
    fn rank(&self) -> usize {
        self.engine.rank()
    }

    #[inline]
    fn size(&self) -> usize {
        self.engine.size()
    }

    fn processor(&self) -> Option<usize> {
        self.outer.processor()
    }

    fn every_rank_has_a_processor(&self) -> bool {
        self.outer.every_rank_has_a_processor()
    }

    fn describe(&self) -> FabricDescription {
        let outer = self.outer.describe().details;
        let kept = ["hosts", "clock", "binding"];
        let kept = outer.into_iter().filter(|(name, _)| kept.contains(&name.as_str()));
        let own = self.details.iter().map(|(name, value)| ((*name).into(), value.clone()));
        FabricDescription {
            name: "ofi".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            details: kept.chain(own).collect(),
            ..FabricDescription::default()
        }
    }

    fn host_of(&self, rank: usize) -> Option<usize> {
        self.launched.as_ref()?.hosts.get(rank).map(|&host| usize::from(host))
    }

    fn set_priority(&mut self, priority: Priority) -> PriorityGranted {
        self.outer.set_priority(priority)
    }

    #[inline]
    fn now(&self) -> Time {
        self.outer.now()
    }

    fn clock(&self) -> ClockQuality {
        self.outer.clock()
    }

    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        self.engine.check()?;
        self.outer.open_context(context)
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        self.outer.close_context(place)
    }

    #[inline]
    fn post_send(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        let posted = self.engine.post_send(to, data, until);
        self.known(posted)
    }

    #[inline]
    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        let posted = self.engine.post_receive(selector, room);
        self.known(posted)
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
        // The next call returns the error. The receive then has no message that a caller could see.
        let cancelled = self.engine.cancel_receive(request);
        self.known(cancelled).unwrap_or(false)
    }

    fn probe(&mut self, selector: Selector) -> Result<Option<Envelope>> {
        let found = self.engine.probe(&selector);
        self.known(found)
    }

    fn claim(&mut self, selector: Selector, context: u32, tag: u32) -> Result<Option<Envelope>> {
        let found = self.engine.claim(&selector, context, tag);
        self.known(found)
    }

    fn progress(&mut self) -> Result<()> {
        let polled = self.engine.poll();
        self.known(polled)
    }

    fn sleep_a_while(&mut self, longest: TimeSpan) -> Result<bool> {
        self.progress()?;
        let has_moved = self.engine.activity() != self.rested_at;
        if !has_moved {
            self.sleep(Sleep::of(longest))?;
            self.progress()?;
        }
        self.rested_at = self.engine.activity();
        Ok(has_moved)
    }

    #[inline]
    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        let mut found = 0;
        let first_done =
            |this: &Self| requests.iter().position(|&request| this.engine.is_done(request));
        self.wait_for(Sleep::Long, requests, &mut |this| match first_done(this) {
            Some(index) => {
                found = index;
                true
            }
            None => false,
        })?;
        Ok(found)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        self.wait_for(Sleep::Long, &[], done)
    }

    fn send_window(&mut self, to: Destination, data: &[u8], count: usize) -> Result<()> {
        let mut requests = std::mem::take(&mut self.window);
        for _ in 0..count {
            // SAFETY: `data` is borrowed until all requests are done or the call has failed permanently.
            let data = unsafe { Readable::new(data.as_ptr(), data.len()) };
            requests.push(self.post_send(to, data, Completion::Local)?);
        }
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
        self.outer.announce_by_messages(place, call)
    }

    fn find_mismatch(&mut self, place: ContextPlace, number: u32) -> Option<Error> {
        self.outer.find_mismatch(place, number)
    }

    fn have_left_compared(&mut self, place: ContextPlace, number: u32) -> bool {
        self.outer.have_left_compared(place, number)
    }

    fn is_liveness_check_due(&self, polls: u32) -> bool {
        self.waits_long || polls.is_multiple_of(POLLS_BETWEEN_CHECKS)
    }

    unsafe fn release(&mut self, memory: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.release_on_host(memory, bytes) };
    }

    fn leave(&mut self) -> Result<()> {
        let left = self.engine.leave();
        self.known(left)?;
        self.outer.leave()
    }

    #[inline]
    fn any_has_left(&self) -> bool {
        self.is_noting_waits() || self.engine.any_has_left()
    }

    fn is_hopeless(&self, request: Request) -> bool {
        self.note_request(request);
        self.engine.is_hopeless(request)
    }

    fn none_will_send(&self, selector: Selector) -> bool {
        self.note_probe(selector);
        self.engine.none_will_send(&selector)
    }

    fn give_up_on(&mut self, request: Request) -> Error {
        self.engine.give_up_on(request)
    }

    fn finish(mut self, outcome: Result<()>) -> i32 {
        // An error that the program derives from another rank's death must not hide how that rank died.
        let by_another = |error| self.outer.failure().filter(Error::is_by_another).unwrap_or(error);
        let outcome = outcome.map_err(by_another);
        let outcome = outcome.and_then(|()| self.end_together());
        self.engine.close();
        // In this order, so that the process that started the run receives this rank's error before its host's.
        let status = self.outer.close(outcome.clone());
        self.launched.map_or(status, |launched| status.max(launched.seat.finish(outcome)))
    }
}
