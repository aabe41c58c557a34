//! The contract's endpoint.

use contract::{
    Agent, Agents, AgreedCall, Claim, ClockQuality, CollectiveCall, Completion, Computer,
    ComputerServices, ContextCollectives, ContextPlace, Destination, Endpoint, Envelope, Error,
    FabricDescription, LongWaits, NetworkMemory, NewContext, Priority, PriorityGranted, Readable,
    RemoteAccess, Request, Result, Selector, SimulatedTime, Time, TimeSpan, Work, Writable,
    check_rank,
};

use super::SimEndpoint;
use crate::path::PathActivity;
use crate::trace::Activity;
use crate::world::Mode;

/// Agents serve windows if the machine has the costs of accesses.
impl Agents for SimEndpoint<'_> {
    fn place(&mut self, context: u32, agent: Box<dyn Agent>) {
        self.world.borrow_mut().place_agent(self.rank, context, agent);
    }

    fn remove(&mut self, context: u32) {
        self.world.borrow_mut().remove_agent(self.rank, context);
    }

    fn post_access(
        &mut self,
        to: usize,
        context: u32,
        access: RemoteAccess,
        request: Readable,
        answer: (u32, Writable),
    ) -> Result<[Request; 2]> {
        check_rank(to, self.size)?;
        self.access(to, context, access, request, answer)
    }
}

impl ComputerServices for SimEndpoint<'_> {
    /// Ranks that the innermost of several networks connects are on one host.
    fn host_of(&self, rank: usize) -> Option<usize> {
        let world = self.world.borrow();
        let innermost = world.machine.inner_networks.first()?;
        Some(world.processor(rank) / innermost.group_nodes)
    }

    fn set_priority(&self, priority: Priority) -> PriorityGranted {
        if !priority.is_valid() {
            let why = format!("fixed priorities are from 1 to {}", Priority::MAX);
            return PriorityGranted::Refused { why };
        }
        self.world.borrow_mut().set_priority(self.rank, priority);
        PriorityGranted::Granted
    }
}

impl SimulatedTime for SimEndpoint<'_> {
    fn wait_until_time(&mut self, time: Time) {
        self.extend_path(PathActivity::Library);
        let next = self.world.borrow_mut().wait_until(self.rank, time);
        self.suspend_if(next);
        self.extend_path(PathActivity::Sleeping);
    }

    fn yield_processor(&mut self) -> Result<()> {
        let next = self.world.borrow_mut().yield_processor(self.rank);
        self.suspend_if(next);
        Ok(())
    }

    fn skip_idle_polls(&mut self, time: Time) -> Result<bool> {
        let skips = self.world.borrow_mut().skip_idle_polls(self.rank, time)?;
        if skips {
            self.yielder.suspend(());
        }
        Ok(skips)
    }

    fn compute(&mut self, work: Work, body: &mut dyn FnMut()) {
        self.spend(work);
        if self.check_results && work.has_result {
            body();
            self.be_watched();
        }
    }

    fn mark_algorithm(&mut self, begins: bool) {
        if begins {
            self.algorithms += 1;
        } else {
            self.algorithms -= 1;
        }
    }
}

impl ContextCollectives for SimEndpoint<'_> {
    fn announce_by_messages(&mut self, place: ContextPlace, call: AgreedCall) -> u32 {
        self.world.borrow_mut().announce_by_messages(self.rank, place, call);
        0
    }
}

impl LongWaits for SimEndpoint<'_> {
    fn leave(&mut self) -> Result<()> {
        let mut world = self.world.borrow_mut();
        world.check()?;
        world.leave(self.rank);
        Ok(())
    }

    fn any_has_left(&mut self) -> bool {
        self.world.borrow().any_has_left()
    }

    fn cannot_complete(&mut self, request: Request) -> bool {
        self.world.borrow().cannot_complete(self.rank, request)
    }

    fn none_will_send(&mut self, selector: Selector) -> bool {
        self.world.borrow().none_will_send(self.rank, selector)
    }

    fn give_up_on(&mut self, request: Request) -> Error {
        self.world.borrow_mut().give_up_on(self.rank, request)
    }

    fn sleep_a_while(&mut self, longest: TimeSpan) -> Result<bool> {
        let sleeps = self.world.borrow_mut().sleep_a_while(self.rank, longest)?;
        if sleeps {
            self.yielder.suspend(());
        }
        Ok(!sleeps)
    }
}

