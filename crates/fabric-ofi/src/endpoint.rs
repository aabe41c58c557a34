//! The endpoint of a rank over libfabric. The message engine passes its messages. The connections of `fabric-tcp` serve
//! the run as a whole: collectives that do not match, ranks that die, and the end.

mod composed;
mod memory;
mod one_sided;

use std::ptr::NonNull;
use std::time::Duration;

use contract::{
    AgreedCall, ClockQuality, Completion, ContextPlace, Destination, Endpoint, Envelope, Error,
    FabricDescription, LongWaits, NewContext, Priority, PriorityGranted, Readable, Request, Result,
    Selector, Time, TimeSpan, WaitPlace, WaitReports, Writable, receive_together,
};
use engine::Transport;
use fabric_tcp::{Reporter, TcpEndpoint};

use crate::transport::{EAGER_MAX, Engine};

/// Longest sleep at the end of a run, when no descriptor need become readable for the awaited event.
const BRIEF_SLEEP: Duration = Duration::from_millis(2);

/// One rank's end of a run over libfabric.
pub struct OfiEndpoint {
    engine: Engine,
    /// True if the provider has one-sided operations.
    has_one_sided: bool,
    details: Vec<(&'static str, String)>,
    /// Room for the requests of a window, kept so that measurements contain no allocation.
    window: Vec<Request>,
}

impl OfiEndpoint {
    /// Returns the endpoint over an engine.
    ///
    /// # Errors
    /// If the provider is closed already.
    pub(crate) fn new(engine: Engine) -> Result<Self> {
        let objects = engine.transport().objects()?;
        let (details, has_one_sided) = (details(objects), objects.provider.remote.is_some());
        Ok(OfiEndpoint { engine, has_one_sided, details, window: Vec::new() })
    }

    fn outer(&self) -> &TcpEndpoint {
        &self.engine.transport().outer
    }

    fn outer_mut(&mut self) -> &mut TcpEndpoint {
        &mut self.engine.transport_mut().outer
    }

    /// Returns the object that sends reports to the process that started the run, also while a program uses this rank.
    pub fn reporter(&self) -> Reporter {
        self.outer().reporter()
    }

    fn end_together(&mut self) -> Result<()> {
        self.engine.leave()?;
        self.engine.sleep_at_most(BRIEF_SLEEP);
        self.engine.complete_sends()?;
        let (messages, transport) = self.engine.parts_mut();
        transport.begin_goodbye(messages)?;
        self.engine.complete(|engine| !engine.transport().is_telling())?;
        self.outer_mut().say_goodbye()?;
        self.engine.complete(|engine| engine.transport().outer.is_through())
    }
}

impl LongWaits for OfiEndpoint {
    fn wait_reports(&self) -> Option<&dyn WaitReports> {
        self.engine.transport().seat().map(|seat| seat as _)
    }

    fn report_wait(&mut self, place: WaitPlace) {
        self.engine.report_wait(place);
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
        self.outer().processor()
    }

    fn every_rank_has_a_processor(&self) -> bool {
        self.outer().every_rank_has_a_processor()
    }

    fn describe(&self) -> FabricDescription {
        let outer = self.outer().describe().details;
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
        self.engine.transport().launched.as_ref()?.hosts.get(rank).map(|&host| usize::from(host))
    }

    fn set_priority(&mut self, priority: Priority) -> PriorityGranted {
        self.outer_mut().set_priority(priority)
    }

    #[inline]
    fn now(&self) -> Time {
        self.outer().now()
    }

    fn clock(&self) -> ClockQuality {
        self.outer().clock()
    }

    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        self.engine.check()?;
        self.outer_mut().open_context(context)
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        self.outer_mut().close_context(place)
    }

    #[inline]
    fn post_send(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        self.engine.post_send(to, data, until)
    }

    #[inline]
    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        self.engine.post_receive(selector, room, false)
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
        self.engine.poll()
    }

    fn sleep_a_while(&mut self, longest: TimeSpan) -> Result<bool> {
        self.engine.sleep_a_while(Duration::from_nanos(longest.as_ps() / 1000))
    }

    #[inline]
    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        self.engine.wait_any(requests)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        Engine::wait_until(self, |endpoint| &mut endpoint.engine, done)
    }

    fn send_window(&mut self, to: Destination, data: &[u8], count: usize) -> Result<()> {
        self.engine.send_window(to, data, count)
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
        self.outer_mut().announce_by_messages(place, call)
    }

    fn find_mismatch(&mut self, place: ContextPlace, number: u32) -> Option<Error> {
        self.outer_mut().find_mismatch(place, number)
    }

    fn have_left_compared(&mut self, place: ContextPlace, number: u32) -> bool {
        self.outer_mut().have_left_compared(place, number)
    }

    fn is_liveness_check_due(&self, polls: u32) -> bool {
        self.engine.is_liveness_check_due(polls)
    }

    unsafe fn release(&mut self, memory: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.release_on_host(memory, bytes) };
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
        // An error that the program derives from another rank's death must not hide how that rank died.
        let by_another =
            |error| self.outer().failure().filter(Error::is_by_another).unwrap_or(error);
        let outcome = outcome.map_err(by_another);
        let outcome = outcome.and_then(|()| self.end_together());
        self.engine.into_transport().close(outcome)
    }
}
