//! Allgather.

use std::rc::Rc;

use collectives::{Blocks as ByteBlocks, Call, CallId, Collective, Form};
use contract::{CollectiveCall, Endpoint};

use super::agreed;
use super::blocks::{Blocks, check_both_disjoint, check_none_overlaps, check_number, lengths, own};
use super::native::{CarryOut, Packed, check_block};
use super::{CollectiveWork, InLevels};
use crate::engine::{Agreed, Context};
use crate::error::Result;
use crate::memory::{Memory, PackedCopy};
use crate::schedule::{Areas, CallMemory, Work};

/// Copies the data of member r to block r at every member.
pub struct Allgather<E: Endpoint> {
    context: Rc<Context<E>>,
    pub(super) mine: Option<Memory>,
    pub(super) all: Memory,
}

impl<E: Endpoint> Allgather<E> {
    /// Creates the collective from `mine`, or `None` if this rank's block is in place, to `all`, with as many elements
    /// for each member.
    ///
    /// # Errors
    /// [`ErrorClass::Buffer`](crate::ErrorClass::Buffer) if the two overlap.
    #[inline(always)]
    pub fn new(context: Rc<Context<E>>, mine: Option<Memory>, all: Memory) -> Result<Self> {
        check_both_disjoint(mine.as_ref(), Some(&all))?;
        Ok(Allgather { context, mine, all })
    }

    /// Returns the length of a block.
    #[inline(always)]
    fn each(&self) -> usize {
        self.all.bytes() / self.context.size()
    }
}

impl<E: Endpoint + 'static> CollectiveWork<E> for Allgather<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn call_id(&self) -> CallId {
        CallId::of(Collective::Allgather)
    }

    fn agreed(&self) -> Agreed {
        agreed::same_blocks(Some(&self.all), self.mine.as_ref(), self.context.size())
    }

    #[inline(always)]
    fn packed(&self) -> Option<Packed> {
        let mine = self.mine.as_ref().filter(|_| self.check().is_ok());
        let send = mine.map(PackedCopy::filled).unwrap_or_default();
        Some(Packed { send, receive: Packed::received(&self.all, mine.is_none()) })
    }

    #[inline(always)]
    fn with_native_call<C: CarryOut>(&self, packed: &Packed, fabric: C) -> Option<C::Outcome> {
        let (checked, mine) = (self.check(), self.mine.as_ref());
        // All members compare each other's lengths, so the others then fail too.
        let stated = mine.filter(|_| checked.is_err()).map(Memory::bytes);
        let send = mine.filter(|_| checked.is_ok()).map(|mine| packed.send.readable(mine));
        let (receive, each) = (packed.receive.writable(&self.all), self.each());
        Some(fabric.carry_out(CollectiveCall::allgather(each, send, receive).stating(stated)))
    }

    #[inline(always)]
    fn check(&self) -> Result {
        check_block(self.mine.as_ref(), 1, self.each())
    }

    #[inline(always)]
    fn deliver(&self, packed: &Packed) {
        packed.receive.deliver(&self.all, self.all.bytes());
    }

    fn in_levels(&self) -> Option<&dyn InLevels<E>> {
        Some(self)
    }

    fn work(&self) -> Work {
        Work::Call(Call::Allgather { blocks: ByteBlocks::equal(self.context.size(), self.each()) })
    }

    fn memory(&self) -> CallMemory {
        memory(self.mine.as_ref(), self.each(), std::slice::from_ref(&self.all))
    }
}

/// Allgather with blocks of any lengths.
pub struct AllgatherUnequal<E: Endpoint> {
    context: Rc<Context<E>>,
    pub(super) mine: Option<Memory>,
    pub(super) blocks: Blocks,
}

impl<E: Endpoint> AllgatherUnequal<E> {
    /// Creates the collective from `mine`, or `None` if this rank's block is in place, to `blocks`, one for each
    /// member.
    ///
    /// # Errors
    /// As of [`Allgather::new`], and [`ErrorClass::Argument`](crate::ErrorClass::Argument) for another number of
    /// blocks.
    pub fn new(context: Rc<Context<E>>, mine: Option<Memory>, blocks: Vec<Memory>) -> Result<Self> {
        check_number(&blocks, context.size())?;
        check_none_overlaps(mine.as_ref(), &blocks)?;
        Ok(AllgatherUnequal { context, mine, blocks })
    }
}

impl<E: Endpoint + 'static> CollectiveWork<E> for AllgatherUnequal<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn call_id(&self) -> CallId {
        CallId::of(Collective::Allgather).in_form(Form::UnequalBlocks)
    }

    fn agreed(&self) -> Agreed {
        agreed::same_sequence(&self.blocks)
    }

    fn in_levels(&self) -> Option<&dyn InLevels<E>> {
        Some(self)
    }

    fn work(&self) -> Work {
        Work::Call(Call::Allgather { blocks: lengths(&self.blocks) })
    }

    fn memory(&self) -> CallMemory {
        let each = self.blocks[self.context.rank()].bytes();
        memory(self.mine.as_ref(), each, &self.blocks)
    }
}

/// `each` is the length of this member's own block in `all`.
fn memory(mine: Option<&Memory>, each: usize, all: &[Memory]) -> CallMemory {
    let failure = check_block(mine, 1, each);
    let mine = mine.filter(|_| failure.is_ok());
    let areas = Areas::of_bytes().input(mine).output(all, mine.is_none());
    CallMemory { failure, own: own(mine), areas }
}
