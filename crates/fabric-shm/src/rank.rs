//! A rank of the `local` fabric: the safe contract over the engine, and its life from attaching to finishing.

mod attach;
mod collectives;
mod endpoint;
mod real_time;
mod reporter;
mod requests;
mod shared_line;

use std::os::fd::OwnedFd;

use contract::record::FabricDescription;
use contract::{
    Buffer, ClockQuality, Completed, Error, InPlace, Isolation, Posted, Priority, PriorityGranted,
    Progress, Rank, Reduction, Result, SharedLine, Source, Status, Tag, TagSelector, Time, Work,
    check_rank,
};

pub use attach::attach_if_rank;
pub use endpoint::Endpoint;
pub use reporter::Reporter;

use crate::clock::Clock;
use crate::engine::{Engine, Envelope, Loan, Request, Selector};
use crate::segment::State;
use crate::team::Team;
use requests::Held;

/// A process that is one rank of a run.
pub struct LocalRank {
    /// Its boards lie in the engine's segment.
    world: Team,
    engine: Engine,
    clock: Clock,
    processor: Option<usize>,
    reporter: Reporter,
    held: Held,
    /// Messages of other ranks that this one is reading where they are.
    loans: contract::Held<Loan>,
    /// The requests that `wait_any` waits for: kept, so that a wait allocates nothing.
    waited_for: Vec<Request>,
    finished: bool,
}

impl LocalRank {
    fn new(engine: Engine, clock: Clock, processor: Option<usize>, reports: OwnedFd) -> Self {
        LocalRank {
            world: engine.world(),
            engine,
            clock,
            processor,
            reporter: Reporter::new(reports),
            held: Held::default(),
            loans: contract::Held::default(),
            waited_for: Vec::new(),
            finished: false,
        }
    }

    /// The bytes that the launcher gave to every rank.
    pub fn job(&self) -> &[u8] {
        self.engine.segment().job()
    }

    /// Hands `bytes` to the launcher, whole, and in the order of this rank's calls.
    ///
    /// # Errors
    /// [`Error::System`] if the launcher no longer reads.
    pub fn report(&mut self, bytes: &[u8]) -> Result<()> {
        self.reporter.report(bytes)
    }

    /// What hands reports to the launcher while a program holds this rank.
    pub fn reporter(&self) -> Reporter {
        self.reporter.clone()
    }

    /// Why the run was given up, if it was: for a rank that waits elsewhere than in the calls of this fabric.
    pub fn given_up(&self) -> Option<Error> {
        let abort = &self.engine.segment().header().abort;
        abort.is_raised().then(|| abort.error())
    }

    /// Ends this rank's part of the run: completes what is still under way, tells the others and the launcher of a
    /// failure, and gives the status that the process should exit with.
    pub fn finish(mut self, outcome: Result<()>) -> i32 {
        let outcome = outcome.and_then(|()| self.engine.flush());
        self.finished = true;
        let segment = self.engine.segment();
        let block = segment.block(self.rank());
        let status = match outcome {
            Ok(()) => {
                block.set_state(State::Finished);
                0
            }
            Err(error) => {
                segment.header().abort.raise(Some(self.rank()), &error.to_string());
                block.set_state(State::Failed);
                1
            }
        };
        segment.wake_all();
        status
    }
}

impl Drop for LocalRank {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        let how = if std::thread::panicking() {
            "its program panicked"
        } else {
            "its program ended without finish()"
        };
        let segment = self.engine.segment();
        segment.header().abort.raise_death(self.engine.rank(), how);
        segment.block(self.engine.rank()).set_state(State::Failed);
        segment.wake_all();
    }
}

/// How a contract's tag travels: the tags kept for collectives are the same numbers in another context, where no
/// wildcard of a program reaches them.
fn wire_tag(tag: Tag) -> (u32, u32) {
    (u32::from(tag.is_reserved()), tag.value())
}

