//! Allreduce.

use std::rc::Rc;

use collectives::{Call, CallId, Collective, LibraryCall};
use contract::Endpoint;

use super::agreed;
use super::native::{CarryOut, Packed};
use super::reduction::Terms;
use super::{CollectiveWork, InLevels};
use crate::engine::{Agreed, Context};
use crate::error::Result;
use crate::memory::Memory;
use crate::operation::Reduction;
use crate::schedule::{CallMemory, Work};

/// Combines the elements of all members at all of them, with the same bits at each.
pub struct Allreduce<E: Endpoint> {
    context: Rc<Context<E>>,
    pub(super) terms: Terms,
}

impl<E: Endpoint> Allreduce<E> {
    /// Creates the collective from `input`, or `None` if the elements are in the place of the result, to `output`.
    ///
    /// # Errors
    /// [`ErrorClass::Buffer`](crate::ErrorClass::Buffer) if the two overlap.
    #[inline(always)]
    pub fn new(
        context: Rc<Context<E>>,
        reduction: Reduction,
        input: Option<Memory>,
        output: Memory,
    ) -> Result<Self> {
        let terms = Terms::new(reduction, input, Some(output))?;
        Ok(Allreduce { context, terms })
    }
}

impl<E: Endpoint + 'static> CollectiveWork<E> for Allreduce<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn call_id(&self) -> CallId {
        // So that an allreduce of the program at other members is no match for the end of this one.
        match self.context.engine().is_leaving() {
            true => CallId::of_library(LibraryCall::Finalize),
            false => CallId::of(Collective::Allreduce).combining(self.terms.reduction.id()),
        }
    }

    fn agreed(&self) -> Agreed {
        agreed::same(&self.terms.input)
    }

    #[inline(always)]
    fn packed(&self) -> Option<Packed> {
        Some(Packed::default())
    }

    #[inline(always)]
    fn with_native_call<C: CarryOut>(&self, _packed: &Packed, fabric: C) -> Option<C::Outcome> {
        self.terms.with_native_call(None, fabric)
    }

    fn in_levels(&self) -> Option<&dyn InLevels<E>> {
        Some(self)
    }

    fn work(&self) -> Work {
        Work::Call(Call::Allreduce { length: self.terms.length(), order: self.terms.order() })
    }

    fn unit_bytes(&self) -> usize {
        self.terms.unit_bytes()
    }

    fn memory(&self) -> CallMemory {
        self.terms.memory()
    }
}
