//! Collective operations. Each is a value: its arguments, checked. It runs to its end, is started, or becomes a persistent
//! request; the fabric carries it out where it can, else messages
//! do, by an algorithm of the crate `collectives`.

mod all_to_all;
mod allgather;
mod allreduce;
mod barrier;
mod between;
mod blocks;
mod broadcast;
mod bytes;
mod gather;
mod native;
mod neighbours;
mod reduce;
mod reduce_scatter;
mod reduction;
mod scan;
mod scatter;
mod scheduled;

use std::rc::Rc;

use contract::Endpoint;

pub use all_to_all::{AllToAll, AllToAllUnequal};
pub use allgather::{Allgather, AllgatherUnequal};
pub use allreduce::Allreduce;
pub use barrier::Barrier;
pub use between::Between;
pub use broadcast::Broadcast;
pub(crate) use bytes::{all_to_all_bytes, allgather_bytes, broadcast_bytes, gather_then};
pub use gather::{Gather, GatherUnequal};
pub use neighbours::Neighbours;
pub use reduce::Reduce;
pub use reduce_scatter::ReduceScatter;
pub use scan::{Scan, ScanKind};
pub use scatter::{Scatter, ScatterUnequal};
pub use scheduled::Scheduled;

use crate::engine::Context;
use crate::error::Result;
use crate::request::{Action, Request};
use crate::schedule::{
    self, CallMemory, Chosen, CollectiveContext, CollectiveMark, Manner, Schedule, Work,
};
use native::{CarryOut, Packed};

/// How a collective is carried out. Only this crate has collectives.
pub trait Plan<E: Endpoint>: Sized + 'static {
    /// Returns whose members make it.
    fn context(&self) -> &Rc<Context<E>>;

    /// Returns what the members compare.
    fn mark(&self) -> CollectiveMark;

    /// Returns the memory of a fabric's own call; `None` if no fabric has one for this.
    #[inline(always)]
    fn packed(&self) -> Option<Packed> {
        None
    }

    /// Has `fabric` carry out a fabric's own call; `None` if no fabric has one for this.
    #[inline(always)]
    fn with_native_call<C: CarryOut>(&self, _packed: &Packed, _fabric: C) -> Option<C::Outcome> {
        None
    }

    /// Fails if this member's own arguments contradict each other. It goes through the fabric's call all the same.
    #[inline(always)]
    fn check(&self) -> Result {
        Ok(())
    }

    /// Puts what came into the program's memory, unless it is there.
    #[inline(always)]
    fn deliver(&self, _packed: &Packed) {}

    /// Returns what messages have to do.
    fn work(&self) -> Work;

    /// Returns how many bytes the units have in which the call counts.
    fn unit_bytes(&self) -> usize {
        1
    }

    /// Returns the memory of that call.
    fn memory(&self) -> CallMemory;
}

/// Chooses how messages do it, and tells the others, as far as they may ask, of this member's next collective.
#[inline(never)]
fn announce<E: Endpoint>(plan: &impl Plan<E>, manner: Manner) -> (CollectiveContext<E>, Chosen) {
    let context = plan.context();
    let members = (context.size(), context.hosts());
    let chosen = Chosen::new(plan.work(), members, plan.unit_bytes(), manner);
    let mark = plan.mark().in_manner(manner).by(chosen.algorithm);
    (CollectiveContext::next(plan.context(), mark), chosen)
}

/// Returns the schedule of this member's next collective.
fn schedule_of<E: Endpoint>(plan: &impl Plan<E>, manner: Manner) -> Schedule<E> {
    let (at, chosen) = announce(plan, manner);
    schedule_at(plan, at, &chosen)
}

/// Returns the schedule of a collective that was announced: there is one of it for each collective.
#[inline(never)]
fn schedule_at<E: Endpoint>(
    plan: &impl Plan<E>,
    at: CollectiveContext<E>,
    chosen: &Chosen,
) -> Schedule<E> {
    Schedule::new(at, chosen, plan.memory())
}

/// A collective operation whose arguments are checked. All members of its context go on with it alike.
///
/// Its memory was promised where its [`Memory`](crate::Memory) was made, and must last until it has ended.
pub trait Collective<E: Endpoint + 'static>: Plan<E> {
    /// Carries it out.
    ///
    /// # Errors
    /// [`ErrorClass::Truncated`](crate::ErrorClass::Truncated) if the members disagree about lengths,
    /// [`ErrorClass::Other`](crate::ErrorClass::Other) if they make different calls, and errors that end the run.
    #[inline(always)]
    fn run(self) -> Result {
        if self.context().engine().has_other_threads() {
            return run_in_turns(self);
        }
        match native::run(&self) {
            Some(outcome) => outcome,
            None => self.run_by_messages(),
        }
    }

    /// Carries it out by messages.
    ///
    /// # Errors
    /// As for [`run`](Collective::run).
    #[cold]
    fn run_by_messages(self) -> Result {
        schedule::finish(schedule_of(&self, Manner::Blocking))
    }

    /// Starts it.
    ///
    /// # Errors
    /// Those that end the run. Others come with the request's end.
    fn start(self) -> Result<Request<E>> {
        let engine = self.context().engine().clone();
        Ok(Request::new(&engine, native::start(self)?))
    }

    /// Returns a request that starts it, any number of times: by messages, for members may start their requests in any
    /// order.
    fn persistent(self) -> Request<E> {
        let (at, chosen) = announce(&self, Manner::Persistent);
        let engine = self.context().engine().clone();
        Request::persistent(&engine, move || {
            let schedule = schedule_at(&self, at.clone(), &chosen);
            Ok(Action::Collective(schedule::start(schedule)?))
        })
    }
}

impl<E: Endpoint + 'static, P: Plan<E>> Collective<E> for P {}

/// Carries a collective out where other threads get on meanwhile: nothing waits inside of the fabric.
#[cold]
fn run_in_turns<E: Endpoint + 'static>(plan: impl Plan<E>) -> Result {
    plan.start()?.wait().map(drop)
}
