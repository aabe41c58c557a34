//! Gather.

use std::rc::Rc;

use collectives::{Blocks as ByteBlocks, Call};
use contract::{CollectiveCall, Endpoint, Writable};

use super::Plan;
use super::blocks::{Blocks, check_both_apart, check_none_overlaps, check_number, own};
use super::native::{Whole, check_block};
use crate::engine::Context;
use crate::error::Result;
use crate::memory::Memory;
use crate::schedule::{Areas, CollectiveKind, CollectiveMark, CollectiveTask};

/// Puts the data of member r into block r at the root.
pub struct Gather<E: Endpoint> {
    context: Rc<Context<E>>,
    root: usize,
    mine: Option<Memory>,
    all: Option<Memory>,
}

impl<E: Endpoint> Gather<E> {
    /// That of `mine`, none at a root whose block is in its place, to `all`, with as many elements for each member, which
    /// only the root has.
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
        check_both_apart(mine.as_ref(), all.as_ref())?;
        Ok(Gather { context, root, mine, all })
    }
}

impl<E: Endpoint + 'static> Plan<E> for Gather<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn mark(&self) -> CollectiveMark {
        CollectiveMark::rooted(CollectiveKind::Gather, self.root)
    }

    #[inline(always)]
    fn native(&self) -> Option<Result> {
        let (root, mine) = (self.root, self.mine.as_ref());
        let own = mine.map(Whole::filled);
        let send = own.as_ref().map(Whole::readable);
        let Some(all) = &self.all else {
            let each = mine.map_or(0, Memory::bytes);
            let receive = Writable::empty();
            return self.context.collective(CollectiveCall::Gather { root, send, receive, each });
        };
        let each = all.bytes() / self.context.size();
        let checked = check_block(mine, 1, each);
        let send = send.filter(|_| checked.is_ok());
        let room = if mine.is_none() { Whole::filled(all) } else { Whole::room(all) };
        let receive = room.writable();
        let outcome =
            self.context.collective(CollectiveCall::Gather { root, send, receive, each })?;
        let outcome = checked.and(outcome);
        if outcome.is_ok() {
            room.deliver();
        }
        Some(outcome)
    }

    fn task(&self) -> CollectiveTask {
        let mine = self.mine.as_ref();
        let each = match &self.all {
            Some(all) => all.bytes() / self.context.size(),
            None => mine.map_or(0, Memory::bytes),
        };
        let blocks = ByteBlocks::equal(self.context.size(), each);
        task(self.root, blocks, mine, each, self.all.as_slice())
    }
}

/// The same with blocks of any lengths.
pub struct GatherUnequal<E: Endpoint> {
    context: Rc<Context<E>>,
    root: usize,
    mine: Option<Memory>,
    blocks: Blocks,
}

impl<E: Endpoint> GatherUnequal<E> {
    /// That of `mine`, none at a root whose block is in its place, to the root's `blocks`, one for each member.
    ///
    /// # Errors
    /// As of [`Gather::new`], and [`ErrorClass::Argument`](crate::ErrorClass::Argument) for another number of blocks.
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

impl<E: Endpoint + 'static> Plan<E> for GatherUnequal<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn mark(&self) -> CollectiveMark {
        CollectiveMark::rooted(CollectiveKind::GatherUnequal, self.root)
    }

    fn task(&self) -> CollectiveTask {
        let mine = self.mine.as_ref();
        if self.context.rank() != self.root {
            let each = mine.map_or(0, Memory::bytes);
            return task(self.root, ByteBlocks::of_lengths([each]), mine, each, &[]);
        }
        let blocks = ByteBlocks::of_lengths(self.blocks.iter().map(Memory::bytes));
        task(self.root, blocks, mine, self.blocks[self.root].bytes(), &self.blocks)
    }
}

/// `each` is the length of this member's own block.
fn task(
    root: usize,
    blocks: ByteBlocks,
    mine: Option<&Memory>,
    each: usize,
    all: &[Memory],
) -> CollectiveTask {
    let failure = check_block(mine, 1, each);
    let mine = mine.filter(|_| failure.is_ok());
    let areas = Areas::of_bytes().input(mine).output(all, mine.is_none());
    CollectiveTask {
        failure,
        ..CollectiveTask::new(Call::Gather { root, blocks }, own(mine), areas)
    }
}
