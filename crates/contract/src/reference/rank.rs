//! The contract over the shared queues: every blocking call posts its operations and waits for them.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;

use super::machine::{Ended, Machine};
use crate::record::FabricDescription;
use crate::{
    Buffer, ClockQuality, Completed, Posted, Progress, Rank, Result, SharedLine, Source, Status,
    Tag, TagSelector, Time, TimeSpan, Work, check_rank,
};

pub(super) struct ReferenceRank<'a> {
    machine: &'a Machine,
    rank: usize,
    /// The buffers of posted operations, by the operation's number.
    buffers: HashMap<u64, Buffer>,
}

impl<'a> ReferenceRank<'a> {
    pub(super) fn new(machine: &'a Machine, rank: usize) -> Self {
        ReferenceRank { machine, rank, buffers: HashMap::new() }
    }

    fn start_send(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<u64> {
        check_rank(to, self.size())?;
        self.machine.start_send(self.rank, to, tag, data.to_vec())
    }

    fn start_receive(&mut self, from: Source, tag: TagSelector, room: usize) -> Result<u64> {
        if let Source::Rank(from) = from {
            check_rank(from, self.size())?;
        }
        self.machine.start_receive(self.rank, from, tag, room)
    }

    fn finish(&self, number: u64) -> Result<Ended> {
        Ok(self.machine.wait(self.rank, &[number])?.1)
    }

    fn finish_receive(&self, number: u64, buffer: &mut [u8]) -> Result<Status> {
        let ended = self.finish(number)?;
        buffer[..ended.data.len()].copy_from_slice(&ended.data);
        ended.result.map(|()| ended.status)
    }

    fn complete(&mut self, number: u64, ended: Ended) -> Result<Completed> {
        let mut buffer = self.buffers.remove(&number).ok_or(crate::Error::UnknownRequest)?;
        buffer[..ended.data.len()].copy_from_slice(&ended.data);
        ended.result.map(|()| Completed { buffer, status: ended.status, in_place: None })
    }
}

impl Rank for ReferenceRank<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.machine.size()
    }

    fn now(&self) -> Time {
        Time::ZERO + TimeSpan::from_ns(self.machine.begin.elapsed().as_nanos() as u64)
    }

    fn clock(&self) -> ClockQuality {
        ClockQuality { resolution: TimeSpan::from_ns(1), uncertainty: TimeSpan::ZERO }
    }

    fn wait_until(&mut self, time: Time) {
        while self.now() < time {
            let ns = time.since(self.now()).as_ps().div_ceil(1_000);
            std::thread::sleep(std::time::Duration::from_nanos(ns));
        }
    }

    fn compute(&mut self, _work: Work, body: &mut dyn FnMut()) {
        body();
    }

    fn every_rank_has_a_processor(&self) -> bool {
        std::thread::available_parallelism().is_ok_and(|count| count.get() >= self.size())
    }

    fn processor(&self) -> Option<usize> {
        None
    }

    fn describe(&self) -> FabricDescription {
        FabricDescription {
            name: "reference".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            ..FabricDescription::default()
        }
    }

    fn shared_line(&self) -> Option<&dyn SharedLine> {
        Some(self)
    }

    fn send(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<()> {
        let number = self.start_send(to, tag, data)?;
        self.finish(number).map(drop)
    }

    fn receive(&mut self, from: Source, tag: TagSelector, buffer: &mut [u8]) -> Result<Status> {
        let number = self.start_receive(from, tag, buffer.len())?;
        self.finish_receive(number, buffer)
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
        let receive = self.start_receive(from, receive_tag, buffer.len())?;
        let send = self.start_send(to, send_tag, data)?;
        let received = self.finish_receive(receive, buffer);
        self.finish(send)?;
        received
    }

    fn post_send(&mut self, to: usize, tag: Tag, buffer: Buffer) -> Result<Posted> {
        let number = self.start_send(to, tag, &buffer)?;
        self.buffers.insert(number, buffer);
        Ok(Posted::new(number))
    }

    fn post_receive(&mut self, from: Source, tag: TagSelector, buffer: Buffer) -> Result<Posted> {
        let number = self.start_receive(from, tag, buffer.len())?;
        self.buffers.insert(number, buffer);
        Ok(Posted::new(number))
    }

    fn wait(&mut self, posted: Posted) -> Result<Completed> {
        let ended = self.finish(posted.number())?;
        self.complete(posted.number(), ended)
    }

    fn test(&mut self, posted: Posted) -> Result<Progress> {
        match self.machine.test(self.rank, posted.number())? {
            Some(ended) => Ok(Progress::Done(self.complete(posted.number(), ended)?)),
            None => {
                std::thread::yield_now();
                Ok(Progress::Pending(posted))
            }
        }
    }

    fn wait_any(&mut self, posted: &mut Vec<Posted>) -> Result<(usize, Completed)> {
        assert!(!posted.is_empty(), "wait_any needs something to wait for");
        let numbers: Vec<u64> = posted.iter().map(Posted::number).collect();
        let (index, ended) = self.machine.wait(self.rank, &numbers)?;
        let done = posted.remove(index);
        Ok((index, self.complete(done.number(), ended)?))
    }

    fn probe(&mut self, from: Source, tag: TagSelector) -> Result<Option<Status>> {
        if let Source::Rank(from) = from {
            check_rank(from, self.size())?;
        }
        let found = self.machine.probe(self.rank, from, tag)?;
        if found.is_none() {
            std::thread::yield_now();
        }
        Ok(found)
    }
}

impl SharedLine for ReferenceRank<'_> {
    fn word(&self, index: usize) -> &AtomicU64 {
        self.machine.leave_if_given_up();
        self.machine.line.word(index)
    }

    fn sleep_while(&self, index: usize, value: u64) {
        self.machine.leave_if_given_up();
        self.machine.line.sleep_while(index, value);
    }

    fn wake(&self, _index: usize) {
        self.machine.line.wake_all();
    }
}
