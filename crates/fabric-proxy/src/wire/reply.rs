//! The replies of the simulated machine.

use contract::{ContextPlace, Envelope, Error, Request, Time, TimeSpan};
use serde::{Deserialize, Serialize};

/// The head of a reply. The data are those of the completed receives, in their order, and then those of the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reply {
    /// True if any rank has left the run.
    pub(crate) any_has_left: bool,
    pub(crate) completed: Vec<Completed>,
    pub(crate) kind: ReplyKind,
}

/// A completed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Completed {
    /// Its number in the process.
    pub(crate) request: Request,
    pub(crate) envelope: Envelope,
    /// Length of its data.
    pub(crate) bytes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ReplyKind {
    /// The call is over.
    Done(Value),
    /// The process must check whether the awaited event has happened.
    Poll,
    /// The process must combine elements. The data are a left and a right operand of the same length.
    Combine,
    /// The call has failed.
    Failed(Error),
}

/// The result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Value {
    None,
    Flag(bool),
    Index(usize),
    Place(ContextPlace),
    Time(Time),
    Envelope(Envelope),
    Quiet(QuietTime),
}

/// A time in which polls find nothing. It is the result of an idle poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QuietTime {
    pub(crate) now: Time,
    /// Nothing arrives before this moment, as far as is known.
    pub(crate) until: Time,
    /// Time of a poll.
    pub(crate) polling: TimeSpan,
}

impl Value {
    /// Returns the envelope, if the call has found a message.
    pub(crate) fn envelope(self) -> Option<Envelope> {
        if let Value::Envelope(envelope) = self { Some(envelope) } else { None }
    }
}

impl From<Option<Envelope>> for Value {
    fn from(envelope: Option<Envelope>) -> Self {
        envelope.map_or(Value::None, Value::Envelope)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Flag(flag)
    }
}

impl From<()> for Value {
    fn from((): ()) -> Self {
        Value::None
    }
}
