//! Broadcast.

use std::rc::Rc;

use collectives::{Call, CallId, Collective, Own};
use contract::{CollectiveCall, Endpoint};

use super::agreed;
use super::native::{CarryOut, Packed};
use super::{CollectiveWork, InLevels};
use crate::engine::{Agreed, Context};
use crate::error::Result;
use crate::memory::Memory;
use crate::schedule::{Areas, CallMemory, Work};

/// Copies the root's data to all members.
pub struct Broadcast<E: Endpoint> {
    context: Rc<Context<E>>,
    pub(super) root: usize,
    pub(super) memory: Memory,
}

impl<E: Endpoint> Broadcast<E> {
    /// Creates the broadcast of `memory`, which the root reads and the others write.
    ///
    /// # Errors
    /// [`ErrorClass::Root`](crate::ErrorClass::Root).
    #[inline(always)]
    pub fn new(context: Rc<Context<E>>, root: usize, memory: Memory) -> Result<Self> {
        context.check_root(root)?;
        Ok(Broadcast { context, root, memory })
    }
}

impl<E: Endpoint + 'static> CollectiveWork<E> for Broadcast<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn call_id(&self) -> CallId {
        CallId::rooted(Collective::Broadcast, self.root)
    }

    fn agreed(&self) -> Agreed {
        agreed::same(&self.memory)
    }

    #[inline(always)]
    fn packed(&self) -> Option<Packed> {
        let is_root = self.context.rank() == self.root;
        Some(Packed { receive: Packed::received(&self.memory, is_root), ..Packed::default() })
    }

    #[inline(always)]
    fn with_native_call<C: CarryOut>(&self, packed: &Packed, fabric: C) -> Option<C::Outcome> {
        let data = packed.receive.writable(&self.memory);
        Some(fabric.carry_out(CollectiveCall::broadcast(self.root, data)))
    }

    #[inline(always)]
    fn deliver(&self, packed: &Packed) {
        if self.context.rank() != self.root {
            packed.receive.deliver(&self.memory, self.memory.bytes());
        }
    }

    fn in_levels(&self) -> Option<&dyn InLevels<E>> {
        Some(self)
    }

    fn work(&self) -> Work {
        Work::Call(Call::Broadcast { root: self.root, length: self.memory.bytes() })
    }

    fn memory(&self) -> CallMemory {
        let is_root = self.context.rank() == self.root;
        CallMemory::new(Own::InOutput, Areas::of_bytes().output([&self.memory], is_root))
    }
}
