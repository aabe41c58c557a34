//! A rank over TCP: the contract over the engine.

use contract::record::FabricDescription;
use contract::{
    Buffer, ClockQuality, Completed, Posted, Priority, PriorityGranted, Progress, Rank, Result,
    Source, Status, Tag, TagSelector, Time, Work,
};
use hosts::{Clock, LocalClock};

use crate::engine::{CREDIT_BYTES, EAGER_MAX, Engine, Lent, Memory};
use crate::supervision::Supervision;

/// A process that is one rank of a run over TCP.
///
/// Every pair of ranks has a connection of its own. Collectives are the contract's own algorithms over messages. A message to
/// this rank itself is copied, however long, and waits for nobody.
pub struct TcpRank {
    engine: Engine,
    place: Place,
}

/// What is found out when the ranks have met.
struct Place {
    clock: Clock,
    processor: Option<usize>,
    every_rank_has_a_processor: bool,
    hosts: usize,
    address: String,
}

impl TcpRank {
    /// The rank over `engine`, whose other ranks must call this too.
    pub(crate) fn settle(engine: Engine, address: String) -> Result<Self> {
        let known = engine.supervision.place();
        let (processor, every_rank_has_a_processor) = known.unwrap_or_default();
        let local = LocalClock::ONE_HOST;
        let clock = Clock::common(local, local.ns());
        let place = Place { clock, processor, every_rank_has_a_processor, hosts: 1, address };
        let mut rank = TcpRank { engine, place };
        if known.is_none() {
            let settled = hosts::settle(&mut rank)?;
            rank.place.processor = settled.processor;
            rank.place.every_rank_has_a_processor = settled.every_rank_has_a_processor;
            rank.place.hosts = settled.hosts;
        }
        rank.engine.spins = rank.place.every_rank_has_a_processor;
        rank.place.clock = hosts::shared_clock(&mut rank, None)?;
        Ok(rank)
    }

    /// Hands `bytes` to the process that started the run, whole, and in the order of this rank's calls.
    ///
    /// # Errors
    /// [`contract::Error::System`] if nobody reads there any more.
    pub fn report(&mut self, bytes: &[u8]) -> Result<()> {
        self.reporter().report(bytes)
    }

    /// What hands reports over while a program holds this rank.
    pub fn reporter(&self) -> crate::Reporter {
        match &self.engine.supervision {
            Supervision::Local(local) => crate::Reporter::local(local.reporter()),
            Supervision::Remote(control) => crate::Reporter::remote(control.speaker()),
        }
    }

    /// Ends this rank's part of the run: completes what is still under way, waits until everybody has come here, tells of a
    /// failure, and gives the status that the process should exit with.
    pub fn finish(self, outcome: Result<()>) -> i32 {
        let mut engine = self.engine;
        let outcome = outcome.and_then(|()| engine.finish());
        engine.leave(outcome)
    }

    fn lend<'a>(send: &'a [u8], receive: &'a mut [u8]) -> Lent<'a> {
        Lent { send, receive }
    }
}

