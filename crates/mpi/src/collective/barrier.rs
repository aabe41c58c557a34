//! Barrier.

use std::rc::Rc;

use collectives::{Call, CallId, Collective, Own};
use contract::{CollectiveCall, Endpoint};

use super::native::{CarryOut, Packed};
use super::{CollectiveWork, InLevels};
use crate::engine::Context;
use crate::schedule::{Areas, CallMemory, Work};

/// Waits until all members have reached the barrier.
pub struct Barrier<E: Endpoint> {
    context: Rc<Context<E>>,
}

impl<E: Endpoint> Barrier<E> {
    /// Creates the barrier of the context's members.
    #[inline]
    pub fn new(context: Rc<Context<E>>) -> Self {
        Barrier { context }
    }
}

impl<E: Endpoint + 'static> CollectiveWork<E> for Barrier<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn call_id(&self) -> CallId {
        CallId::of(Collective::Barrier)
    }

    #[inline(always)]
    fn packed(&self) -> Option<Packed> {
        Some(Packed::default())
    }

    #[inline(always)]
    fn with_native_call<C: CarryOut>(&self, _packed: &Packed, fabric: C) -> Option<C::Outcome> {
        Some(fabric.carry_out(CollectiveCall::barrier()))
    }

    fn in_levels(&self) -> Option<&dyn InLevels<E>> {
        Some(self)
    }

    fn work(&self) -> Work {
        Work::Call(Call::Barrier)
    }

    fn memory(&self) -> CallMemory {
        CallMemory::new(Own::InInput, Areas::of_bytes())
    }
}
