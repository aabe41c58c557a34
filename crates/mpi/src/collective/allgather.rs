//! Allgather.

use std::rc::Rc;

use contract::{CollectiveCall, Endpoint};

use super::Plan;
use super::blocks::{Blocks, check_both_apart, check_none_overlaps, check_number, equal};
use super::exchange::{self, Outgoing};
use super::native::{Whole, check_block};
use crate::engine::Context;
use crate::error::Result;
use crate::memory::Memory;
use crate::schedule::{CollectiveContext, CollectiveKind, CollectiveMark, Schedule};

/// Puts the data of member r into block r at every member.
pub struct Allgather<E: Endpoint> {
    context: Rc<Context<E>>,
    mine: Option<Memory>,
    all: Memory,
}

impl<E: Endpoint> Allgather<E> {
    /// That of `mine`, none where this rank's block is in its place, to `all`, with as many elements for each member.
    ///
    /// # Errors
    /// [`ErrorClass::Buffer`](crate::ErrorClass::Buffer) if the two overlap.
    #[inline(always)]
    pub fn new(context: Rc<Context<E>>, mine: Option<Memory>, all: Memory) -> Result<Self> {
        check_both_apart(mine.as_ref(), Some(&all))?;
        Ok(Allgather { context, mine, all })
    }
}

impl<E: Endpoint + 'static> Plan<E> for Allgather<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn mark(&self) -> CollectiveMark {
        CollectiveMark::of(CollectiveKind::Allgather)
    }

    #[inline(always)]
    fn native(&self) -> Option<Result> {
        let each = self.all.bytes() / self.context.size();
        let checked = check_block(self.mine.as_ref(), 1, each);
        // All members look at each other's lengths: the others then fail too.
        let told = self.mine.as_ref().filter(|_| checked.is_err()).map(Memory::bytes);
        let own = self.mine.as_ref().filter(|_| checked.is_ok()).map(Whole::filled);
        let send = own.as_ref().map(Whole::readable);
        let room = if own.is_none() { Whole::filled(&self.all) } else { Whole::room(&self.all) };
        let receive = room.writable();
        let outcome =
            self.context.collective(CollectiveCall::Allgather { send, receive, each, told })?;
        let outcome = checked.and(outcome);
        if outcome.is_ok() {
            room.deliver();
        }
        Some(outcome)
    }

    fn schedule(&self, at: CollectiveContext<E>) -> Schedule<E> {
        let blocks = equal(&self.all, at.members.size());
        let each = self.all.bytes() / at.members.size();
        let mut schedule = schedule(at, self.mine.as_ref(), &blocks);
        schedule.begin_with(check_block(self.mine.as_ref(), 1, each));
        schedule
    }
}

/// The same with blocks of any lengths.
pub struct AllgatherUnequal<E: Endpoint> {
    context: Rc<Context<E>>,
    mine: Option<Memory>,
    blocks: Blocks,
}

impl<E: Endpoint> AllgatherUnequal<E> {
    /// That of `mine`, none where this rank's block is in its place, to `blocks`, one for each member.
    ///
    /// # Errors
    /// As of [`Allgather::new`], and [`ErrorClass::Argument`](crate::ErrorClass::Argument) for another number of blocks.
    pub fn new(context: Rc<Context<E>>, mine: Option<Memory>, blocks: Vec<Memory>) -> Result<Self> {
        check_number(&blocks, context.size())?;
        check_none_overlaps(mine.as_ref(), &blocks)?;
        Ok(AllgatherUnequal { context, mine, blocks })
    }
}

impl<E: Endpoint + 'static> Plan<E> for AllgatherUnequal<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn mark(&self) -> CollectiveMark {
        CollectiveMark::of(CollectiveKind::AllgatherUnequal)
    }

    fn schedule(&self, at: CollectiveContext<E>) -> Schedule<E> {
        schedule(at, self.mine.as_ref(), &self.blocks)
    }
}

fn schedule<E: Endpoint>(
    at: CollectiveContext<E>,
    mine: Option<&Memory>,
    blocks: &Blocks,
) -> Schedule<E> {
    let mine = mine.unwrap_or(&blocks[at.rank]).clone();
    exchange::schedule(at, &Outgoing::Same(mine), blocks)
}
