//! Common parts of tests: a rank that is another one with replaced parts, and random numbers from a seed.

use std::cell::Cell;

use contract::{
    Buffer, ClockQuality, Completed, Context, FabricDescription, Posted, Progress, Rank,
    RankWindow, Reduction, Result, SharedLine, Source, Status, Tag, TagSelector, Time, TimeSpan,
    WindowCall, Work,
};

use crate::catalogue::find;
use crate::job::Step;
use crate::program::Definition;

/// Returns a step of the benchmark with this name, without parameters.
pub(crate) fn step(benchmark: &str) -> Step {
    Step {
        benchmark: benchmark.into(),
        parameters: Default::default(),
        size_bytes: 0,
        estimate_s: 0.0,
        repetition: 1,
    }
}

/// Returns the program of the benchmark with this name.
pub(crate) fn definition(benchmark: &str) -> Definition {
    find(benchmark).unwrap().definition()
}

/// A rank that behaves as `inner`, except for the settings here.
pub(crate) struct Altered<'a> {
    pub(crate) inner: &'a mut dyn Rank,
    /// Time shown instead of the clock's; only `wait_until` and setting it change it.
    pub(crate) time_ps: Option<&'a Cell<u64>>,
    /// Time of each reading of that clock.
    pub(crate) reading_ps: u64,
    /// Time of an agreement on a start on that clock, by the number of the agreement.
    pub(crate) agreement_ps: fn(u64) -> u64,
    pub(crate) agreements: u64,
    pub(crate) uncertainty: TimeSpan,
    pub(crate) processor: Option<usize>,
    pub(crate) has_shared_line: bool,
    pub(crate) every_rank_has_a_processor: Option<bool>,
    /// Length of the receive buffers in which a byte of each message is changed.
    pub(crate) corrupts: Option<usize>,
}

impl<'a> Altered<'a> {
    pub(crate) fn new(inner: &'a mut dyn Rank) -> Self {
        Altered {
            inner,
            time_ps: None,
            reading_ps: 0,
            agreement_ps: |_| 0,
            agreements: 0,
            uncertainty: TimeSpan::ZERO,
            processor: None,
            has_shared_line: true,
            every_rank_has_a_processor: None,
            corrupts: None,
        }
    }

    fn corrupt(&self, buffer: &mut [u8]) {
        if self.corrupts == Some(buffer.len()) {
            buffer[0] ^= 1;
        }
    }
}

impl Rank for Altered<'_> {
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn now(&self) -> Time {
        let Some(time_ps) = self.time_ps else { return self.inner.now() };
        time_ps.set(time_ps.get() + self.reading_ps);
        Time::from_ps(time_ps.get())
    }

    fn clock(&self) -> ClockQuality {
        ClockQuality {
            resolution: TimeSpan::from_ps(1),
            uncertainty: self.uncertainty,
            is_virtual: false,
        }
    }

    fn wait_until(&mut self, time: Time) {
        match self.time_ps {
            Some(time_ps) => time_ps.set(time_ps.get().max(time.as_ps())),
            None => self.inner.wait_until(time),
        }
    }

    fn compute(&mut self, work: Work, body: &mut dyn FnMut()) {
        self.inner.compute(work, body);
    }

    fn every_rank_has_a_processor(&self) -> bool {
        self.every_rank_has_a_processor.unwrap_or_else(|| self.inner.every_rank_has_a_processor())
    }

    fn processor(&self) -> Option<usize> {
        self.processor
    }

    fn describe(&self) -> FabricDescription {
        self.inner.describe()
    }

    fn shared_line(&self) -> Option<&dyn SharedLine> {
        self.has_shared_line.then(|| self.inner.shared_line()).flatten()
    }

    fn split(&mut self, colour: Option<u32>, key: i64) -> Result<Option<Context>> {
        self.inner.split(colour, key)
    }

    fn within<'b>(&'b mut self, context: &Context) -> Box<dyn Rank + 'b> {
        self.inner.within(context)
    }

    fn enter(&mut self, context: Context) -> Context {
        self.inner.enter(context)
    }

    fn close(&mut self, context: Context) -> Result<()> {
        self.inner.close(context)
    }

    fn open_window(&mut self, bytes: usize) -> Result<RankWindow> {
        self.inner.open_window(bytes)
    }

    fn call_window(&mut self, window: &mut RankWindow, call: WindowCall<'_>) -> Result<()> {
        self.inner.call_window(window, call)
    }

    fn close_window(&mut self, window: RankWindow) -> Result<()> {
        self.inner.close_window(window)
    }

    fn send(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<()> {
        self.inner.send(to, tag, data)
    }

    fn receive(&mut self, from: Source, tag: TagSelector, buffer: &mut [u8]) -> Result<Status> {
        let status = self.inner.receive(from, tag, buffer);
        self.corrupt(buffer);
        status
    }

    fn send_receive(
        &mut self,
        send: (usize, Tag, &[u8]),
        receive: (Source, TagSelector, &mut [u8]),
    ) -> Result<Status> {
        self.inner.send_receive(send, receive)
    }

    fn post_send(&mut self, to: usize, tag: Tag, buffer: Buffer) -> Result<Posted> {
        self.inner.post_send(to, tag, buffer)
    }

    fn post_receive(&mut self, from: Source, tag: TagSelector, buffer: Buffer) -> Result<Posted> {
        self.inner.post_receive(from, tag, buffer)
    }

    fn wait(&mut self, posted: Posted) -> Result<Completed> {
        self.inner.wait(posted)
    }

    fn test(&mut self, posted: Posted) -> Result<Progress> {
        self.inner.test(posted)
    }

    fn probe(&mut self, from: Source, tag: TagSelector) -> Result<Option<Status>> {
        self.inner.probe(from, tag)
    }

    fn allreduce(&mut self, reduction: Reduction, send: &[u8], receive: &mut [u8]) -> Result<()> {
        self.inner.allreduce(reduction, send, receive)?;
        self.agreements += 1;
        if let Some(time_ps) = self.time_ps {
            time_ps.set(time_ps.get() + (self.agreement_ps)(self.agreements));
        }
        Ok(())
    }
}
