//! Collective operations. Each is a value with checked arguments. It runs to completion, is started, or becomes a
//! persistent request. The fabric carries it out if it can; otherwise messages do, by an algorithm of the crate
//! `collectives`.

mod agree;
mod agreed;
mod all_to_all;
mod allgather;
mod allreduce;
mod barrier;
mod between;
mod blocks;
mod broadcast;
mod bytes;
mod comparison;
mod gather;
mod levels;
mod native;
mod neighbours;
mod persistent;
mod reduce;
mod reduce_scatter;
mod reduction;
mod scan;
mod scatter;
mod scheduled;

use std::rc::Rc;

use collectives::{Call, CallId, HostMap, Manner};
use contract::Endpoint;

pub(crate) use agree::{Agreement, Proposal};
pub use all_to_all::{AllToAll, AllToAllUnequal};
pub use allgather::{Allgather, AllgatherUnequal};
pub use allreduce::Allreduce;
pub use barrier::Barrier;
pub use between::Between;
pub use broadcast::Broadcast;
pub(crate) use bytes::{all_to_all_bytes, allgather_bytes, broadcast_bytes, gather_then};
pub(crate) use comparison::{exchange, exchange_places, explain_difference, half, word};
pub use gather::{Gather, GatherUnequal};
pub use neighbours::Neighbours;
pub use reduce::Reduce;
pub use reduce_scatter::ReduceScatter;
pub use scan::{Scan, ScanKind};
pub use scatter::{Scatter, ScatterUnequal};
pub use scheduled::Scheduled;

use crate::engine::{Agreed, Context, Levels};
use crate::error::Result;
use crate::request::{Action, Request};
use crate::schedule::{self, CallMemory, Chosen, CollectiveContext, Schedule, Work};
use native::{CarryOut, Packed};

/// The implementation of a collective. Only this crate has collectives.
pub trait CollectiveWork<E: Endpoint>: Sized + 'static {
    /// Returns the context whose members make the call.
    fn context(&self) -> &Rc<Context<E>>;

    /// Returns the call id that the members compare.
    fn call_id(&self) -> CallId;

    /// Returns what the members must agree on beside the call id.
    fn agreed(&self) -> Agreed {
        Agreed::Nothing
    }

    /// Returns the memory of a fabric's own call, or `None` if no fabric has one for this.
    #[inline(always)]
    fn packed(&self) -> Option<Packed> {
        None
    }

    /// Lets `fabric` carry out a fabric's own call. Returns `None` if no fabric has one for this.
    #[inline(always)]
    fn with_native_call<C: CarryOut>(&self, _packed: &Packed, _fabric: C) -> Option<C::Outcome> {
        None
    }

    /// Fails if this member's own arguments contradict each other. The member goes through the fabric's call
    /// nevertheless.
    #[inline(always)]
    fn check(&self) -> Result {
        Ok(())
    }

    /// Copies the received data to the program's memory, unless it is there already.
    #[inline(always)]
    fn deliver(&self, _packed: &Packed) {}

    /// Returns its form in two levels, if it has one.
    fn in_levels(&self) -> Option<&dyn InLevels<E>> {
        None
    }

    /// Returns the work to be done by messages.
    fn work(&self) -> Work;

    /// Returns the length in bytes of the units of the call.
    fn unit_bytes(&self) -> usize {
        1
    }

    /// Returns the memory of that work.
    fn memory(&self) -> CallMemory;
}

/// A collective that has a form in two levels.
pub trait InLevels<E: Endpoint> {
    /// Returns whether `call` can run in levels among members on these hosts, at all members alike.
    fn fits(&self, call: &Call, hosts: &HostMap) -> bool {
        call.fits_hosts(hosts)
    }

    /// Runs it. A member whose first part fails takes part in the others nevertheless, which depend on it.
    #[allow(private_interfaces)]
    fn run_in(&self, levels: &Levels<E>) -> Result;
}

/// Records a call of the program.
#[inline(always)]
fn log<E: Endpoint>(collective: &impl CollectiveWork<E>, manner: Manner) {
    let id = collective.call_id().in_manner(manner);
    collective.context().log(id, collective.agreed());
}