impl LocalRank {
    fn selector(&self, from: Source, tag: TagSelector) -> Result<Selector> {
        let source = match from {
            Source::Any => None,
            Source::Rank(rank) => {
                check_rank(rank, self.size())?;
                Some(rank as u32)
            }
        };
        let (context, tag) = match tag {
            TagSelector::Any => (0, None),
            TagSelector::AnyReserved => (1, None),
            TagSelector::Is(tag) => (wire_tag(tag).0, Some(tag.value())),
        };
        Ok(Selector { context, source, tag })
    }

    fn post_receive_as(
        &mut self,
        from: Source,
        tag: TagSelector,
        mut buffer: Buffer,
        in_place: bool,
    ) -> Result<Posted> {
        let selector = self.selector(from, tag)?;
        let (memory, room) = (buffer.as_mut_ptr(), buffer.len());
        // SAFETY: as in `post_send`.
        let request = unsafe { self.engine.start_receive_as(selector, memory, room, in_place) }?;
        Ok(self.held.keep(request, buffer))
    }

    /// Gives back the buffer of an operation that has ended, and keeps what it was lent.
    fn complete(
        &mut self,
        posted: Posted,
        request: Request,
        ended: Result<Envelope>,
    ) -> Result<Completed> {
        let mut completed = self.held.give_back(posted, ended)?;
        let loan = self.engine.take_loan(request);
        completed.in_place = loan.map(|loan| InPlace::new(self.loans.keep(loan).number()));
        Ok(completed)
    }
}

impl Rank for LocalRank {
    #[inline]
    fn rank(&self) -> usize {
        self.engine.rank()
    }

    #[inline]
    fn size(&self) -> usize {
        self.engine.size()
    }

    #[inline]
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn clock(&self) -> ClockQuality {
        self.clock.quality()
    }

    fn wait_until(&mut self, time: Time) {
        contract::wait_until(|| self.now(), time);
    }

    fn compute(&mut self, _work: Work, body: &mut dyn FnMut()) {
        body();
    }

    fn every_rank_has_a_processor(&self) -> bool {
        self.engine.segment().header().choices().every_rank_has_a_processor
    }

    fn processor(&self) -> Option<usize> {
        self.processor
    }

    fn set_priority(&mut self, priority: Priority) -> PriorityGranted {
        real_time::set_priority(priority)
    }

    fn isolate(&mut self, isolation: Isolation, on: bool) -> std::result::Result<(), String> {
        real_time::isolate(isolation, on, self.processor)
    }

    fn describe(&self) -> FabricDescription {
        let mut details = self.engine.describe();
        details.insert("clock".into(), self.clock.name().into());
        let binding = match self.processor {
            Some(processor) => format!("rank {} on processor {processor}", self.rank()),
            None => "not bound".into(),
        };
        details.insert("binding".into(), binding);
        details.extend(collectives::describe());
        FabricDescription {
            name: "local".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            details,
        }
    }

    fn shared_line(&self) -> Option<&dyn SharedLine> {
        Some(&self.engine.segment().header().shared_line)
    }

