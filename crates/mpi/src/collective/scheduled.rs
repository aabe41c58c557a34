//! Collectives whose rounds are known from the call: those of neighbours, and those between two groups.

use std::rc::Rc;

use collectives::{CallId, Own, Schedule as Rounds};
use contract::Endpoint;

use super::CollectiveWork;
use crate::engine::Context;
use crate::memory::Memory;
use crate::operation::Reduction;
use crate::schedule::{Areas, CallMemory, Work};

/// A collective by messages with known rounds.
pub struct Scheduled<E: Endpoint> {
    pub(super) context: Rc<Context<E>>,
    pub(super) call_id: CallId,
    pub(super) rounds: Rc<dyn Fn() -> Rounds>,
    pub(super) memory: ScheduledMemory,
}

/// Memory of a scheduled collective at this member.
#[derive(Default)]
pub(super) struct ScheduledMemory {
    /// Sent data, consecutively.
    pub(super) input: Vec<Memory>,
    /// Received data.
    pub(super) output: Vec<Memory>,
    /// True if the output initially holds the sent data.
    pub(super) is_filled: bool,
    /// The operation on elements, if there is one.
    pub(super) reduction: Option<Reduction>,
}

impl<E: Endpoint + 'static> CollectiveWork<E> for Scheduled<E> {
    fn context(&self) -> &Rc<Context<E>> {
        &self.context
    }

    fn call_id(&self) -> CallId {
        self.call_id
    }

    fn work(&self) -> Work {
        let rounds = self.rounds.clone();
        Work::Rounds(Box::new(move || rounds()))
    }

    fn memory(&self) -> CallMemory {
        let ScheduledMemory { input, output, is_filled, reduction } = &self.memory;
        let Some(reduction) = reduction else {
            let areas = Areas::of_bytes().input(input).output(output, *is_filled);
            return CallMemory::new(Own::InInput, areas);
        };
        let mut areas = Areas::of_elements(reduction);
        if let [input] = &input[..] {
            areas = areas.operands(input);
        }
        if let [output] = &output[..] {
            areas = areas.result(output, false);
        }
        CallMemory::new(Own::InInput, areas)
    }
}