/// Selects an algorithm of messages, and announces this member's next collective to the others.
#[inline(never)]
fn announce<E: Endpoint>(
    collective: &impl CollectiveWork<E>,
    manner: Manner,
) -> (CollectiveContext<E>, Chosen) {
    let context = collective.context();
    let members = (context.size(), context.hosts());
    let chosen = Chosen::new(collective.work(), members, collective.unit_bytes(), manner);
    let call = chosen.agreed(collective.call_id().in_manner(manner), collective.unit_bytes());
    (CollectiveContext::next(context, call), chosen)
}

/// Returns the schedule of this member's next collective.
fn schedule_of<E: Endpoint>(collective: &impl CollectiveWork<E>, manner: Manner) -> Schedule<E> {
    let (at, chosen) = announce(collective, manner);
    schedule_at(collective, at, &chosen, manner)
}

/// Returns the schedule of an announced collective. Compiled once for all collectives.
#[inline(never)]
fn schedule_at<E: Endpoint>(
    collective: &impl CollectiveWork<E>,
    at: CollectiveContext<E>,
    chosen: &Chosen,
    manner: Manner,
) -> Schedule<E> {
    let mut memory = collective.memory();
    if manner != Manner::Blocking && collective.context().engine().is_synchronous() {
        memory.areas.keep_output_separate();
    }
    Schedule::new(at, chosen, memory)
}

/// A collective operation with checked arguments. All members of its context run it in the same way.
///
/// The creator of its [`Memory`](crate::Memory) has promised that the memory lasts until the operation has ended.
pub trait Collective<E: Endpoint + 'static>: CollectiveWork<E> {
    /// Runs it to completion.
    ///
    /// # Errors
    /// [`ErrorClass::Truncated`](crate::ErrorClass::Truncated) if the members disagree about lengths,
    /// [`ErrorClass::Other`](crate::ErrorClass::Other) if they make different calls, and errors that end the run.
    #[inline(always)]
    fn run(self) -> Result {
        log(&self, Manner::Blocking);
        if self.context().engine().is_synchronous() {
            synchronise(self.context())?;
        }
        to_its_end(self)
    }

    /// Runs it by messages.
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
    /// Errors that end the run. Others are reported at the end of the request.
    fn start(self) -> Result<Request<E>> {
        log(&self, Manner::Nonblocking);
        let engine = self.context().engine().clone();
        Ok(Request::new(&engine, native::start(self)?))
    }

    /// Returns a persistent request. Members may start their requests in any order, so each has a context of its own in
    /// the fabric, or tags of its own among the messages (decision 0036).
    ///
    /// # Errors
    /// Errors that end the run.
    fn persistent(self) -> Result<Request<E>> {
        log(&self, Manner::Persistent);
        let engine = self.context().engine().clone();
        let (at, chosen) = announce(&self, Manner::Persistent);
        let own = persistent::OwnContext::of(&self)?;
        let collective = Rc::new(self);
        Ok(Request::persistent(&engine, move || {
            let started = own.as_ref().map_or(Ok(None), |own| own.start(&collective))?;
            Ok(match started {
                Some(action) => action,
                None => Action::Collective(schedule::start(schedule_at(
                    &*collective,
                    at.clone(),
                    &chosen,
                    Manner::Persistent,
                ))?),
            })
        }))
    }
}

impl<E: Endpoint + 'static, C: CollectiveWork<E>> Collective<E> for C {}

/// Waits until all members have come, which every collective may do, so that a program that relies on the contrary stops.
#[cold]
fn synchronise<E: Endpoint + 'static>(context: &Rc<Context<E>>) -> Result {
    if context.size() == 1 || context.two_groups().is_some() || context.identity().is_of_library() {
        return Ok(());
    }
    to_its_end(Barrier::new(context.clone()))
}

/// Runs a collective that is recorded, or none of the program's.
#[inline(always)]
fn to_its_end<E: Endpoint + 'static>(collective: impl CollectiveWork<E>) -> Result {
    if collective.context().engine().has_other_threads() {
        return run_in_turns(collective);
    }
    match native::run(&collective) {
        Some(outcome) => outcome,
        None => levels::run(&collective).unwrap_or_else(|| collective.run_by_messages()),
    }
}

/// Runs a collective while other threads proceed: nothing waits inside the fabric.
#[cold]
fn run_in_turns<E: Endpoint + 'static>(collective: impl CollectiveWork<E>) -> Result {
    let engine = collective.context().engine().clone();
    Request::new(&engine, native::start(collective)?).wait().map(drop)
}
