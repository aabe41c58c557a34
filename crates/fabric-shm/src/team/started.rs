//! Calls that were started and go on while their rank does something else (decision 0036).
//!
//! They are made by the same steps as calls that wait, one call after the other, in the order in which they were
//! started. Such a step does what it can: where a call that waits would wait, it stops, and is made again from there
//! the next time ([`Stop::Later`]).

use std::collections::VecDeque;

use contract::Error;

use super::{Call, Host, Result, Team};
use crate::primitive::Ordering;

/// Why a part of a call did not come to its end.
#[derive(Clone)]
pub(crate) enum Stop {
    /// Something is not there yet: the part is made again later. Calls that wait never stop so.
    Later,
    /// The call has failed.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
    }
}

/// The three parts of a window of steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    #[default]
    Put,
    Work,
    Take,
}

/// Where a call stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The first piece of the window.
    pub(super) first: usize,
    pub(super) stage: Stage,
    /// The piece that comes next in this stage.
    pub(super) piece: usize,
}

/// The calls that were started and have not ended.
#[derive(Default)]
pub(super) struct StartedCalls {
    /// In the order in which they were started: each call, and its number among the calls over boards, 0 if it was not
    /// counted. Only the first is under way.
    queue: VecDeque<(Call, u32)>,
    /// The ticket of the first of them.
    first: u32,
    /// Whether the first has begun.
    has_begun: bool,
    /// Where the first stands.
    pub(super) position: Position,
    /// How often it was looked in vain for what the first waits for.
    pub(super) polls: u32,
}

impl Team {
    /// Puts a call at the end of those that were started. Returns its ticket.
    pub(crate) fn start(&mut self, call: Call) -> u32 {
        let number = self.counts.take_number();
        let started = &mut self.started;
        started.queue.push_back((call, number));
        started.first.wrapping_add(started.queue.len() as u32 - 1)
    }

    /// Whether calls that were started have not ended yet.
    #[inline]
    pub(crate) fn has_started_calls(&self) -> bool {
        !self.started.queue.is_empty()
    }

    /// The call of a ticket, if those before it have ended.
    pub(crate) fn started_call(&self, ticket: u32) -> Option<Call> {
        let (call, _) = self.started.queue.front().filter(|_| ticket == self.started.first)?;
        Some(*call)
    }

    /// Takes note of how far the first of the calls has come. Returns how it ended, if it has.
    pub(crate) fn note_started(
        &mut self,
        outcome: Result<()>,
    ) -> Option<std::result::Result<(), Error>> {
        let outcome = match outcome {
            Err(Stop::Later) => return None,
            Err(Stop::Failed(error)) => Err(error),
            Ok(()) => Ok(()),
        };
        self.stop_waiting_for_slot();
        let StartedCalls { queue, first, .. } = std::mem::take(&mut self.started);
        self.started = StartedCalls { queue, first: first.wrapping_add(1), ..Default::default() };
        self.started.queue.pop_front();
        Some(outcome)
    }

    /// How far the calls that were started have come: the ticket of the first, whether it has begun, the last step, and
    /// where the call stands.
    pub(crate) fn progress_of_started(&self) -> (u32, bool, u32, Position) {
        let StartedCalls { first, has_begun, position, .. } = self.started;
        (first, has_begun, self.epoch, position)
    }

    /// Whether nothing of the call under way has been done yet.
    #[inline(always)]
    pub(super) fn is_beginning<H: Host>(&self, host: &H) -> bool {
        host.waits() || !self.started.has_begun
    }

    /// Begins the first of the calls, or goes on where it stopped. Returns where it stands.
    pub(super) fn begin_or_resume<H: Host>(
        &mut self,
        host: &mut H,
        call: &Call,
    ) -> Result<Position> {
        host.engine().check_alive()?;
        if !self.started.has_begun {
            let number = self.started.queue.front().map_or(0, |&(_, number)| number);
            self.begin_call(host, call, number)?;
            self.started.has_begun = true;
        }
        Ok(self.started.position)
    }

    /// Says that this rank waits until a slot may be used again.
    pub(super) fn wait_for_slot_begins(&mut self) {
        if !self.waits_for_slot {
            // Sequentially consistent with the fence in `end`: either a member that ends its step sees that we
            // wait, or we see that it has ended it.
            self.board(0).waiters.0.fetch_add(1, Ordering::SeqCst);
            self.waits_for_slot = true;
        }
    }

    /// Takes that back.
    pub(super) fn stop_waiting_for_slot(&mut self) {
        if std::mem::take(&mut self.waits_for_slot) {
            self.board(0).waiters.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
