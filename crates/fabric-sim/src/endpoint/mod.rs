//! One rank's endpoint of a simulated machine. Each call goes to the world, and suspends the rank's coroutine if it
//! must wait.

mod boards;
mod collectives;
mod fabric;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use contract::{
    Destination, Envelope, FabricDescription, Readable, RemoteAccess, Request, Result, Selector,
    Time, TimeSpan, Work, Writable,
};
use corosensei::Yielder;
use fabric_proxy::wire::reply::QuietTime;

use crate::path::PathActivity;
use crate::trace::Activity;
use crate::world::{Mode, Next, World};

/// The context of the messages inside collectives of all ranks.
pub(crate) const WORLD_COLLECTIVES: u32 = 1;

/// One rank's endpoint of a simulated machine.
pub struct SimEndpoint<'a> {
    world: Rc<RefCell<World>>,
    yielder: &'a Yielder<(), ()>,
    rank: usize,
    size: usize,
    check_results: bool,
    /// Number of nested algorithms of collectives in progress. If it is not 0, the machine's library is at work and not
    /// the program.
    algorithms: u32,
}

/// Work that must continue while a rank waits.
pub(crate) type Idle<'i, 'a> = &'i mut dyn FnMut(&mut SimEndpoint<'a>);

impl<'a> SimEndpoint<'a> {
    pub(crate) fn new(
        world: Rc<RefCell<World>>,
        yielder: &'a Yielder<(), ()>,
        rank: usize,
        check_results: bool,
    ) -> Self {
        let size = world.borrow().size();
        SimEndpoint { world, yielder, rank, size, check_results, algorithms: 0 }
    }

    pub(crate) fn number(&self) -> usize {
        self.rank
    }

    pub(crate) fn ranks(&self) -> usize {
        self.size
    }

    fn suspend_if(&self, next: Next) {
        if next == Next::Suspend {
            self.yielder.suspend(());
        }
    }

    /// Suspends the rank so that the run can be watched, and ended: a rank that only computes never waits. Nothing
    /// happens meanwhile.
    fn be_watched(&self) {
        self.world.borrow_mut().continue_next(self.rank);
        self.yielder.suspend(());
    }

    /// Lets the rank's processor work for `span`.
    pub(crate) fn work(&self, span: TimeSpan) {
        let next = self.world.borrow_mut().work(self.rank, span);
        self.suspend_if(next);
    }

    /// Lets the rank's processor work for `span`, as a program that computes.
    pub fn occupy(&self, span: TimeSpan) {
        let begin = self.virtual_time();
        self.extend_path(PathActivity::Library);
        self.work(span);
        self.extend_path(PathActivity::Computing);
        self.note(Activity::Compute, begin);
    }

    /// Lets the simulation continue while this rank's process computes, until its next request. Returns whether it did: if
    /// not, the computing takes no virtual time.
    pub(crate) fn compute_concurrently(&self) -> bool {
        let begin = self.virtual_time();
        self.extend_path(PathActivity::Library);
        let computes = self.world.borrow_mut().compute_concurrently(self.rank);
        if computes {
            self.yielder.suspend(());
            self.extend_path(PathActivity::Computing);
            self.note(Activity::Compute, begin);
        }
        computes
    }

    /// Returns the time from now on in which polls of this rank find nothing, as far as is known.
    pub(crate) fn quiet_time(&self) -> QuietTime {
        let world = self.world.borrow();
        let (now, polling) = (world.now(), world.machine.processor.polling);
        QuietTime { now, until: world.quiet_until().unwrap_or(now), polling }
    }

    /// Returns the messages for this rank that have arrived and that no receive has taken.
    pub(crate) fn unexpected(&self) -> Vec<Envelope> {
        self.world.borrow().unexpected(self.rank)
    }

    /// Returns the time of some work on this rank's processor.
    pub(crate) fn time_of(&self, work: Work) -> TimeSpan {
        self.world.borrow().machine.processor.time(work.kind, work.amount).times(work.times)
    }

    /// Lets the time of some work pass, as a computation of the trace.
    pub(crate) fn spend(&self, work: Work) {
        self.occupy(self.time_of(work));
    }

    /// Spends the time of a poll.
    fn poll(&self) {
        let polling = self.world.borrow().machine.processor.polling;
        self.work(polling);
    }

    /// Records the rank's activity until now, for the critical path.
    fn extend_path(&self, activity: PathActivity) {
        let mut world = self.world.borrow_mut();
        let now = world.now();
        if let Some(paths) = &mut world.paths {
            paths.extend(self.rank, now, activity);
        }
    }

    fn note(&self, activity: Activity, begin: Time) {
        let mut world = self.world.borrow_mut();
        let end = world.now();
        if let Some(recorder) = &mut world.recorder {
            recorder.activity(self.rank, activity, begin, end);
        }
    }

    fn virtual_time(&self) -> Time {
        self.world.borrow().now()
    }

    /// Spends the time of posting operations. Operations of the library cost it only if the machine's library posts
    /// them one by one.
    fn post(&self, operations: u64) {
        let (post, by_library) = {
            let costs = &self.world.borrow().machine.endpoint;
            (costs.post, costs.library_posts)
        };
        if by_library || self.algorithms == 0 {
            self.work(post.times(operations));
        }
    }

    /// Waits until one of some requests is done, and returns its index.
    fn wait_for(&mut self, requests: &[Request]) -> Result<usize> {
        loop {
            if let Some(index) = self.find_done(requests)? {
                return Ok(index);
            }
            self.world.borrow_mut().stop_polling(self.rank);
            self.yielder.suspend(());
        }
    }

