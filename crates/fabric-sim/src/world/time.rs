//! Activities that take a rank's time: work on its processor, waiting for a moment, reading the clock.

use contract::{Priority, Time, TimeSpan};

use super::operation::Waiting;
use super::{Event, World};
use crate::processes::ConcurrentComputing;

/// Continuation of a rank: it continues, or must be suspended until it is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Next {
    Continue,
    Suspend,
}

impl World {
    /// Lets the rank's processor work for `span`.
    pub(crate) fn work(&mut self, rank: usize, span: TimeSpan) -> Next {
        if span == TimeSpan::ZERO {
            return Next::Continue;
        }
        if self.processors.are_scheduled() {
            if self.has_failed() {
                self.agenda.advance_clock(self.now() + span);
                return Next::Continue;
            }
            self.ranks[rank].waiting = Waiting::Time;
            self.occupy(rank, span, Event::Wake(rank as u32));
            return Next::Suspend;
        }
        let end = self.processors.end(rank, self.now(), span);
        self.wait_for_time(rank, end, Event::Wake(rank as u32))
    }

    /// Lets the other ranks on the rank's processor run that are ready, each for a time slice at most.
    pub(crate) fn yield_processor(&mut self, rank: usize) -> Next {
        if !self.processors.are_shared() || self.has_failed() {
            return Next::Continue;
        }
        self.processors.end_slice(rank);
        self.ranks[rank].waiting = Waiting::Time;
        self.occupy(rank, TimeSpan::ZERO, Event::Wake(rank as u32));
        Next::Suspend
    }

    /// Lets the rank's process compute from now on, and wakes the rank when that ends. Returns whether it does. A process
    /// on a processor that ranks share does not, because the scheduling of the ranks depends on the length of its computing.
    pub(crate) fn compute_concurrently(&mut self, rank: usize) -> bool {
        let now = self.now();
        let takes = !self.has_failed() && !self.processors.are_scheduled();
        let concurrent = self.concurrent.as_mut();
        let Some(concurrent) = concurrent.filter(|one| takes && one.can_begin()) else {
            return false;
        };
        concurrent.begin(rank, now);
        self.ranks[rank].waiting = Waiting::Time;
        true
    }

    /// Returns the moment before which nothing happens, as far as is known, to a rank that works from now on. None if
    /// nothing will happen by itself, or if that is not known.
    pub(crate) fn quiet_until(&self) -> Option<Time> {
        // The network has events of this moment that are not in the agenda yet.
        if self.network.must_arbitrate() {
            return None;
        }
        // Other ranks do not continue beside computing on a scheduled processor.
        if self.processors.are_scheduled() {
            return self.agenda.next_time();
        }
        let concurrent = self.concurrent.as_ref().filter(|one| one.can_begin())?;
        self.agenda.next_time().into_iter().chain(concurrent.earliest()).min()
    }

    /// Lets a rank's processor work for it while its program waits, or continues; `done` happens afterwards.
    pub(super) fn spend(&mut self, rank: usize, span: TimeSpan, done: Event) {
        if self.processors.are_scheduled() {
            self.occupy(rank, span, done);
        } else {
            let at = self.processors.end(rank, self.agenda.now(), span);
            self.agenda.push(at, done);
        }
    }

    /// Submits a job for a shared processor; `done` happens after it.
    fn occupy(&mut self, rank: usize, span: TimeSpan, done: Event) {
        let priority = self.ranks[rank].priority;
        self.processors.occupy(&mut self.agenda, rank, priority, span, done);
    }

    /// Continues a rank that waited for a moment once it gets its processor.
    pub(super) fn give_processor(&mut self, rank: u32) {
        self.occupy(rank as usize, TimeSpan::ZERO, Event::Wake(rank));
    }

    /// Sets the priority of a rank on its processor.
    pub(crate) fn set_priority(&mut self, rank: usize, priority: Priority) {
        self.ranks[rank].priority = priority;
    }

    /// Returns the processor that a rank runs on.
    pub(crate) fn processor(&self, rank: usize) -> usize {
        self.processors.node(rank)
    }

    /// Returns the number of ranks on each processor, except the last.
    pub(crate) fn ranks_per_processor(&self) -> u32 {
        self.processors.ranks_per_processor()
    }

    /// Returns whether ranks share processors.
    pub(crate) fn shares_processors(&self) -> bool {
        self.processors.are_shared()
    }

    /// Lets the rank wait until `time`.
    pub(crate) fn wait_until(&mut self, rank: usize, time: Time) -> Next {
        let scheduled = self.processors.are_scheduled();
        let event = if scheduled { Event::Ready(rank as u32) } else { Event::Wake(rank as u32) };
        self.wait_for_time(rank, time, event)
    }

    fn wait_for_time(&mut self, rank: usize, time: Time, event: Event) -> Next {
        if self.has_failed() {
            self.agenda.advance_clock(time);
            return Next::Continue;
        }
        let is_alone = self.concurrent.as_ref().is_none_or(ConcurrentComputing::is_empty);
        let may_jump =
            event == Event::Wake(rank as u32) && !self.network.must_arbitrate() && is_alone;
        if time <= self.now() || (may_jump && self.agenda.jump(time, rank as u32)) {
            return Next::Continue;
        }
        self.ranks[rank].waiting = Waiting::Time;
        self.agenda.push(time, event);
        Next::Suspend
    }

    /// Reads the rank's clock. A read takes no time of its own, so that timing an event does not lengthen it. A second
    /// read while nothing else has happened takes the time of a poll, so that a program that waits by reading the clock
    /// ends its wait.
    pub(crate) fn read_clock(&mut self, rank: usize) -> Next {
        let now = self.now();
        let again = self.ranks[rank].clock_read == Some(now);
        let polling = self.machine.processor.polling;
        let next = if again { self.work(rank, polling) } else { Next::Continue };
        self.ranks[rank].clock_read = Some(if again { now + polling } else { now });
        next
    }
}
