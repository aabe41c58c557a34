//! Plans: steps of a collective among ranks that share memory.
//!
//! [`select`] makes the plan of a call from facts that are equal at all members, and never from measured times, so all
//! members have the same plan. It is a pure function with every threshold in one [table](THRESHOLDS). The shared-memory
//! fabric carries a plan out, and the simulator charges its time. `docs/collectives.md` shows the table.

mod levels;
mod pieces;
mod ranges;
mod select;

pub use levels::group_ranks;
pub use pieces::{Pieces, part_of, piece_within};
pub use ranges::{PlanRange, Plans};
pub use select::select;

pub use crate::thresholds::{THRESHOLDS, Thresholds};

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use crate::Collective;

/// A collective call, the same at all its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallShape {
    /// Collective of the call.
    pub collective: Collective,
    /// Length of all data in bytes, or of one block if each member has its own block.
    pub bytes: usize,
    /// Length in bytes of an indivisible unit: an element of a reduction, one byte of any other call.
    pub element_bytes: usize,
}

/// Placement of the ranks on processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topology {
    /// Each rank has a processor of its own.
    OwnProcessors,
    /// More ranks than processors, migrated freely by the system.
    Oversubscribed,
    /// More ranks than processors, each bound to one processor.
    OversubscribedBound,
}

/// Boards in shared memory: their sizes and limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boards {
    /// Largest number of ranks of a collective over boards.
    pub most_ranks: usize,
    /// Longest data of a collective over boards, in bytes: of all members' blocks together if each member receives them
    /// all.
    pub most_bytes: usize,
    /// Number of slots of each rank on its board.
    pub slots: usize,
    /// Length of a slot in bytes.
    pub slot_bytes: usize,
    /// Longest piece in bytes while each rank has a processor.
    pub piece_bytes: usize,
}

/// Facilities that the ranks share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Boards of the ranks.
    pub boards: Boards,
    /// True if ranks may copy from each other's memory through the kernel, and this is faster.
    pub cma: bool,
}

/// Carrier of the data of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Messages between pairs of ranks. The call has no plan.
    Messages,
    /// Boards: each owner writes its parts, the others read them.
    Boards,
    /// Boards, one after the other: a member continues as soon as its own part is there.
    BoardByBoard,
    /// Memory of the members through cross-memory attach: they publish addresses.
    Memory,
    /// Memory of two members, each of which copies one half.
    MemoryInHalves,
}

/// Members that combine the operands of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owners {
    /// None: the call combines nothing.
    Nobody,
    /// Each receiver of the result combines all operands for itself.
    Receivers,
    /// Members claim chunks one by one.
    Chunks,
    /// The last member of each group to arrive combines the group's parts, and the last of these members the groups'
    /// results.
    Groups,
    /// Each member combines a share.
    Members,
    /// The last member to arrive on each processor combines the share of that processor.
    Processors,
}

/// Steps by which the ranks carry out one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Carrier of the data.
    pub transport: Transport,
    /// Members that combine pieces of full length.
    pub owners: Owners,
    /// Division of the data into pieces, one for each step.
    pub pieces: Pieces,
    /// True if a member copies its own block before it provides the blocks of the others.
    pub own_block_first: bool,
    /// Number of members that arrive together, the last of which continues for its group; `None` if all members poll
    /// each other. The same for every call of a context.
    pub group_ranks: Option<usize>,
}

impl Collective {
    /// Returns the collectives that have plans. All others use messages.
    pub fn with_plans() -> impl Iterator<Item = Collective> {
        Collective::ALL.into_iter().map(|(one, _)| one).filter(|one| one.has_plans())
    }

    /// Returns whether the collective has plans.
    pub fn has_plans(self) -> bool {
        use Collective::{ExclusiveScan, InclusiveScan, ReduceScatter};
        !matches!(self, ReduceScatter | InclusiveScan | ExclusiveScan)
    }
}

impl CallShape {
    /// Returns a call whose data may be divided at any byte.
    #[inline]
    pub fn of_bytes(collective: Collective, bytes: usize) -> Self {
        CallShape { collective, bytes, element_bytes: 1 }
    }
}

impl Owners {
    /// Returns the members that combine pieces too short for chunks.
    #[inline]
    fn of_short(group_ranks: Option<usize>) -> Self {
        if group_ranks.is_some() { Owners::Groups } else { Owners::Receivers }
    }
}

impl Topology {
    /// Returns whether there are more ranks than processors.
    #[inline]
    pub fn is_oversubscribed(self) -> bool {
        self != Topology::OwnProcessors
    }
}

impl Plan {
    /// Plan of a barrier in one level: one step of empty parts.
    pub const BARRIER: Plan = Plan {
        transport: Transport::Boards,
        owners: Owners::Nobody,
        pieces: Pieces { bytes: 0, piece_bytes: 0, window: 1 },
        own_block_first: false,
        group_ranks: None,
    };

    /// Returns the members that combine a piece of this length. Claiming chunks of a short piece takes longer than
    /// combining it.
    #[inline]
    pub fn owners_of(&self, piece_bytes: usize) -> Owners {
        match self.owners {
            Owners::Chunks if piece_bytes < THRESHOLDS.chunks_from_bytes => {
                Owners::of_short(self.group_ranks)
            }
            owners => owners,
        }
    }

    /// Returns whether parts are addresses in the members' memory.
    #[inline]
    pub fn goes_by_memory(&self) -> bool {
        matches!(self.transport, Transport::Memory | Transport::MemoryInHalves)
    }
}
