//! Ranks that load the network until they are stopped.

use std::collections::VecDeque;

use contract::{
    Buffer, Posted, Progress, Rank, RankWindow, Result, Source, Status, Tag, TagSelector,
};

use crate::contents::{check_block, fill};
use crate::programs::common::TAG;

/// Length of each message and put.
const BLOCK_BYTES: usize = 16 << 10;
/// Number of messages from one rank to another, or puts before a flush, that are in progress at a time.
const POSTED: usize = 4;
/// Number of ranks with which a rank exchanges messages at a time in an all-to-all exchange.
const PARTNERS: usize = 16;
/// Tag that reports that a congestor's first messages have arrived.
const READY: Tag = Tag::new(1);
/// Tag of the order to stop.
const STOP: Tag = Tag::new(2);
/// Tag of the messages of the last round, or of those that end a stream.
const LAST: Tag = Tag::new(3);

/// Load of the congestors on the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// All send to the first of them.
    Incast,
    /// Each sends to all others, round by round.
    AllToAll,
    /// All put into the memory of the first of them.
    Puts,
}

/// The congestors of a run, which rank 0 starts and stops.
pub(super) struct Congestors {
    pub(super) load: Load,
    /// Their ranks: two or more, without rank 0.
    pub(super) ranks: Vec<usize>,
    pub(super) seed: u64,
}

/// The order to stop, for which a congestor waits.
struct StopOrder(Option<Posted>);

impl StopOrder {
    fn post(rank: &mut dyn Rank) -> Result<Self> {
        let posted = rank.post_receive(Source::Rank(0), STOP.into(), Buffer::zeroed(0))?;
        Ok(StopOrder(Some(posted)))
    }

    fn has_come(&mut self, rank: &mut dyn Rank) -> Result<bool> {
        if let Some(posted) = self.0.take()
            && let Progress::Pending(same) = rank.test(posted)?
        {
            self.0 = Some(same);
        }
        Ok(self.0.is_none())
    }
}

impl Congestors {
    /// All loads, with their names.
    pub(super) const LOADS: [(&str, Load); 3] =
        [("incast", Load::Incast), ("all-to-all", Load::AllToAll), ("puts", Load::Puts)];

    /// Returns the bytes of its memory that a rank provides to the congestors.
    pub(super) fn window_bytes(&self, me: usize) -> usize {
        let is_target = self.load == Load::Puts && me == self.first();
        if is_target { (self.ranks.len() - 1) * BLOCK_BYTES } else { 0 }
    }

    fn first(&self) -> usize {
        self.ranks[0]
    }

    /// Returns the congestors that report the beginning of the load to rank 0.
    fn reporters(&self) -> &[usize] {
        match self.load {
            Load::Incast | Load::AllToAll => &self.ranks[..1],
            Load::Puts => &self.ranks[1..],
        }
    }

    /// Returns the congestors that rank 0 stops; these stop the others.
    fn stopped(&self) -> &[usize] {
        match self.load {
            Load::AllToAll => &self.ranks[..1],
            Load::Incast | Load::Puts => &self.ranks[1..],
        }
    }

    /// Waits at rank 0 until the load has begun.
    pub(super) fn await_load(&self, rank: &mut dyn Rank) -> Result<()> {
        for &from in self.reporters() {
            rank.receive(Source::Rank(from), READY.into(), &mut [])?;
        }
        Ok(())
    }

    /// Stops the load, at rank 0.
    pub(super) fn stop(&self, rank: &mut dyn Rank) -> Result<()> {
        self.stopped().iter().try_for_each(|&to| rank.send(to, STOP, &[]))
    }

    /// Runs the part of a congestor, from the beginning until rank 0 stops it. All ranks have opened the window, and
    /// fence it afterwards: in the fence the first congestor serves the puts of the others.
    pub(super) fn run(&self, rank: &mut dyn Rank, window: &mut RankWindow) -> Result<()> {
        let is_first = rank.rank() == self.first();
        match self.load {
            Load::Incast if is_first => self.receive_all(rank),
            Load::Incast => self.send_to_first(rank),
            Load::AllToAll => self.exchange(rank),
            Load::Puts if is_first => Ok(()),
            Load::Puts => self.put_to_first(rank, window),
        }
    }

    /// Returns the place of a rank among the congestors.
    fn place(&self, rank: usize) -> Option<usize> {
        self.ranks.iter().position(|&one| one == rank)
    }

    fn block(&self, me: usize) -> Result<Buffer> {
        let mut block = Buffer::try_zeroed(BLOCK_BYTES)?;
        fill(&mut block, self.seed, me, 0);
        Ok(block)
    }

    fn check(&self, found: &[u8], from: usize, me: usize) -> Result<()> {
        check_block(found, self.seed, (from, 0), "a congestor's block", me)
    }

    fn send_to_first(&self, rank: &mut dyn Rank) -> Result<()> {
        let (block, first) = (self.block(rank.rank())?, self.first());
        let mut stop = StopOrder::post(rank)?;
        let mut posted = VecDeque::new();
        let mut sent = 0;
        // The receiver checks each of its buffers, so each must have been filled.
        while sent < POSTED || !stop.has_come(rank)? {
            let buffer = if posted.len() < POSTED {
                block.clone()
            } else {
                let oldest = posted.pop_front().expect("it is not empty");
                rank.wait(oldest)?.buffer
            };
            posted.push_back(rank.post_send(first, TAG, buffer)?);
            sent += 1;
        }
        for one in posted {
            rank.wait(one)?;
        }
        // One message for each receive that is posted.
        (0..POSTED).try_for_each(|_| rank.send(first, LAST, &[]))
    }

