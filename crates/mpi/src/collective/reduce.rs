//! Reduce.

use std::rc::Rc;

use contract::{CollectiveCall, Endpoint};

use super::Plan;
use super::reduction::{Terms, deliver};
use crate::engine::Context;
use crate::error::{ErrorClass, Result, ensure};
use crate::memory::Memory;
use crate::operation::Reduction;
use crate::schedule::{CollectiveContext, CollectiveKind, CollectiveMark, Schedule};

/// Combines the elements of all members at the root.
pub struct Reduce<E: Endpoint> {
    context: Rc<Context<E>>,
    root: usize,
    terms: Terms,
}

impl<E: Endpoint> Reduce<E> {
    /// That of `input`, none at a root whose elements are in the place of the result, to `output`, which only the root has.
    ///
    /// # Errors
    /// [`ErrorClass::Root`], and [`ErrorClass::Buffer`] if the two overlap, or one that is needed is not there.
    #[inline]
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

impl<E: Endpoint + 'static> Plan<E> for Reduce<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn mark(&self) -> CollectiveMark {
        CollectiveMark::rooted(CollectiveKind::Reduce, self.root)
    }

    #[inline(always)]
    fn native(&self) -> Option<Result> {
        let root = self.root;
        self.terms.native(&self.context, |send, receive, combine| CollectiveCall::Reduce {
            root,
            send,
            receive,
            combine,
        })
    }

    fn schedule(&self, at: CollectiveContext<E>) -> Schedule<E> {
        let mut schedule = Schedule::new(at);
        let result = self.terms.reduce_rounds(&mut schedule, self.root);
        deliver(&mut schedule, &result, self.terms.output.as_ref());
        schedule
    }
}
