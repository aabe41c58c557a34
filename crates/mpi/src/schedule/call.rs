//! The description of a collective by messages, which its members compare after a long wait.

use collectives::Algorithm;

/// The collectives that may go by messages, and the calls that make communicators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum CollectiveKind {
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
    Window,
    Create,
    Merge,
    Graph,
    NeighbourAllgather,
    NeighbourAllToAll,
    File,
    /// The barrier at the end of a process's part.
    End,
}

/// The names of the collectives by their kinds.
const NAMES: [&str; 29] = [
    "",
    "barrier",
    "broadcast",
    "gather",
    "gather of unequal blocks",
    "scatter",
    "scatter of unequal blocks",
    "allgather",
    "allgather of unequal blocks",
    "all-to-all",
    "all-to-all of unequal blocks",
    "all-to-all of unequal types",
    "reduce",
    "allreduce",
    "scan",
    "exclusive scan",
    "reduce-scatter",
    "reduce-scatter of equal blocks",
    "duplication of a communicator",
    "non-blocking duplication of a communicator",
    "split of a communicator",
    "creation of a window",
    "creation of a communicator",
    "merge of two groups",
    "creation of a graph",
    "neighbourhood allgather",
    "neighbourhood all-to-all",
    "operation on a file",
    "MPI_Finalize",
];

/// Completion of a collective call after the check of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It runs to completion.
    Blocking,
    /// It is in progress, and a request completes it.
    Nonblocking,
    /// A request starts it, any number of times.
    Persistent,
}

/// All properties on which members must agree except the lengths, which the messages themselves show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallId(u32);

// Bits from the top: 8 of kind, 2 of manner, 4 of algorithm, the others of the root.
const ALGORITHM_SHIFT: u32 = 18;
const MANNER_SHIFT: u32 = 22;
const KIND_SHIFT: u32 = 24;
// Number of bits of the root among ten; 2 are of the manner and 5 of the kind.
const ROOT_BITS: u32 = 3;

impl CallId {
    /// Returns the call id of a call without a root.
    pub(crate) const fn of(kind: CollectiveKind) -> Self {
        CallId((kind as u32) << KIND_SHIFT)
    }

    pub(crate) const fn rooted(kind: CollectiveKind, root: usize) -> Self {
        CallId((kind as u32) << KIND_SHIFT | root as u32 & ((1 << ALGORITHM_SHIFT) - 1))
    }

    /// Returns the call id in this manner: a blocking call and a non-blocking one of the same kind do not match.
    pub(crate) fn in_manner(self, manner: Manner) -> Self {
        let manner = match manner {
            Manner::Blocking => 0,
            Manner::Nonblocking => 1,
            Manner::Persistent => 2,
        };
        CallId(self.0 | manner << MANNER_SHIFT)
    }

    /// Returns the call id with an algorithm: members that disagree about lengths may select different ones, and would
    /// wait for each other.
    pub(crate) fn by(self, algorithm: Algorithm) -> Self {
        CallId(self.0 | (algorithm as u32) << ALGORITHM_SHIFT)
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    /// Returns words for the call of this number.
    pub(crate) fn describe(bits: u32) -> String {
        let id = CallId(bits);
        let manner = ["", "non-blocking ", "persistent ", ""][(bits >> MANNER_SHIFT) as usize & 3];
        let root = id.root().map(|root| format!(" with root {root}")).unwrap_or_default();
        format!("{manner}{}{root}", id.name())
    }

    /// Returns whether the library calls it by itself in a call of the program that has another name.
    pub(crate) fn is_of_library(self) -> bool {
        let kind = self.0 >> KIND_SHIFT;
        let makes = CollectiveKind::Duplicate as u32..=CollectiveKind::Graph as u32;
        makes.contains(&kind)
            || [CollectiveKind::File, CollectiveKind::End].iter().any(|&one| one as u32 == kind)
    }

    /// Returns the name of the collective.
    pub(crate) fn name(self) -> &'static str {
        NAMES.get((self.0 >> KIND_SHIFT) as usize).copied().unwrap_or_default()
    }

