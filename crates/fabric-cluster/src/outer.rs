//! The fabric between hosts, in which all ranks of the run take part: TCP, or libfabric.

use std::os::fd::OwnedFd;
use std::time::Duration;

use contract::{
    AgreedCall, Awaited, ClockQuality, Completion, ContextPlace, Destination, Endpoint, Envelope,
    Error, FabricDescription, NewContext, OperatingSystem, Readable, Request, Result, Selector,
    Time, Writable,
};
use fabric_ofi::OfiEndpoint;
use fabric_tcp::{Reporter, TcpEndpoint, TcpProcess};
use launcher::PollState;

/// The choice of this fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OuterFabric {
    /// TCP.
    #[default]
    Tcp,
    /// libfabric.
    Ofi {
        /// The name of the provider. The first suitable one if there is none.
        provider: Option<String>,
    },
}

/// An endpoint of this fabric.
#[allow(clippy::large_enum_variant, reason = "an endpoint of a cluster has one")]
pub(crate) enum Outer {
    Tcp(TcpEndpoint),
    Ofi(OfiEndpoint),
}

/// Longest sleep, and that of a rank with outgoing data, which nothing wakes when they can be written.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);
const SLEEP_BEFORE_WRITE: Duration = Duration::from_millis(1);

/// What the provider does for windows. Those of a cluster use messages between hosts.
const UNUSED_DETAIL: &str = "windows";

/// Evaluates an expression for the endpoint of either fabric.
macro_rules! either {
    ($outer:expr, $endpoint:ident => $value:expr) => {
        match $outer {
            Outer::Tcp($endpoint) => $value,
            Outer::Ofi($endpoint) => $value,
        }
    };
}

impl Outer {
    /// Makes a rank that has joined the run over TCP pass its messages over `fabric`.
    ///
    /// # Errors
    /// If there is no such fabric here. The process that started the run is informed.
    pub(crate) fn open(tcp: TcpProcess, fabric: &OuterFabric) -> Result<Self> {
        match fabric {
            OuterFabric::Tcp => Ok(Outer::Tcp(tcp.into_endpoint())),
            OuterFabric::Ofi { provider } => {
                let joined = fabric_ofi::join(tcp, provider.as_deref())?;
                Ok(Outer::Ofi(joined.into_endpoint()))
            }
        }
    }

    pub(crate) fn describe(&self) -> FabricDescription {
        let mut found = either!(self, outer => outer.describe());
        if matches!(self, Outer::Ofi(_)) {
            found.details.remove(UNUSED_DETAIL);
        }
        found
    }

    pub(crate) fn reporter(&self) -> Reporter {
        either!(self, outer => outer.reporter())
    }

    #[inline]
    pub(crate) fn rank(&self) -> usize {
        either!(self, outer => outer.rank())
    }

    #[inline]
    pub(crate) fn size(&self) -> usize {
        either!(self, outer => outer.size())
    }

    pub(crate) fn processor(&self) -> Option<usize> {
        either!(self, outer => outer.processor())
    }

    #[inline]
    pub(crate) fn every_rank_has_a_processor(&self) -> bool {
        either!(self, outer => outer.every_rank_has_a_processor())
    }

    pub(crate) fn operating_system(&self) -> Option<Box<dyn OperatingSystem>> {
        either!(self, outer => outer.operating_system())
    }

    #[inline]
    pub(crate) fn now(&self) -> Time {
        either!(self, outer => outer.now())
    }

    pub(crate) fn clock(&self) -> ClockQuality {
        either!(self, outer => outer.clock())
    }

