//! Waiting, and the end.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use contract::{Error, Posted, Result, Source};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Engine;
use super::operation::{Lent, Operation};
use crate::frame::{Header, Kind};

/// With a processor for every rank, a call looks again for so long before it sleeps: longer than a message takes between
/// two hosts of one room, shorter than anybody would mind.
const SPIN: Duration = Duration::from_micros(200);
/// Looks between two readings of the clock, and between two looks at everybody.
const LOOKS: u32 = 16;
/// A rank that sleeps looks whether the run was given up at least this often.
const DOZE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

impl Engine {
    /// Waits until an operation is done.
    pub(crate) fn wait(&mut self, posted: &Posted, lent: &mut Lent<'_>) -> Result<()> {
        let index = self.held.index(posted)?;
        let done = |engine: &Engine| engine.held.at(index).is_none_or(Operation::is_done);
        if done(self) {
            return Ok(());
        }
        self.until(self.partner(index), lent, done, |engine| engine.hopeless(index))
    }

    /// Whether an operation is done, after one look.
    pub(crate) fn test(&mut self, posted: &Posted) -> Result<bool> {
        self.check()?;
        let index = self.held.index(posted)?;
        let done = |engine: &Engine| engine.held.at(index).is_none_or(Operation::is_done);
        if !done(self) {
            self.look_everywhere(&mut Lent::nothing())?;
        }
        Ok(done(self))
    }

    /// Waits until one of several is done; its place among them.
    pub(crate) fn wait_any(&mut self, posted: &[Posted]) -> Result<usize> {
        let indices =
            posted.iter().map(|one| self.held.index(one)).collect::<Result<Vec<usize>>>()?;
        let done = |engine: &Engine| {
            indices.iter().position(|&one| engine.held.at(one).is_none_or(Operation::is_done))
        };
        let hopeless = |engine: &Engine| {
            let first = engine.hopeless(indices[0])?;
            indices[1..].iter().all(|&one| engine.hopeless(one).is_some()).then_some(first)
        };
        self.until(None, &mut Lent::nothing(), |engine| done(engine).is_some(), hopeless)?;
        Ok(done(self).expect("that is what was waited for"))
    }

    /// The other rank of an operation, where there is but one.
    fn partner(&self, index: usize) -> Option<usize> {
        let partner = match self.held.at(index)? {
            Operation::Send(send) => Some(send.to),
            Operation::Receive(receive) => match (receive.message, receive.from) {
                (Some(message), _) => Some(message.source),
                (None, Source::Rank(rank)) => Some(rank),
                (None, Source::Any) => None,
            },
        };
        partner.filter(|&rank| rank != self.rank)
    }

    /// Why an operation will never be done, if nobody is left who could see to it.
    fn hopeless(&self, index: usize) -> Option<Error> {
        let gone = |rank: usize| self.peers[rank].as_ref().is_some_and(|peer| peer.goodbye);
        let ended = |rank| Error::RankDied { rank, how: "its program ended".into() };
        match self.held.at(index)? {
            Operation::Send(send) => {
                let writes = self.peers[send.to].as_ref().is_some_and(|peer| peer.has_outgoing());
                (gone(send.to) && !writes).then(|| ended(send.to))
            }
            Operation::Receive(receive) => match (receive.message, receive.from) {
                (Some(_), _) => None,
                (None, Source::Rank(rank)) if rank != self.rank => gone(rank).then(|| ended(rank)),
                (None, Source::Any) if self.size() > 1 => {
                    let others = || (0..self.size()).filter(|&other| other != self.rank);
                    others().all(gone).then(|| ended(others().next().expect("there are others")))
                }
                (None, _) => Some(Error::Deadlock {
                    explanation: format!("rank {} waits for a message of its own", self.rank),
                }),
            },
        }
    }

    /// Makes progress until `done`. `partner` is looked at most often.
    fn until(
        &mut self,
        partner: Option<usize>,
        lent: &mut Lent<'_>,
        mut done: impl FnMut(&Engine) -> bool,
        hopeless: impl Fn(&Engine) -> Option<Error>,
    ) -> Result<()> {
        self.check()?;
        let mut idle_since = None;
        let mut idle: u32 = 0;
        while !done(self) {
            if self.look(partner, lent)? {
                (idle, idle_since) = (0, None);
                continue;
            }
            idle += 1;
            if self.spins && !idle.is_multiple_of(LOOKS) {
                continue;
            }
            if let Some(error) = hopeless(self) {
                return Err(self.fail(error));
            }
            if self.spins && idle_since.get_or_insert_with(Instant::now).elapsed() < SPIN {
                continue;
            }
            self.sleep(lent)?;
        }
        Ok(())
    }

