//! All-to-all.

use std::rc::Rc;

use collectives::{Blocks as ByteBlocks, Call, CallId, Collective, Form};
use contract::{CollectiveCall, Endpoint};

use super::CollectiveWork;
use super::agreed;
use super::blocks::{Blocks, check_both_disjoint, check_disjoint, check_number, lengths, own};
use super::native::{CarryOut, Packed, check_block};
use crate::engine::{Agreed, Context};
use crate::error::Result;
use crate::memory::{Memory, PackedCopy};
use crate::schedule::{Areas, CallMemory, Work};

/// Copies block r of member s to block s of member r.
pub struct AllToAll<E: Endpoint> {
    context: Rc<Context<E>>,
    from: Option<Memory>,
    to: Memory,
}

impl<E: Endpoint> AllToAll<E> {
    /// Creates the collective from `from`, or `None` if the outgoing blocks are in `to`, to `to`, each with as many
    /// elements for each member.
    ///
    /// # Errors
    /// [`ErrorClass::Buffer`](crate::ErrorClass::Buffer) if the two overlap.
    #[inline(always)]
    pub fn new(context: Rc<Context<E>>, from: Option<Memory>, to: Memory) -> Result<Self> {
        check_both_disjoint(from.as_ref(), Some(&to))?;
        Ok(AllToAll { context, from, to })
    }

    /// Returns the length of a block.
    #[inline(always)]
    fn each(&self) -> usize {
        self.to.bytes() / self.context.size()
    }
}

impl<E: Endpoint + 'static> CollectiveWork<E> for AllToAll<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn call_id(&self) -> CallId {
        CallId::of(Collective::AllToAll)
    }

    fn agreed(&self) -> Agreed {
        agreed::same_of_both(self.from.as_ref(), &self.to, self.context.size())
    }

    #[inline(always)]
    fn packed(&self) -> Option<Packed> {
        let from = self.from.as_ref().filter(|_| self.check().is_ok());
        let send = from.map(PackedCopy::filled).unwrap_or_default();
        Some(Packed { send, receive: Packed::received(&self.to, from.is_none()) })
    }

    #[inline(always)]
    fn with_native_call<C: CarryOut>(&self, packed: &Packed, fabric: C) -> Option<C::Outcome> {
        let (checked, from) = (self.check(), self.from.as_ref());
        // All members compare each other's lengths, so the others then fail too.
        let wrong = from.filter(|_| checked.is_err());
        let stated = wrong.map(|from| from.bytes() / self.context.size());
        let send = from.filter(|_| checked.is_ok()).map(|from| packed.send.readable(from));
        let (receive, each) = (packed.receive.writable(&self.to), self.each());
        Some(fabric.carry_out(CollectiveCall::all_to_all(each, send, receive).stating(stated)))
    }

    #[inline(always)]
    fn check(&self) -> Result {
        check_block(self.from.as_ref(), self.context.size(), self.each())
    }

    #[inline(always)]
    fn deliver(&self, packed: &Packed) {
        packed.receive.deliver(&self.to, self.to.bytes());
    }

    fn work(&self) -> Work {
        let blocks = ByteBlocks::equal(self.context.size(), self.each());
        Work::Call(Call::AllToAll { input: blocks.clone(), output: blocks })
    }

    fn memory(&self) -> CallMemory {
        let failure = self.check();
        let from = self.from.as_ref().filter(|_| failure.is_ok());
        let areas = Areas::of_bytes().input(from).output([&self.to], from.is_none());
        CallMemory { failure, own: own(from), areas }
    }
}

/// All-to-all with blocks of any lengths, and of a datatype for all or for each.
pub struct AllToAllUnequal<E: Endpoint> {
    context: Rc<Context<E>>,
    from: Option<Blocks>,
    to: Blocks,
    form: Form,
}

impl<E: Endpoint> AllToAllUnequal<E> {
    /// Creates the collective from `from`, or `None` if the outgoing blocks are in `to`, to `to`, each with a block for
    /// each member. All members must agree on whether each block has a datatype of its own.
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
            from.iter().zip(&to).try_for_each(|(from, to)| check_disjoint(from, to))?;
        }
        let form = match own_datatypes {
            true => Form::UnequalTypes,
            false => Form::UnequalBlocks,
        };
        Ok(AllToAllUnequal { context, from, to, form })
    }
}

impl<E: Endpoint> AllToAllUnequal<E> {
    /// Returns the outgoing blocks, if they are not in `to`.
    ///
    /// # Errors
    /// [`ErrorClass::Truncated`](crate::ErrorClass::Truncated) if this member's own block has two lengths.
    fn source(&self) -> Result<Option<&Blocks>> {
        let rank = self.context.rank();
        let own_block = self.from.as_ref().map(|from| &from[rank]);
        check_block(own_block, 1, self.to[rank].bytes())?;
        Ok(self.from.as_ref())
    }
}

impl<E: Endpoint + 'static> CollectiveWork<E> for AllToAllUnequal<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn call_id(&self) -> CallId {
        CallId::of(Collective::AllToAll).in_form(self.form)
    }

    fn agreed(&self) -> Agreed {
        let from = self.from.as_ref().unwrap_or(&self.to);
        agreed::balanced(self.context.rank(), from.iter().enumerate(), self.to.iter().enumerate())
    }

    fn work(&self) -> Work {
        let output = lengths(&self.to);
        let input = self.source().ok().flatten().map_or_else(|| output.clone(), lengths);
        Work::Call(Call::AllToAll { input, output })
    }

    fn memory(&self) -> CallMemory {
        let source = self.source();
        let failure = source.as_ref().map(|_| ()).map_err(Clone::clone);
        let from = source.ok().flatten();
        let areas = Areas::of_bytes().input(from.into_iter().flatten());
        CallMemory { failure, own: own(from), areas: areas.output(&self.to, from.is_none()) }
    }
}
