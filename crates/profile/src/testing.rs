//! Invented runs for tests. A tick is a microsecond.

use crate::event::{Event, Kind, NOBODY};
use crate::moment::Clock;
use crate::record::RankRecord;

/// Number of ticks in a second.
pub(crate) const PER_S: f64 = 1e6;

pub(crate) struct Run {
    pub(crate) records: Vec<RankRecord>,
}

impl Run {
    pub(crate) fn of(size: usize) -> Self {
        let record = |rank| RankRecord::new(rank, size, Clock::ideal(PER_S));
        Run { records: (0..size).map(record).collect() }
    }

    pub(crate) fn event(&mut self, rank: usize, kind: Kind, begin: u64, end: u64) -> &mut Event {
        let record = &mut self.records[rank];
        record.last = record.last.max(end);
        let (posted, bytes, peer, tag) = (begin, 0, NOBODY, 0);
        let site = record.events.len() as u16 + 1;
        let communicator = 0;
        let is_span = true;
        let event =
            Event { kind, is_span, begin, end, posted, bytes, peer, tag, site, communicator };
        record.events.push(event);
        record.events.last_mut().unwrap()
    }

    pub(crate) fn send(
        &mut self,
        from: usize,
        to: usize,
        tag: i32,
        begin: u64,
        end: u64,
    ) -> &mut Event {
        let event = self.event(from, Kind::Sent, begin, end);
        (event.peer, event.tag) = (to as u32, tag);
        event
    }

    pub(crate) fn start_send(&mut self, from: usize, to: usize, tag: i32, begin: u64, end: u64) {
        self.send(from, to, tag, begin, end).kind = Kind::SendStarted;
    }

    pub(crate) fn end_send(
        &mut self,
        from: usize,
        to: usize,
        tag: i32,
        posted: u64,
        begin: u64,
        end: u64,
    ) {
        let event = self.send(from, to, tag, begin, end);
        (event.kind, event.posted) = (Kind::SendEnded, posted);
    }

    pub(crate) fn receive(
        &mut self,
        to: usize,
        from: usize,
        tag: i32,
        posted: u64,
        begin: u64,
        end: u64,
    ) -> &mut Event {
        let event = self.event(to, Kind::Received, begin, end);
        (event.peer, event.tag, event.posted) = (from as u32, tag, posted);
        event
    }

    /// Adds the `number`-th collective of all.
    pub(crate) fn collective(
        &mut self,
        rank: usize,
        number: u64,
        root: u32,
        begin: u64,
        end: u64,
    ) -> &mut Event {
        let event = self.event(rank, Kind::Collective, begin, end);
        (event.posted, event.peer) = (number, root);
        event
    }
}
