//! Scatter.

use std::rc::Rc;

use contract::{CollectiveCall, Endpoint, Readable};

use super::Plan;
use super::blocks::{Blocks, check_both_apart, check_none_overlaps, check_number, copy, equal};
use super::native::{Whole, check_block};
use crate::engine::Context;
use crate::error::Result;
use crate::memory::Memory;
use crate::schedule::{CollectiveContext, CollectiveKind, CollectiveMark, Schedule};

/// Gives block r of the root's data to member r.
pub struct Scatter<E: Endpoint> {
    context: Rc<Context<E>>,
    root: usize,
    all: Option<Memory>,
    mine: Option<Memory>,
}

impl<E: Endpoint> Scatter<E> {
    /// That of `all`, with as many elements for each member, which only the root has, to `mine`, none at a root whose
    /// block stays in its place.
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
        check_both_apart(all.as_ref(), mine.as_ref())?;
        Ok(Scatter { context, root, all, mine })
    }
}

impl<E: Endpoint + 'static> Plan<E> for Scatter<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn mark(&self) -> CollectiveMark {
        CollectiveMark::rooted(CollectiveKind::Scatter, self.root)
    }

    #[inline(always)]
    fn native(&self) -> Option<Result> {
        let (root, mine) = (self.root, self.mine.as_ref());
        let each = match &self.all {
            Some(all) => all.bytes() / self.context.size(),
            None => mine.map_or(0, Memory::bytes),
        };
        let checked = check_block(mine, 1, each);
        let own = mine.map(Whole::room);
        let receive = own.as_ref().filter(|_| checked.is_ok()).map(Whole::writable);
        let from = self.all.as_ref().map(Whole::filled);
        let send = from.as_ref().map_or(Readable::empty(), Whole::readable);
        let outcome =
            self.context.collective(CollectiveCall::Scatter { root, send, receive, each })?;
        let outcome = checked.and(outcome);
        if let (Ok(()), Some(own)) = (&outcome, own) {
            own.deliver();
        }
        Some(outcome)
    }

    fn schedule(&self, at: CollectiveContext<E>) -> Schedule<E> {
        let size = at.members.size();
        let blocks = self.all.as_ref().map_or(vec![], |all| equal(all, size));
        let mut schedule = schedule(at, self.root, &blocks, self.mine.as_ref());
        if let Some(all) = &self.all {
            let checked = check_block(self.mine.as_ref(), 1, all.bytes() / size);
            schedule.finally(|_| checked);
        }
        schedule
    }
}

/// The same with blocks of any lengths.
pub struct ScatterUnequal<E: Endpoint> {
    context: Rc<Context<E>>,
    root: usize,
    blocks: Blocks,
    mine: Option<Memory>,
}

impl<E: Endpoint> ScatterUnequal<E> {
    /// That of the root's `blocks`, one for each member, to `mine`, none at a root whose block stays in its place.
    ///
    /// # Errors
    /// As of [`Scatter::new`], and [`ErrorClass::Argument`](crate::ErrorClass::Argument) for another number of blocks.
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

impl<E: Endpoint + 'static> Plan<E> for ScatterUnequal<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn mark(&self) -> CollectiveMark {
        CollectiveMark::rooted(CollectiveKind::ScatterUnequal, self.root)
    }

    fn schedule(&self, at: CollectiveContext<E>) -> Schedule<E> {
        schedule(at, self.root, &self.blocks, self.mine.as_ref())
    }
}

/// The root gives a block to every rank.
fn schedule<E: Endpoint>(
    at: CollectiveContext<E>,
    root: usize,
    blocks: &Blocks,
    mine: Option<&Memory>,
) -> Schedule<E> {
    let mut schedule = Schedule::new(at);
    let rank = schedule.rank();
    if rank != root {
        if let Some(mine) = mine {
            let place = schedule.incoming(mine);
            schedule.round().receive(root, place.writable());
        }
        return schedule;
    }
    if let Some(mine) = mine {
        copy(&blocks[rank], mine);
    }
    let pieces: Vec<_> = blocks.iter().map(|block| schedule.outgoing(block)).collect();
    let round = schedule.round();
    for (other, piece) in pieces.iter().enumerate().filter(|(other, _)| *other != rank) {
        round.send(other, piece.readable());
    }
    schedule
}
