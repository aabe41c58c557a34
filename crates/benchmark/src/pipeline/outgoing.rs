//! Outgoing blocks: each is sent as soon as its receiver has requested it.

use std::collections::VecDeque;

use contract::{Buffer, Rank, Result, Source, TagSelector};

use super::inlet::{data, request};
use super::pending::{BufferPlace, PendingOperations, Purpose};
use super::swap_buffers::BufferSwaps;
use crate::chain::Outlet;

/// A receiver on another rank, and its requests.
struct Receiver {
    rank: usize,
    /// Number of pieces that it has requested and that were not sent yet.
    credit: u64,
    /// Number of requests that it will still send.
    requests_left: u64,
    /// Empty buffer into which a request is received. `None` while that receive is posted.
    empty: Option<Buffer>,
}

/// The sending side of a rank.
pub(super) struct Outgoing {
    level: usize,
    me: usize,
    /// True if the buffers must keep their contents.
    keeps: bool,
    pub(super) outlet: Outlet,
    receivers: Vec<Receiver>,
    queue: VecDeque<(usize, BufferPlace, Buffer)>,
    under_way: usize,
}

impl Outgoing {
    /// Creates the sending side of `me` as a rank of `level`. `room` is the most blocks that can wait to be sent.
    pub(super) fn new(level: usize, me: usize, outlet: Outlet, room: usize) -> Self {
        let mut ranks: Vec<usize> = outlet.pieces.iter().map(|piece| piece.to).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks.retain(|&rank| rank != me);
        let receiver =
            |rank| Receiver { rank, credit: 0, requests_left: 0, empty: Some(Buffer::zeroed(0)) };
        let receivers = ranks.into_iter().map(receiver).collect();
        let queue = VecDeque::with_capacity(room);
        Outgoing { level, me, keeps: false, outlet, receivers, queue, under_way: 0 }
    }

    /// Changes it so that buffers are returned with their contents.
    pub(super) fn keeping(self) -> Self {
        Outgoing { keeps: true, ..self }
    }

    /// Returns the number of operations that can be in progress at once.
    pub(super) fn operations_max(&self) -> usize {
        self.receivers.len() + self.queue.capacity()
    }

    pub(super) fn begin(&mut self, matrices: u64) {
        for receiver in &mut self.receivers {
            let pieces =
                self.outlet.pieces.iter().filter(|piece| piece.to == receiver.rank).count();
            (receiver.credit, receiver.requests_left) = (0, matrices * pieces as u64);
        }
    }

    /// Returns whether a block waits for a request of another rank.
    pub(super) fn has_queued(&self) -> bool {
        self.queue.iter().any(|(to, ..)| *to != self.me)
    }

    /// Returns whether no block waits or is being sent.
    pub(super) fn is_done(&self) -> bool {
        self.queue.is_empty() && self.under_way == 0
    }

    /// Queues piece `at` of a matrix to be sent.
    pub(super) fn push(&mut self, at: usize, place: BufferPlace, buffer: Buffer) {
        self.queue.push_back((self.outlet.pieces[at].to, place, buffer));
    }

    /// Posts receives for requests, and sends requested blocks.
    pub(super) fn advance(
        &mut self,
        rank: &mut dyn Rank,
        waiting: &mut PendingOperations,
        swaps: &mut BufferSwaps,
    ) -> Result<()> {
        for receiver in &mut self.receivers {
            if receiver.requests_left > 0
                && let Some(empty) = receiver.empty.take()
            {
                let (from, level) = (receiver.rank, self.level);
                let asks = TagSelector::Is(request(level + 1));
                let posted = rank.post_receive(Source::Rank(from), asks, empty)?;
                waiting.add(level, posted, Purpose::Request { from });
            }
        }
        let mut at = 0;
        while at < self.queue.len() {
            let to = self.queue[at].0;
            let requested = match to == self.me {
                true => swaps.is_requested(self.level + 1),
                false => receiver(&mut self.receivers, to).credit > 0,
            };
            if !requested {
                // Later blocks for the same receiver wait, too, because it identifies its messages by their order.
                at += 1;
                continue;
            }
            let Some((to, place, buffer)) = self.queue.remove(at) else { break };
            self.under_way += 1;
            self.hand_on(rank, waiting, swaps, (to, place, buffer))?;
        }
        Ok(())
    }

    fn hand_on(
        &mut self,
        rank: &mut dyn Rank,
        waiting: &mut PendingOperations,
        swaps: &mut BufferSwaps,
        (to, place, buffer): (usize, BufferPlace, Buffer),
    ) -> Result<()> {
        if to != self.me {
            receiver(&mut self.receivers, to).credit -= 1;
            let posted = rank.post_send(to, data(self.level + 1), buffer)?;
            waiting.add(self.level, posted, Purpose::Sent(place));
            return Ok(());
        }
        let handed = match self.keeps {
            true => swaps.lend(self.level, buffer),
            false => swaps.exchange(self.level, place, buffer),
        };
        assert!(handed.is_ok(), "only what was asked for is handed on");
        Ok(())
    }

    /// Records a received request.
    pub(super) fn take_request(&mut self, from: usize, empty: Buffer) {
        let receiver = receiver(&mut self.receivers, from);
        receiver.empty = Some(empty);
        receiver.credit += 1;
        receiver.requests_left -= 1;
    }

    /// Records the end of a send.
    pub(super) fn sent(&mut self) {
        self.under_way -= 1;
    }
}

fn receiver(receivers: &mut [Receiver], rank: usize) -> &mut Receiver {
    let found = receivers.iter_mut().find(|receiver| receiver.rank == rank);
    found.expect("messages go only to and come only from receivers")
}