impl Rank for TcpRank {
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
        self.place.clock.now()
    }

    fn clock(&self) -> ClockQuality {
        self.place.clock.quality()
    }

    fn wait_until(&mut self, time: Time) {
        contract::wait_until(|| self.now(), time);
    }

    fn compute(&mut self, _work: Work, body: &mut dyn FnMut()) {
        body();
    }

    fn every_rank_has_a_processor(&self) -> bool {
        self.place.every_rank_has_a_processor
    }

    fn processor(&self) -> Option<usize> {
        self.place.processor
    }

    fn set_priority(&mut self, priority: Priority) -> PriorityGranted {
        match &mut self.engine.supervision {
            Supervision::Local(local) => local.world().set_priority(priority),
            Supervision::Remote(_) => PriorityGranted::Refused {
                why: "ranks over TCP have priorities only where one host starts them all".into(),
            },
        }
    }

    fn describe(&self) -> FabricDescription {
        let binding = match self.place.processor {
            Some(processor) => format!("rank {} on processor {processor}", self.rank()),
            None => "not bound to one processor".into(),
        };
        let waiting = if self.engine.spins {
            "looks again for 200 us, then sleeps"
        } else {
            "sleeps (more ranks than processors)"
        };
        let details = [
            ("address", self.place.address.clone()),
            ("hosts", self.place.hosts.to_string()),
            ("clock", self.place.clock.describe()),
            ("binding", binding),
            ("waiting", waiting.into()),
            ("eager_max_bytes", EAGER_MAX.to_string()),
            ("unexpected_max_bytes", CREDIT_BYTES.to_string()),
        ];
        FabricDescription {
            name: "tcp".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            details: details.into_iter().map(|(name, value)| (name.into(), value)).collect(),
        }
    }

    fn send(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<()> {
        let lent = &mut Self::lend(data, &mut []);
        let posted = self.engine.start_send(to, tag, Memory::Lent, data.len(), lent)?;
        self.engine.wait(&posted, lent)?;
        self.engine.end(&posted).map(drop)
    }

    fn receive(&mut self, from: Source, tag: TagSelector, buffer: &mut [u8]) -> Result<Status> {
        let bytes = buffer.len();
        let lent = &mut Self::lend(&[], buffer);
        let posted = self.engine.start_receive(from, tag, Memory::Lent, bytes, lent)?;
        self.engine.wait(&posted, lent)?;
        self.engine.end(&posted).map(|(status, _)| status)
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
        let bytes = buffer.len();
        contract::check_rank(to, self.size())?;
        let lent = &mut Self::lend(data, buffer);
        let received = self.engine.start_receive(from, receive_tag, Memory::Lent, bytes, lent)?;
        let sent = self.engine.start_send(to, send_tag, Memory::Lent, data.len(), lent)?;
        self.engine.wait(&received, lent)?;
        self.engine.wait(&sent, lent)?;
        self.engine.end(&sent)?;
        self.engine.end(&received).map(|(status, _)| status)
    }

    fn post_send(&mut self, to: usize, tag: Tag, buffer: Buffer) -> Result<Posted> {
        let bytes = buffer.len();
        self.engine.start_send(to, tag, Memory::Owned(buffer), bytes, &mut Lent::nothing())
    }

    fn post_receive(&mut self, from: Source, tag: TagSelector, buffer: Buffer) -> Result<Posted> {
        let bytes = buffer.len();
        self.engine.start_receive(from, tag, Memory::Owned(buffer), bytes, &mut Lent::nothing())
    }

    fn wait(&mut self, posted: Posted) -> Result<Completed> {
        self.engine.wait(&posted, &mut Lent::nothing())?;
        self.engine.complete(&posted)
    }

    fn test(&mut self, posted: Posted) -> Result<Progress> {
        if self.engine.test(&posted)? {
            self.engine.complete(&posted).map(Progress::Done)
        } else {
            Ok(Progress::Pending(posted))
        }
    }

    fn wait_any(&mut self, posted: &mut Vec<Posted>) -> Result<(usize, Completed)> {
        assert!(!posted.is_empty(), "wait_any needs something to wait for");
        let index = self.engine.wait_any(posted)?;
        let one = posted.remove(index);
        self.engine.complete(&one).map(|completed| (index, completed))
    }

    fn probe(&mut self, from: Source, tag: TagSelector) -> Result<Option<Status>> {
        if let Source::Rank(rank) = from {
            contract::check_rank(rank, self.size())?;
        }
        self.engine.probe(from, tag)
    }

    fn send_window(&mut self, to: usize, tag: Tag, data: &[u8], count: usize) -> Result<()> {
        self.engine.send_window(to, tag, count, &mut Self::lend(data, &mut []))
    }

    fn receive_window(
        &mut self,
        from: Source,
        tag: TagSelector,
        buffer: &mut [u8],
        count: usize,
    ) -> Result<()> {
        self.engine.receive_window(from, tag, count, &mut Self::lend(&[], buffer))
    }
}
