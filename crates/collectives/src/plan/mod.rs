//! Plans: how ranks that share memory carry out a collective.
//!
//! [`select`] makes the plan of a call from what all members know alike, and never from measured times: so all
//! members have the same plan. It is pure, and holds every threshold in one [table](THRESHOLDS). The fabric in
//! shared memory carries a plan out, and the simulator spends the time of one. `docs/collectives.md` shows the table.

mod levels;
mod pieces;
mod ranges;
mod select;
mod thresholds;

pub use levels::group_ranks;
pub use pieces::{Pieces, part_of, piece_within};
pub use ranges::{PlanRange, Plans};
pub use select::select;
pub use thresholds::{THRESHOLDS, Thresholds};

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use crate::Collective;

/// A collective call, as all its members mean it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallShape {
    /// Which collective.
    pub collective: Collective,
    /// The length of all data; of calls in which each member has its own block, of one block.
    pub bytes: usize,
    /// The length of what cannot be divided: an element of a reduction, one byte of anything else.
    pub element_bytes: usize,
}

/// Where the ranks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topology {
    /// Each has a processor of its own.
    OwnProcessors,
    /// There are more ranks than processors, and the system moves them as it likes.
    Oversubscribed,
    /// There are more ranks than processors, and each is bound to one.
    OversubscribedBound,
}

/// Boards in shared memory: their sizes, and which collectives they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boards {
    /// The most ranks of a collective over boards.
    pub most_ranks: usize,
    /// The longest data of a collective over boards: of all members' blocks together where each member gets them all.
    pub most_bytes: usize,
    /// How many parts of its own a rank may have on its board.
    pub slots: usize,
    /// The longest part that a slot holds.
    pub slot_bytes: usize,
    /// The longest piece while each rank has a processor.
    pub piece_bytes: usize,
}

/// What the ranks share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Their boards.
    pub boards: Boards,
    /// True if they may copy from each other's memory through the kernel, and that is the fast way.
    pub cma: bool,
}

/// What carries the data of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Messages between pairs of ranks: the call has no plan here.
    Messages,
    /// Parts on boards: their owners write them, the others read them.
    Boards,
    /// The same, one board after the other: a member goes on as soon as its own part is there.
    BoardByBoard,
    /// The memory of the members, by cross-memory attach: they publish addresses.
    Memory,
    /// The same between two members of which each copies a half.
    MemoryInHalves,
}

/// Who combines what in a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owners {
    /// Nothing is combined.
    Nobody,
    /// Whoever gets the result, the root or each member for itself, combines all of it.
    Receivers,
    /// Members claim one chunk after the other.
    Chunks,
    /// The last member of each group to arrive combines the group's parts, and the last of these the groups'.
    Groups,
    /// Each member combines a share.
    Members,
    /// Each processor's last member to arrive combines that processor's share.
    Processors,
}

/// How the ranks carry out one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What carries the data.
    pub transport: Transport,
    /// Who combines pieces of full length.
    pub owners: Owners,
    /// How the data are divided, one piece for each step.
    pub pieces: Pieces,
    /// True if a member copies its own block before it gives the others theirs.
    pub own_block_first: bool,
    /// How many members arrive together, the last of them for its group; none where all look at one another. The same
    /// for every call of a context.
    pub group_ranks: Option<usize>,
}

impl Collective {
    /// Those that have plans. The others always go by messages.
    pub fn with_plans() -> impl Iterator<Item = Collective> {
        use Collective::{ExclusiveScan, InclusiveScan, ReduceScatter};
        let always_by_messages = |one| matches!(one, ReduceScatter | InclusiveScan | ExclusiveScan);
        Collective::ALL.into_iter().map(|(one, _)| one).filter(move |&one| !always_by_messages(one))
    }
}

impl CallShape {
    /// Returns a call whose data may be divided anywhere.
    #[inline]
    pub fn of_bytes(collective: Collective, bytes: usize) -> Self {
        CallShape { collective, bytes, element_bytes: 1 }
    }
}

impl Owners {
    /// Who combines what is too short for chunks.
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
    /// That of a barrier in one level: one step of empty parts.
    pub const BARRIER: Plan = Plan {
        transport: Transport::Boards,
        owners: Owners::Nobody,
        pieces: Pieces { bytes: 0, piece_bytes: 0, window: 1 },
        own_block_first: false,
        group_ranks: None,
    };

    /// Who combines a piece of this length. To claim chunks of a short one takes longer than to combine it.
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
