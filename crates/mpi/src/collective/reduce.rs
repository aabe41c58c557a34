//! Reduce.

use std::rc::Rc;

use collectives::{Call, CallId, Collective};
use contract::Endpoint;

use super::CollectiveWork;
use super::agreed;
use super::native::{CarryOut, Packed};
use super::reduction::Terms;
use crate::engine::{Agreed, Context};
use crate::error::{ErrorClass, Result, ensure};
use crate::memory::Memory;
use crate::operation::Reduction;
use crate::schedule::{CallMemory, Work};

/// Combines the elements of all members at the root.
pub struct Reduce<E: Endpoint> {
    context: Rc<Context<E>>,
    root: usize,
    terms: Terms,
}

impl<E: Endpoint> Reduce<E> {
    /// Creates the collective from `input`, or `None` at a root whose elements are in the place of the result, to
    /// `output`, which only the root has.
    ///
    /// # Errors
    /// [`ErrorClass::Root`], and [`ErrorClass::Buffer`] if the two overlap, or a required one is missing.
    #[inline(always)]
    pub fn new(
        context: Rc<Context<E>>,
        root: usize,
        reduction: Reduction,
        input: Option<Memory>,
        output: Option<Memory>,
    ) -> Result<Self> {
        context.check_root(root)?;
        let is_root = context.rank() == root;
        let there = if is_root { output.is_some() } else { input.is_some() };
        ensure!(there, ErrorClass::Buffer, "elements in the place of a result that is not here");
        let output = output.filter(|_| is_root);
        let terms = Terms::new(reduction, input, output)?;
        Ok(Reduce { context, root, terms })
    }
}

impl<E: Endpoint + 'static> CollectiveWork<E> for Reduce<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn call_id(&self) -> CallId {
        CallId::rooted(Collective::Reduce, self.root).combining(self.terms.reduction.id())
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
        self.terms.with_native_call(Some(self.root), fabric)
    }

    fn work(&self) -> Work {
        let (root, length, order) = (self.root, self.terms.length(), self.terms.order());
        Work::Call(Call::Reduce { root, length, order })
    }

    fn unit_bytes(&self) -> usize {
        self.terms.unit_bytes()
    }

    fn memory(&self) -> CallMemory {
        self.terms.memory()
    }
}
