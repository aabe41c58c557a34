//! What a collective by messages is: its members compare it when one of them has waited for long.

use super::How;

/// The collectives that may go by messages, and the calls that make communicators.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(crate) enum Kind {
    Barrier = 1,
    Broadcast,
    Gather,
    GatherUnequal,
    Scatter,
    ScatterUnequal,
    Allgather,
    AllgatherUnequal,
    AllToAll,
    AllToAllUnequal,
    AllToAllTypes,
    Reduce,
    Allreduce,
    InclusiveScan,
    ExclusiveScan,
    ReduceScatter,
    ReduceScatterBlock,
    Duplicate,
    DuplicateLater,
    Split,
    Create,
}

/// All that members have to agree on but the lengths, which show in the messages themselves.
#[derive(Clone, Copy)]
pub(crate) struct Call(u32);

// From the top: 8 bits of kind, 2 of how, the others of the root.
const HOW_SHIFT: u32 = 22;
const KIND_SHIFT: u32 = 24;

impl Call {
    /// A call without a root.
    pub(crate) const fn of(kind: Kind) -> Self {
        Call((kind as u32) << KIND_SHIFT)
    }

    pub(crate) const fn rooted(kind: Kind, root: usize) -> Self {
        Call((kind as u32) << KIND_SHIFT | root as u32 & ((1 << HOW_SHIFT) - 1))
    }

    /// A blocking call and a non-blocking one of the same kind are different ones.
    pub(super) fn going(self, how: How) -> Self {
        let how = match how {
            How::Blocking => 0,
            How::Nonblocking(_) => 1,
            How::Persistent(_) => 2,
        };
        Call(self.0 | how << HOW_SHIFT)
    }

    pub(crate) fn mark(self) -> u32 {
        self.0
    }
}
