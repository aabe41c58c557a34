//! Every rank with its two neighbours in a ring.

use analysis::limits::{BoundRule, Traffic};
use contract::Result;

use super::{random_order, swap, timed};
use crate::bench::Bench;
use crate::case::{Case, Scope, sized};
use crate::data::Received;
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::Headline;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE};
use crate::ranks::RankRule;

pub(in crate::programs) const RINGS: Benchmark = Benchmark {
    name: "rings",
    group: Group::Congestion,
    summary: "every rank sends to both neighbours of a ring, in natural and in random order",
    explains: "All ranks start together. Each sends to the next rank in a ring and receives from the previous \
        one, and then in the opposite direction. The time is that of the slowest rank; the rate is that of one \
        rank, 2 size / time. The order is that of the ranks (`natural`), or depends on the seed (`random`), so \
        that neighbours are far apart.",
    source: paper::HPCC.part("naturally and randomly ordered rings"),
    ranks: RankRule::AtLeast(2),
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 2, blocks: 2 * p }),
    headlines: &[Headline { words: "fastest ring, a rank", metric: "rate", size_bytes: None }],
    cases,
    measure,
    program: Program {
        received: Received::Nothing,
        moved: |shape| 2 * shape.size as u64,
        ..COLLECTIVE
    },
    ..BENCHMARK
};

/// Parameter of the order of the ranks, and its values.
const ORDER: &str = "order";
const NATURAL: &str = "natural";
const RANDOM: &str = "random";

fn cases(scope: &Scope) -> Vec<Case> {
    let of = |order: &'static str| {
        let named = move |case| Case { parameters: [(ORDER.into(), order.into())].into(), ..case };
        sized(scope, &[8, 1 << 10, 128 << 10, 1 << 20]).into_iter().map(named)
    };
    of(NATURAL).chain(of(RANDOM)).collect()
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let ranks = bench.shape.ranks;
    let order = match bench.step.parameters.get(ORDER).map(ToString::to_string).as_deref() {
        Some(NATURAL) => (0..ranks).collect(),
        Some(RANDOM) => random_order(ranks, bench.settings.seed),
        _ => return Err(bench.unknown(ORDER)),
    };
    let (before, next) = neighbours(&order, bench.shape.me);
    timed(bench, bench.definition.program, Some(next), |rank, sent, room| {
        swap(rank, (next, before), sent, room)?;
        swap(rank, (before, next), sent, room)
    })
}

/// Returns the ranks before and after rank `me`.
fn neighbours(order: &[usize], me: usize) -> (usize, usize) {
    let place = order.iter().position(|&rank| rank == me);
    let place = place.expect("every rank stands in the order");
    let ranks = order.len();
    (order[(place + ranks - 1) % ranks], order[(place + 1) % ranks])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_those_of_the_order_around_its_end() {
        let order = [2, 0, 3, 1];
        assert_eq!([0, 1, 2, 3].map(|me| neighbours(&order, me)), [(2, 3), (3, 2), (1, 0), (0, 1)]);
        assert_eq!(neighbours(&[0, 1], 1), (0, 0));
    }
}
