//! The transport between hosts, which reaches all ranks of the run: TCP connections, or libfabric.

use std::os::fd::OwnedFd;
use std::time::Duration;

use contract::{Error, Request, Result};
use engine::{CallNote, Messages, PeerState, Poll, Transport, Unexpected};
use fabric_ofi::Libfabric;
use fabric_tcp::{Connections, Reporter};
use launcher::{LONGEST_SLEEP, PollState};

/// The choice of this transport.
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

/// The transport of a rank.
#[allow(clippy::large_enum_variant, reason = "a rank of a cluster has one")]
pub(crate) enum Outer {
    Tcp(Connections),
    Ofi(Libfabric),
}

/// Longest sleep of a rank with outgoing data, which nothing wakes when they can be written.
const SLEEP_BEFORE_WRITE: Duration = Duration::from_millis(1);

/// Evaluates an expression for either transport.
macro_rules! either {
    ($outer:expr, $transport:ident => $value:expr) => {
        match $outer {
            Outer::Tcp($transport) => $value,
            Outer::Ofi($transport) => $value,
        }
    };
}

/// What [`Routes`](crate::routes::Routes) asks of either transport.
impl Outer {
    pub(crate) fn size(&self) -> usize {
        either!(self, outer => outer.size())
    }

    pub(crate) fn start_send(
        &mut self,
        messages: &mut Messages,
        to: usize,
        request: Request,
    ) -> Result<()> {
        either!(self, outer => outer.start_send(messages, to, request))
    }

    pub(crate) fn flush(&mut self, messages: &mut Messages, to: usize) -> Result<()> {
        either!(self, outer => outer.flush(messages, to))
    }

    pub(crate) fn accept(
        &mut self,
        messages: &mut Messages,
        request: Request,
        message: Unexpected,
    ) -> Result<()> {
        either!(self, outer => outer.accept(messages, request, message))
    }

    pub(crate) fn poll(&mut self, messages: &mut Messages, poll: Poll) -> Result<()> {
        either!(self, outer => outer.poll(messages, poll))
    }

    pub(crate) fn activity(&self) -> u64 {
        either!(self, outer => outer.activity())
    }

    pub(crate) fn abort_reason(&mut self) -> Option<Error> {
        either!(self, outer => outer.abort_reason())
    }

    /// Checks in a long wait whether the run was aborted.
    pub(crate) fn check(&mut self, messages: &mut Messages) -> Result<()> {
        match self {
            Outer::Tcp(outer) => outer.check_supervision(messages),
            Outer::Ofi(outer) => outer.check(messages),
        }
    }

    pub(crate) fn state(&self, rank: usize) -> PeerState {
        either!(self, outer => outer.state(rank))
    }

    pub(crate) fn any_has_left(&self) -> bool {
        either!(self, outer => outer.any_has_left())
    }

    pub(crate) fn is_writing(&self, to: usize) -> bool {
        either!(self, outer => outer.is_writing(to))
    }

    pub(crate) fn leave(&mut self, messages: &mut Messages) -> Result<()> {
        either!(self, outer => outer.leave(messages))
    }

    pub(crate) fn abandon(&mut self) {
        either!(self, outer => outer.abandon());
    }

    pub(crate) fn poll_state(&self) -> PollState {
        either!(self, outer => outer.poll_state())
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

    pub(crate) fn send_call_note(
        &mut self,
        messages: &mut Messages,
        to: usize,
        note: CallNote,
    ) -> Result<()> {
        either!(self, outer => outer.send_call_note(messages, to, note))
    }

    pub(crate) fn advance_end(&mut self, messages: &mut Messages) -> Result<bool> {
        either!(self, outer => outer.advance_end(messages))
    }

    pub(crate) fn close(self, outcome: Result<()>) -> i32 {
        either!(self, outer => outer.close(outcome))
    }

    /// Returns the object that sends reports to the process that started the run, also while a program uses this rank.
    pub(crate) fn reporter(&self) -> Reporter {
        either!(self, outer => outer.reporter())
    }
}
