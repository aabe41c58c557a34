//! The endpoint of a rank whose fabric is in the launcher's process: each call is a request there.

mod collective;
mod implementation;
mod operations;

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use contract::{
    Awaited, Completion, Destination, Envelope, Error, OtherEnds, Readable, RememberedCall,
    Request, Result, Selector, WaitReports, WaitTerms, check_rank,
};

use crate::caller::{Caller, Received};
use crate::clock::{VirtualClock, note_library};
use crate::wire::line::LONGEST_BYTES;
use crate::wire::reply::{ReplyKind, Value};
use crate::wire::request::ProcessRequest;
use operations::Operations;

/// Executes a poll that a reply requests, or combines the two operands in its data, and sends the result. Returns whether
/// the call is over.
type OnReply<'a> = dyn FnMut(&mut ProxyEndpoint, &ReplyKind, Vec<u8>) -> Result<bool> + 'a;

/// A rank's end of a fabric in another process.
pub struct ProxyEndpoint {
    caller: Rc<Caller>,
    clock: Option<VirtualClock>,
    operations: Operations,
    rank: usize,
    size: usize,
    /// The name of the fabric.
    name: String,
    every_rank_has_a_processor: bool,
    /// True while the process reports to the launcher what it waits for. No request is made then.
    is_reporting: Cell<bool>,
    /// The numbers of open contexts and of their members, by place, without that of all ranks.
    contexts: HashMap<u32, (u32, usize)>,
}

impl ProxyEndpoint {
    /// Begins this rank's part of the run.
    pub(crate) fn join(caller: Caller, rank: usize, size: usize, name: String) -> Result<Self> {
        let joined = caller.call(&ProcessRequest::Join, &[], |value, _, _| value)?;
        Ok(ProxyEndpoint {
            caller: Rc::new(caller),
            clock: None,
            operations: Operations::default(),
            rank,
            size,
            name,
            every_rank_has_a_processor: joined == Value::Flag(true),
            is_reporting: Cell::new(false),
            contexts: HashMap::new(),
        })
    }

    /// Measures the part of the processor's time that is not computing of the program.
    ///
    /// # Errors
    /// If the run has failed.
    pub(crate) fn measure_returning(&self) -> Result<()> {
        self.caller.measure_returning()
    }

    /// Sets the program's clocks to virtual time.
    pub(crate) fn set_clock(&mut self) {
        self.clock = VirtualClock::set(&self.caller);
    }

    /// Returns the function that a library over this endpoint calls when the program enters it (true) and when it returns.
    /// Its time in between is not computing of the program.
    pub fn library_observer(&self) -> extern "C" fn(bool) {
        note_library
    }

    /// Makes a request that waits only for its reply. Records the operations that the reply reports as done.
    fn call(&mut self, request: &ProcessRequest, data: &[u8]) -> Result<Value> {
        let operations = &mut self.operations;
        self.caller.call(request, data, |value, completed, data| {
            operations.complete(completed, data);
            value
        })
    }

    /// Makes a request that changes nothing here. Returns whether the result is true.
    fn is_true(&self, request: &ProcessRequest) -> bool {
        self.caller.call(request, &[], |value, _, _| value) == Ok(Value::Flag(true))
    }

    /// Polls, by a probe with `selector` if there is one.
    fn poll(&mut self, request: &ProcessRequest, selector: Option<Selector>) -> Result<Value> {
        let operations = &mut self.operations;
        let (value, is_idle) = self.caller.call(request, &[], |value, completed, data| {
            operations.complete(completed, data);
            (value, completed.is_empty())
        })?;
        let quiet = if let Value::Quiet(quiet) = value { Some(quiet) } else { None };
        self.caller.note_poll(quiet.filter(|_| is_idle), selector);
        Ok(value)
    }

    /// Makes a request, and lets `on_reply` react to replies until the call is over. `report` notes the awaited events
    /// when the launcher requests a report, and `read` gets the data of the last reply. Returns its result, or `None` if
    /// `on_reply` has ended the call.
    fn call_with_replies(
        &mut self,
        (request, data): (&ProcessRequest, &[u8]),
        on_reply: &mut OnReply<'_>,
        report: &mut dyn FnMut(&mut Self),
        read: &mut dyn FnMut(&[u8]),
    ) -> Result<Option<Value>> {
        let caller = self.caller.clone();
        caller.send(request, data)?;
        loop {
            let (reply, data) = match caller.receive()? {
                Received::Reply(reply, data) => (reply, data),
                Received::ReportRequest => {
                    self.is_reporting.set(true);
                    caller.begin_report();
                    report(self);
                    self.is_reporting.set(false);
                    caller.end_report();
                    continue;
                }
            };
            if !matches!(reply.kind, ReplyKind::Poll | ReplyKind::Combine) {
                let finished = caller.finish(reply, data, |value, completed, data| {
                    read(self.operations.complete(completed, data));
                    value
                });
                return finished.map(Some);
            }
            // The next request overwrites the buffer.
            let data = self.operations.complete(&reply.completed, data).to_vec();
            if on_reply(self, &reply.kind, data)? {
                return Ok(None);
            }
        }
    }

    /// Records an awaited event.
    fn note_awaited(&self, awaited: Awaited) {
        self.caller.note_awaited(awaited);
    }

    fn post(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        let Destination { rank, context, tag } = to;
        check_rank(rank, self.size)?;
        check_length(&self.name, data.bytes())?;
        let synchronous = until == Completion::Synchronous;
        let envelope = Envelope {
            context,
            source: self.rank as u32,
            tag,
            bytes: data.bytes(),
            room: data.bytes(),
        };
        let request = self.operations.add_send(rank, envelope);
        let post = ProcessRequest::PostSend { to, synchronous, request };
        self.begin(request, &post, data.as_slice())
    }

    /// Begins an operation, without waiting for the other end unless its data are long.
    fn begin(&mut self, request: Request, post: &ProcessRequest, data: &[u8]) -> Result<Request> {
        let begun = self.call_ahead(post, data);
        begun.inspect_err(|_| self.operations.forget(request)).map(|()| request)
    }

    /// Makes a request that the process need not wait for. It waits only if there are many data.
    fn call_ahead(&mut self, request: &ProcessRequest, data: &[u8]) -> Result<()> {
        match self.caller.may_defer(data.len()) {
            true => self.caller.defer(request, data),
            false => self.call(request, data).map(drop),
        }
    }
}

/// Refuses a message that is too long for a line.
fn check_length(fabric: &str, bytes: usize) -> Result<()> {
    if bytes <= LONGEST_BYTES {
        return Ok(());
    }
    let what = format!("carry a message of {bytes} bytes: the longest has {LONGEST_BYTES}");
    Err(Error::Unsupported { fabric: fabric.into(), what })
}

impl WaitReports for ProxyEndpoint {
    // The other end knows what the ranks do.
    fn expect_other_ends(&self, _: Rc<dyn OtherEnds>) {}

    fn describe_waits_in(&self, terms: Rc<dyn WaitTerms>) {
        self.caller.seat().into_iter().for_each(|seat| seat.describe_waits_in(terms.clone()));
    }

    fn remember_call(&self) -> Option<RememberedCall> {
        self.caller.seat()?.remember_call()
    }

    fn begin(&self) {}

    fn note_sole_awaited(&self, awaited: Awaited) {
        if self.is_reporting.get() {
            self.caller.seat().into_iter().for_each(|seat| seat.note_sole_awaited(awaited.clone()));
        }
    }

    fn end(&self) {}
}
