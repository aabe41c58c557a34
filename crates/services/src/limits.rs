//! Limits of messages.

use contract::EAGER_BYTES;

/// Maximum number of words of a message.
pub const WORDS_MAX: usize = 16;
/// Maximum number of bytes of data of a medium message. With a header and all its words it has the maximum length of a
/// message that every fabric buffers.
pub const MEDIUM_BYTES_MAX: usize = EAGER_BYTES - WORD_BYTES * (1 + WORDS_MAX);

/// Maximum number of words of 16 bits of a buffer of SEND and RECV (Knott 1983, section 5).
pub const BUFFER_WORDS_MAX: usize = 255;

/// Maximum number of nodes of a ring: an address is a bit of a 32-bit word (MPI-SHARC, section 3.1).
pub const RING_NODES_MAX: usize = 32;
/// Maximum number of bytes of data of a packet on a ring (MPI-SHARC, section 3.1).
pub const RING_PACKET_BYTES: usize = 2048;
/// Maximum number of packets that a node of a ring stores for others.
pub const RING_TRANSIT_PACKETS: usize = 12;

/// Length of a word, and of a header, in bytes.
pub(crate) const WORD_BYTES: usize = size_of::<u64>();