    /// As [`wait_for`](SimEndpoint::wait_for), for one request of a collective of the machine's own.
    fn wait_idling(&mut self, request: Request, idle: Idle<'_, 'a>) -> Result<()> {
        let mut seen_events = None;
        while self.find_done(&[request])?.is_none() {
            self.pause(&mut seen_events, idle);
        }
        Ok(())
    }

    /// Returns the index of the first of some requests that is done, after the rank's processor has done its work for
    /// it. `None`: the rank must be suspended until one is.
    fn find_done(&mut self, requests: &[Request]) -> Result<Option<usize>> {
        let done = self.world.borrow_mut().find_done_or_wait(self.rank, requests)?;
        if let Some(index) = done {
            let due = self.world.borrow_mut().take_due(self.rank, requests[index]);
            self.work(due);
        }
        Ok(done)
    }

    /// Suspends the rank in a collective of the machine's own, or calls `idle` if something has happened since the
    /// count `seen_events`. What the rank waits for may have happened meanwhile, so the caller must check again.
    fn pause(&mut self, seen_events: &mut Option<u64>, idle: Idle<'_, 'a>) {
        let events = self.world.borrow_mut().begin_idling(self.rank, *seen_events);
        match events {
            Some(events) => {
                *seen_events = Some(events);
                idle(self);
            }
            None => self.yielder.suspend(()),
        }
    }

    /// Spends the time that a posted message takes beyond the caches, once its request is done.
    fn move_memory(&self, request: Request) {
        let longer = self.world.borrow_mut().take_memory_time(self.rank, request);
        self.work(longer);
    }

    fn begin_send(&mut self, to: Destination, data: &[u8], mode: Mode) -> Result<Request> {
        let Destination { rank: to, context, tag } = to;
        let overhead = {
            let world = self.world.borrow();
            world.check()?;
            world.check_route(self.rank, to, tag)?;
            world.send_overhead(self.rank, to, data.len())
        };
        self.work(overhead);
        let mut world = self.world.borrow_mut();
        world.check()?;
        Ok(world.start_send(self.rank, to, (context, tag), data, mode))
    }

    fn begin_receive(&mut self, selector: Selector) -> Result<Request> {
        let mut world = self.world.borrow_mut();
        world.check()?;
        Ok(world.start_receive(self.rank, selector, None))
    }

    /// Starts an access to another rank's memory, after the processor's work for it.
    fn access(
        &mut self,
        to: usize,
        context: u32,
        access: RemoteAccess,
        request: Readable,
        (tag, room): (u32, Writable),
    ) -> Result<[Request; 2]> {
        let begin = self.virtual_time();
        let start = {
            let world = self.world.borrow();
            world.check()?;
            let bytes = access.there_bytes.max(access.back_bytes);
            world.windows().map_or(TimeSpan::ZERO, |costs| costs.start(access.kind).of(bytes))
        };
        self.work(start);
        self.note(Activity::Send, begin);
        let mut world = self.world.borrow_mut();
        world.check()?;
        let selector = Selector { context, source: Some(to as u32), tag: Some(tag) };
        let answer = world.start_receive(self.rank, selector, Some(room));
        let sent = world.start_access(self.rank, to, context, access, (tag, request.as_slice()));
        Ok([sent, answer])
    }

    /// Starts to send a step of a collective of the machine's own. The only overhead is that of the collective's own
    /// code.
    pub(crate) fn begin_bare_send(&mut self, to: usize, tag: u32, data: &[u8]) -> Result<Request> {
        let mut world = self.world.borrow_mut();
        world.check()?;
        Ok(world.start_send(self.rank, to, (WORLD_COLLECTIVES, tag), data, Mode::Bare))
    }

    /// Waits until such a send is done, and ends it.
    pub(crate) fn end_bare_send(&mut self, request: Request, idle: Idle<'_, 'a>) -> Result<()> {
        self.wait_idling(request, idle)?;
        self.world.borrow_mut().end_request(self.rank, request);
        Ok(())
    }

    /// Receives a step of a collective of the machine's own, and waits for it.
    pub(crate) fn receive_idling(
        &mut self,
        selector: Selector,
        buffer: &mut [u8],
        idle: Idle<'_, 'a>,
    ) -> Result<Envelope> {
        self.receive_by(selector, buffer, |own, request| own.wait_idling(request, idle))
    }

    /// Receives a message, and waits for its end by `wait`.
    fn receive_by(
        &mut self,
        selector: Selector,
        buffer: &mut [u8],
        wait: impl FnOnce(&mut Self, Request) -> Result<()>,
    ) -> Result<Envelope> {
        let begin = self.virtual_time();
        let request = self.begin_receive(selector)?;
        let waited = wait(self, request);
        let received =
            waited.and_then(|()| self.world.borrow_mut().collect(self.rank, request, buffer));
        self.note(Activity::Receive, begin);
        received
    }

    fn description(&self) -> FabricDescription {
        let world = self.world.borrow();
        let mut details = BTreeMap::from([
            ("machine".to_string(), world.machine.title.clone()),
            ("level".to_string(), world.level.name().to_string()),
            ("seed".to_string(), world.seed.to_string()),
        ]);
        if world.shares_processors() {
            let ranks = world.ranks_per_processor().to_string();
            details.insert("ranks_per_processor".to_string(), ranks);
        }
        FabricDescription {
            name: format!("sim:{}", world.machine.name),
            version: env!("CARGO_PKG_VERSION").into(),
            details,
            without_rate: world.machine.processor.without_rate(),
            is_steady: world.is_steady(),
            plans: self.plans(&world),
            ..FabricDescription::default()
        }
    }
}
