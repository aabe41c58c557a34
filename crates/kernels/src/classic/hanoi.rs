//! The towers of Hanoi, with discs on pegs in memory.

use std::hint::black_box;

use super::check::check;
use crate::error::Result;

const MOST_DISCS: usize = 32;

/// A stack of discs, the largest at the bottom.
#[derive(Clone, Copy)]
struct Peg {
    discs: [u8; MOST_DISCS],
    height: usize,
}

/// Moves a tower of `discs` and returns the number of moves.
pub(super) fn run(discs: u8) -> Result<u64> {
    let empty = Peg { discs: [0; MOST_DISCS], height: 0 };
    let mut pegs = [empty; 3];
    for disc in (1..=discs).rev() {
        put(&mut pegs[0], disc);
    }
    let mut moves = 0;
    shift(&mut pegs, black_box(discs), 0, 2, &mut moves);
    check("hanoi", "the number of moves", (1 << discs) - 1, moves)?;
    check("hanoi", "the height of the last peg", usize::from(discs), pegs[2].height)?;
    let in_order = pegs[2].discs[..pegs[2].height].is_sorted_by(|low, high| low > high);
    check("hanoi", "whether the discs lie in order", true, in_order)?;
    Ok(moves)
}

#[inline(never)]
fn shift(pegs: &mut [Peg; 3], discs: u8, from: usize, to: usize, moves: &mut u64) {
    if discs == 1 {
        let disc = take(&mut pegs[from]);
        put(&mut pegs[to], disc);
        *moves += 1;
        return;
    }
    let spare = 3 - from - to;
    shift(pegs, black_box(discs - 1), from, spare, moves);
    shift(pegs, black_box(1), from, to, moves);
    shift(pegs, black_box(discs - 1), spare, to, moves);
}

fn put(peg: &mut Peg, disc: u8) {
    assert!(peg.height == 0 || peg.discs[peg.height - 1] > disc, "a disc lies on a smaller one");
    peg.discs[peg.height] = disc;
    peg.height += 1;
}

fn take(peg: &mut Peg) -> u8 {
    peg.height -= 1;
    peg.discs[peg.height]
}
