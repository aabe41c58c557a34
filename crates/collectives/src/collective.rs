//! The collectives: their names, attributes and algorithms.

use serde::{Deserialize, Serialize};

use crate::Algorithm;

/// The collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Collective {
    /// Waits until all members have arrived.
    Barrier,
    /// Copies the root's output to the output of every member.
    Broadcast,
    /// Copies block r of the root's input to the output of member r.
    Scatter,
    /// Copies the input of member r to block r of the root's output.
    Gather,
    /// Copies the input of member r to block r of the output of every member.
    Allgather,
    /// Copies block r of the input of member s to block s of the output of member r.
    AllToAll,
    /// Combines the inputs in the root's output.
    Reduce,
    /// Combines the inputs in the output of every member.
    Allreduce,
    /// Combines block r of the inputs in the output of member r.
    ReduceScatter,
    /// Combines the inputs of the members up to each member in its output.
    InclusiveScan,
    /// Combines the inputs of the members before each member in its output.
    ExclusiveScan,
}

impl Collective {
    /// Every collective, with its name.
    pub const ALL: [(Collective, &str); 11] = [
        (Collective::Barrier, "barrier"),
        (Collective::Broadcast, "broadcast"),
        (Collective::Scatter, "scatter"),
        (Collective::Gather, "gather"),
        (Collective::Allgather, "allgather"),
        (Collective::AllToAll, "all_to_all"),
        (Collective::Reduce, "reduce"),
        (Collective::Allreduce, "allreduce"),
        (Collective::ReduceScatter, "reduce_scatter"),
        (Collective::InclusiveScan, "scan"),
        (Collective::ExclusiveScan, "exclusive_scan"),
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        Collective::ALL[self as usize].1
    }

    /// Returns the name in words.
    pub fn words(self) -> &'static str {
        match self {
            Collective::AllToAll => "all-to-all",
            Collective::ReduceScatter => "reduce-scatter",
            Collective::ExclusiveScan => "exclusive scan",
            other => other.name(),
        }
    }

    /// Returns whether elements are combined.
    pub fn combines(self) -> bool {
        use Collective::*;
        matches!(self, Reduce | Allreduce | ReduceScatter | InclusiveScan | ExclusiveScan)
    }

    /// Returns whether one member sends or receives more data than the others.
    pub fn has_root(self) -> bool {
        use Collective::*;
        matches!(self, Broadcast | Scatter | Gather | Reduce)
    }

    /// Returns the algorithms that implement the collective.
    pub const fn algorithms(self) -> &'static [Algorithm] {
        use Algorithm::*;
        match self {
            Collective::Barrier => &[Dissemination, TwoLevel],
            Collective::Broadcast => &[Binomial, ScatterBruck, ScatterRing, TwoLevel],
            Collective::Scatter | Collective::Gather => &[Binomial, Linear],
            Collective::Allgather => &[Bruck, Ring, Linear],
            Collective::AllToAll => &[Pairwise, Bruck, Linear],
            Collective::Reduce => &[Binomial, Rabenseifner, TwoLevel],
            Collective::Allreduce => &[RecursiveDoubling, Rabenseifner, Ring, TwoLevel],
            Collective::ReduceScatter => &[RecursiveDoubling, RecursiveHalving, Pairwise],
            Collective::InclusiveScan | Collective::ExclusiveScan => &[RecursiveDoubling],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_are_at_their_own_indices_in_the_table() {
        for (index, (operation, name)) in Collective::ALL.iter().enumerate() {
            assert_eq!((*operation as usize, operation.name()), (index, *name));
        }
    }
}
