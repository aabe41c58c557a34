//! Each pair of ranks alone.

use analysis::limits::{BoundRule, Traffic};

use crate::case::{Case, Scope, sized};
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::View;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, BETWEEN_TWO, round_trip};
use crate::ranks::RankRule;

pub(in crate::programs) const PAIR_MAP: Benchmark = Benchmark {
    name: "pair-map",
    group: Group::Congestion,
    summary: "half of a message's round trip between each two ranks, to find slow pairs",
    explains: "The pairs of ranks measure ping-pong one after the other, while all other ranks wait: 8 bytes \
        for the latency, 128 KiB for the rate. The time is half of the round trip, the rate is size / time. A pair is slow if its \
        time is more than 1.5 interquartile ranges above the upper quartile of all pairs, and more than 5 % above \
        their median.",
    source: paper::HP2P.part("the map of pairs"),
    ranks: RankRule::AtLeast(2),
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 1 }),
    cases,
    view: View::RankPairs,
    program: Program { event: round_trip, parts: |_| 2, ..BETWEEN_TWO },
    ..BENCHMARK
};

fn cases(scope: &Scope) -> Vec<Case> {
    let pairs = (0..scope.ranks).flat_map(|from| (from + 1..scope.ranks).map(move |to| (from, to)));
    let of = |(from, to): (usize, usize)| {
        let parameters = [("from", from), ("to", to)];
        let named = move |case| Case {
            parameters: parameters.map(|(name, rank)| (name.into(), (rank as u64).into())).into(),
            ..case
        };
        sized(scope, &[8, 128 << 10]).into_iter().map(named)
    };
    pairs.flat_map(of).collect()
}
