//! Blocks of memory, one for each member.

use contract::{Endpoint, Writable};

use crate::error::{ErrorClass, Result, ensure};
use crate::memory::Memory;
use crate::schedule::Schedule;

/// What a rank has for each member.
pub(super) type Blocks = Vec<Memory>;

/// Memory as so many blocks of equal counts.
pub(super) fn equal(all: &Memory, blocks: usize) -> Blocks {
    let each = all.count() / blocks as i64;
    (0..blocks as i64).map(|index| all.part(index * each, each)).collect()
}

/// What is received must not be written over what is sent.
#[inline]
pub(super) fn check_apart(from: &Memory, to: &Memory) -> Result {
    let apart = !from.overlaps(to);
    ensure!(apart, ErrorClass::Buffer, "what is sent and what is received overlap in memory");
    Ok(())
}

/// The same, of two memories where there are both.
#[inline]
pub(super) fn check_both_apart(from: Option<&Memory>, to: Option<&Memory>) -> Result {
    from.zip(to).map_or(Ok(()), |(from, to)| check_apart(from, to))
}

/// A rank's own block and the blocks of all are apart.
pub(super) fn check_none_overlaps(own: Option<&Memory>, blocks: &Blocks) -> Result {
    match own {
        Some(own) => blocks.iter().try_for_each(|block| check_apart(own, block)),
        None => Ok(()),
    }
}

/// There is a block for each member.
pub(super) fn check_number(blocks: &Blocks, members: usize) -> Result {
    let found = blocks.len();
    ensure!(found == members, ErrorClass::Argument, "{found} blocks for {members} members");
    Ok(())
}

/// Copies data within this process, unless they are in their place.
pub(super) fn copy(from: &Memory, to: &Memory) {
    if !from.is_same_as(to) {
        to.copy_from(from);
    }
}

/// The places of a block from every other member; none of this rank's own, which is copied at once, and over which nothing
/// that arrives may be written later.
pub(super) fn incoming_from_others<E: Endpoint>(
    schedule: &mut Schedule<E>,
    blocks: &Blocks,
) -> Vec<(usize, Writable)> {
    let rank = schedule.rank();
    let others = blocks.iter().enumerate().filter(|(other, _)| *other != rank);
    others.map(|(other, block)| (other, schedule.incoming(block).writable())).collect()
}
