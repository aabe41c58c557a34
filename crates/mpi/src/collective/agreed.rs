//! What the members of a collective must agree on beside its call id: the signatures of their data, by the rule of each
//! collective (MPI 5.0, chapter 6).

use random::finalise;

use crate::datatype::Signature;
use crate::engine::Agreed;
use crate::memory::Memory;

impl From<Signature> for Agreed {
    fn from(signature: Signature) -> Self {
        if signature.is_any() { Agreed::Nothing } else { Agreed::Same(signature.bits()) }
    }
}

/// Returns the signature of one of so many equal blocks.
#[inline]
fn signature(memory: &Memory, blocks: usize) -> Signature {
    memory.of().signature(memory.count() / blocks as i64)
}

/// All members have the same data.
#[inline]
pub(super) fn same(memory: &Memory) -> Agreed {
    signature(memory, 1).into()
}

/// All blocks are the same: those of `all`, one for each member, where there is such a memory, and a member's own.
#[inline]
pub(super) fn same_blocks(all: Option<&Memory>, mine: Option<&Memory>, members: usize) -> Agreed {
    of_both(all.map(|all| signature(all, members)), mine.map(|mine| signature(mine, 1)))
}

/// All blocks are the same, the sent and the received ones.
#[inline]
pub(super) fn same_of_both(sent: Option<&Memory>, received: &Memory, members: usize) -> Agreed {
    of_both(sent.map(|sent| signature(sent, members)), Some(signature(received, members)))
}

fn of_both(first: Option<Signature>, second: Option<Signature>) -> Agreed {
    match (first, second) {
        (Some(first), Some(second)) if first != second && !first.is_any() && !second.is_any() => {
            // It contradicts itself, and so all others.
            Agreed::Same(!first.bits())
        }
        (Some(one), _) | (None, Some(one)) => one.into(),
        (None, None) => Agreed::Nothing,
    }
}

/// All members have the same blocks.
pub(super) fn same_sequence(blocks: &[Memory]) -> Agreed {
    let mut all = 0_u64;
    for block in blocks {
        let one = signature(block, 1);
        if one.is_any() {
            return Agreed::Nothing;
        }
        all = pair_word((0, 0), one).wrapping_add(all.rotate_left(7));
    }
    Signature::of_sequence(all).into()
}

/// A word for the data that one member sends to another.
fn pair_word((from, to): (usize, usize), signature: Signature) -> u64 {
    let pair = (from as u64) << 32 | to as u64;
    finalise(finalise(signature.bits()).wrapping_add(pair))
}

/// What a member sends to another is what that one receives. Each block is named with its other member; a member's own
/// blocks are not compared.
pub(super) fn balanced<'a>(
    me: usize,
    sent: impl Iterator<Item = (usize, &'a Memory)>,
    received: impl Iterator<Item = (usize, &'a Memory)>,
) -> Agreed {
    let sent = sent.map(|(to, block)| (to, (me, to), block, false));
    let received = received.map(|(from, block)| (from, (from, me), block, true));
    let mut all = 0_u64;
    for (other, pair, block, is_received) in sent.chain(received) {
        let one = signature(block, 1);
        if one.is_any() {
            return Agreed::Nothing;
        }
        if other != me {
            let word = pair_word(pair, one);
            all = all.wrapping_add(if is_received { word.wrapping_neg() } else { word });
        }
    }
    Agreed::Balanced(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::{Datatype, Kind};

    #[test]
    fn the_words_of_what_is_sent_and_received_have_the_sum_zero_only_if_the_data_are_the_same() {
        let of = |kind| Datatype::basic(kind).signature(2);
        let (ints, floats) = (of(Kind::Signed(4)), of(Kind::Float(4)));
        // Rank 0 sends and receives integers, rank 1 other data.
        let sum = |own: Signature, theirs: Signature| {
            let (to, from) = (pair_word((0, 1), own), pair_word((1, 0), theirs));
            let (taken_there, taken_here) = (pair_word((0, 1), theirs), pair_word((1, 0), own));
            to.wrapping_add(from).wrapping_sub(taken_there).wrapping_sub(taken_here)
        };
        assert_eq!(sum(ints, ints), 0);
        assert_ne!(sum(ints, floats), 0);
    }
}
