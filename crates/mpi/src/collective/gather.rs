//! Gather.

use std::rc::Rc;

use collectives::{Blocks as ByteBlocks, Call, CallId, Collective, Form};
use contract::{CollectiveCall, Endpoint, Writable};

use super::CollectiveWork;
use super::agreed;
use super::blocks::{
    Blocks, check_both_disjoint, check_none_overlaps, check_number, each_bytes, lengths_at, own,
};
use super::native::{CarryOut, Packed, check_block};
use crate::engine::{Agreed, Context};
use crate::error::Result;
use crate::memory::{Memory, PackedCopy};
use crate::schedule::{Areas, CallMemory, Work};

/// Copies the data of member r to block r at the root.
pub struct Gather<E: Endpoint> {
    context: Rc<Context<E>>,
    root: usize,
    mine: Option<Memory>,
    all: Option<Memory>,
}

impl<E: Endpoint> Gather<E> {
    /// Creates the collective from `mine`, or `None` at a root whose block is in place, to `all`, with as many elements
    /// for each member, which only the root has.
    ///
    /// # Errors
    /// [`ErrorClass::Root`](crate::ErrorClass::Root), and [`ErrorClass::Buffer`](crate::ErrorClass::Buffer) if the two
    /// overlap.
    #[inline(always)]
    pub fn new(
        context: Rc<Context<E>>,
        root: usize,
        mine: Option<Memory>,
        all: Option<Memory>,
    ) -> Result<Self> {
        context.check_root(root)?;
        check_both_disjoint(mine.as_ref(), all.as_ref())?;
        Ok(Gather { context, root, mine, all })
    }

    /// Returns the length of a block.
    #[inline(always)]
    fn each(&self) -> usize {
        each_bytes(self.all.as_ref(), self.mine.as_ref(), self.context.size())
    }
}

impl<E: Endpoint + 'static> CollectiveWork<E> for Gather<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn call_id(&self) -> CallId {
        CallId::rooted(Collective::Gather, self.root)
    }

    fn agreed(&self) -> Agreed {
        agreed::same_blocks(self.all.as_ref(), self.mine.as_ref(), self.context.size())
    }

    #[inline(always)]
    fn packed(&self) -> Option<Packed> {
        let send = self.mine.as_ref().map(PackedCopy::filled).unwrap_or_default();
        let has_own = self.mine.is_none();
        let receive = self.all.as_ref().map(|all| Packed::received(all, has_own));
        Some(Packed { send, receive: receive.unwrap_or_default() })
    }

    #[inline(always)]
    fn with_native_call<C: CarryOut>(&self, packed: &Packed, fabric: C) -> Option<C::Outcome> {
        let mine = self.mine.as_ref().filter(|_| self.check().is_ok());
        let send = mine.map(|mine| packed.send.readable(mine));
        let all = self.all.as_ref();
        let receive = all.map_or(Writable::empty(), |all| packed.receive.writable(all));
        let (root, each) = (self.root, self.each());
        Some(fabric.carry_out(CollectiveCall::gather(root, each, send, receive)))
    }

    #[inline(always)]
    fn check(&self) -> Result {
        check_block(self.mine.as_ref(), 1, self.each())
    }

    #[inline(always)]
    fn deliver(&self, packed: &Packed) {
        if let Some(all) = &self.all {
            packed.receive.deliver(all, all.bytes());
        }
    }

    fn work(&self) -> Work {
        let blocks = ByteBlocks::equal(self.context.size(), self.each());
        Work::Call(Call::Gather { root: self.root, blocks })
    }

    fn memory(&self) -> CallMemory {
        memory(self.mine.as_ref(), self.each(), self.all.as_slice())
    }
}

/// Gather with blocks of any lengths.
pub struct GatherUnequal<E: Endpoint> {
    context: Rc<Context<E>>,
    root: usize,
    mine: Option<Memory>,
    blocks: Blocks,
}

impl<E: Endpoint> GatherUnequal<E> {
    /// Creates the collective from `mine`, or `None` at a root whose block is in place, to the root's `blocks`, one for
    /// each member.
    ///
    /// # Errors
    /// As for [`Gather::new`], and [`ErrorClass::Argument`](crate::ErrorClass::Argument) for another number of blocks.
    pub fn new(
        context: Rc<Context<E>>,
        root: usize,
        mine: Option<Memory>,
        blocks: Vec<Memory>,
    ) -> Result<Self> {
        context.check_root(root)?;
        if context.rank() == root {
            check_number(&blocks, context.size())?;
        }
        check_none_overlaps(mine.as_ref(), &blocks)?;
        Ok(GatherUnequal { context, root, mine, blocks })
    }
}

impl<E: Endpoint + 'static> CollectiveWork<E> for GatherUnequal<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn call_id(&self) -> CallId {
        CallId::rooted(Collective::Gather, self.root).in_form(Form::UnequalBlocks)
    }

    fn agreed(&self) -> Agreed {
        let sent = self.mine.iter().map(|mine| (self.root, mine));
        agreed::balanced(self.context.rank(), sent, self.blocks.iter().enumerate())
    }

    fn work(&self) -> Work {
        let is_root = self.context.rank() == self.root;
        let blocks = lengths_at(is_root, &self.blocks, self.mine.as_ref());
        Work::Call(Call::Gather { root: self.root, blocks })
    }

    fn memory(&self) -> CallMemory {
        let mine = self.mine.as_ref();
        let (all, each) = match self.context.rank() == self.root {
            true => (&self.blocks[..], self.blocks[self.root].bytes()),
            false => (&[][..], mine.map_or(0, Memory::bytes)),
        };
        memory(mine, each, all)
    }
}

/// Returns the memory of the call. `each` is the length of this member's own block.
fn memory(mine: Option<&Memory>, each: usize, all: &[Memory]) -> CallMemory {
    let failure = check_block(mine, 1, each);
    let mine = mine.filter(|_| failure.is_ok());
    let areas = Areas::of_bytes().input(mine).output(all, mine.is_none());
    CallMemory { failure, own: own(mine), areas }
}