    fn send(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<()> {
        check_rank(to, self.size())?;
        let (context, tag) = wire_tag(tag);
        self.engine.send(to, context, tag, data)
    }

    fn receive(&mut self, from: Source, tag: TagSelector, buffer: &mut [u8]) -> Result<Status> {
        let selector = self.selector(from, tag)?;
        self.engine.receive(selector, buffer)?.into_status()
    }

    fn send_receive(
        &mut self,
        to: usize,
        send_tag: Tag,
        data: &[u8],
        from: Source,
        receive_tag: TagSelector,
        buffer: &mut [u8],
    ) -> Result<Status> {
        check_rank(to, self.size())?;
        let selector = self.selector(from, receive_tag)?;
        let (context, tag) = wire_tag(send_tag);
        self.engine.send_receive(to, context, tag, data, selector, buffer)?.into_status()
    }

    fn post_send(&mut self, to: usize, tag: Tag, buffer: Buffer) -> Result<Posted> {
        check_rank(to, self.size())?;
        let (context, tag) = wire_tag(tag);
        // SAFETY: `held` keeps the buffer, whose pages do not move with it, until the request has ended.
        let request =
            unsafe { self.engine.start_send(to, context, tag, buffer.as_ptr(), buffer.len()) }?;
        Ok(self.held.keep(request, buffer))
    }

    fn post_receive(&mut self, from: Source, tag: TagSelector, buffer: Buffer) -> Result<Posted> {
        self.post_receive_as(from, tag, buffer, false)
    }

    fn post_receive_in_place(
        &mut self,
        from: Source,
        tag: TagSelector,
        buffer: Buffer,
    ) -> Result<Posted> {
        self.post_receive_as(from, tag, buffer, true)
    }

    fn view<'a>(&'a self, message: &'a Completed) -> &'a [u8] {
        let Some(in_place) = &message.in_place else {
            return &message.buffer[..message.status.bytes];
        };
        let loan = self.loans.index(&Posted::new(in_place.number())).ok();
        let loan = loan.and_then(|index| self.loans.at(index));
        self.engine.view(loan.expect("the message was received by this rank"))
    }

    fn release(&mut self, message: Completed) -> Result<Buffer> {
        if let Some(in_place) = message.in_place {
            let loan = self.loans.take(&Posted::new(in_place.number()))?;
            self.engine.give_back(loan);
        }
        Ok(message.buffer)
    }

    fn wait(&mut self, posted: Posted) -> Result<Completed> {
        let request = self.held.request(&posted)?;
        let ended = self.engine.wait(request);
        self.complete(posted, request, ended)
    }

    fn test(&mut self, posted: Posted) -> Result<Progress> {
        let request = self.held.request(&posted)?;
        match self.engine.test(request) {
            Ok(None) => Ok(Progress::Pending(posted)),
            Ok(Some(ended)) => self.complete(posted, request, Ok(ended)).map(Progress::Done),
            Err(error) => Err(error),
        }
    }

    fn wait_any(&mut self, posted: &mut Vec<Posted>) -> Result<(usize, Completed)> {
        assert!(!posted.is_empty(), "wait_any needs something to wait for");
        self.waited_for.clear();
        for one in posted.iter() {
            self.waited_for.push(self.held.request(one)?);
        }
        let (index, ended) = self.engine.wait_any(&self.waited_for)?;
        let request = self.waited_for[index];
        let completed = self.complete(posted.remove(index), request, Ok(ended))?;
        Ok((index, completed))
    }

    fn send_window(&mut self, to: usize, tag: Tag, data: &[u8], count: usize) -> Result<()> {
        check_rank(to, self.size())?;
        let (context, tag) = wire_tag(tag);
        self.engine.send_window(to, context, tag, data, count)
    }

    fn probe(&mut self, from: Source, tag: TagSelector) -> Result<Option<Status>> {
        let selector = self.selector(from, tag)?;
        self.engine.probe(selector)?.map(|envelope| envelope.into_status()).transpose()
    }

    fn barrier(&mut self) -> Result<()> {
        collectives::barrier(self)
    }

    fn broadcast(&mut self, root: usize, buffer: &mut [u8]) -> Result<()> {
        collectives::broadcast(self, root, buffer)
    }

    fn scatter(&mut self, root: usize, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collectives::scatter(self, root, send, receive)
    }

    fn gather(&mut self, root: usize, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collectives::gather(self, root, send, receive)
    }

    fn allgather(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collectives::allgather(self, send, receive)
    }

    fn allgather_in_place(&mut self, buffer: &mut [u8]) -> Result<()> {
        collectives::allgather_in_place(self, buffer)
    }

    fn reduce(
        &mut self,
        root: usize,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        collectives::reduce(self, root, reduction, send, receive)
    }

    fn allreduce(&mut self, reduction: Reduction, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collectives::allreduce(self, reduction, send, receive)
    }

    fn all_to_all(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collectives::all_to_all(self, send, receive)
    }
}
