//! All-to-all.

use std::rc::Rc;

use collectives::{Blocks as ByteBlocks, Call, Own};
use contract::{CollectiveCall, Endpoint};

use super::Plan;
use super::blocks::{Blocks, check_apart, check_both_apart, check_number, own};
use super::native::{Whole, check_block};
use crate::engine::Context;
use crate::error::Result;
use crate::memory::Memory;
use crate::schedule::{Areas, CollectiveKind, CollectiveMark, CollectiveTask};

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

    fn task(&self) -> CollectiveTask {
        let size = self.context.size();
        let each = self.to.bytes() / size;
        let failure = check_block(self.from.as_ref(), size, each);
        let from = self.from.as_ref().filter(|_| failure.is_ok());
        let blocks = ByteBlocks::equal(size, each);
        let call = Call::AllToAll { input: blocks.clone(), output: blocks };
        let areas = Areas::of_bytes().input(from).output([&self.to], from.is_none());
        CollectiveTask { failure, ..CollectiveTask::new(call, own(from), areas) }
    }
}

/// The same with blocks of any lengths, and of a datatype for all or for each.
pub struct AllToAllUnequal<E: Endpoint> {
    context: Rc<Context<E>>,
    from: Option<Blocks>,
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
        if let Some(from) = &from {
            check_number(from, context.size())?;
            from.iter().zip(&to).try_for_each(|(from, to)| check_apart(from, to))?;
        }
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

    fn task(&self) -> CollectiveTask {
        let lengths = |blocks: &Blocks| ByteBlocks::of_lengths(blocks.iter().map(Memory::bytes));
        let output = lengths(&self.to);
        let rank = self.context.rank();
        let own_block = self.from.as_ref().map(|from| &from[rank]);
        let failure = check_block(own_block, 1, self.to[rank].bytes());
        let task = match self.from.as_ref().filter(|_| failure.is_ok()) {
            Some(from) => {
                let areas = Areas::of_bytes().input(from).output(&self.to, false);
                CollectiveTask::new(
                    Call::AllToAll { input: lengths(from), output },
                    Own::InInput,
                    areas,
                )
            }
            None => {
                let call = Call::AllToAll { input: output.clone(), output };
                CollectiveTask::new(call, Own::InOutput, Areas::of_bytes().output(&self.to, true))
            }
        };
        CollectiveTask { failure, ..task }
    }
}