    /// One look at what has come, at the partner alone most of the time; whether anything has.
    fn look(&mut self, partner: Option<usize>, lent: &mut Lent<'_>) -> Result<bool> {
        self.looks = self.looks.wrapping_add(1);
        match partner {
            Some(partner) if !self.looks.is_multiple_of(LOOKS) || self.size() == 2 => {
                self.serve(partner, lent)
            }
            _ => self.look_everywhere(lent),
        }
    }

    /// One look at everybody.
    pub(super) fn look_everywhere(&mut self, lent: &mut Lent<'_>) -> Result<bool> {
        if self.size() == 2 {
            return self.serve(1 - self.rank, lent);
        }
        self.poll(Timespec { tv_sec: 0, tv_nsec: 0 }, lent)
    }

    fn serve(&mut self, rank: usize, lent: &mut Lent<'_>) -> Result<bool> {
        if self.peers[rank].as_ref().is_some_and(|peer| peer.has_outgoing()) {
            self.write_to(rank, lent)?;
        }
        self.read_from(rank, lent)
    }

    /// Sleeps until something can move, and moves it.
    fn sleep(&mut self, lent: &mut Lent<'_>) -> Result<()> {
        self.poll(DOZE, lent)?;
        match self.supervision.given_up() {
            None => Ok(()),
            Some(error) => Err(self.fail(error)),
        }
    }

    fn poll(&mut self, limit: Timespec, lent: &mut Lent<'_>) -> Result<bool> {
        let open = |(rank, peer): (usize, &Option<super::Connection>)| {
            peer.as_ref().filter(|peer| !peer.closed).map(|_| rank)
        };
        let ranks: Vec<usize> = self.peers.iter().enumerate().filter_map(open).collect();
        let mut entries = Vec::with_capacity(ranks.len() + 1);
        for &rank in &ranks {
            let Some(peer) = &self.peers[rank] else { continue };
            let writes = if peer.has_outgoing() { PollFlags::OUT } else { PollFlags::empty() };
            entries.push(PollFd::new(peer.stream(), PollFlags::IN | writes));
        }
        let control = self.supervision.descriptor();
        entries
            .extend(control.as_ref().map(|fd| PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)));
        // An interruption leaves nothing ready.
        if !matches!(poll(&mut entries, Some(&limit)), Ok(ready) if ready > 0) {
            return Ok(false);
        }
        let ready: Vec<bool> = entries.iter().map(|entry| !entry.revents().is_empty()).collect();
        drop(entries);
        let mut moved = false;
        for (rank, _) in ranks.into_iter().zip(ready).filter(|(_, ready)| *ready) {
            moved |= self.serve(rank, lent)?;
        }
        Ok(moved)
    }

    /// Completes what is under way, says goodbye, and waits for everybody's. Nobody closes a connection before, for what is
    /// on its way would be lost with it.
    pub(crate) fn finish(&mut self) -> Result<()> {
        let sends = |engine: &Engine| {
            let left = engine.held.indices().filter(
                |&index| matches!(engine.held.at(index), Some(Operation::Send(send)) if !send.done),
            );
            left.collect::<Vec<usize>>()
        };
        let unsent =
            |engine: &Engine| sends(engine).into_iter().find(|&one| engine.hopeless(one).is_none());
        let lent = &mut Lent::nothing();
        self.until(None, lent, |engine| unsent(engine).is_none(), |_| None)?;
        for rank in 0..self.size() {
            if let Some(peer) = &mut self.peers[rank] {
                peer.queue(Header::new(Kind::Goodbye), None);
                self.write_to(rank, lent)?;
            }
        }
        let through = |engine: &Engine| {
            engine.peers.iter().flatten().all(|peer| peer.goodbye && !peer.has_outgoing())
        };
        self.until(None, lent, through, |_| None)
    }
}
