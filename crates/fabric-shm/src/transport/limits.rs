//! The lengths at which a message changes its protocol. They affect speed only.
//!
//! `docs/shared-memory.md` describes each protocol, and docs/measurements.md#where-cross-memory-attach-is-faster names
//! the machines on which the lengths were measured.

use contract::Untrusted;
use launcher::system::PAGE_BYTES;

/// Longer messages go by rendezvous, so that a receiver that has posted nothing need not keep a copy. A message that
/// fits the ring is sent eagerly all the same: with 2 and 4 ranks a ring holds more, and the RTS and CTS would cost
/// more than they save. See docs/measurements.md#fragments-and-rings.
pub(super) const EAGER_LIMIT_BYTES: usize = 64 << 10;

/// Longer messages in an arena go by rendezvous. The receiver copies them at once, and saving one of two copies pays
/// for the FIN.
pub(super) const ARENA_RENDEZVOUS_FROM_BYTES: usize = 16 << 10;

/// Longer messages go by rendezvous if cross-memory attach is fast, and if no other message to that rank waits or both
/// sides have something to copy. Saving one of two copies then pays for the FIN and the system call. For a stream in
/// one direction the ring is better: the sender does one half of the copying while the receiver does the other. See
/// docs/measurements.md#where-cross-memory-attach-is-faster.
pub(super) const CMA_RENDEZVOUS_FROM_BYTES: usize = 8 << 10;

/// Length from which the receiver requests co-copy. Below, the request takes longer than it saves.
pub(super) const RECEIVER_ASKS_HELP_FROM_BYTES: usize = 512 << 10;

/// Length from which the receiver requests co-copy by cross-memory attach, where both sides then divide the kernel's
/// work for each page, if no other receive is posted: otherwise each side has a message of its own to copy. See
/// docs/measurements.md#where-cross-memory-attach-is-faster.
pub(super) const CMA_RECEIVER_ASKS_HELP_FROM_BYTES: usize = 64 << 10;

/// Returns the length of a chunk, which one of the two sides claims at once, for a message of `message_bytes` bytes.
/// Both sides must compute the same.
pub(super) fn chunk_bytes(message_bytes: usize) -> usize {
    (message_bytes / 4).next_multiple_of(PAGE_BYTES).clamp(32 << 10, 128 << 10)
}

/// Returns the number of idle polls that may find a message at the head of a ring before it is copied, while no receive
/// accepts it. Mostly its receive is about to be posted. The wait is some microseconds, and more for longer messages,
/// whose copies take longer: a rank that is late and copies falls further behind, and copies the next message too. See
/// docs/measurements.md#fragments-and-rings.
pub(super) fn polls_before_copy(message_bytes: Untrusted<u32>) -> u32 {
    // A longer one is refused when it is taken.
    let bytes = message_bytes.at_most(1 << 30).unwrap_or(0);
    if cfg!(loom) { 1 } else { 200 + bytes / 64 }
}
