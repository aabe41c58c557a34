//! The requests of a process to the simulated machine.

use std::borrow::Cow;

use contract::{
    AgreedCall, Awaited, ContextPlace, Destination, Envelope, Request, Selector, Time, TimeSpan,
};
use serde::{Deserialize, Serialize};

use super::collective::CollectiveParameters;

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestHead<'a> {
    /// What has passed before the request.
    pub before: Before,
    /// Operations that the process has ended since its last request.
    pub ended: Cow<'a, [Request]>,
    /// The request.
    pub request: Cow<'a, ProcessRequest>,
}

/// What has passed since the last request. It is the first part of a head, and can be read alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Before {
    /// True if the process does not wait for a reply.
    pub is_deferred: bool,
    /// Computing time of the program, if that is measured.
    pub computed_ns: u64,
    /// Virtual time of the polls that made no request.
    pub polled: TimeSpan,
}

/// A request: a call of the endpoint that a rank has on the simulated machine. A variant without a description is the
/// method of that name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are the methods of an endpoint and their parameters")]
pub enum ProcessRequest {
    /// The first request: the process has joined.
    Join,
    Now,
    WaitUntilTime(Time),
    OpenContext {
        number: u32,
        me: usize,
        members: Vec<usize>,
    },
    CloseContext(ContextPlace),
    /// The data are the message, here and in the other sends.
    PostSend {
        to: Destination,
        synchronous: bool,
        /// The operation's number in the process, here and below.
        request: Request,
    },
    PostReceive {
        selector: Selector,
        room: usize,
        request: Request,
    },
    Cancel(Request),
    Probe(Selector),
    Claim {
        selector: Selector,
        context: u32,
        tag: u32,
    },
    Progress,
    /// A sleep until something arrives, at most for this time.
    SleepAWhile(TimeSpan),
    /// A turn of others on the rank's processor.
    Yield,
    Test(Request),
    WaitAny(Vec<Request>),
    WaitUntil,
    /// The result of a poll that a reply requested.
    Polled(bool),
    Send(Destination),
    Receive {
        selector: Selector,
        room: usize,
    },
    Exchange {
        to: Destination,
        selector: Selector,
        room: usize,
    },
    /// A collective. The data are those to send, or the contents of the memory to receive into.
    Collective(ContextPlace, CollectiveParameters),
    /// The data are the result of combining elements, as a reply requested.
    Combined,
    /// A collective that the caller executes by messages.
    Announce {
        place: ContextPlace,
        call: AgreedCall,
    },
    Leave,
    CannotComplete(Request),
    NoneWillSend(Selector),
    GiveUpOn(Request),
    /// The last request, at the end of the process's part, with the error if it failed, and the computing time of
    /// threads that do not count.
    Finish {
        error: Option<String>,
        uncounted_ns: u64,
    },
}

impl ProcessRequest {
    /// Returns whether the reply reports completed operations. It does not if the process reads a clock, or makes the
    /// request within another call, because their data could not be stored then.
    pub fn reports_completed(&self) -> bool {
        use ProcessRequest::{CannotComplete, Join, NoneWillSend, Now, WaitUntilTime};
        !matches!(self, Join | Now | WaitUntilTime(_) | CannotComplete(_) | NoneWillSend(_))
    }

    /// Returns whether this is a poll, or a rest between polls, which change nothing.
    pub fn is_poll(&self) -> bool {
        use ProcessRequest::{Probe, Progress, SleepAWhile, Test, Yield};
        matches!(self, Probe(_) | Progress | Test(_) | SleepAWhile(_) | Yield)
    }

    /// Returns the events that a blocking request with `bytes` bytes of data waits for.
    pub fn awaited(&self, bytes: usize) -> Option<Awaited> {
        match *self {
            ProcessRequest::Receive { selector, .. }
            | ProcessRequest::Exchange { selector, .. } => Some(Awaited::Message(selector)),
            ProcessRequest::Send(Destination { rank: to, context, tag }) => {
                let envelope = Envelope { context, tag, bytes, ..Envelope::default() };
                Some(Awaited::Receive { to, envelope })
            }
            _ => None,
        }
    }
}
