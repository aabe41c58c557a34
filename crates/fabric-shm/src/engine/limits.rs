//! The lengths at which a message changes its way. Nothing but speed depends on them.
//!
//! They were chosen on two cores of a virtualised Zen 5 with 1 MiB of second-level cache each; `docs/shared-memory.md` tells
//! what each way does. Fragments of 4 KiB instead of a quarter of the ring were tried and are slower (OSU's latency, two
//! processors: 2.3 instead of 1.8 us at 64 KiB, 4.4 instead of 3.3 us at 128 KiB).

/// Longer messages are offered first, so that a receiver which has posted nothing need not keep a copy. A ring holds as much
/// at up to 8 ranks.
pub(super) const EAGER_LIMIT_BYTES: usize = 64 << 10;

/// Longer messages are offered first if they lie in an arena, where the receiver copies them without more ado: one copy
/// instead of two pays for the answer.
pub(super) const DIRECT_FROM_BYTES: usize = 16 << 10;

/// From this length on both sides copy a message that one reaches in the other's memory; below, asking takes longer than
/// it saves.
pub(super) const SHARED_FROM_BYTES: usize = 512 << 10;

/// What one of the two sides takes at once.
pub(super) const CHUNK_BYTES: usize = 128 << 10;

/// How often a look finds a longer message at the head of a ring that no receive accepts, and nothing else to do, before a copy
/// of it is made: its receive is mostly about to come. Some microseconds.
pub(super) const LOOKS_BEFORE_COPY: u32 = 200;
