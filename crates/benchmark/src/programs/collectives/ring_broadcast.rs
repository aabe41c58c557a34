//! Every rank's block travels around the ring to all others.

use analysis::limits::{BoundRule, Traffic};
use contract::{Error, Rank, Result, Source};

use crate::case::each_block_size;
use crate::data::{Blocks, Data, Received};
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE, ITS_TAG, TAG};
use crate::ranks::RankRule;
use crate::shape::Shape;

pub(in crate::programs) const RING_BROADCAST: Benchmark = Benchmark {
    name: "ring-broadcast",
    group: Group::Collectives,
    summary: "N-way broadcast around a ring, by messages between neighbours",
    explains: "Each of P ranks has a message for all others. In each of P - 1 steps every rank sends the block \
        that it received last to the next rank, and receives from the previous rank. For 2^k ranks the ring is a \
        Gray code, so its neighbours are also neighbours of a hypercube; otherwise it is in rank order. All ranks \
        start together; the time is that of the slowest rank; the rate is size (P - 1) P / time.",
    source: paper::HYPERCUBE.part("simple communication, fourth test (N-way broadcast)"),
    ranks: RankRule::AtLeast(2),
    // Each block visits every rank in turn.
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: p - 1, blocks: p * (p - 1) }),
    cases: each_block_size,
    program: Program {
        blocks: |shape| Blocks { receive: shape.ranks, ..Blocks::NONE },
        event: around_the_ring,
        received: Received::InPlace(|_, block| (block, block)),
        moved: Shape::bytes_all_to_all,
        ..COLLECTIVE
    },
    ..BENCHMARK
};

fn around_the_ring(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    let Shape { ranks, me, size, .. } = data.shape;
    let place = place_of(me, ranks);
    // Rank that is this number of places before this one.
    let before = |places: usize| rank_at((place + ranks - places) % ranks, ranks);
    let (next, from) = (before(ranks - 1), before(1));
    let range = |block: usize| block * size..(block + 1) * size;
    for step in 0..ranks - 1 {
        let (sent, received) = (before(step), before(step + 1));
        let [send, receive] =
            data.receive.get_disjoint_mut([range(sent), range(received)]).map_err(|error| {
                Error::Program(format!("blocks {sent} and {received} of {ranks}: {error}"))
            })?;
        rank.send_receive((next, TAG, send), (Source::Rank(from), ITS_TAG, receive))?;
    }
    Ok(())
}

/// Returns the rank at a place of the ring: by the reflected Gray code, whose successive numbers differ in one bit, if
/// there are 2^k.
fn rank_at(place: usize, ranks: usize) -> usize {
    if ranks.is_power_of_two() { place ^ (place >> 1) } else { place }
}

/// Returns the place of a rank in the ring.
fn place_of(rank: usize, ranks: usize) -> usize {
    if !ranks.is_power_of_two() {
        return rank;
    }
    let shifts = (0..usize::BITS).map(|shift| rank >> shift).take_while(|&shifted| shifted > 0);
    shifts.fold(0, |place, shifted| place ^ shifted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_the_ring_are_neighbours_in_the_cube() {
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6, 7].map(|place| rank_at(place, 8)),
            [0, 1, 3, 2, 6, 7, 5, 4]
        );
        for ranks in [2, 4, 8, 64] {
            for place in 0..ranks {
                assert_eq!(place_of(rank_at(place, ranks), ranks), place);
                let difference = rank_at(place, ranks) ^ rank_at((place + 1) % ranks, ranks);
                assert_eq!(difference.count_ones(), 1, "place {place} of {ranks}");
            }
        }
    }

    #[test]
    fn other_numbers_of_ranks_go_round_in_their_order() {
        assert_eq!([0, 1, 2, 3, 4, 5].map(|place| rank_at(place, 6)), [0, 1, 2, 3, 4, 5]);
        assert_eq!([0, 3, 5].map(|rank| place_of(rank, 6)), [0, 3, 5]);
    }
}