    pub(crate) fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        either!(self, outer => outer.open_context(context))
    }

    pub(crate) fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        either!(self, outer => outer.close_context(place))
    }

    pub(crate) fn announce_by_messages(&mut self, place: ContextPlace, call: AgreedCall) -> u32 {
        either!(self, outer => outer.announce_by_messages(place, call))
    }

    pub(crate) fn find_mismatch(&mut self, place: ContextPlace, number: u32) -> Option<Error> {
        either!(self, outer => outer.find_mismatch(place, number))
    }

    pub(crate) fn have_left_compared(&mut self, place: ContextPlace, number: u32) -> bool {
        either!(self, outer => outer.have_left_compared(place, number))
    }

    #[inline]
    pub(crate) fn post_send(
        &mut self,
        to: Destination,
        data: Readable,
        until: Completion,
    ) -> Result<Request> {
        either!(self, outer => outer.post_send(to, data, until))
    }

    #[inline]
    pub(crate) fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        either!(self, outer => outer.post_receive(selector, room))
    }

    pub(crate) fn is_matched(&self, twin: Request) -> bool {
        either!(self, outer => outer.is_matched(twin))
    }

    #[inline]
    pub(crate) fn is_done(&self, request: Request) -> bool {
        either!(self, outer => outer.is_done(request))
    }

    #[inline]
    pub(crate) fn envelope(&self, request: Request) -> Envelope {
        either!(self, outer => outer.envelope(request))
    }

    #[inline]
    pub(crate) fn end(&mut self, request: Request) -> Envelope {
        either!(self, outer => outer.end(request))
    }

    pub(crate) fn cancel_receive(&mut self, request: Request) -> bool {
        either!(self, outer => outer.cancel_receive(request))
    }

    pub(crate) fn probe(&mut self, selector: Selector) -> Result<Option<Envelope>> {
        either!(self, outer => outer.probe(selector))
    }

    pub(crate) fn claim(
        &mut self,
        selector: Selector,
        context: u32,
        tag: u32,
    ) -> Result<Option<Envelope>> {
        either!(self, outer => outer.claim(selector, context, tag))
    }

    /// Receives what has arrived.
    pub(crate) fn progress(&mut self) -> Result<()> {
        match self {
            Outer::Tcp(outer) => outer.progress(),
            Outer::Ofi(outer) => outer.progress(),
        }
    }

    /// Does the same in a wait, mostly for messages of `partner` only where each rank has a connection of its own.
    pub(crate) fn poll_with(&mut self, partner: Option<usize>) -> Result<()> {
        match self {
            Outer::Tcp(outer) => outer.poll_with(partner),
            Outer::Ofi(outer) => outer.progress(),
        }
    }

    /// Does the same before a report of a long wait.
    pub(crate) fn poll_for_report(&mut self) -> Result<()> {
        match self {
            Outer::Tcp(outer) => outer.poll_with(None),
            Outer::Ofi(outer) => outer.poll_for_report(),
        }
    }

    /// Returns the other rank of a request, if there is exactly one and a poll can prefer it.
    pub(crate) fn partner(&self, request: Request) -> Option<usize> {
        match self {
            Outer::Tcp(outer) => outer.partner(request),
            Outer::Ofi(_) => None,
        }
    }

    /// Returns a descriptor that is readable when something may have arrived.
    pub(crate) fn descriptor(&mut self) -> Result<OwnedFd> {
        either!(self, outer => outer.descriptor())
    }

    /// Returns how long this rank may sleep until this descriptor is readable. Must be called after every poll and
    /// before the sleep.
    pub(crate) fn sleep_limit(&self) -> Duration {
        match self {
            Outer::Tcp(outer) if outer.has_outgoing() => SLEEP_BEFORE_WRITE,
            Outer::Tcp(_) => LONGEST_SLEEP,
            Outer::Ofi(outer) => outer.sleep_limit(),
        }
    }

    pub(crate) fn is_liveness_check_due(&self, polls: u32) -> bool {
        either!(self, outer => outer.is_liveness_check_due(polls))
    }

    pub(crate) fn check_run(&mut self) -> Result<()> {
        either!(self, outer => outer.check_run())
    }

    #[inline]
    pub(crate) fn any_has_left(&self) -> bool {
        either!(self, outer => outer.any_has_left())
    }

    pub(crate) fn is_hopeless(&self, request: Request) -> bool {
        either!(self, outer => outer.is_hopeless(request))
    }

    pub(crate) fn none_will_send(&self, selector: Selector) -> bool {
        either!(self, outer => outer.none_will_send(selector))
    }

    /// Returns what a request waits for, if it is not done.
    pub(crate) fn awaited_by(&self, request: Request) -> Option<Awaited> {
        either!(self, outer => outer.awaited_by(request))
    }

    pub(crate) fn poll_state(&self) -> PollState {
        either!(self, outer => outer.poll_state())
    }

    pub(crate) fn unexpected(&self) -> Vec<Envelope> {
        either!(self, outer => outer.unexpected())
    }

    pub(crate) fn give_up_on(&mut self, request: Request) -> Error {
        either!(self, outer => outer.give_up_on(request))
    }

    /// Returns the error that every call returns from now on, if there is one.
    pub(crate) fn failure(&self) -> Option<Error> {
        either!(self, outer => outer.failure())
    }

    pub(crate) fn leave(&mut self) -> Result<()> {
        either!(self, outer => outer.leave())
    }

    pub(crate) fn is_sending(&self) -> bool {
        either!(self, outer => outer.is_sending())
    }

    /// Prepares [`say_goodbye`](Outer::say_goodbye), which may follow when [`is_telling`](Outer::is_telling) has ended.
    pub(crate) fn begin_goodbye(&mut self) -> Result<()> {
        match self {
            Outer::Tcp(_) => Ok(()),
            Outer::Ofi(outer) => outer.begin_goodbye(),
        }
    }

    pub(crate) fn is_telling(&self) -> bool {
        match self {
            Outer::Tcp(_) => false,
            Outer::Ofi(outer) => outer.is_telling(),
        }
    }

    pub(crate) fn say_goodbye(&mut self) -> Result<()> {
        either!(self, outer => outer.say_goodbye())
    }

    pub(crate) fn is_through(&self) -> bool {
        either!(self, outer => outer.is_through())
    }

    /// Ends this rank's part of the run, which both fabrics have completed, and returns the status of its process.
    pub(crate) fn close(self, outcome: Result<()>) -> i32 {
        either!(self, outer => outer.close(outcome))
    }
}
