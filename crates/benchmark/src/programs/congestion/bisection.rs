//! Half of the ranks with the other half.

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

pub(in crate::programs) const BISECTION: Benchmark = Benchmark {
    name: "bisection",
    group: Group::Congestion,
    summary: "a random half of the ranks exchanges messages with the other half",
    explains: "The ranks are put in an order that depends on the seed, and each rank of the first half \
        exchanges a message with one of the second half. All ranks start together; the time is that of the slowest \
        rank; the rate is the total of all ranks, size P / time, for an even P. With an odd number, one rank is \
        idle. `half` numbers the orders: if their rates differ, the rate of the network depends on which ranks \
        communicate.",
    source: paper::HP2P.part("bisection by random halves"),
    ranks: RankRule::AtLeast(2),
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 1, blocks: p / 2 * 2 }),
    headlines: &[Headline {
        words: "fastest bisection, all ranks",
        metric: "rate",
        size_bytes: None,
    }],
    cases,
    measure,
    program: Program {
        received: Received::Nothing,
        moved: |shape| (shape.ranks / 2 * 2 * shape.size) as u64,
        ..COLLECTIVE
    },
    ..BENCHMARK
};

const HALF: &str = "half";
/// Number of orders that are measured.
const ORDERS: u64 = 4;

fn cases(scope: &Scope) -> Vec<Case> {
    let of = |half: u64| {
        let named = move |case| Case { parameters: [(HALF.into(), half.into())].into(), ..case };
        sized(scope, &[8, 128 << 10]).into_iter().map(named)
    };
    (1..=ORDERS).flat_map(of).collect()
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let half = bench.number(HALF)? as u64;
    let order = random_order(bench.shape.ranks, bench.settings.seed.wrapping_add(half));
    let partner = partner(&order, bench.shape.me);
    timed(bench, bench.definition.program, partner, |rank, sent, room| match partner {
        Some(partner) => swap(rank, (partner, partner), sent, room),
        None => Ok(()),
    })
}

/// Returns the partner of rank `me` in the other half; `None` for the last of an odd number.
fn partner(order: &[usize], me: usize) -> Option<usize> {
    let (half, place) = (order.len() / 2, order.iter().position(|&rank| rank == me)?);
    let other = if place < half { place + half } else { place - half };
    (place < 2 * half).then(|| order[other])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_face_each_other() {
        let order = [3, 1, 4, 0, 2];
        let partners = [0, 1, 2, 3, 4].map(|me| partner(&order, me));
        // 3 and 1 are partners of 4 and 0; 2 has none.
        assert_eq!(partners, [Some(1), Some(0), None, Some(4), Some(3)]);
    }
}
