//! The endpoint of a rank whose fabric is in the launcher's process: each call is a request there.

mod collective;
mod implementation;
mod operations;

use std::cell::Cell;
use std::collections::HashMap;
use std::ptr::NonNull;
use std::rc::Rc;

use contract::{
    Awaited, Completion, Destination, Envelope, Error, LongWaits, OtherEnds, Readable,
    RememberedCall, RemoteMemory, Request, Result, Selector, WaitReports, WaitTerms, check_rank,
};

use crate::ask::Ask;
use crate::caller::{Answer, Caller};
use crate::clock::VirtualClock;
use crate::line::LONGEST_BYTES;
use crate::reply::{Head, Kind, VALUES};
use crate::stream::{Reader, Writer};
use operations::Operations;

/// Version of the protocol, which must be equal at both ends of a line.
pub(crate) const VERSION: u64 = 7;

/// Reacts to a reply that requests a poll, or the combination of two operands. Returns whether the call is over.
type Turn<'a> = dyn FnMut(&mut ProxyEndpoint, Kind, Vec<u8>, Vec<u8>) -> Result<bool> + 'a;

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
    /// True if the other end executes collectives.
    sees_collectives: bool,
    /// True while the process reports to the launcher what it waits for. No request is made then.
    telling: Cell<bool>,
    /// The numbers of open contexts and of their members, by place, without that of all ranks.
    contexts: HashMap<u32, (u32, usize)>,
}

impl ProxyEndpoint {
    /// Begins this rank's part of the run.
    pub(crate) fn join(caller: Caller, rank: usize, size: usize, name: String) -> Result<Self> {
        let values = caller.call(Ask::Join { version: VERSION }, |_| {}, |head, _| head.values)?;
        let [every_rank_has_a_processor, sees_collectives, ..] = values.map(|value| value != 0);
        Ok(ProxyEndpoint {
            caller: Rc::new(caller),
            clock: None,
            operations: Operations::default(),
            rank,
            size,
            name,
            every_rank_has_a_processor,
            sees_collectives,
            telling: Cell::new(false),
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

    /// Makes a request that waits only for its reply. Records the operations that the reply reports as done.
    fn call(&mut self, ask: Ask, fill: impl FnOnce(&mut Writer<'_>)) -> Result<[u64; VALUES]> {
        Ok(self.head_of(ask, fill)?.values)
    }

    /// As [`call`](Self::call), and returns the whole head of the reply.
    fn head_of(&mut self, ask: Ask, fill: impl FnOnce(&mut Writer<'_>)) -> Result<Head> {
        let operations = &mut self.operations;
        self.caller.call(ask, fill, |head, mut reader| {
            operations.absorb(head.ended, &mut reader);
            head
        })
    }

    /// Makes a request that changes nothing here.
    fn ask(&self, ask: Ask) -> Result<[u64; VALUES]> {
        self.caller.call(ask, |_| {}, |head, _| head.values)
    }

    /// Polls, by a probe with `selector` if there is one.
    fn poll(&mut self, ask: Ask, selector: Option<Selector>) -> Result<[u64; VALUES]> {
        let Head { values, ended, .. } = self.head_of(ask, |_| {})?;
        self.caller.learn(if ended == 0 { values } else { [0; VALUES] }, selector);
        Ok(values)
    }

    /// Makes a request, and lets `turn` react to replies until the call is over.
    fn converse(
        &mut self,
        ask: Ask,
        fill: impl FnOnce(&mut Writer<'_>),
        turn: &mut Turn<'_>,
        tell: &mut dyn FnMut(&mut Self),
        read: &mut dyn FnMut(&Head, &mut Reader<'_>),
    ) -> Result<[u64; VALUES]> {
        let caller = self.caller.clone();
        caller.ask(ask, fill)?;
        loop {
            let (head, mut reader) = match caller.await_answer()? {
                Answer::Given(head, reader) => (head, reader),
                Answer::Question => {
                    self.telling.set(true);
                    caller.begin_to_tell();
                    tell(self);
                    self.telling.set(false);
                    caller.end_telling();
                    continue;
                }
            };
            let is_over = match head.kind {
                Kind::Poll => {
                    self.operations.absorb(head.ended, &mut reader);
                    turn(self, Kind::Poll, Vec::new(), Vec::new())?
                }
                Kind::Combine => {
                    let (left, right) = (reader.bytes().to_vec(), reader.bytes().to_vec());
                    turn(self, Kind::Combine, left, right)?
                }
                Kind::Done | Kind::Failed => {
                    return caller.finish(head, reader, |head, mut reader| {
                        self.operations.absorb(head.ended, &mut reader);
                        read(&head, &mut reader);
                        head.values
                    });
                }
            };
            if is_over {
                return Ok([0; VALUES]);
            }
        }
    }

    /// Records an awaited event.
    fn note_awaited(&self, awaited: Awaited) {
        self.caller.note_awaited(awaited);
    }

    fn post(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        let Destination { rank: to, context, tag } = to;
        check_rank(to, self.size)?;
        check_length(&self.name, data.bytes())?;
        let synchronous = until == Completion::Synchronous;
        let envelope = Envelope {
            context,
            source: self.rank as u32,
            tag,
            bytes: data.bytes(),
            room: data.bytes(),
        };
        let request = self.operations.add_send(to, envelope);
        let ask = Ask::PostSend { to, context, tag, synchronous, request };
        self.begin(request, ask, data.as_slice())
    }

    /// Begins an operation, without waiting for the other end unless its data are long.
    fn begin(&mut self, request: Request, ask: Ask, data: &[u8]) -> Result<Request> {
        let begun = self.ask_ahead(ask, data);
        begun.inspect_err(|_| self.operations.forget(request)).map(|()| request)
    }

    /// Makes a request that the process need not wait for. It waits only if there are many data.
    fn ask_ahead(&mut self, ask: Ask, data: &[u8]) -> Result<()> {
        let fill = |writer: &mut Writer<'_>| writer.bytes(data);
        match self.caller.may_defer(data.len()) {
            true => self.caller.defer(ask, fill),
            false => self.call(ask, fill).map(drop),
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

/// Windows use messages, except those whose memory the program itself shares among ranks.
impl RemoteMemory for ProxyEndpoint {
    fn place_on_host(&self, memory: *const u8, bytes: usize) -> Option<u64> {
        self.caller.seat()?.place_of(memory, bytes)
    }

    fn allocate_on_host(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        self.caller.seat()?.allocate(bytes)
    }

    fn memory_at(&self, place: u64, bytes: usize) -> Option<NonNull<u8>> {
        self.caller.seat()?.memory_at(place, bytes)
    }
}

/// The process reports its long waits when the launcher asks, in the middle of a request.
impl LongWaits for ProxyEndpoint {
    fn wait_reports(&self) -> Option<&dyn WaitReports> {
        self.caller.seat().map(|_| self as _)
    }
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
        if self.telling.get() {
            self.caller.seat().into_iter().for_each(|seat| seat.note_sole_awaited(awaited.clone()));
        }
    }

    fn end(&self) {}
}
