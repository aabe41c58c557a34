//! Blocks of memory, one for each member.

use collectives::Own;

use crate::error::{ErrorClass, Result, ensure};
use crate::memory::Memory;

/// The memory for each member.
pub(super) type Blocks = Vec<Memory>;

/// Fails if received data would overwrite sent data.
#[inline(always)]
pub(super) fn check_disjoint(from: &Memory, to: &Memory) -> Result {
    let is_disjoint = !from.overlaps(to);
    ensure!(is_disjoint, ErrorClass::Buffer, "what is sent and what is received overlap in memory");
    Ok(())
}

/// As [`check_disjoint`], if both memories exist.
#[inline(always)]
pub(super) fn check_both_disjoint(from: Option<&Memory>, to: Option<&Memory>) -> Result {
    from.zip(to).map_or(Ok(()), |(from, to)| check_disjoint(from, to))
}

/// Fails if a rank's own block overlaps the blocks of all.
pub(super) fn check_none_overlaps(own: Option<&Memory>, blocks: &Blocks) -> Result {
    match own {
        Some(own) => blocks.iter().try_for_each(|block| check_disjoint(own, block)),
        None => Ok(()),
    }
}

/// Fails unless there is a block for each member.
pub(super) fn check_number(blocks: &Blocks, members: usize) -> Result {
    let found = blocks.len();
    ensure!(found == members, ErrorClass::Argument, "{found} blocks for {members} members");
    Ok(())
}

/// Returns the location of this member's own data: in place if there is no other memory of them.
pub(super) fn own<T: ?Sized>(mine: Option<&T>) -> Own {
    match mine {
        Some(_) => Own::InInput,
        None => Own::InOutput,
    }
}

/// Returns the length of each member's block: from the root's memory of all, elsewhere from a member's own.
#[inline(always)]
pub(super) fn each_bytes(all: Option<&Memory>, mine: Option<&Memory>, members: usize) -> usize {
    match all {
        Some(all) => all.bytes() / members,
        None => mine.map_or(0, Memory::bytes),
    }
}

/// Returns the lengths of blocks.
pub(super) fn lengths(blocks: &Blocks) -> collectives::Blocks {
    collectives::Blocks::of_lengths(blocks.iter().map(Memory::bytes))
}

/// Returns the lengths of blocks at a root; elsewhere a member knows only its own length.
pub(super) fn lengths_at(
    is_root: bool,
    blocks: &Blocks,
    mine: Option<&Memory>,
) -> collectives::Blocks {
    match is_root {
        true => lengths(blocks),
        false => collectives::Blocks::of_lengths([mine.map_or(0, Memory::bytes)]),
    }
}
