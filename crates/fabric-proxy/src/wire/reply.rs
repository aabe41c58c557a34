//! The replies of the simulated machine.

use contract::{ContextPlace, Envelope, Error, Request, Time, TimeSpan};
use serde::{Deserialize, Serialize};

/// The head of a reply. The data are those of the completed receives, in their order, and then those of the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// True if any rank has left the run.
    pub any_has_left: bool,
    /// Operations of the process that were completed since the last reply.
    pub completed: Vec<Completed>,
    /// The reply to the request itself.
    pub kind: ReplyKind,
}

/// A completed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completed {
    /// Its number in the process.
    pub request: Request,
    /// Its message.
    pub envelope: Envelope,
    /// Length of its data.
    pub bytes: usize,
}

/// The reply to a request itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplyKind {
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
pub enum Value {
    /// No value, or no message.
    None,
    /// Whether something is so.
    Flag(bool),
    /// The place of an operation in a list.
    Index(usize),
    /// A context that was opened.
    Place(ContextPlace),
    /// The virtual time.
    Time(Time),
    /// A message that was found or received.
    Envelope(Envelope),
    /// The result of a poll that has found nothing.
    Quiet(QuietTime),
}

/// A time in which polls find nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuietTime {
    /// The virtual time.
    pub now: Time,
    /// Nothing arrives before this moment, as far as is known.
    pub until: Time,
    /// Time of a poll.
    pub polling: TimeSpan,
}

impl Value {
    /// Returns the envelope, if the call has found a message.
    pub fn envelope(self) -> Option<Envelope> {
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
