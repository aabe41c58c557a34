//! Scan and exclusive scan.

use std::rc::Rc;

use contract::Endpoint;

use super::Plan;
use super::reduction::{Terms, deliver};
use crate::engine::Context;
use crate::error::Result;
use crate::memory::Memory;
use crate::operation::Reduction;
use crate::schedule::{CollectiveContext, CollectiveKind, CollectiveMark, Schedule};

/// Whether a rank's own elements are part of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanKind {
    /// They are.
    Inclusive,
    /// They are not. The first rank has no result, and its memory stays as it is.
    Exclusive,
}

/// Combines the elements of the members up to each rank at that rank.
pub struct Scan<E: Endpoint> {
    context: Rc<Context<E>>,
    kind: ScanKind,
    terms: Terms,
}

impl<E: Endpoint> Scan<E> {
    /// That of `input`, none where the elements are in the place of the result, to `output`.
    ///
    /// # Errors
    /// [`ErrorClass::Buffer`](crate::ErrorClass::Buffer) if the two overlap.
    pub fn new(
        context: Rc<Context<E>>,
        kind: ScanKind,
        reduction: Reduction,
        input: Option<Memory>,
        output: Memory,
    ) -> Result<Self> {
        let terms = Terms::new(reduction, input, Some(output))?;
        Ok(Scan { context, kind, terms })
    }
}

impl<E: Endpoint + 'static> Plan<E> for Scan<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn mark(&self) -> CollectiveMark {
        CollectiveMark::of(match self.kind {
            ScanKind::Inclusive => CollectiveKind::InclusiveScan,
            ScanKind::Exclusive => CollectiveKind::ExclusiveScan,
        })
    }

    fn schedule(&self, at: CollectiveContext<E>) -> Schedule<E> {
        let mut schedule = Schedule::new(at);
        let (rank, size) = (schedule.rank(), schedule.size());
        let mine = self.terms.image(&mut schedule);
        let before = self.terms.room(&mut schedule);
        if rank > 0 {
            schedule.round().receive(rank - 1, before.writable());
            self.terms.combine(&mut schedule, &before, &mine);
        }
        if rank + 1 < size {
            schedule.round().send(rank + 1, mine.readable());
        }
        let output = self.terms.output.as_ref();
        match self.kind {
            ScanKind::Inclusive => deliver(&mut schedule, &mine, output),
            ScanKind::Exclusive if rank > 0 => deliver(&mut schedule, &before, output),
            ScanKind::Exclusive => {}
        }
        schedule
    }
}
