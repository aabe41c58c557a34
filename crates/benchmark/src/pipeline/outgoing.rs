//! Blocks that go out: each as soon as its receiver has asked for it.

use std::collections::VecDeque;

use contract::{Buffer, Rank, Result, Source, TagSelector};

use super::geometry::Outlet;
use super::inlet::{DATA, REQUEST};
use super::waiting::{Place, Purpose, Waiting};

/// A receiver, and what it has asked for.
struct Receiver {
    rank: usize,
    /// Pieces that it has asked for and not got.
    credit: u64,
    /// Requests that it will still send.
    requests_left: u64,
    /// What a request is received into: nothing. Away while the receive of one is posted.
    empty: Option<Buffer>,
}

/// The sending side of a rank.
pub(super) struct Outgoing {
    pub(super) outlet: Outlet,
    receivers: Vec<Receiver>,
    queue: VecDeque<(usize, Place, Buffer)>,
    under_way: usize,
}

impl Outgoing {
    /// `room`: the most blocks that can wait to be sent.
    pub(super) fn new(outlet: Outlet, room: usize) -> Self {
        let mut ranks = outlet.pieces.clone();
        ranks.sort_unstable();
        ranks.dedup();
        let receiver =
            |rank| Receiver { rank, credit: 0, requests_left: 0, empty: Some(Buffer::zeroed(0)) };
        let receivers = ranks.into_iter().map(receiver).collect();
        Outgoing { outlet, receivers, queue: VecDeque::with_capacity(room), under_way: 0 }
    }

    /// Operations that can be under way at once.
    pub(super) fn operations_max(&self) -> usize {
        self.receivers.len() + self.queue.capacity()
    }

    pub(super) fn begin(&mut self, matrices: u64) {
        for receiver in &mut self.receivers {
            let pieces = self.outlet.pieces.iter().filter(|&&rank| rank == receiver.rank).count();
            (receiver.credit, receiver.requests_left) = (0, matrices * pieces as u64);
        }
    }

    /// Whether nothing waits to be sent.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether nothing waits to be sent or is being sent.
    pub(super) fn is_done(&self) -> bool {
        self.queue.is_empty() && self.under_way == 0
    }

    /// Piece `at` of a matrix is to be sent.
    pub(super) fn push(&mut self, at: usize, place: Place, buffer: Buffer) {
        self.queue.push_back((self.outlet.pieces[at], place, buffer));
    }

    /// Listens for requests, and sends what was asked for.
    pub(super) fn advance(&mut self, rank: &mut dyn Rank, waiting: &mut Waiting) -> Result<()> {
        for receiver in &mut self.receivers {
            if receiver.requests_left > 0
                && let Some(empty) = receiver.empty.take()
            {
                let from = Source::Rank(receiver.rank);
                let posted = rank.post_receive(from, TagSelector::Is(REQUEST), empty)?;
                waiting.add(posted, Purpose::Request { from: receiver.rank });
            }
        }
        let mut at = 0;
        while at < self.queue.len() {
            let to = self.queue[at].0;
            let receiver = receiver(&mut self.receivers, to);
            if receiver.credit == 0 {
                // What follows for the same receiver waits too: the order of its messages is their meaning.
                at += 1;
                continue;
            }
            receiver.credit -= 1;
            let Some((to, place, buffer)) = self.queue.remove(at) else { break };
            waiting.add(rank.post_send(to, DATA, buffer)?, Purpose::Sent(place));
            self.under_way += 1;
        }
        Ok(())
    }

    /// A request has come.
    pub(super) fn asked(&mut self, from: usize, empty: Buffer) {
        let receiver = receiver(&mut self.receivers, from);
        receiver.empty = Some(empty);
        receiver.credit += 1;
        receiver.requests_left -= 1;
    }

    /// A send has ended.
    pub(super) fn sent(&mut self) {
        self.under_way -= 1;
    }
}

fn receiver(receivers: &mut [Receiver], rank: usize) -> &mut Receiver {
    let found = receivers.iter_mut().find(|receiver| receiver.rank == rank);
    found.expect("messages go only to and come only from receivers")
}
