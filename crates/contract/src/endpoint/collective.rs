//! A collective as a fabric sees it that carries it out itself.

use collectives::plan::{CallShape, Collective};

use crate::{Readable, Reduction, Writable};

/// One call of a collective. Roots are ranks of the context. All lengths are in bytes and the same at all
/// members; where a block is missing (`None`) this rank's own block is in its place in the other memory.
#[derive(Debug)]
pub enum CollectiveCall<'a> {
    /// Waits until all members have come here.
    Barrier,
    /// Copies the root's data to all; at the root it is only read.
    Broadcast {
        /// Whose data.
        root: usize,
        /// The data, or the room for it.
        data: Writable,
    },
    /// Gives block r of the root's data to member r.
    Scatter {
        /// Whose data.
        root: usize,
        /// At the root: a block for each member.
        send: Readable,
        /// Room for this member's block.
        receive: Option<Writable>,
        /// The length of a block.
        each: usize,
    },
    /// Puts the data of member r into block r at the root.
    Gather {
        /// Who gets all.
        root: usize,
        /// This member's block.
        send: Option<Readable>,
        /// At the root: room for a block of each member.
        receive: Writable,
        /// The length of a block.
        each: usize,
    },
    /// Puts the data of member r into block r at every member.
    Allgather {
        /// This member's block.
        send: Option<Readable>,
        /// Room for a block of each member.
        receive: Writable,
        /// The length of a block.
        each: usize,
        /// The length that this member tells the others, where its own arguments contradict each other: all
        /// of them then fail.
        told: Option<usize>,
    },
    /// Gives block r of member s to member r, as block s.
    AllToAll {
        /// A block for each member.
        send: Option<Readable>,
        /// Room for a block of each member.
        receive: Writable,
        /// The length of a block.
        each: usize,
        /// As for `Allgather`.
        told: Option<usize>,
    },
    /// Combines the data of all members at the root.
    Reduce {
        /// Who gets the result.
        root: usize,
        /// This member's elements.
        send: Readable,
        /// Room for the result at the root. It is the memory of `send` or does not overlap it.
        receive: Writable,
        /// How elements become one.
        combine: Combine<'a>,
    },
    /// Combines the data of all members at all of them: the same bits at each.
    Allreduce {
        /// This member's elements.
        send: Readable,
        /// Room for the result. It is the memory of `send` or does not overlap it.
        receive: Writable,
        /// How elements become one.
        combine: Combine<'a>,
    },
}

/// A collective that was started and has not ended: what [`Endpoint::start_collective`](crate::Endpoint::start_collective)
/// gave for it, in its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartedCollective(pub u32);

impl CollectiveCall<'_> {
    /// Returns what is asked for, as plans know it.
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

    /// Returns how elements become one, if the contract knows it.
    #[inline(always)]
    pub fn reduction(&self) -> Option<Reduction> {
        match self {
            CollectiveCall::Reduce { combine, .. } | CollectiveCall::Allreduce { combine, .. } => {
                combine.reduction
            }
            _ => None,
        }
    }
}

/// How elements become one: the lower member's on the left, in the order of the members.
pub struct Combine<'a> {
    /// The length of an element, at most [`Combine::LONGEST_ELEMENT`].
    pub element_bytes: usize,
    /// What it is, if it is one of the contract's: a fabric may know how to do it better.
    pub reduction: Option<Reduction>,
    /// Combines elements.
    pub apply: &'a mut Apply<'a>,
}

/// Puts left op right into result, for as many bytes: whole elements, not aligned. Right and result may be
/// one place; else the three do not overlap.
pub type Apply<'a> = dyn FnMut(*const u8, *const u8, *mut u8, usize) + 'a;

impl Combine<'_> {
    /// The longest element that a fabric must be able to combine natively.
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
