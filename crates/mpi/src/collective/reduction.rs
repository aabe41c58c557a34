//! What reductions have in common.
//!
//! Elements are combined in the order of the ranks, so that operations that do not commute come out right, and every rank
//! of an allreduce gets the very same bits.

use contract::{CollectiveCall, Combine, Endpoint, Readable, Writable};

use super::blocks::{check_apart, copy};
use crate::engine::Context;
use crate::error::Result;
use crate::memory::{Image, Memory};
use crate::operation::Reduction;
use crate::schedule::Schedule;

/// A reduction's arguments, checked.
pub(super) struct Terms {
    pub(super) reduction: Reduction,
    /// What this rank puts in.
    pub(super) input: Memory,
    /// Where the result goes; none where there is no result.
    pub(super) output: Option<Memory>,
}

impl Terms {
    /// Those of `input`, none where it is in the place of the result.
    pub(super) fn new(
        reduction: Reduction,
        input: Option<Memory>,
        output: Option<Memory>,
    ) -> Result<Self> {
        if let (Some(input), Some(output)) = (&input, &output) {
            check_apart(input, output)?;
        }
        let input = input.or_else(|| output.clone()).expect("there is one of the two");
        Ok(Terms { reduction, input, output })
    }

    /// Has the fabric carry out the whole reduction, to one rank or to all. Elements with gaps go by messages, as they lie.
    #[inline(always)]
    pub(super) fn native<E: Endpoint>(
        &self,
        context: &Context<E>,
        call: impl for<'a> FnOnce(Readable, Writable, Combine<'a>) -> CollectiveCall<'a>,
    ) -> Option<Result> {
        let send = self.input.readable()?;
        let receive = match &self.output {
            Some(output) => output.writable()?,
            None => Writable::empty(),
        };
        self.reduction.with_combine(|combine| context.collective(call(send, receive, combine)))?
    }

    /// `into` = `left` op `into`, before the messages of the next round.
    pub(super) fn combine<E: Endpoint>(
        &self,
        schedule: &mut Schedule<E>,
        left: &Image,
        into: &Image,
    ) {
        let (reduction, left, into) = (self.reduction.clone(), left.clone(), into.clone());
        schedule.round().first(move || {
            reduction.apply(left.memory(), into.memory());
            Ok(())
        });
    }

    /// A temporary copy of the input.
    pub(super) fn image<E: Endpoint>(&self, schedule: &mut Schedule<E>) -> Image {
        let image = Image::copy(&self.input);
        schedule.keep(&image);
        image
    }

    /// Temporary room for as much.
    pub(super) fn room<E: Endpoint>(&self, schedule: &mut Schedule<E>) -> Image {
        let image = Image::room(&self.input);
        schedule.keep(&image);
        image
    }

    /// The rounds that bring the result to `root`, by a binomial tree; returns where it is, at the root.
    pub(super) fn reduce_rounds<E: Endpoint>(
        &self,
        schedule: &mut Schedule<E>,
        root: usize,
    ) -> Image {
        let (rank, size) = (schedule.rank(), schedule.size());
        // An order that begins at the root is as good as any if the operation commutes.
        let top = if self.reduction.commutes() { root } else { 0 };
        let relative = (rank + size - top) % size;
        let mut mine = self.image(schedule);
        let mut other = self.room(schedule);
        let mut bit = 1;
        while bit < size {
            if relative & bit != 0 {
                let to = (relative - bit + top) % size;
                schedule.round().send(to, mine.readable());
                break;
            }
            if relative + bit < size {
                let from = (relative + bit + top) % size;
                schedule.round().receive(from, other.writable());
                self.combine(schedule, &mine, &other);
                std::mem::swap(&mut mine, &mut other);
            }
            bit *= 2;
        }
        if top != root {
            if rank == top {
                schedule.round().send(root, mine.readable());
            } else if rank == root {
                schedule.round().receive(top, other.writable());
                return other;
            }
        }
        mine
    }
}

/// Copies a result into the user's memory at the end.
pub(super) fn deliver<E: Endpoint>(schedule: &mut Schedule<E>, from: &Image, to: Option<&Memory>) {
    let Some(to) = to.cloned() else { return };
    let from = from.clone();
    schedule.finally(move |_| {
        copy(from.memory(), &to);
        Ok(())
    });
}
