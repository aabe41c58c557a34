//! Many messages at once, in patterns that are difficult for a network, and each pair alone.

pub(in crate::programs) mod bisection;
mod congestors;
pub(in crate::programs) mod impact;
pub(in crate::programs) mod incast;
pub(in crate::programs) mod pair_map;
pub(in crate::programs) mod rings;
pub(in crate::programs) mod shared_stream;
pub(in crate::programs) mod steady_stream;
mod stream;

use contract::{Rank, Result, Source};

use crate::bench::Bench;
use crate::contents::check_block;
use crate::data::Blocks;
use crate::program::Program;
use crate::programs::common::{ITS_TAG, TAG};
use random::mix;

/// Returns the ranks in an order that the seed determines. All orders are about equally frequent.
fn random_order(ranks: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ranks).collect();
    order.sort_by_key(|&rank| (mix(mix(seed).wrapping_add(rank as u64)), rank));
    order
}

/// Sends a block to one rank and receives one of another.
fn swap(
    rank: &mut dyn Rank,
    (to, from): (usize, usize),
    sent: &[u8],
    room: &mut [u8],
) -> Result<()> {
    rank.send_receive((to, TAG, sent), (Source::Rank(from), ITS_TAG, room)).map(drop)
}

/// Times `event`, which has its own data, and checks the last block from `from`, if there was one.
fn timed(
    bench: &mut Bench<'_>,
    program: Program,
    from: Option<usize>,
    mut event: impl FnMut(&mut dyn Rank, &[u8], &mut [u8]) -> Result<()>,
) -> Result<()> {
    let (size, seed, me) = (bench.shape.size, bench.settings.seed, bench.shape.me);
    let mut room = vec![0; size];
    let program = Program { blocks: |_| Blocks { send: 1, ..Blocks::NONE }, ..program };
    let outcome = bench.sampled_as(program, |rank, data| event(rank, &data.send, &mut room))?;
    if let Some(from) = from {
        check_block(&room, seed, (from, 0), "the last block", me)?;
    }
    bench.report(program, outcome, Default::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_stands_in_the_order_once_and_seeds_differ() {
        for ranks in [1, 2, 7, 64] {
            for seed in 0..20 {
                let mut order = random_order(ranks, seed);
                assert_eq!(order, random_order(ranks, seed), "seed {seed}");
                order.sort_unstable();
                assert_eq!(order, (0..ranks).collect::<Vec<_>>(), "seed {seed}");
            }
        }
        let first: std::collections::BTreeSet<usize> =
            (0..40).map(|seed| random_order(4, seed)[0]).collect();
        // The probability that one of four is never first in forty orders is 1 in 25000.
        assert_eq!(first.len(), 4);
    }
}
