//! Ranks that send and take no messages any more, and what can never end because of them.

use contract::{Error, Request, Selector, Time, TimeSpan};

use super::World;
use super::operation::{State, Waiting};

impl World {
    /// A rank sends no messages of its own any more and takes none.
    pub(crate) fn leave(&mut self, rank: usize) {
        self.ranks[rank].left = true;
        self.note_departure();
    }

    /// Ranks that wait for anything look whether they still wait for somebody.
    pub(super) fn note_departure(&mut self) {
        self.departures += 1;
        for rank in 0..if self.waiting_for_anything == 0 { 0 } else { self.size() } {
            if self.ranks[rank].waiting == Waiting::Anything {
                self.wake_after(rank, TimeSpan::ZERO);
            }
        }
    }

    /// Whether any rank has left.
    pub(crate) fn any_has_left(&self) -> bool {
        self.departures > 0
    }

    /// Whether `rank` can wait for `other` no more. One that has only left still takes part in what all do together,
    /// and a rank that has left itself waits for nothing else.
    fn is_gone(&self, rank: usize, other: usize) -> bool {
        let (waiting, ended) = (&self.ranks[rank], &self.ranks[other]);
        rank != other && (ended.waiting == Waiting::Ended || ended.left && !waiting.left)
    }

    /// Whether a request can never be done, because the ranks that it needs have left.
    pub(crate) fn is_hopeless(&self, rank: usize, request: Request) -> bool {
        match self.ranks[rank].operations.state(request) {
            State::Free | State::Done(_) => false,
            State::Sending { to, .. } => {
                self.waits_for_receive(rank, request) && self.is_gone(rank, *to as usize)
            }
            State::Receiving { selector, .. } => {
                self.ranks[rank].mailbox.is_unmet(request) && self.none_will_send(rank, *selector)
            }
        }
    }

    /// Whether nothing that `selector` accepts can come to a rank any more: all that could send it have left, and
    /// none of their messages is on its way.
    pub(crate) fn none_will_send(&self, rank: usize, selector: Selector) -> bool {
        let all_gone = match selector.source {
            Some(source) => self.is_gone(rank, source as usize),
            None => {
                self.size() > 1
                    && (0..self.size()).all(|other| other == rank || self.is_gone(rank, other))
            }
        };
        all_gone && !self.is_on_its_way(rank, selector)
    }

    /// The error of a request that is hopeless, with which the run fails.
    pub(crate) fn give_up_on(&mut self, rank: usize, request: Request) -> Error {
        let what = self.describe_request(rank, request).unwrap_or_else(|| "for nothing".into());
        let explanation =
            format!("rank {rank} waits {what}, and the ranks that it needs have ended");
        let error = Error::Deadlock { explanation };
        self.fail(rank, error.clone(), error.clone());
        error
    }

    /// No network leads to the rank that a message goes to, and none will: for its sender that rank is dead.
    pub(super) fn cut_off(&mut self, number: u32) {
        let broken = self.network.explain_cut(number);
        let (from, to) = self.ends_of_parcel(number);
        let us = self.now().since(Time::ZERO).as_us();
        let how = format!("nothing leads to it from rank {from} at {us} us; broken is {broken}");
        let error = Error::RankDied { rank: to, how };
        self.fail(from, error.clone(), error);
    }

    /// A node is broken for ever, and its ranks with it.
    pub(super) fn died(&mut self, node: u32) {
        let on_it = |&rank: &usize| self.processors.node(rank) == node as usize;
        let Some(rank) = (0..self.size()).find(on_it) else { return };
        if self.ranks[rank].waiting == Waiting::Ended {
            return;
        }
        let us = self.now().since(Time::ZERO).as_us();
        let how = format!("its node {node} broke at {us} us");
        let error = Error::RankDied { rank, how };
        self.fail(rank, error.clone(), error);
    }
}
