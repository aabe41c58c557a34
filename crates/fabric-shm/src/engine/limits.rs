//! The lengths at which a message changes its protocol. Nothing but speed depends on them.
//!
//! `docs/shared-memory.md` says what each protocol does, docs/measurements.md#ways-of-a-long-message on which
//! machines they were measured.

use crate::system::PAGE_BYTES;

/// Longer messages go by rendezvous, so that a receiver that has posted nothing need not keep a copy. A
/// message that fits the ring is sent eagerly all the same: with 2 and 4 ranks a ring holds more, and the RTS
/// and CTS would cost more than they save. See docs/measurements.md#growing-fragments.
pub(super) const EAGER_LIMIT_BYTES: usize = 64 << 10;

/// Longer messages in an arena go by rendezvous: the receiver copies them at once, and one copy instead of
/// two pays for the FIN.
pub(super) const ARENA_RENDEZVOUS_FROM_BYTES: usize = 16 << 10;

/// Longer messages go by rendezvous where cross-memory attach is the fast way, if no other message to that
/// rank waits or both sides have something to copy. Then one copy instead of two pays for the FIN and the
/// system call. In a stream in one direction the ring is better, for the sender copies one half of the work
/// while the receiver copies the other. See
/// docs/measurements.md#rendezvous-with-cross-memory-attach-from-8-kib.
pub(super) const CMA_RENDEZVOUS_FROM_BYTES: usize = 8 << 10;

/// From this length on the receiver asks for co-copy. Below, asking takes longer than it saves.
pub(super) const RECEIVER_ASKS_HELP_FROM_BYTES: usize = 512 << 10;

/// The same by cross-memory attach, where both sides then divide the kernel's work for each page, and where
/// no other receive is posted: otherwise each side has a message of its own to copy. See
/// docs/measurements.md#co-copy-over-cross-memory-attach.
pub(super) const CMA_RECEIVER_ASKS_HELP_FROM_BYTES: usize = 64 << 10;

/// The length of a chunk, which one of the two sides claims at once, for a message of so many bytes. Both
/// sides must come to the same.
pub(super) fn chunk_bytes(message_bytes: usize) -> usize {
    (message_bytes / 4).next_multiple_of(PAGE_BYTES).clamp(32 << 10, 128 << 10)
}

/// How many idle polls may find a message of so many bytes at the head of a ring before a copy of it is made,
/// while no receive accepts it. Its receive is mostly about to come. The wait is some microseconds, and more
/// for longer messages, whose copies take longer: a rank that is late and copies gets later, and copies the
/// next message too. See docs/measurements.md#unexpected-messages-that-wait-in-the-ring.
pub(super) const fn polls_before_copy(message_bytes: u32) -> u32 {
    200 + message_bytes / 64
}