// SAFETY: the data of a send are copied when it is posted. The memory of a receive is written to when the world
// declares the request done, and not before; a request that was cancelled has lost it, as has one whose rank has
// ended. The world declares nothing done once a call has failed.
#[allow(unsafe_code)]
unsafe impl Endpoint for SimEndpoint<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn simulated_time(&mut self) -> Option<&mut dyn SimulatedTime> {
        Some(self)
    }

    fn computer(&self) -> Computer<'_> {
        let world = self.world.borrow();
        Computer {
            processor: Some(world.processor(self.rank)),
            every_rank_has_a_processor: !world.shares_processors(),
            clock: ClockQuality::VIRTUAL,
            services: self,
        }
    }

    fn describe(&self) -> FabricDescription {
        self.description()
    }

    fn now(&self) -> Time {
        let next = self.world.borrow_mut().read_clock(self.rank);
        self.suspend_if(next);
        self.virtual_time()
    }

    /// The machine has collectives of its own only for the context of all ranks.
    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        let NewContext { number, members, .. } = context;
        self.world.borrow_mut().open_context(self.rank, number, members);
        Ok(ContextPlace(number))
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        self.world.borrow_mut().close_context(self.rank, place.0);
        Ok(())
    }

    fn post_send(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        check_rank(to.rank, self.size)?;
        let mode = match until {
            Completion::Local => Mode::Standard,
            Completion::Synchronous => Mode::Synchronous,
        };
        self.post(1);
        let request = self.begin_send(to, data.as_slice(), mode)?;
        self.world.borrow_mut().note_posted_memory(self.rank, request, data.bytes());
        Ok(request)
    }

    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        self.post(1);
        let mut world = self.world.borrow_mut();
        world.check()?;
        let bytes = room.bytes();
        let request = world.start_receive(self.rank, selector, Some(room));
        world.note_posted_memory(self.rank, request, bytes);
        Ok(request)
    }

    fn is_done(&self, request: Request) -> bool {
        self.world.borrow_mut().watch(self.rank, request)
    }

    fn envelope(&self, request: Request) -> Envelope {
        self.world.borrow().envelope(self.rank, request)
    }

    /// Spends the time that a test or a wait has not yet spent for the request.
    fn end(&mut self, request: Request) -> Envelope {
        let due = self.world.borrow_mut().take_due(self.rank, request);
        self.work(due);
        self.move_memory(request);
        self.world.borrow_mut().end_request(self.rank, request)
    }

    fn cancel_receive(&mut self, request: Request) -> bool {
        self.world.borrow_mut().cancel_receive(self.rank, request)
    }

    fn probe(&mut self, selector: Selector, claim: Option<Claim>) -> Result<Option<Envelope>> {
        self.poll();
        let mut world = self.world.borrow_mut();
        world.check()?;
        Ok(match claim {
            None => world.probe(self.rank, selector),
            Some(Claim { context, tag }) => world.claim(self.rank, selector, context, tag),
        })
    }

    /// Also spends the time of the end of the request that is wanted, if it is done.
    fn progress(&mut self, wanted: Option<Request>) -> Result<()> {
        self.poll();
        let (request, due) = {
            let mut world = self.world.borrow_mut();
            world.check()?;
            let done = wanted.filter(|&request| world.is_done(self.rank, request));
            let Some(request) = done else { return Ok(()) };
            (request, world.take_due(self.rank, request))
        };
        self.work(due);
        self.move_memory(request);
        Ok(())
    }

    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        let begin = self.virtual_time();
        let index = self.wait_for(requests)?;
        self.note(Activity::Wait, begin);
        self.move_memory(requests[index]);
        Ok(index)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        let begin = self.virtual_time();
        loop {
            let seen = {
                let world = self.world.borrow();
                world.check()?;
                world.event_count(self.rank)
            };
            if done(self) {
                self.note(Activity::Wait, begin);
                return Ok(());
            }
            // `done` may have let time pass, in which an event may have occurred that it has checked for before.
            let waits = self.world.borrow_mut().wait_for_anything(self.rank, seen)?;
            if waits {
                self.yielder.suspend(());
            }
            self.poll();
        }
    }

    fn send(&mut self, to: Destination, data: &[u8]) -> Result<()> {
        check_rank(to.rank, self.size)?;
        let begin = self.virtual_time();
        let request = self.begin_send(to, data, Mode::Standard)?;
        let sent = self.wait_for(&[request]);
        self.note(Activity::Send, begin);
        sent?;
        self.world.borrow_mut().end_request(self.rank, request);
        Ok(())
    }

    fn receive(&mut self, selector: Selector, buffer: &mut [u8]) -> Result<Envelope> {
        self.receive_by(selector, buffer, |own, request| own.wait_for(&[request]).map(drop))
    }

    fn exchange(
        &mut self,
        (to, data): (Destination, &[u8]),
        (selector, buffer): (Selector, &mut [u8]),
    ) -> Result<Envelope> {
        check_rank(to.rank, self.size)?;
        let begin = self.virtual_time();
        self.post(2);
        let receive = self.begin_receive(selector)?;
        let send = self.begin_send(to, data, Mode::Standard)?;
        self.wait_for(&[send])?;
        self.world.borrow_mut().end_request(self.rank, send);
        let waited = self.wait_for(&[receive]);
        let received =
            waited.and_then(|_| self.world.borrow_mut().collect(self.rank, receive, buffer));
        self.note(Activity::Exchange, begin);
        received
    }

    fn collective(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        if place == ContextPlace::WORLD { self.own_collective(call, idle) } else { None }
    }

    fn network_memory(&mut self) -> Option<NetworkMemory<'_>> {
        let has_agents = self.world.borrow().windows().is_some();
        has_agents.then_some(NetworkMemory::Agents(self))
    }

    fn context_collectives(&mut self, _place: ContextPlace) -> Option<&mut dyn ContextCollectives> {
        Some(self)
    }

    fn long_waits(&mut self) -> Option<&mut dyn LongWaits> {
        Some(self)
    }

    fn finish(self, outcome: Result<()>) -> i32 {
        let status = i32::from(outcome.is_err());
        self.world.borrow_mut().end(self.rank, outcome);
        status
    }
}
