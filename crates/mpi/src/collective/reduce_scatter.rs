//! Reduce-scatter, with equal counts and with any.

use std::rc::Rc;

use collectives::{Blocks, Call, CallId, Collective, Form};
use contract::Endpoint;

use super::CollectiveWork;
use super::agreed;
use super::reduction::Terms;
use crate::engine::{Agreed, Context};
use crate::error::{ErrorClass, Result, ensure};
use crate::memory::Memory;
use crate::operation::Reduction;
use crate::schedule::{CallMemory, Work};

/// Combines the elements of all members, and distributes the result to the members.
pub struct ReduceScatter<E: Endpoint> {
    context: Rc<Context<E>>,
    counts: Vec<i64>,
    form: Form,
    terms: Terms,
}

impl<E: Endpoint> ReduceScatter<E> {
    /// Creates a collective in which member r gets `counts[r]` elements.
    ///
    /// `input` holds the elements for all members, in the order of the ranks. If they are in the place of the result,
    /// it is `None`, and `output` holds all of them; the result replaces the first.
    ///
    /// # Errors
    /// [`ErrorClass::Count`] if the number of elements of a memory does not fit, and [`ErrorClass::Buffer`] if the two
    /// overlap.
    pub fn new(
        context: Rc<Context<E>>,
        reduction: Reduction,
        counts: Vec<i64>,
        input: Option<Memory>,
        output: Memory,
    ) -> Result<Self> {
        let form = Form::UnequalBlocks;
        ReduceScatter::in_form(context, reduction, counts, input, output, form)
    }

    /// Creates a collective in which each member gets `count` elements.
    ///
    /// # Errors
    /// As for [`ReduceScatter::new`].
    pub fn of_equal_counts(
        context: Rc<Context<E>>,
        reduction: Reduction,
        count: i64,
        input: Option<Memory>,
        output: Memory,
    ) -> Result<Self> {
        let counts = vec![count; context.size()];
        let form = Form::EqualBlocks;
        ReduceScatter::in_form(context, reduction, counts, input, output, form)
    }

    fn in_form(
        context: Rc<Context<E>>,
        reduction: Reduction,
        counts: Vec<i64>,
        input: Option<Memory>,
        output: Memory,
        form: Form,
    ) -> Result<Self> {
        let (found, members) = (counts.len(), context.size());
        ensure!(found == members, ErrorClass::Argument, "{found} counts for {members} members");
        let all: i64 = counts.iter().sum();
        let own = counts[context.rank()];
        let own_place = if input.is_some() { own } else { all };
        let put_in = input.as_ref().map_or(all, Memory::count);
        let fits =
            counts.iter().all(|&count| count >= 0) && put_in == all && output.count() == own_place;
        ensure!(fits, ErrorClass::Count, "memory that does not fit the counts {counts:?}");
        let result = output.part(0, own);
        let terms = match input {
            Some(input) => Terms::new(reduction, Some(input), Some(result))?,
            None => Terms { reduction, input: output, output: Some(result) },
        };
        Ok(ReduceScatter { context, counts, form, terms })
    }
}

impl<E: Endpoint + 'static> CollectiveWork<E> for ReduceScatter<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn call_id(&self) -> CallId {
        let reduction = self.terms.reduction.id();
        CallId::of(Collective::ReduceScatter).in_form(self.form).combining(reduction)
    }

    fn agreed(&self) -> Agreed {
        agreed::same(&self.terms.input)
    }

    fn work(&self) -> Work {
        let blocks = Blocks::of_lengths(self.counts.iter().map(|&count| count as usize));
        Work::Call(Call::ReduceScatter { blocks, order: self.terms.order() })
    }

    fn unit_bytes(&self) -> usize {
        self.terms.unit_bytes()
    }

    fn memory(&self) -> CallMemory {
        self.terms.memory()
    }
}
