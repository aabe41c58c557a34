//! Ranks that no longer send or take messages, and operations that can never end because of them.

use contract::{Error, Request, Selector, Time, TimeSpan};

use super::World;
use super::operation::{State, Waiting};

impl World {
    /// Marks a rank that no longer sends messages of its own and takes none.
    pub(crate) fn leave(&mut self, rank: usize) {
        self.ranks[rank].left = true;
        self.note_departure();
    }

    /// Wakes ranks that wait for anything, so that they check whether they can still wait.
    pub(super) fn note_departure(&mut self) {
        self.departures += 1;
        for rank in 0..if self.waiting_for_anything == 0 { 0 } else { self.size() } {
            if self.ranks[rank].waiting == Waiting::Anything {
                self.wake_after(rank, TimeSpan::ZERO);
            }
        }
    }

    /// Returns whether any rank has left.
    pub(crate) fn any_has_left(&self) -> bool {
        self.departures > 0
    }

    /// Returns whether `rank` cannot wait for `other` any more. A rank that has left but not ended still takes part in
    /// what all ranks do together, and a rank that has left itself waits for nothing else.
    fn is_gone(&self, rank: usize, other: usize) -> bool {
        let (waiting, ended) = (&self.ranks[rank], &self.ranks[other]);
        rank != other && (ended.waiting == Waiting::Ended || ended.left && !waiting.left)
    }

    /// Returns whether a request can never be done, because the ranks that it needs have left.
    pub(crate) fn cannot_complete(&self, rank: usize, request: Request) -> bool {
        match self.ranks[rank].operations.state(request) {
            State::Free | State::Done(_) => false,
            State::Sending { to, .. } => {
                self.waits_for_receive(rank, request) && self.is_gone(rank, *to as usize)
            }
            State::Receiving { selector, .. } => {
                self.ranks[rank].mailbox.is_unmatched(request)
                    && self.none_will_send(rank, *selector)
            }
        }
    }

    /// Returns whether no message that `selector` accepts can arrive at a rank any more: all ranks that could send it
    /// have left, and none of their messages is under way.
    pub(crate) fn none_will_send(&self, rank: usize, selector: Selector) -> bool {
        let all_gone = match selector.source {
            Some(source) => self.is_gone(rank, source as usize),
            None => {
                self.size() > 1
                    && (0..self.size()).all(|other| other == rank || self.is_gone(rank, other))
            }
        };
        all_gone && !self.is_under_way(rank, selector)
    }

    /// Returns the error of a request that cannot complete, with which the run fails.
    pub(crate) fn give_up_on(&mut self, rank: usize, request: Request) -> Error {
        let error = match self.ranks[rank].operations.state(request) {
            State::Sending { to, envelope } => Error::never_received(rank, *to as usize, envelope),
            State::Receiving { selector, .. } => {
                let unexpected = self.unexpected(rank).into_iter();
                Error::never_sent(rank, self.size(), selector, unexpected)
            }
            State::Free | State::Done(_) => Error::UnknownRequest,
        };
        self.fail(rank, error.clone(), error.clone());
        error
    }

    /// Fails the run because no network leads to a message's receiver any more, and none will: for its sender that rank
    /// is dead.
    pub(super) fn fail_unreachable(&mut self, number: u32) {
        let broken = self.network.explain_unreachable(number);
        let (from, to) = self.ends_of_parcel(number);
        let us = self.now().since(Time::ZERO).as_us();
        let how = format!("nothing leads to it from rank {from} at {us} us; broken is {broken}");
        let error = Error::RankDied { rank: to, how };
        self.fail(from, error.clone(), error);
    }

    /// Fails the run because a node has failed permanently, unless its first rank has ended.
    pub(super) fn fail_node(&mut self, node: u32) {
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
