//! The parameters of a collective, without the data of this rank.

use contract::collective::Collective;
use contract::{CollectiveCall, Combine, Readable, ReductionId, Writable};
use serde::{Deserialize, Serialize};

use super::line::LONGEST_BYTES;

/// The parameters of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectiveParameters {
    /// The collective.
    pub collective: Collective,
    /// The root, or 0 for a collective without one.
    pub root: usize,
    /// Length of all data, or of one block.
    pub bytes: usize,
    stated_bytes: Option<usize>,
    /// The operation and the length of the elements of a reduction.
    combine: Option<(ReductionId, usize)>,
    /// True if there are data to send apart from those in the memory to receive into.
    pub sends: bool,
    /// Length of the memory to receive into; `None` if there is none.
    pub room: Option<usize>,
}

impl CollectiveParameters {
    /// Returns the parameters of a call.
    pub fn of(call: &CollectiveCall<'_>) -> Self {
        let CollectiveCall { collective, root, bytes, stated_bytes, .. } = *call;
        CollectiveParameters {
            collective,
            root,
            bytes,
            stated_bytes,
            combine: call.combine.as_ref().map(|combine| (combine.id, combine.element_bytes)),
            sends: call.send.is_some(),
            room: call.receive.as_ref().map(Writable::bytes),
        }
    }

    /// Returns whether they are those of a call that a process can make.
    pub fn are_valid(&self) -> bool {
        let is_known = |(id, _): (ReductionId, usize)| {
            // An id with greater numbers belongs to no words.
            ReductionId::new(id.operation(), id.element()) == id
        };
        self.collective.has_plans()
            && self.combine.is_none_or(is_known)
            && self.combine.is_some() == self.collective.combines()
            && self.room.is_none_or(|room| room <= LONGEST_BYTES)
    }

    /// Creates the call again. `apply` combines the elements of a reduction.
    pub fn call<'a>(
        self,
        send: Option<Readable>,
        receive: Option<Writable>,
        apply: &'a mut contract::Apply<'a>,
    ) -> CollectiveCall<'a> {
        let CollectiveParameters { collective, root, bytes, stated_bytes, .. } = self;
        let combine = self.combine.map(|(id, element_bytes)| Combine { id, element_bytes, apply });
        CollectiveCall { collective, root, bytes, send, receive, combine, stated_bytes }
    }

    /// Returns the operation, if the call combines.
    pub fn reduction(&self) -> Option<contract::Reduction> {
        self.combine.and_then(|(id, _)| contract::Reduction::of_id(id))
    }
}