    fn receive_all(&self, rank: &mut dyn Rank) -> Result<()> {
        let (me, senders) = (rank.rank(), &self.ranks[1..]);
        let post = |rank: &mut dyn Rank, from: usize, buffer: Buffer| {
            rank.post_receive(Source::Rank(from), TagSelector::Any, buffer)
        };
        let mut posted = Vec::with_capacity(senders.len() * POSTED);
        for &from in senders {
            for _ in 0..POSTED {
                posted.push(post(rank, from, Buffer::try_zeroed(BLOCK_BYTES)?)?);
            }
        }
        let mut until_ready = posted.len();
        while !posted.is_empty() {
            let (_, done) = rank.wait_any(&mut posted)?;
            let Status { source, tag, .. } = done.status;
            if tag == LAST {
                self.check(&done.buffer, source, me)?;
                continue;
            }
            posted.push(post(rank, source, done.buffer)?);
            until_ready = until_ready.wrapping_sub(1);
            if until_ready == 0 {
                rank.send(0, READY, &[])?;
            }
        }
        Ok(())
    }

    /// Makes rounds of an exchange with all others. The messages of the first congestor show which round is the last.
    fn exchange(&self, rank: &mut dyn Rank) -> Result<()> {
        let me = rank.rank();
        let place = self.place(me).expect("a congestor");
        let mut stop = if place == 0 { Some(StopOrder::post(rank)?) } else { None };
        let partners = (self.ranks.len() - 1).min(PARTNERS);
        let mut sends = vec![self.block(me)?; partners];
        let mut rooms = vec![Buffer::try_zeroed(BLOCK_BYTES)?; partners];
        let mut is_first_round = true;
        loop {
            let mut is_last = match &mut stop {
                Some(stop) => stop.has_come(rank)?,
                None => false,
            };
            let tag = if is_last { LAST } else { TAG };
            let mut distance = 1;
            while distance < self.ranks.len() {
                let end = (distance + partners).min(self.ranks.len());
                let pairs = (distance..end).map(|distance| self.partners(place, distance));
                is_last |= self.swap_with(rank, pairs, tag, (&mut sends, &mut rooms))?;
                distance = end;
            }
            if is_first_round && place == 0 {
                rank.send(0, READY, &[])?;
            }
            is_first_round = false;
            if is_last {
                break;
            }
        }
        let last = self.partners(place, self.ranks.len() - 1).1;
        let index = (self.ranks.len() - 2) % partners;
        self.check(&rooms[index], last, me)
    }

    /// Returns the ranks to which the congestor at `place` sends, and from which it receives.
    fn partners(&self, place: usize, distance: usize) -> (usize, usize) {
        let count = self.ranks.len();
        (self.ranks[(place + distance) % count], self.ranks[(place + count - distance) % count])
    }

    /// Sends to and receives from some ranks at once. Returns whether a message was one of the last round.
    fn swap_with(
        &self,
        rank: &mut dyn Rank,
        pairs: impl Iterator<Item = (usize, usize)> + Clone,
        tag: Tag,
        (sends, rooms): (&mut [Buffer], &mut [Buffer]),
    ) -> Result<bool> {
        let mut receives = Vec::with_capacity(rooms.len());
        for ((_, from), room) in pairs.clone().zip(&mut *rooms) {
            let room = std::mem::replace(room, Buffer::zeroed(0));
            let any = TagSelector::Any;
            receives.push(rank.post_receive(Source::Rank(from), any, room)?);
        }
        let mut posted = Vec::with_capacity(sends.len());
        for ((to, _), block) in pairs.zip(&mut *sends) {
            let block = std::mem::replace(block, Buffer::zeroed(0));
            posted.push(rank.post_send(to, tag, block)?);
        }
        let mut is_last = false;
        for (room, one) in rooms.iter_mut().zip(receives) {
            let done = rank.wait(one)?;
            is_last |= done.status.tag == LAST;
            *room = done.buffer;
        }
        for (block, one) in sends.iter_mut().zip(posted) {
            *block = rank.wait(one)?.buffer;
        }
        Ok(is_last)
    }

    fn put_to_first(&self, rank: &mut dyn Rank, window: &mut RankWindow) -> Result<()> {
        let (me, first) = (rank.rank(), self.first());
        let block = self.block(me)?;
        let mut stop = StopOrder::post(rank)?;
        let mut is_ready = false;
        while !stop.has_come(rank)? {
            for _ in 0..POSTED {
                window.put(rank, first, self.offset(me), &block)?;
            }
            window.flush(rank, Some(first))?;
            if !is_ready {
                rank.send(0, READY, &[])?;
                is_ready = true;
            }
        }
        Ok(())
    }

    fn offset(&self, from: usize) -> u64 {
        let place = self.place(from).expect("a congestor");
        ((place - 1) * BLOCK_BYTES) as u64
    }

    /// Checks the blocks in the memory of the first congestor, once all have stopped.
    pub(super) fn check_puts(&self, rank: &mut dyn Rank, window: &mut RankWindow) -> Result<()> {
        let me = rank.rank();
        if self.load != Load::Puts || me != self.first() {
            return Ok(());
        }
        let mut found = Buffer::try_zeroed(BLOCK_BYTES)?;
        for &from in &self.ranks[1..] {
            window.get(rank, me, self.offset(from), &mut found)?;
            self.check(&found, from, me)?;
        }
        Ok(())
    }
}
