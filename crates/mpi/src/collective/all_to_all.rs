//! All-to-all.

use std::rc::Rc;

use contract::{CollectiveCall, Endpoint};

use super::Plan;
use super::blocks::{Blocks, check_both_apart, check_number, equal};
use super::exchange::{self, Outgoing};
use super::native::{Whole, check_block};
use crate::engine::Context;
use crate::error::Result;
use crate::memory::Memory;
use crate::schedule::{CollectiveContext, CollectiveKind, CollectiveMark, Schedule};

/// Gives block r of member s to member r, as block s.
pub struct AllToAll<E: Endpoint> {
    context: Rc<Context<E>>,
    from: Option<Memory>,
    to: Memory,
}

impl<E: Endpoint> AllToAll<E> {
    /// That of `from`, none where the blocks are in the place of those that come, to `to`, each with as many elements for
    /// each member.
    ///
    /// # Errors
    /// [`ErrorClass::Buffer`](crate::ErrorClass::Buffer) if the two overlap.
    #[inline(always)]
    pub fn new(context: Rc<Context<E>>, from: Option<Memory>, to: Memory) -> Result<Self> {
        check_both_apart(from.as_ref(), Some(&to))?;
        Ok(AllToAll { context, from, to })
    }
}

impl<E: Endpoint + 'static> Plan<E> for AllToAll<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn mark(&self) -> CollectiveMark {
        CollectiveMark::of(CollectiveKind::AllToAll)
    }

    #[inline(always)]
    fn native(&self) -> Option<Result> {
        let blocks = self.context.size();
        let each = self.to.bytes() / blocks;
        let checked = check_block(self.from.as_ref(), blocks, each);
        // All members look at each other's lengths: the others then fail too.
        let wrong = self.from.as_ref().filter(|_| checked.is_err());
        let told = wrong.map(|from| from.bytes() / blocks);
        let source = self.from.as_ref().filter(|_| checked.is_ok()).map(Whole::filled);
        let send = source.as_ref().map(Whole::readable);
        let room = if source.is_none() { Whole::filled(&self.to) } else { Whole::room(&self.to) };
        let receive = room.writable();
        let outcome =
            self.context.collective(CollectiveCall::AllToAll { send, receive, each, told })?;
        let outcome = checked.and(outcome);
        if outcome.is_ok() {
            room.deliver();
        }
        Some(outcome)
    }

    fn schedule(&self, at: CollectiveContext<E>) -> Schedule<E> {
        let size = at.members.size();
        let from = match &self.from {
            Some(from) => Outgoing::Blocks(equal(from, size)),
            None => Outgoing::InPlace,
        };
        let mut schedule = exchange::schedule(at, &from, &equal(&self.to, size));
        schedule.begin_with(check_block(self.from.as_ref(), size, self.to.bytes() / size));
        schedule
    }
}

/// The same with blocks of any lengths, and of a datatype for all or for each.
pub struct AllToAllUnequal<E: Endpoint> {
    context: Rc<Context<E>>,
    from: Outgoing,
    to: Blocks,
    kind: CollectiveKind,
}

impl<E: Endpoint> AllToAllUnequal<E> {
    /// That of `from`, none where the blocks are in the place of those that come, to `to`, each with a block for each member.
    /// All members say alike whether each block has a datatype of its own.
    ///
    /// # Errors
    /// [`ErrorClass::Buffer`](crate::ErrorClass::Buffer) if two blocks overlap, and
    /// [`ErrorClass::Argument`](crate::ErrorClass::Argument) for another number of blocks.
    pub fn new(
        context: Rc<Context<E>>,
        from: Option<Vec<Memory>>,
        to: Vec<Memory>,
        own_datatypes: bool,
    ) -> Result<Self> {
        check_number(&to, context.size())?;
        let from = match from {
            Some(blocks) => {
                check_number(&blocks, context.size())?;
                Outgoing::Blocks(blocks)
            }
            None => Outgoing::InPlace,
        };
        from.check_apart(&to)?;
        let kind = match own_datatypes {
            true => CollectiveKind::AllToAllTypes,
            false => CollectiveKind::AllToAllUnequal,
        };
        Ok(AllToAllUnequal { context, from, to, kind })
    }
}

impl<E: Endpoint + 'static> Plan<E> for AllToAllUnequal<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn mark(&self) -> CollectiveMark {
        CollectiveMark::of(self.kind)
    }

    fn schedule(&self, at: CollectiveContext<E>) -> Schedule<E> {
        exchange::schedule(at, &self.from, &self.to)
    }
}
