//! Common parts of reductions.
//!
//! Elements are combined in the order of the ranks, so that operations that do not commute are correct, and every rank
//! of an allreduce gets the same bits.

use collectives::{Order, Own};
use contract::{CollectiveCall, Writable};

use super::blocks::check_disjoint;
use super::native::CarryOut;
use crate::error::Result;
use crate::memory::Memory;
use crate::operation::Reduction;
use crate::schedule::{Areas, CallMemory};

/// The checked arguments of a reduction.
pub(super) struct Terms {
    pub(super) reduction: Reduction,
    /// Operand of this rank.
    pub(super) input: Memory,
    /// Memory of the result; `None` where there is no result.
    pub(super) output: Option<Memory>,
}

impl Terms {
    /// Creates the arguments. `input` is `None` if the operand is in the place of the result.
    #[inline(always)]
    pub(super) fn new(
        reduction: Reduction,
        input: Option<Memory>,
        output: Option<Memory>,
    ) -> Result<Self> {
        if let (Some(input), Some(output)) = (&input, &output) {
            check_disjoint(input, output)?;
        }
        let input = input.or_else(|| output.clone()).expect("there is one of the two");
        Ok(Terms { reduction, input, output })
    }

    /// Lets `fabric` carry out its own call, to one rank or to all. Elements with gaps go by messages, with their gaps.
    #[inline(always)]
    pub(super) fn with_native_call<C: CarryOut>(
        &self,
        root: Option<usize>,
        fabric: C,
    ) -> Option<C::Outcome> {
        let mut apply = self.reduction.applied()?;
        let combine = self.reduction.combine(&mut apply);
        let send = self.input.readable()?;
        let receive = match &self.output {
            Some(output) => output.writable()?,
            None => Writable::empty(),
        };
        Some(fabric.carry_out(match root {
            Some(root) => CollectiveCall::reduce(root, send, receive, combine),
            None => CollectiveCall::allreduce(send, receive, combine),
        }))
    }

    /// Returns the memory of a call.
    pub(super) fn memory(&self) -> CallMemory {
        let areas = Areas::of_elements(&self.reduction);
        match &self.output {
            Some(output) if self.input.is_same_as(output) => {
                CallMemory::new(Own::InOutput, areas.result(output, true))
            }
            Some(output) => {
                let areas = areas.operands(&self.input).result(output, false);
                CallMemory::new(Own::InInput, areas)
            }
            None => CallMemory::new(Own::InInput, areas.operands(&self.input)),
        }
    }

    /// Returns the length of an element.
    pub(super) fn unit_bytes(&self) -> usize {
        self.reduction.of().size() as usize
    }

    /// Returns the number of elements of each member.
    pub(super) fn length(&self) -> usize {
        self.input.count() as usize
    }

    /// Returns the permitted order of combination.
    pub(super) fn order(&self) -> Order {
        if self.reduction.commutes() { Order::Any } else { Order::Ranks }
    }
}
