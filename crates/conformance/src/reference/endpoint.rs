//! The endpoint over the shared queues.

use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::machine::Machine;
use contract::FabricDescription;
use contract::{
    Arenas, Claim, ClockQuality, Completion, Computer, ComputerServices, ContextPlace, Destination,
    Endpoint, Envelope, Error, HostMemory, LongWaits, NewContext, Readable, Request, Result,
    Selector, SharedLine, Time, TimeSpan, Writable, check_rank,
};

/// One rank's endpoint of the reference fabric.
pub struct ReferenceEndpoint {
    machine: Arc<Machine>,
    rank: usize,
    /// The memory of receives, by request.
    rooms: HashMap<u32, Writable>,
}

impl ReferenceEndpoint {
    pub(super) fn new(machine: Arc<Machine>, rank: usize) -> Self {
        ReferenceEndpoint { machine, rank, rooms: HashMap::new() }
    }
}

/// The ranks are threads, so an address is a place.
#[allow(unsafe_code)]
impl Arenas for ReferenceEndpoint {
    fn place_of(&self, memory: *const u8, _bytes: usize) -> Option<u64> {
        Some(memory as u64)
    }

    fn memory_at(&self, place: u64, _bytes: usize) -> Option<NonNull<u8>> {
        NonNull::new(place as *mut u8)
    }

    fn allocate(&self, _bytes: usize) -> Option<NonNull<u8>> {
        None
    }

    unsafe fn release(&self, _memory: NonNull<u8>, _bytes: usize) {}
}

impl ComputerServices for ReferenceEndpoint {
    fn shared_line(&self) -> Option<&dyn SharedLine> {
        Some(self)
    }
}

impl LongWaits for ReferenceEndpoint {
    fn leave(&mut self) -> Result<()> {
        self.machine.leave(self.rank);
        Ok(())
    }

    fn any_has_left(&mut self) -> bool {
        (0..self.size()).any(|rank| self.machine.has_left(rank))
    }

    fn cannot_complete(&mut self, request: Request) -> bool {
        let gone = |&rank: &usize| self.machine.is_gone(self.rank, rank);
        let needs = self.machine.needs(self.rank, request);
        needs.is_some_and(|needs| !needs.is_empty() && needs.iter().all(gone))
    }

    fn none_will_send(&mut self, selector: Selector) -> bool {
        let gone = |rank: usize| self.machine.is_gone(self.rank, rank);
        match selector.source {
            Some(source) => gone(source as usize),
            None => self.size() > 1 && (0..self.size()).all(|rank| rank == self.rank || gone(rank)),
        }
    }

    fn give_up_on(&mut self, request: Request) -> Error {
        let rank = self.machine.needs(self.rank, request).and_then(|needs| needs.first().copied());
        let error =
            Error::RankDied { rank: rank.unwrap_or(self.rank), how: "its program ended".into() };
        self.machine.fail(self.rank, error.clone());
        error
    }
}

// SAFETY: a send's data is copied when it is posted. A receive's room is kept in `rooms` until it is ended or
// cancelled, and written to only in `end`.
#[allow(unsafe_code)]
unsafe impl Endpoint for ReferenceEndpoint {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.machine.size()
    }

    fn computer(&self) -> Computer<'_> {
        let threads = std::thread::available_parallelism();
        Computer {
            processor: None,
            every_rank_has_a_processor: threads.is_ok_and(|count| count.get() >= self.size()),
            clock: ClockQuality {
                resolution: TimeSpan::from_ns(1),
                uncertainty: TimeSpan::ZERO,
                is_virtual: false,
            },
            services: self,
        }
    }

    fn describe(&self) -> FabricDescription {
        FabricDescription {
            name: "reference".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            ..FabricDescription::default()
        }
    }

    fn now(&self) -> Time {
        Time::ZERO + TimeSpan::from_ns(self.machine.begin.elapsed().as_nanos() as u64)
    }

    fn open_context(&mut self, _context: NewContext<'_>) -> Result<ContextPlace> {
        Ok(ContextPlace::WORLD)
    }

    fn close_context(&mut self, _place: ContextPlace) -> Result<()> {
        Ok(())
    }

    fn post_send(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        let Destination { rank, context, tag } = to;
        check_rank(rank, self.size())?;
        let (source, bytes) = (self.rank as u32, data.bytes());
        let envelope = Envelope { context, source, tag, bytes, room: bytes };
        self.machine.start_send(envelope, rank, data.as_slice().to_vec(), until)
    }

    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        let request = self.machine.start_receive(self.rank, selector, room.bytes())?;
        self.rooms.insert(request.0, room);
        Ok(request)
    }

    fn is_done(&self, request: Request) -> bool {
        self.machine.has_ended(self.rank, request)
    }

    fn envelope(&self, request: Request) -> Envelope {
        self.machine.envelope(self.rank, request)
    }

    fn end(&mut self, request: Request) -> Envelope {
        let ended = self.machine.take(self.rank, request);
        let ended = ended.expect("only what is done is ended");
        if let Some(mut room) = self.rooms.remove(&request.0) {
            room.write(0, &ended.data);
        }
        ended.envelope
    }

    fn cancel_receive(&mut self, request: Request) -> bool {
        let cancelled = self.machine.cancel_receive(self.rank, request);
        if cancelled {
            self.rooms.remove(&request.0);
        }
        cancelled
    }

    fn probe(&mut self, selector: Selector, claim: Option<Claim>) -> Result<Option<Envelope>> {
        let place = claim.map(|Claim { context, tag }| (context, tag));
        let found = self.machine.probe(self.rank, selector, place)?;
        if found.is_none() && claim.is_none() {
            std::thread::yield_now();
        }
        Ok(found)
    }

    fn progress(&mut self, wanted: Option<Request>) -> Result<()> {
        if wanted.is_some_and(|request| self.is_done(request)) {
            return Ok(());
        }
        std::thread::yield_now();
        self.machine.changes(self.rank).map(drop)
    }

    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        self.machine.wait(self.rank, requests)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        let mut seen = self.machine.changes(self.rank)?;
        while !done(self) {
            seen = self.machine.wait_for_change(self.rank, seen)?;
        }
        Ok(())
    }

    fn host_memory(&self) -> Option<HostMemory<'_>> {
        Some(HostMemory { arenas: self, host: 0, is_for_windows: true, copies: None })
    }

    fn long_waits(&mut self) -> Option<&mut dyn LongWaits> {
        Some(self)
    }

    fn finish(self, outcome: Result<()>) -> i32 {
        match outcome {
            Ok(()) => {
                self.machine.end(self.rank);
                0
            }
            Err(error) => {
                self.machine.fail(self.rank, error);
                1
            }
        }
    }
}

impl SharedLine for ReferenceEndpoint {
    fn word(&self, index: usize) -> &AtomicU64 {
        self.machine.unwind_if_aborted();
        self.machine.line.word(index)
    }

    fn sleep_while(&self, index: usize, value: u64) {
        self.machine.unwind_if_aborted();
        self.machine.line.sleep_while(index, value);
    }

    fn wake(&self, _index: usize) {
        self.machine.line.wake_all();
    }
}
