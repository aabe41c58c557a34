//! The numbers of ranks of a benchmark, and their placement.

use serde::{Deserialize, Serialize};

/// Permitted numbers of ranks of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankRule {
    /// This number, regardless of the user's choice.
    Exactly(usize),
    /// Two, unless the user requests more; then ranks 0 and 1 communicate and the others wait.
    Pair,
    /// One for each processor, from 2 to 16, unless the user requests another number, of at least this many.
    AtLeast(usize),
    /// Pairs of ranks: this many pairs, unless the user requests another number of ranks. A rank without a partner is
    /// idle.
    Pairs(usize),
    /// One for each processor, regardless of the user's choice.
    EveryProcessor,
    /// One for each processor, unless the user requests another number.
    EveryProcessorUnlessRequested,
    /// As many as the requested chain has.
    OfChain,
}

/// The required placement of the ranks of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The fabric's placement: each rank on a separate processor, if there are enough.
    #[default]
    Spread,
    /// Rank r on the r-th processor, in every launch, because the cases name processors by their ranks.
    InOrder,
    /// All bound to one and the same processor.
    OneProcessor,
    /// The first half bound to one processor, the second half to another, like the tasks of two nodes. Ranks that
    /// cannot be bound stay where they are, and the measurement reports their place.
    TwoProcessors,
}

impl RankRule {
    /// Maximum number of ranks of collectives unless the user requests more.
    const RANKS_UNASKED_MAX: usize = 16;

    /// Returns the numbers of ranks of the runs, from the numbers that the user requests, if any. Empty if none of them
    /// is permitted.
    pub fn counts(self, wanted: Option<&[usize]>, processors: usize) -> Vec<usize> {
        let at_least = |least: usize, unasked: usize| match wanted {
            Some(wanted) => wanted.iter().copied().filter(|&count| count >= least).collect(),
            None => vec![unasked.max(least)],
        };
        match self {
            RankRule::Exactly(count) => vec![count],
            RankRule::Pair => at_least(2, 2),
            RankRule::AtLeast(least) => {
                at_least(least, processors.clamp(2, Self::RANKS_UNASKED_MAX))
            }
            RankRule::Pairs(unasked) => at_least(2, 2 * unasked),
            RankRule::EveryProcessor => vec![processors.max(1)],
            RankRule::EveryProcessorUnlessRequested => at_least(1, processors),
            // The plan takes the number from the chain.
            RankRule::OfChain => wanted.unwrap_or_default().to_vec(),
        }
    }

    /// Returns whether the benchmark runs with `ranks` ranks.
    pub fn allows(self, ranks: usize) -> bool {
        match self {
            RankRule::Exactly(count) => ranks == count,
            RankRule::Pair => ranks >= 2,
            RankRule::AtLeast(least) => ranks >= least,
            RankRule::Pairs(_) => ranks >= 2,
            RankRule::EveryProcessor
            | RankRule::EveryProcessorUnlessRequested
            | RankRule::OfChain => ranks >= 1,
        }
    }
}

impl std::fmt::Display for RankRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RankRule::Exactly(1) => f.write_str("1 rank"),
            RankRule::Exactly(count) => write!(f, "{count} ranks"),
            RankRule::Pair => f.write_str("2 ranks or more"),
            RankRule::AtLeast(1) => f.write_str("any number of ranks"),
            RankRule::AtLeast(least) => write!(f, "{least} ranks or more"),
            RankRule::Pairs(_) => f.write_str("2 ranks or more"),
            RankRule::EveryProcessor => f.write_str("a rank on each processor"),
            RankRule::EveryProcessorUnlessRequested => f.write_str("any number of ranks"),
            RankRule::OfChain => {
                f.write_str("the ranks that its file names, or one for the source, one for the sink, and those of its stages")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_counts_follow_the_user_within_the_rule() {
        assert_eq!(RankRule::Exactly(1).counts(Some(&[4]), 8), [1]);
        assert_eq!(RankRule::Pair.counts(None, 8), [2]);
        assert_eq!(RankRule::Pair.counts(Some(&[1, 2, 16]), 8), [2, 16]);
        assert_eq!(RankRule::AtLeast(2).counts(None, 1), [2]);
        assert_eq!(RankRule::AtLeast(2).counts(None, 8), [8]);
        assert_eq!(RankRule::AtLeast(2).counts(None, 96), [16]);
        assert!(RankRule::AtLeast(2).counts(Some(&[1]), 8).is_empty());
        assert_eq!(RankRule::Pairs(3).counts(None, 8), [6]);
        assert_eq!(RankRule::Pairs(3).counts(Some(&[1, 2, 3, 8]), 8), [2, 3, 8]);
        assert_eq!(RankRule::EveryProcessor.counts(Some(&[2]), 8), [8]);
        assert_eq!(RankRule::EveryProcessorUnlessRequested.counts(Some(&[1]), 8), [1]);
        assert_eq!(RankRule::EveryProcessorUnlessRequested.counts(None, 8), [8]);
    }
}
