//! Collective operations. Each is a value: its arguments, checked. It runs to its end, is started, or becomes a persistent
//! request; the fabric carries it out where it can, else messages
//! do, by an algorithm of the crate `collectives`.

mod all_to_all;
mod allgather;
mod allreduce;
mod barrier;
mod blocks;
mod broadcast;
mod gather;
mod native;
mod reduce;
mod reduce_scatter;
mod reduction;
mod scan;
mod scatter;

use std::rc::Rc;

use collectives::{Call, Own};
use contract::Endpoint;

pub use all_to_all::{AllToAll, AllToAllUnequal};
pub use allgather::{Allgather, AllgatherUnequal};
pub use allreduce::Allreduce;
pub use barrier::Barrier;
pub use broadcast::Broadcast;
pub use gather::{Gather, GatherUnequal};
pub use reduce::Reduce;
pub use reduce_scatter::ReduceScatter;
pub use scan::{Scan, ScanKind};
pub use scatter::{Scatter, ScatterUnequal};

use crate::engine::Context;
use crate::error::Result;
use crate::memory::Storage;
use crate::request::{Action, Request};
use crate::schedule::{
    self, Areas, CollectiveContext, CollectiveMark, CollectiveTask, Manner, Schedule,
};

/// How a collective is carried out. Only this crate has collectives.
pub trait Plan<E: Endpoint>: Sized + 'static {
    /// Whose members make it.
    fn context(&self) -> &Rc<Context<E>>;

    /// What the members compare.
    fn mark(&self) -> CollectiveMark;

    /// Has the fabric carry it out; `None` if that leaves it to messages.
    #[inline(always)]
    fn native(&self) -> Option<Result> {
        None
    }

    /// What messages have to do, and with which memory.
    fn task(&self) -> CollectiveTask;
}

/// Tells the others, as far as they may ask, of this member's next collective by messages.
fn announce<E: Endpoint>(
    plan: &impl Plan<E>,
    task: &CollectiveTask,
    manner: Manner,
) -> CollectiveContext<E> {
    let algorithm = task.algorithm(plan.context().size(), manner);
    let mark = plan.mark().in_manner(manner).by(algorithm);
    CollectiveContext::next(plan.context(), mark)
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
        match self.native() {
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
        let task = self.task();
        let at = announce(&self, &task, Manner::Blocking);
        schedule::finish(Schedule::new(at, task, Manner::Blocking))
    }

    /// Starts it.
    ///
    /// # Errors
    /// Those that end the run. Others come with the request's end.
    fn start(self) -> Result<Request<E>> {
        let task = self.task();
        let at = announce(&self, &task, Manner::Nonblocking);
        let schedule = Schedule::new(at, task, Manner::Nonblocking);
        let action = Action::Collective(schedule::start(schedule)?);
        Ok(Request::new(self.context().engine(), action))
    }

    /// A request that starts it, any number of times.
    fn persistent(self) -> Request<E> {
        let at = announce(&self, &self.task(), Manner::Persistent);
        let engine = self.context().engine().clone();
        Request::persistent(&engine, move || {
            let schedule = Schedule::new(at.clone(), self.task(), Manner::Persistent);
            Ok(Action::Collective(schedule::start(schedule)?))
        })
    }
}

impl<E: Endpoint + 'static, P: Plan<E>> Collective<E> for P {}

/// Gathers as many bytes from every member, in the order of their ranks.
///
/// # Errors
/// Those that end the run.
pub(crate) fn allgather_bytes<E: Endpoint + 'static>(
    at: CollectiveContext<E>,
    mine: &[u8],
) -> Result<Vec<u8>> {
    let all = Rc::new(std::cell::RefCell::new(Vec::new()));
    let place = all.clone();
    schedule::finish(gather_then(at, mine, Manner::Blocking, move |_, bytes| {
        *place.borrow_mut() = bytes.to_vec();
        Ok(())
    }))?;
    Ok(all.take())
}

/// The schedule of the same, which hands the bytes on.
pub(crate) fn gather_then<E: Endpoint>(
    at: CollectiveContext<E>,
    mine: &[u8],
    manner: Manner,
    then: impl FnOnce(&mut E, &[u8]) -> Result + 'static,
) -> Schedule<E> {
    let blocks = collectives::Blocks::equal(at.members.size(), mine.len());
    let all = Storage::zeroed(blocks.total());
    let areas = Areas::of_bytes().own_input(mine).own_output(all.clone());
    let task = CollectiveTask::new(Call::Allgather { blocks }, Own::InInput, areas);
    Schedule::new(at, task, manner)
        .then(move |endpoint| all.with(0..all.bytes(), |bytes| then(endpoint, bytes)))
}
