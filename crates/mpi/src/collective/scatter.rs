//! Scatter.

use std::rc::Rc;

use collectives::{Blocks as ByteBlocks, Call, CallId, Collective, Form};
use contract::{CollectiveCall, Endpoint, Readable};

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

/// Copies block r of the root's data to member r.
pub struct Scatter<E: Endpoint> {
    context: Rc<Context<E>>,
    root: usize,
    all: Option<Memory>,
    mine: Option<Memory>,
}

impl<E: Endpoint> Scatter<E> {
    /// Creates the collective from `all`, with as many elements for each member, which only the root has, to `mine`, or
    /// `None` at a root whose block stays in place.
    ///
    /// # Errors
    /// [`ErrorClass::Root`](crate::ErrorClass::Root), and [`ErrorClass::Buffer`](crate::ErrorClass::Buffer) if the two
    /// overlap.
    #[inline(always)]
    pub fn new(
        context: Rc<Context<E>>,
        root: usize,
        all: Option<Memory>,
        mine: Option<Memory>,
    ) -> Result<Self> {
        context.check_root(root)?;
        check_both_disjoint(all.as_ref(), mine.as_ref())?;
        Ok(Scatter { context, root, all, mine })
    }

    /// Returns the length of a block.
    #[inline(always)]
    fn each(&self) -> usize {
        each_bytes(self.all.as_ref(), self.mine.as_ref(), self.context.size())
    }
}

impl<E: Endpoint + 'static> CollectiveWork<E> for Scatter<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn call_id(&self) -> CallId {
        CallId::rooted(Collective::Scatter, self.root)
    }

    fn agreed(&self) -> Agreed {
        agreed::same_blocks(self.all.as_ref(), self.mine.as_ref(), self.context.size())
    }

    #[inline(always)]
    fn packed(&self) -> Option<Packed> {
        let send = self.all.as_ref().map(PackedCopy::filled).unwrap_or_default();
        let receive = self.mine.as_ref().map(PackedCopy::room).unwrap_or_default();
        Some(Packed { send, receive })
    }

    #[inline(always)]
    fn with_native_call<C: CarryOut>(&self, packed: &Packed, fabric: C) -> Option<C::Outcome> {
        let mine = self.mine.as_ref().filter(|_| self.check().is_ok());
        let receive = mine.map(|mine| packed.receive.writable(mine));
        let send = self.all.as_ref().map_or(Readable::empty(), |all| packed.send.readable(all));
        let (root, each) = (self.root, self.each());
        Some(fabric.carry_out(CollectiveCall::scatter(root, each, send, receive)))
    }

    #[inline(always)]
    fn check(&self) -> Result {
        check_block(self.mine.as_ref(), 1, self.each())
    }

    #[inline(always)]
    fn deliver(&self, packed: &Packed) {
        if let Some(mine) = &self.mine {
            packed.receive.deliver(mine, mine.bytes());
        }
    }

    fn work(&self) -> Work {
        let blocks = ByteBlocks::equal(self.context.size(), self.each());
        Work::Call(Call::Scatter { root: self.root, blocks })
    }

    fn memory(&self) -> CallMemory {
        memory(self.all.as_slice(), self.mine.as_ref(), self.each())
    }
}

/// Scatter with blocks of any lengths.
pub struct ScatterUnequal<E: Endpoint> {
    context: Rc<Context<E>>,
    root: usize,
    blocks: Blocks,
    mine: Option<Memory>,
}

impl<E: Endpoint> ScatterUnequal<E> {
    /// Creates the collective from the root's `blocks`, one for each member, to `mine`, or `None` at a root whose block
    /// stays in place.
    ///
    /// # Errors
    /// As for [`Scatter::new`], and [`ErrorClass::Argument`](crate::ErrorClass::Argument) for another number of blocks.
    pub fn new(
        context: Rc<Context<E>>,
        root: usize,
        blocks: Vec<Memory>,
        mine: Option<Memory>,
    ) -> Result<Self> {
        context.check_root(root)?;
        if context.rank() == root {
            check_number(&blocks, context.size())?;
        }
        check_none_overlaps(mine.as_ref(), &blocks)?;
        Ok(ScatterUnequal { context, root, blocks, mine })
    }
}

impl<E: Endpoint + 'static> CollectiveWork<E> for ScatterUnequal<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn call_id(&self) -> CallId {
        CallId::rooted(Collective::Scatter, self.root).in_form(Form::UnequalBlocks)
    }

    fn agreed(&self) -> Agreed {
        let received = self.mine.iter().map(|mine| (self.root, mine));
        agreed::balanced(self.context.rank(), self.blocks.iter().enumerate(), received)
    }

    fn work(&self) -> Work {
        let is_root = self.context.rank() == self.root;
        let blocks = lengths_at(is_root, &self.blocks, self.mine.as_ref());
        Work::Call(Call::Scatter { root: self.root, blocks })
    }

    fn memory(&self) -> CallMemory {
        let mine = self.mine.as_ref();
        let (all, each) = match self.context.rank() == self.root {
            true => (&self.blocks[..], self.blocks[self.root].bytes()),
            false => (&[][..], mine.map_or(0, Memory::bytes)),
        };
        memory(all, mine, each)
    }
}

/// Returns the memory of the call. `each` is the length of this member's own block.
fn memory(all: &[Memory], mine: Option<&Memory>, each: usize) -> CallMemory {
    let failure = check_block(mine, 1, each);
    let mine = mine.filter(|_| failure.is_ok());
    let areas = Areas::of_bytes().input(all).output(mine, false);
    CallMemory { failure, own: own(mine), areas }
}
