//! The lengths at which a message changes its way. Nothing but speed depends on them.
//!
//! They were chosen on two cores of a virtualised Zen 5 with 1 MiB of second-level cache each; `docs/shared-memory.md` tells
//! what each way does. Fragments of 4 KiB instead of a quarter of the ring were tried and are slower (OSU's latency, two
//! processors: 2.3 instead of 1.8 us at 64 KiB, 4.4 instead of 3.3 us at 128 KiB).

use crate::system::PAGE_BYTES;

/// Longer messages are offered first, so that a receiver which has posted nothing need not keep a copy; unless a ring holds them,
/// which is more at 2 ranks (256 KiB) and 4 (128 KiB): an offer and its answer are a fifteenth of the time of 128 KiB.
pub(super) const EAGER_LIMIT_BYTES: usize = 64 << 10;

/// Longer messages are offered first if they lie in an arena, where the receiver copies them without more ado: one copy
/// instead of two pays for the answer.
pub(super) const DIRECT_FROM_BYTES: usize = 16 << 10;

/// Longer messages are offered first where attaching is the fast way, one by one or while both sides have something to copy:
/// then one copy instead of two pays for the answer and the call (two processors of an Emerald Rapids: 2.2 instead of 3.4 us at
/// 16 KiB, 3.2 instead of 5.6 us at 32 KiB). Of a stream in one direction the sender copies the one half of the work into the
/// ring while the receiver copies the other (15 instead of 9 GB/s at 32 KiB).
pub(super) const ATTACHED_FROM_BYTES: usize = 8 << 10;

/// From this length on both sides copy a message that one reaches in the other's memory; below, asking takes longer than
/// it saves.
pub(super) const SHARED_FROM_BYTES: usize = 512 << 10;

/// The same where the memory is reached through the kernel, whose work for each page both sides then share (128 KiB: 7.8
/// instead of 13 us), and where no other receive waits: else each side has a message of its own to copy.
pub(super) const ATTACHED_SHARED_FROM_BYTES: usize = 64 << 10;

/// What one of the two sides takes at once, of a message of so many bytes: both must come to the same.
pub(super) fn chunk_bytes(message_bytes: usize) -> usize {
    (message_bytes / 4).next_multiple_of(PAGE_BYTES).clamp(32 << 10, 128 << 10)
}

/// How often a look finds a message of so many bytes at the head of a ring that no receive accepts, and nothing else to do, before
/// a copy of it is made: its receive is mostly about to come. Some microseconds, and more for a longer one, as its copy takes longer:
/// whoever is late and copies gets later, and copies the next one too.
pub(super) const fn looks_before_copy(message_bytes: u32) -> u32 {
    200 + message_bytes / 64
}
