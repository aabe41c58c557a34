//! Limits of messages.

use contract::EAGER_BYTES;

/// The most words of a message.
pub const WORDS_MAX: usize = 16;
/// The most bytes of data of a medium message. With a header and all its words it is as long as a message may be that
/// every fabric buffers.
pub const MEDIUM_BYTES_MAX: usize = EAGER_BYTES - WORD_BYTES * (1 + WORDS_MAX);

/// The most words of 16 bits of a buffer of SEND and RECV (Knott 1983, section 5).
pub const BUFFER_WORDS_MAX: usize = 255;

/// The most nodes of a ring: an address is a bit of a 32-bit word (MPI-SHARC, section 3.1).
pub const RING_NODES_MAX: usize = 32;
/// The most bytes of data of a packet on a ring (MPI-SHARC, section 3.1).
pub const RING_PACKET_BYTES: usize = 2048;
/// The most packets that a node of a ring stores for others.
pub const RING_TRANSIT_PACKETS: usize = 12;

/// The length of a word, and of a header.
pub(crate) const WORD_BYTES: usize = size_of::<u64>();
