//! Scan and exclusive scan.

use std::rc::Rc;

use collectives::{Call, CallId, Collective};
use contract::Endpoint;

use super::CollectiveWork;
use super::agreed;
use super::reduction::Terms;
use crate::engine::{Agreed, Context};
use crate::error::Result;
use crate::memory::Memory;
use crate::operation::Reduction;
use crate::schedule::{CallMemory, Work};

/// Treatment of a rank's own elements in a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanKind {
    /// They are part of the result.
    Inclusive,
    /// They are not part of the result. The first rank has no result, and its memory stays unchanged.
    Exclusive,
}

/// Combines the elements of the members up to each rank at that rank.
pub struct Scan<E: Endpoint> {
    context: Rc<Context<E>>,
    kind: ScanKind,
    terms: Terms,
}

impl<E: Endpoint> Scan<E> {
    /// Creates the collective from `input`, or `None` if the elements are in the place of the result, to `output`.
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

impl<E: Endpoint + 'static> CollectiveWork<E> for Scan<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn call_id(&self) -> CallId {
        let collective = match self.kind {
            ScanKind::Inclusive => Collective::InclusiveScan,
            ScanKind::Exclusive => Collective::ExclusiveScan,
        };
        CallId::of(collective).combining(self.terms.reduction.id())
    }

    fn agreed(&self) -> Agreed {
        agreed::same(&self.terms.input)
    }

    fn work(&self) -> Work {
        let exclusive = self.kind == ScanKind::Exclusive;
        Work::Call(Call::Scan { length: self.terms.length(), exclusive })
    }

    fn unit_bytes(&self) -> usize {
        self.terms.unit_bytes()
    }

    fn memory(&self) -> CallMemory {
        self.terms.memory()
    }
}
