//! How much a message carries.

use contract::EAGER_BYTES;

/// The most words of a message.
pub const WORDS_MAX: usize = 16;
/// The most bytes of data of a medium message. With a header and all its words it is as long as a message may be that every fabric buffers.
pub const MEDIUM_BYTES_MAX: usize = EAGER_BYTES - WORD_BYTES * (1 + WORDS_MAX);

/// The length of a word, and of a header.
pub(crate) const WORD_BYTES: usize = size_of::<u64>();
