//! The contract on a simulated machine: each call asks the world, and suspends the rank's coroutine where it must wait.

mod boards;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use contract::record::FabricDescription;
use contract::{
    Buffer, ClockQuality, Completed, Error, Posted, Priority, PriorityGranted, Progress, Rank,
    Reduction, Result, Source, Status, Tag, TagSelector, Time, TimeSpan, Work, check_rank,
    collective,
};
use corosensei::Yielder;

use crate::machine::RingCollectives;
use crate::trace::Activity;
use crate::world::{Finished, Turn, World};
use crate::{board, ring};

/// A rank of a simulated machine.
pub(crate) struct SimulatedRank<'a> {
    world: Rc<RefCell<World>>,
    yielder: &'a Yielder<(), ()>,
    rank: usize,
    size: usize,
    check_results: bool,
    /// Whether the machine's library is at work, and not the program.
    in_library: bool,
}

impl<'a> SimulatedRank<'a> {
    pub(crate) fn new(
        world: Rc<RefCell<World>>,
        yielder: &'a Yielder<(), ()>,
        rank: usize,
        check_results: bool,
    ) -> Self {
        let size = world.borrow().size();
        SimulatedRank { world, yielder, rank, size, check_results, in_library: false }
    }

    /// Suspends this rank if the world says so.
    fn take_turn(&self, turn: Turn) {
        if turn == Turn::Suspend {
            self.yielder.suspend(());
        }
    }

    /// Lets the rank's processor work for `span`.
    pub(crate) fn work(&self, span: TimeSpan) {
        let turn = self.world.borrow_mut().work(self.rank, span);
        self.take_turn(turn);
    }

    /// What some work takes this rank's processor.
    pub(crate) fn time_of(&self, work: Work) -> TimeSpan {
        self.world.borrow().machine.processor.time(work.kind, work.amount).times(work.times)
    }

    fn note(&self, activity: Activity, begin: Time) {
        let mut world = self.world.borrow_mut();
        let end = world.now();
        if let Some(recorder) = &mut world.recorder {
            recorder.activity(self.rank, activity, begin, end);
        }
    }

    /// Waits for one of some operations; its place among them, and what became of it.
    fn finish_one(&self, numbers: &[u32]) -> Result<(usize, Finished, Option<Buffer>)> {
        loop {
            let taken = self.world.borrow_mut().take_or_wait(self.rank, numbers)?;
            if let Some((index, finished, buffer)) = taken {
                self.work(finished.due);
                return Ok((index, finished, buffer));
            }
            self.yielder.suspend(());
        }
    }

    fn complete(&self, finished: Finished, buffer: Option<Buffer>) -> Result<Completed> {
        if finished.message.is_some() {
            let longer = self.world.borrow().beyond_caches(self.rank, finished.bytes);
            self.work(longer);
        }
        let mut buffer = buffer.ok_or(Error::UnknownRequest)?;
        let status = self.world.borrow_mut().collect(finished, &mut buffer)?;
        Ok(Completed { buffer, status, in_place: None })
    }

    fn begin_send(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<u32> {
        check_rank(to, self.size)?;
        let overhead = {
            let world = self.world.borrow();
            world.check()?;
            world.send_overhead(self.rank, to, data.len())
        };
        self.work(overhead);
        let mut world = self.world.borrow_mut();
        world.check()?;
        Ok(world.start_send(self.rank, to, tag, data, false))
    }

    fn begin_receive(&mut self, from: Source, tag: TagSelector) -> Result<u32> {
        if let Source::Rank(from) = from {
            check_rank(from, self.size)?;
        }
        let mut world = self.world.borrow_mut();
        world.check()?;
        Ok(world.start_receive(self.rank, from, tag))
    }

    fn end_send(&self, operation: u32) -> Result<()> {
        self.finish_one(&[operation]).map(drop)
    }

    fn end_receive(&self, operation: u32, buffer: &mut [u8]) -> Result<Status> {
        let (_, finished, _) = self.finish_one(&[operation])?;
        self.world.borrow_mut().collect(finished, buffer)
    }

    /// Sends a step of a collective of the machine's own; returns when it has left. There is no overhead but what the
    /// collective's own code spends.
    pub(crate) fn begin_bare_send(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<u32> {
        let mut world = self.world.borrow_mut();
        world.check()?;
        Ok(world.start_send(self.rank, to, tag, data, true))
    }

    pub(crate) fn end_bare_send(&self, operation: u32) -> Result<()> {
        self.end_send(operation)
    }

    /// The program posts some operations, or the library does for its own steps where the machine's are posted one by one.
    fn post(&self, operations: u64) {
        let (post, by_library) = {
            let endpoint = &self.world.borrow().machine.endpoint;
            (endpoint.post, endpoint.library_posts)
        };
        if by_library || !self.in_library {
            self.work(post.times(operations));
        }
    }

    /// The library runs a collective.
    fn collective<T>(&mut self, steps: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.in_library, true);
        let done = steps(self);
        self.in_library = outer;
        done
    }

    fn ring_collectives(&self) -> Option<RingCollectives> {
        let world = self.world.borrow();
        let own = self.size > 1 && !world.shares_processors();
        world.machine.ring_collectives.clone().filter(|_| own)
    }
}

impl Rank for SimulatedRank<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn now(&self) -> Time {
        let turn = self.world.borrow_mut().read_clock(self.rank);
        self.take_turn(turn);
        self.world.borrow().now()
    }

