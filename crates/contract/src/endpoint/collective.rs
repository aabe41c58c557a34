//! A collective in the form for fabrics that implement it themselves.

use collectives::plan::{CallShape, Collective};

use super::ContextPlace;
use crate::{Readable, Reduction, Writable};

/// Returns words for the call that a call id of a face names
/// ([`announce_by_messages`](crate::Endpoint::announce_by_messages)).
pub type DescribeCall<'a> = &'a dyn Fn(u32) -> String;

/// One call of a collective. Roots are ranks of the context. All lengths are in bytes and the same at all members. If a
/// block is missing (`None`), this rank's own block is in its place in the other memory.
#[derive(Debug)]
pub enum CollectiveCall<'a> {
    /// Waits until all members have reached the barrier.
    Barrier,
    /// Copies the root's data to all members; at the root it is only read.
    Broadcast {
        /// Rank of the source.
        root: usize,
        /// The data, or the room for it.
        data: Writable,
    },
    /// Copies block r of the root's data to member r.
    Scatter {
        /// Rank of the source.
        root: usize,
        /// At the root: a block for each member.
        send: Readable,
        /// Room for this member's block.
        receive: Option<Writable>,
        /// Length of a block.
        each: usize,
    },
    /// Copies the data of member r to block r at the root.
    Gather {
        /// Rank of the destination.
        root: usize,
        /// This member's block.
        send: Option<Readable>,
        /// At the root: room for a block of each member.
        receive: Writable,
        /// Length of a block.
        each: usize,
    },
    /// Copies the data of member r to block r at every member.
    Allgather {
        /// This member's block.
        send: Option<Readable>,
        /// Room for a block of each member.
        receive: Writable,
        /// Length of a block.
        each: usize,
        /// Length that this member reports to the others if its own arguments contradict each other. All of them then
        /// fail.
        told: Option<usize>,
    },
    /// Copies block r of member s to block s of member r.
    AllToAll {
        /// A block for each member.
        send: Option<Readable>,
        /// Room for a block of each member.
        receive: Writable,
        /// Length of a block.
        each: usize,
        /// As for `Allgather`.
        told: Option<usize>,
    },
    /// Combines the data of all members at the root.
    Reduce {
        /// Rank of the destination.
        root: usize,
        /// This member's elements.
        send: Readable,
        /// Room for the result at the root. It is the memory of `send` or does not overlap it.
        receive: Writable,
        /// The operation on elements.
        combine: Combine<'a>,
    },
    /// Combines the data of all members at all of them, with the same bits at each.
    Allreduce {
        /// This member's elements.
        send: Readable,
        /// Room for the result. It is the memory of `send` or does not overlap it.
        receive: Writable,
        /// The operation on elements.
        combine: Combine<'a>,
    },
    /// Combines block r of the data of all members at member r.
    ReduceScatter {
        /// This member's elements, a block for each member.
        send: Readable,
        /// Room for this member's block of the result.
        receive: Writable,
        /// The operation on elements.
        combine: Combine<'a>,
    },
    /// Combines the data of the members up to each member at that member.
    Scan {
        /// This member's elements.
        send: Readable,
        /// Room for the result. That of an exclusive scan at member 0 is not changed.
        receive: Writable,
        /// The operation on elements.
        combine: Combine<'a>,
        /// True if a member's own elements are left out.
        exclusive: bool,
    },
}

/// A started collective that has not ended: the value that
/// [`Endpoint::start_collective`](crate::Endpoint::start_collective) returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartedCollective {
    /// The fabric's place of its context.
    pub place: ContextPlace,
    /// Its number in the context.
    pub number: u32,
}

impl CollectiveCall<'_> {
    /// Returns the shape of the call, as plans use it.
    #[inline(always)]
    pub fn shape(&self) -> CallShape {
        use Collective::{AllToAll, Allgather, Broadcast, Gather, Scatter};
        match self {
            CollectiveCall::Barrier => CallShape::of_bytes(Collective::Barrier, 0),
            CollectiveCall::Broadcast { data, .. } => CallShape::of_bytes(Broadcast, data.bytes()),
            CollectiveCall::Scatter { each, .. } => CallShape::of_bytes(Scatter, *each),
            CollectiveCall::Gather { each, .. } => CallShape::of_bytes(Gather, *each),
            CollectiveCall::Allgather { each, .. } => CallShape::of_bytes(Allgather, *each),
            CollectiveCall::AllToAll { each, .. } => CallShape::of_bytes(AllToAll, *each),
            CollectiveCall::Reduce { send, combine, .. } => {
                combine.shape(Collective::Reduce, send.bytes())
            }
            CollectiveCall::Allreduce { send, combine, .. } => {
                combine.shape(Collective::Allreduce, send.bytes())
            }
            CollectiveCall::ReduceScatter { receive, combine, .. } => {
                combine.shape(Collective::ReduceScatter, receive.bytes())
            }
            CollectiveCall::Scan { send, combine, exclusive, .. } => {
                let scan = [Collective::InclusiveScan, Collective::ExclusiveScan];
                combine.shape(scan[usize::from(*exclusive)], send.bytes())
            }
        }
    }

    /// Returns the root, if there is one.
    #[inline(always)]
    pub fn root(&self) -> Option<usize> {
        match self {
            CollectiveCall::Broadcast { root, .. }
            | CollectiveCall::Scatter { root, .. }
            | CollectiveCall::Gather { root, .. }
            | CollectiveCall::Reduce { root, .. } => Some(*root),
            _ => None,
        }
    }

    /// Returns the reduction, if it is one of the contract's.
    #[inline(always)]
    pub fn reduction(&self) -> Option<Reduction> {
        match self {
            CollectiveCall::Reduce { combine, .. }
            | CollectiveCall::Allreduce { combine, .. }
            | CollectiveCall::ReduceScatter { combine, .. }
            | CollectiveCall::Scan { combine, .. } => combine.reduction,
            _ => None,
        }
    }
}

/// The operation of a reduction: the lower member's operand is on the left, in the order of the members.
pub struct Combine<'a> {
    /// Length of an element, at most [`Combine::LONGEST_ELEMENT`].
    pub element_bytes: usize,
    /// The reduction, if it is one of the contract's: a fabric may have a better implementation.
    pub reduction: Option<Reduction>,
    /// Combines elements.
    pub apply: &'a mut Apply<'a>,
}

/// Stores left op right in result, for a number of bytes: whole elements, not aligned. Right and result may be the same
/// place; otherwise the three do not overlap.
pub type Apply<'a> = dyn FnMut(*const u8, *const u8, *mut u8, usize) + 'a;

impl Combine<'_> {
    /// Length of the longest element that a fabric must be able to combine natively.
    pub const LONGEST_ELEMENT: usize = 4096;

    #[inline(always)]
    fn shape(&self, collective: Collective, bytes: usize) -> CallShape {
        CallShape { collective, bytes, element_bytes: self.element_bytes }
    }
}

impl std::fmt::Debug for Combine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Combine")
            .field("element_bytes", &self.element_bytes)
            .field("reduction", &self.reduction)
            .finish_non_exhaustive()
    }
}
