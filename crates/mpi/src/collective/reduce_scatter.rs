//! Reduce-scatter, with equal counts and with any.

use std::rc::Rc;

use contract::Endpoint;

use super::Plan;
use super::reduction::{Terms, deliver};
use crate::engine::Context;
use crate::error::{ErrorClass, Result, ensure};
use crate::memory::{Image, Memory};
use crate::operation::Reduction;
use crate::schedule::{CollectiveContext, CollectiveKind, CollectiveMark, Schedule};

/// Combines the elements of all members, and gives each member some of the result.
pub struct ReduceScatter<E: Endpoint> {
    context: Rc<Context<E>>,
    counts: Vec<i64>,
    kind: CollectiveKind,
    terms: Terms,
}

impl<E: Endpoint> ReduceScatter<E> {
    /// One in which member r gets `counts[r]` elements.
    ///
    /// `input` holds the elements for all members, in the order of the ranks. Where they are in the place of the result it is
    /// none, and `output` holds all of them, of which the result replaces the first.
    ///
    /// # Errors
    /// [`ErrorClass::Count`] if a memory has not as many elements, and [`ErrorClass::Buffer`] if the two overlap.
    pub fn new(
        context: Rc<Context<E>>,
        reduction: Reduction,
        counts: Vec<i64>,
        input: Option<Memory>,
        output: Memory,
    ) -> Result<Self> {
        let kind = CollectiveKind::ReduceScatter;
        ReduceScatter::of_kind(context, reduction, counts, input, output, kind)
    }

    /// One in which each member gets `count` elements.
    ///
    /// # Errors
    /// As of [`ReduceScatter::new`].
    pub fn of_equal_counts(
        context: Rc<Context<E>>,
        reduction: Reduction,
        count: i64,
        input: Option<Memory>,
        output: Memory,
    ) -> Result<Self> {
        let counts = vec![count; context.size()];
        let kind = CollectiveKind::ReduceScatterBlock;
        ReduceScatter::of_kind(context, reduction, counts, input, output, kind)
    }

    fn of_kind(
        context: Rc<Context<E>>,
        reduction: Reduction,
        counts: Vec<i64>,
        input: Option<Memory>,
        output: Memory,
        kind: CollectiveKind,
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
        Ok(ReduceScatter { context, counts, kind, terms })
    }

    /// Rank 0 gives each rank its elements.
    fn scatter(&self, schedule: &mut Schedule<E>, result: &Image) {
        let mut first = self.counts[0];
        let parts: Vec<Image> = self.counts[1..]
            .iter()
            .map(|&count| {
                let part = result.part(first, count);
                first += count;
                part
            })
            .collect();
        let round = schedule.round();
        for (other, part) in parts.iter().enumerate() {
            round.send(other + 1, part.readable());
        }
        deliver(schedule, &result.part(0, self.counts[0]), self.terms.output.as_ref());
    }
}

impl<E: Endpoint + 'static> Plan<E> for ReduceScatter<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn mark(&self) -> CollectiveMark {
        CollectiveMark::of(self.kind)
    }

    /// Rank 0 reduces everything and gives each rank its elements.
    fn schedule(&self, at: CollectiveContext<E>) -> Schedule<E> {
        let mut schedule = Schedule::new(at);
        let rank = schedule.rank();
        let result = self.terms.reduce_rounds(&mut schedule, 0);
        if rank == 0 {
            self.scatter(&mut schedule, &result);
            return schedule;
        }
        let mine = self.terms.output.as_ref().expect("every rank has some of the result");
        let place = Image::room(mine);
        schedule.keep(&place);
        schedule.round().receive(0, place.writable());
        deliver(&mut schedule, &place, Some(mine));
        schedule
    }
}
