//! The collectives: their names, attributes and algorithms.

use serde::{Deserialize, Serialize};

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

/// The algorithms, by their names in the literature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// In round k, each member signals the one 2^k after it.
    Dissemination,
    /// A tree that doubles the number of reached members at each level.
    Binomial,
    /// A broadcast as a scatter down the tree followed by an allgather by dissemination.
    ScatterBruck,
    /// A broadcast as a scatter down the tree followed by an allgather around the ring.
    ScatterRing,
    /// Each member sends to its neighbour.
    Ring,
    /// Dissemination with several blocks in a message.
    Bruck,
    /// Partners at distances 1, 2, 4 ... exchange all their data.
    RecursiveDoubling,
    /// Partners at distances P/2, P/4 ... 1 exchange half of their common data.
    RecursiveHalving,
    /// Recursive halving followed by recursive doubling or a gather.
    Rabenseifner,
    /// One partner at a time.
    Pairwise,
    /// All partners at once.
    Linear,
    /// Inside groups of members, and between their leaders.
    TwoLevel,
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

impl Algorithm {
    /// Every algorithm, with its name.
    pub const ALL: [(Algorithm, &str); 12] = [
        (Algorithm::Dissemination, "dissemination"),
        (Algorithm::Binomial, "binomial"),
        (Algorithm::ScatterBruck, "scatter-bruck"),
        (Algorithm::ScatterRing, "scatter-ring"),
        (Algorithm::Ring, "ring"),
        (Algorithm::Bruck, "bruck"),
        (Algorithm::RecursiveDoubling, "recursive-doubling"),
        (Algorithm::RecursiveHalving, "recursive-halving"),
        (Algorithm::Rabenseifner, "rabenseifner"),
        (Algorithm::Pairwise, "pairwise"),
        (Algorithm::Linear, "linear"),
        (Algorithm::TwoLevel, "two-level"),
    ];

    /// Returns the algorithm with a name.
    pub fn named(name: &str) -> Option<Self> {
        Algorithm::ALL.iter().find(|(_, own)| *own == name).map(|(algorithm, _)| *algorithm)
    }

    /// Returns the name by which users select it.
    pub fn name(self) -> &'static str {
        Algorithm::ALL[self as usize].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_and_algorithms_are_at_their_own_indices_in_the_tables() {
        for (index, (operation, name)) in Collective::ALL.iter().enumerate() {
            assert_eq!((*operation as usize, operation.name()), (index, *name));
        }
        for (index, (algorithm, _)) in Algorithm::ALL.iter().enumerate() {
            assert_eq!(*algorithm as usize, index);
        }
    }
}
