//! Barrier.

use std::rc::Rc;

use contract::{CollectiveCall, Endpoint, Readable, Writable};

use super::Plan;
use crate::engine::Context;
use crate::error::Result;
use crate::schedule::{CollectiveContext, CollectiveKind, CollectiveMark, Schedule};

/// Waits until all members have come here.
pub struct Barrier<E: Endpoint> {
    context: Rc<Context<E>>,
}

impl<E: Endpoint> Barrier<E> {
    /// That of the context's members.
    #[inline]
    pub fn new(context: Rc<Context<E>>) -> Self {
        Barrier { context }
    }
}

impl<E: Endpoint + 'static> Plan<E> for Barrier<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn mark(&self) -> CollectiveMark {
        CollectiveMark::of(CollectiveKind::Barrier)
    }

    #[inline(always)]
    fn native(&self) -> Option<Result> {
        self.context.collective(CollectiveCall::Barrier)
    }

    /// Dissemination: after round k each rank has heard, over others, from the 2^k ranks before it (Hensgen, Finkel and
    /// Manber, 1988).
    fn schedule(&self, at: CollectiveContext<E>) -> Schedule<E> {
        let mut schedule = Schedule::new(at);
        let (rank, size) = (schedule.rank(), schedule.size());
        let mut distance = 1;
        while distance < size {
            let round = schedule.round();
            round.send((rank + distance) % size, Readable::empty());
            round.receive((rank + size - distance) % size, Writable::empty());
            distance *= 2;
        }
        schedule
    }
}