    fn clock(&self) -> ClockQuality {
        ClockQuality { resolution: TimeSpan::from_ps(1), uncertainty: TimeSpan::ZERO }
    }

    fn wait_until(&mut self, time: Time) {
        let turn = self.world.borrow_mut().wait_until(self.rank, time);
        self.take_turn(turn);
    }

    fn compute(&mut self, work: Work, body: &mut dyn FnMut()) {
        let begin = self.world.borrow().now();
        self.work(self.time_of(work));
        self.note(Activity::Compute, begin);
        if self.check_results {
            body();
        }
    }

    fn every_rank_has_a_processor(&self) -> bool {
        !self.world.borrow().shares_processors()
    }

    fn processor(&self) -> Option<usize> {
        Some(self.world.borrow().processor(self.rank))
    }

    fn set_priority(&mut self, priority: Priority) -> PriorityGranted {
        if !priority.is_valid() {
            let why = format!("fixed priorities are from 1 to {}", Priority::MAX);
            return PriorityGranted::Refused { why };
        }
        self.world.borrow_mut().set_priority(self.rank, priority);
        PriorityGranted::Granted
    }

    fn describe(&self) -> FabricDescription {
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
        }
    }

    fn send(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<()> {
        let begin = self.world.borrow().now();
        let operation = self.begin_send(to, tag, data)?;
        let sent = self.end_send(operation);
        self.note(Activity::Send, begin);
        sent
    }

    fn receive(&mut self, from: Source, tag: TagSelector, buffer: &mut [u8]) -> Result<Status> {
        let begin = self.world.borrow().now();
        let operation = self.begin_receive(from, tag)?;
        let received = self.end_receive(operation, buffer);
        self.note(Activity::Receive, begin);
        received
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
        let begin = self.world.borrow().now();
        check_rank(to, self.size)?;
        self.post(2);
        let receive = self.begin_receive(from, receive_tag)?;
        let send = self.begin_send(to, send_tag, data)?;
        self.end_send(send)?;
        let received = self.end_receive(receive, buffer);
        self.note(Activity::Exchange, begin);
        received
    }

    fn post_send(&mut self, to: usize, tag: Tag, buffer: Buffer) -> Result<Posted> {
        self.post(1);
        let operation = self.begin_send(to, tag, &buffer)?;
        Ok(self.world.borrow_mut().keep_buffer(self.rank, operation, buffer))
    }

    fn post_receive(&mut self, from: Source, tag: TagSelector, buffer: Buffer) -> Result<Posted> {
        self.post(1);
        let operation = self.begin_receive(from, tag)?;
        Ok(self.world.borrow_mut().keep_buffer(self.rank, operation, buffer))
    }

    fn wait(&mut self, posted: Posted) -> Result<Completed> {
        let begin = self.world.borrow().now();
        let number = self.world.borrow().number(self.rank, &posted)?;
        let (_, finished, buffer) = self.finish_one(&[number])?;
        self.note(Activity::Wait, begin);
        self.complete(finished, buffer)
    }

    fn test(&mut self, posted: Posted) -> Result<Progress> {
        let polling = self.world.borrow().machine.processor.polling;
        self.work(polling);
        let taken = {
            let mut world = self.world.borrow_mut();
            world.check()?;
            let number = world.number(self.rank, &posted)?;
            world.take(self.rank, number)
        };
        let Some((finished, buffer)) = taken else { return Ok(Progress::Pending(posted)) };
        self.work(finished.due);
        self.complete(finished, buffer).map(Progress::Done)
    }

    fn wait_any(&mut self, posted: &mut Vec<Posted>) -> Result<(usize, Completed)> {
        assert!(!posted.is_empty(), "wait_any needs something to wait for");
        let begin = self.world.borrow().now();
        let mut numbers = Vec::with_capacity(posted.len());
        for index in 0..posted.len() {
            match self.world.borrow().number(self.rank, &posted[index]) {
                Ok(number) => numbers.push(number),
                Err(error) => {
                    let _unknown = posted.remove(index);
                    return Err(error);
                }
            }
        }
        let (index, finished, buffer) = self.finish_one(&numbers)?;
        let _handle = posted.remove(index);
        self.note(Activity::Wait, begin);
        Ok((index, self.complete(finished, buffer)?))
    }

    fn probe(&mut self, from: Source, tag: TagSelector) -> Result<Option<Status>> {
        if let Source::Rank(from) = from {
            check_rank(from, self.size)?;
        }
        let polling = self.world.borrow().machine.processor.polling;
        self.work(polling);
        let world = self.world.borrow();
        world.check()?;
        Ok(world.probe(self.rank, from, tag))
    }

    fn barrier(&mut self) -> Result<()> {
        if let Some(costs) = self.ring_collectives() {
            return ring::barrier(self, &costs);
        }
        match self.board(0) {
            Some(costs) => board::barrier(self, &costs),
            None => self.collective(collective::barrier),
        }
    }

    fn broadcast(&mut self, root: usize, buffer: &mut [u8]) -> Result<()> {
        if let Some(costs) = self.ring_collectives() {
            return ring::broadcast(self, &costs, root, buffer);
        }
        match self.board(buffer.len()) {
            Some(costs) => board::broadcast(self, &costs, root, buffer),
            None => self.collective(|rank| collective::broadcast(rank, root, buffer)),
        }
    }

    fn scatter(&mut self, root: usize, send: &[u8], receive: &mut [u8]) -> Result<()> {
        match self.board(receive.len()) {
            Some(costs) => board::scatter(self, &costs, root, send, receive),
            None => self.collective(|rank| collective::scatter(rank, root, send, receive)),
        }
    }

    fn gather(&mut self, root: usize, send: &[u8], receive: &mut [u8]) -> Result<()> {
        match self.board(send.len()) {
            Some(costs) => board::gather(self, &costs, root, send, receive),
            None => self.collective(|rank| collective::gather(rank, root, send, receive)),
        }
    }

    fn allgather(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        if let Some(costs) = self.ring_collectives() {
            return ring::allgather(self, &costs, send, receive);
        }
        match self.board(receive.len()) {
            Some(costs) => board::allgather(self, &costs, send, receive),
            None => self.collective(|rank| collective::allgather(rank, send, receive)),
        }
    }

    fn allgather_in_place(&mut self, buffer: &mut [u8]) -> Result<()> {
        if let Some(costs) = self.ring_collectives() {
            return ring::allgather_in_place(self, &costs, buffer);
        }
        match self.board(buffer.len()) {
            Some(costs) => board::allgather_in_place(self, &costs, buffer),
            None => self.collective(|rank| collective::allgather_in_place(rank, buffer)),
        }
    }

    fn reduce(
        &mut self,
        root: usize,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        match self.board(send.len()) {
            Some(costs) => board::reduce(self, &costs, root, reduction, send, receive),
            None => {
                self.collective(|rank| collective::reduce(rank, root, reduction, send, receive))
            }
        }
    }

    fn allreduce(&mut self, reduction: Reduction, send: &[u8], receive: &mut [u8]) -> Result<()> {
        match self.board(send.len()) {
            Some(costs) => board::allreduce(self, &costs, reduction, send, receive),
            None => self.collective(|rank| collective::allreduce(rank, reduction, send, receive)),
        }
    }

    fn all_to_all(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        match self.board(send.len()) {
            Some(costs) => board::all_to_all(self, &costs, send, receive),
            None => self.collective(|rank| collective::all_to_all(rank, send, receive)),
        }
    }
}