    /// Returns the root, if it has one. Of a root that the bits do not hold the lower ones are left.
    pub(crate) fn root(self) -> Option<usize> {
        let root = self.0 & ((1 << ALGORITHM_SHIFT) - 1);
        let rooted = [
            CollectiveKind::Broadcast,
            CollectiveKind::Gather,
            CollectiveKind::GatherUnequal,
            CollectiveKind::Scatter,
            CollectiveKind::ScatterUnequal,
            CollectiveKind::Reduce,
        ];
        let is_rooted = rooted.iter().any(|&kind| kind as u32 == self.0 >> KIND_SHIFT);
        is_rooted.then_some(root as usize)
    }

    /// Returns ten bits that depend on the kind, the manner and the low bits of the root. Without the highest kind,
    /// tags that begin with them are in the range of every MPI: below 2^28 - 2^20.
    pub(crate) fn in_ten_bits(self) -> u32 {
        let kind_and_manner = self.0 >> MANNER_SHIFT;
        kind_and_manner << ROOT_BITS | self.0 & ((1 << ROOT_BITS) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_differ_in_kind_manner_or_root_have_different_call_ids() {
        let broadcast = CallId::rooted(CollectiveKind::Broadcast, 3);
        let others = [
            CallId::rooted(CollectiveKind::Gather, 3),
            CallId::rooted(CollectiveKind::Broadcast, 2),
            broadcast.in_manner(Manner::Nonblocking),
            broadcast.in_manner(Manner::Persistent),
        ];
        for (index, other) in others.iter().enumerate() {
            assert_ne!(*other, broadcast);
            assert!(!others[..index].contains(other));
        }
        assert_ne!(broadcast.by(Algorithm::Binomial), broadcast.by(Algorithm::ScatterRing));
        assert_eq!(broadcast.in_manner(Manner::Blocking), broadcast);
        // 2 is the kind; blocking is 0; the root is in the lowest bits.
        assert_eq!(broadcast.bits(), 0x0200_0003);
    }

    #[test]
    fn a_call_id_is_described_by_its_name_and_root() {
        let of = |id: CallId| CallId::describe(id.bits());
        let unequal = CallId::rooted(CollectiveKind::ScatterUnequal, 70);
        assert_eq!(of(unequal), "scatter of unequal blocks with root 70");
        let reduce = CallId::rooted(CollectiveKind::Reduce, 0).in_manner(Manner::Nonblocking);
        assert_eq!(of(reduce.by(Algorithm::Binomial)), "non-blocking reduce with root 0");
        let persistent =
            CallId::of(CollectiveKind::ReduceScatterBlock).in_manner(Manner::Persistent);
        assert_eq!(of(persistent), "persistent reduce-scatter of equal blocks");
        assert_eq!(of(CallId::of(CollectiveKind::ExclusiveScan)), "exclusive scan");
        assert_eq!(of(CallId::of(CollectiveKind::Duplicate)), "duplication of a communicator");
        assert_eq!(of(CallId::of(CollectiveKind::File)), "operation on a file");
        assert_eq!(of(CallId::of(CollectiveKind::End)), "MPI_Finalize");
        let is_of_library = |kind| CallId::of(kind).is_of_library();
        assert!(is_of_library(CollectiveKind::Split) && is_of_library(CollectiveKind::File));
        assert!(!is_of_library(CollectiveKind::NeighbourAllToAll));
        assert!(!is_of_library(CollectiveKind::ReduceScatterBlock));
    }

    #[test]
    fn ten_bits_distinguish_calls_of_every_kind_and_manner() {
        // 2 is the kind, 1 the manner; of the root 11, which is 8 + 3, the 3 remains.
        let broadcast = CallId::rooted(CollectiveKind::Broadcast, 11);
        let short = broadcast.in_manner(Manner::Nonblocking).in_ten_bits();
        assert_eq!(short, 2 << 5 | 1 << 3 | 3);
        // The last kind. 31 would reach tags that some MPIs reserve.
        let last = CallId::of(CollectiveKind::End).in_manner(Manner::Persistent);
        assert!(last.in_ten_bits() < 31 << 5);
    }
}
