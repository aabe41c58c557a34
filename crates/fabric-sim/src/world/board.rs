//! Boards in shared memory: the parts that each rank publishes in the steps of its collectives, and when the others see
//! them.
//!
//! All ranks count their steps alike. In a step a rank may put a part on its board, which the others see a little
//! later. The place of a part is used again some steps later, once every rank has ended the step.

use std::collections::VecDeque;

use contract::{Result, Time};

use super::operation::Waiting;
use super::time::Next;
use super::{Event, World};
use crate::machine::Board;
use crate::path::PathUntil;

/// A rank's board and progress.
#[derive(Default)]
pub(super) struct BoardState {
    /// The last step that it has begun.
    begun: u64,
    /// The last step that it has ended.
    ended: u64,
    parts: VecDeque<Part>,
}

struct Part {
    step: u64,
    visible_from: Time,
    data: Vec<u8>,
    /// Path that led to it, if the critical path is requested.
    cause: Option<PathUntil>,
}

impl World {
    fn board(&self) -> &Board {
        self.machine.board.as_ref().expect("only machines with boards come here")
    }

    /// Returns the next step of a rank, once its place on the board is free. `None`: the rank must be suspended.
    pub(crate) fn begin_step(&mut self, rank: usize) -> Result<Option<u64>> {
        self.check()?;
        let step = self.boards[rank].begun + 1;
        let places = self.board().places;
        let before = step.saturating_sub(places);
        if self.boards.iter().any(|board| board.ended < before) {
            self.ranks[rank].waiting = Waiting::Place { ended: before };
            return Ok(None);
        }
        self.boards[rank].begun = step;
        Ok(Some(step))
    }

    /// Puts a rank's part of a step on its board.
    pub(crate) fn put_part(&mut self, rank: usize, step: u64, data: &[u8]) {
        let (places, see) = (self.board().places as usize, self.board().see);
        let visible_from = self.now() + see;
        let cause = self.path_of(rank);
        let parts = &mut self.boards[rank].parts;
        let oldest = if parts.len() < places { None } else { parts.pop_front() };
        let mut memory = oldest.map_or_else(Vec::new, |part| part.data);
        memory.clear();
        memory.extend_from_slice(data);
        parts.push_back(Part { step, visible_from, data: memory, cause });
        let is_for = |waiting: &Waiting| *waiting == Waiting::Part { of: rank as u32, step };
        self.wake_at(visible_from, cause, is_for);
    }

    /// Returns whether a rank sees another's part of a step. If not, it must be suspended.
    pub(crate) fn see_part(&mut self, rank: usize, of: usize, step: u64) -> Result<Next> {
        self.check()?;
        match self.part(of, step).map(|part| (part.visible_from, part.cause)) {
            Some((visible_from, cause)) if of != rank => {
                if visible_from > self.now() {
                    self.follow_rank(rank, cause, self.now());
                }
                Ok(self.wait_until(rank, visible_from))
            }
            Some(_) => Ok(Next::Continue),
            None => {
                self.ranks[rank].waiting = Waiting::Part { of: of as u32, step };
                Ok(Next::Suspend)
            }
        }
    }

    /// Returns whether a rank's part of a step is seen by now.
    pub(crate) fn sees_part(&self, of: usize, step: u64) -> bool {
        self.part(of, step).is_some_and(|part| part.visible_from <= self.now())
    }

    /// Returns a rank's part of a step that was seen.
    pub(crate) fn seen_part(&self, of: usize, step: u64) -> Option<&[u8]> {
        self.part(of, step).map(|part| &part.data[..])
    }

    /// Records that a rank has read all that it needs of a step.
    pub(crate) fn end_step(&mut self, rank: usize, step: u64) {
        self.boards[rank].ended = step;
        let ended_by_all = self.boards.iter().map(|board| board.ended).min().unwrap_or(0);
        let visible_from = self.now() + self.board().see;
        let is_free = |waiting: &Waiting| matches!(waiting, Waiting::Place { ended } if *ended <= ended_by_all);
        let cause = self.path_of(rank);
        self.wake_at(visible_from, cause, is_free);
    }

    fn part(&self, of: usize, step: u64) -> Option<&Part> {
        self.boards[of].parts.iter().rev().find(|part| part.step == step)
    }

    /// Returns the path that led to a rank's current activity.
    fn path_of(&mut self, rank: usize) -> Option<PathUntil> {
        let now = self.now();
        self.paths.as_mut().map(|paths| paths.of_rank(rank, now))
    }

    /// Sets the path of a rank that continues at `time` because of another rank, whose path is `cause`.
    fn follow_rank(&mut self, rank: usize, cause: Option<PathUntil>, time: Time) {
        if let (Some(paths), Some(cause)) = (&mut self.paths, cause) {
            paths.wake(rank, cause, time);
        }
    }

    /// Wakes ranks at `time` that wait for something that holds from then on.
    fn wake_at(&mut self, time: Time, cause: Option<PathUntil>, is_for: impl Fn(&Waiting) -> bool) {
        for rank in 0..self.ranks.len() {
            if is_for(&self.ranks[rank].waiting) {
                self.follow_rank(rank, cause, time);
                self.ranks[rank].waiting = Waiting::Time;
                self.agenda.push(time, Event::Wake(rank as u32));
            }
        }
    }
}
