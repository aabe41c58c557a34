//! Started (non-blocking) calls, which proceed while their rank does something else (decision 0036).
//!
//! They consist of the same steps as blocking calls, and run one after the other in the order in which they were
//! started. A step does what it can: where a blocking call would wait, it stops, and is made again from there the next
//! time ([`Stop::Later`]).

use std::collections::VecDeque;

use contract::Error;

use super::{Call, CompiledCaller, Result, Team};
use crate::primitive::Ordering;

/// The reason why a part of a call did not finish.
#[derive(Clone)]
pub(crate) enum Stop {
    /// Something is not there yet: the part is made again later. Blocking calls never stop for this reason.
    Later,
    /// The call has failed.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
    }
}

/// The three stages of a window of steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    #[default]
    Put,
    Work,
    Take,
}

/// Position in a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The first piece of the window.
    pub(super) first: usize,
    pub(super) stage: Stage,
    /// The next piece of this stage.
    pub(super) piece: usize,
}

/// The started calls that have not ended.
#[derive(Default)]
pub(super) struct StartedCalls {
    /// In the order in which they were started: each call, and its number among the calls over boards, 0 if it was not
    /// counted. Only the first is in progress.
    queue: VecDeque<(Call, u32)>,
    /// Ticket of the first of them.
    first: u32,
    /// True if the first has begun.
    has_begun: bool,
    /// Position in the first.
    pub(super) position: Position,
    /// Number of idle polls for what the first waits for.
    pub(super) polls: u32,
}

impl Team {
    /// Appends a started call. Returns its ticket.
    pub(crate) fn start(&mut self, call: Call) -> u32 {
        let number = self.counts.take_number();
        let started = &mut self.started;
        started.queue.push_back((call, number));
        started.first.wrapping_add(started.queue.len() as u32 - 1)
    }

    /// Returns whether any started call has not ended yet.
    #[inline]
    pub(crate) fn has_started_calls(&self) -> bool {
        !self.started.queue.is_empty()
    }

    /// Returns the call of a ticket, if those before it have ended.
    pub(crate) fn started_call(&self, ticket: u32) -> Option<Call> {
        let (call, _) = self.started.queue.front().filter(|_| ticket == self.started.first)?;
        Some(*call)
    }

    /// Records the progress of the first call. Returns its outcome if it has ended.
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

    /// Returns the progress of the started calls: the ticket of the first, whether it has begun, its last step, and the
    /// position in it.
    pub(crate) fn progress_of_started(&self) -> (u32, bool, u32, Position) {
        let StartedCalls { first, has_begun, position, .. } = self.started;
        (first, has_begun, self.epoch, position)
    }

    /// Returns whether nothing of the current call has been done yet.
    #[inline(always)]
    pub(super) fn is_beginning<C: CompiledCaller>(&self, caller: &C) -> bool {
        caller.waits() || !self.started.has_begun
    }

    /// Begins the first of the calls, or resumes it where it stopped. Returns the position in it.
    pub(super) fn begin_or_resume<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: &Call,
    ) -> Result<Position> {
        caller.parts().0.check()?;
        if !self.started.has_begun {
            let number = self.started.queue.front().map_or(0, |&(_, number)| number);
            self.begin_call(caller, call, number)?;
            self.started.has_begun = true;
        }
        Ok(self.started.position)
    }

    /// Declares that this rank waits until a slot may be reused.
    pub(super) fn wait_for_slot_begins(&mut self) {
        if !self.waits_for_slot {
            // Sequentially consistent with the fence in `end`: either a member that ends its step sees that we wait, or
            // we see that it has ended it.
            self.board(0).waiters.0.fetch_add(1, Ordering::SeqCst);
            self.waits_for_slot = true;
        }
    }

    /// Withdraws that.
    pub(super) fn stop_waiting_for_slot(&mut self) {
        if std::mem::take(&mut self.waits_for_slot) {
            self.board(0).waiters.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
