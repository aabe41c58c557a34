//! The position of each number in the memory that ranks and launcher share. Every number is a word of eight bytes in
//! the order of this machine; a text is bytes that end with a zero.
//!
//! The memory begins with a head, which the launcher writes. A region for each rank follows, which its rank alone
//! writes, but for one word. A region's tables have fixed places; its room for events comes last.

/// The first word of the memory: what it is, and the version of this layout.
pub const MAGIC: u64 = u64::from_le_bytes(*b"CSPROF01");

/// The variable in which a rank finds the number of the descriptor of the memory.
pub const VARIABLE: &str = "CORNERSTONE_PROFILE";

/// The name of the library that writes it.
pub const LIBRARY: &str = "libcornerstone_profile.so";

/// Bytes of a word.
pub const WORD_BYTES: usize = 8;

/// The head of the memory, as indices of words.
pub mod area {
    /// [`MAGIC`](super::MAGIC).
    pub const MAGIC: usize = 0;
    /// The number of regions that follow.
    pub const RANKS: usize = 1;
    /// The maximum of peers of a region.
    pub const PEERS: usize = 2;
    /// The maximum of events of a region.
    pub const EVENTS: usize = 3;
    /// The requested records in addition to tables: [`WANTS_SPANS`](super::WANTS_SPANS),
    /// [`WANTS_CHECKS`](super::WANTS_CHECKS).
    pub const WANTED: usize = 4;
    /// When the launcher began, in nanoseconds of the system's monotonic clock.
    pub const LAUNCHED_NS: usize = 5;
    /// The number of regions taken by ranks.
    pub const TAKEN: usize = 6;
    /// All of it, in words.
    pub const WORDS: usize = 512;
}

/// Every call is to be an event, for a picture of the run.
pub const WANTS_SPANS: u64 = 1;
/// The memory of posted operations is to be checked.
pub const WANTS_CHECKS: u64 = 2;

/// The head of a region, as indices of words from its start.
pub mod head {
    /// The state of the rank: 0 before MPI_Init, then [`RUNNING`](super::RUNNING) and so on.
    pub const STATE: usize = 0;
    /// Its rank in MPI_COMM_WORLD.
    pub const RANK: usize = 1;
    /// The size of MPI_COMM_WORLD.
    pub const SIZE: usize = 2;
    /// Ticks, and nanoseconds of the system's monotonic clock, when MPI_Init was called.
    pub const INIT_TICKS: usize = 3;
    /// See above.
    pub const INIT_NS: usize = 4;
    /// Ticks, nanoseconds, and the bits of MPI_Wtime in seconds when MPI_Init had ended.
    pub const BEGIN_TICKS: usize = 5;
    /// See above.
    pub const BEGIN_NS: usize = 6;
    /// See above.
    pub const BEGIN_TIME: usize = 7;
    /// The same when MPI_Finalize was called, or zeros.
    pub const END_TICKS: usize = 8;
    /// See above.
    pub const END_NS: usize = 9;
    /// See above.
    pub const END_TIME: usize = 10;
    /// Ticks at the end of the last call.
    pub const LAST_TICKS: usize = 11;
    /// Events that were written; the n-th lies at place n modulo the room.
    pub const EVENTS: usize = 12;
    /// Events that came when the room was full. From the first on none is written.
    pub const EVENTS_LOST: usize = 13;
    /// The most memory that the process has had by MPI_Init's end, in KiB.
    pub const BEGIN_MEMORY_KIB: usize = 14;
    /// The same when it was last looked.
    pub const MEMORY_KIB: usize = 15;
    /// Communicators, objects, texts and findings that are there.
    pub const COMMUNICATORS: usize = 16;
    /// See above.
    pub const OBJECTS: usize = 17;
    /// See above.
    pub const TEXTS: usize = 18;
    /// See above.
    pub const FINDINGS: usize = 19;
    /// Whether ticks are nanoseconds of the system's clock: the processor's counter is not to be trusted.
    pub const SYSTEM_CLOCK: usize = 20;
    /// Events that the launcher has taken out, which alone writes this.
    pub const EVENTS_TAKEN: usize = 64;
    /// The name of the host.
    pub const HOST: usize = 256;
    /// Words of that name.
    pub const HOST_WORDS: usize = 32;
    /// All of the head.
    pub const WORDS: usize = 512;
}

/// Between MPI_Init and MPI_Finalize.
pub const RUNNING: u64 = 1;
/// After MPI_Finalize.
pub const FINALIZED: u64 = 2;
/// In MPI_Abort.
pub const ABORTED: u64 = 3;

/// A place that calls a function. Of more places than there is room for, the rest share the first entry.
pub mod site {
    /// The return address; 0 in an entry that is free, 1 in the first.
    pub const ADDRESS: usize = 0;
    /// The number of the function, and from bit 16 on that of the object.
    pub const FUNCTION: usize = 1;
    /// The number of calls.
    pub const CALLS: usize = 2;
    /// Ticks of all its calls.
    pub const TICKS: usize = 3;
    /// Ticks of the longest.
    pub const LONGEST: usize = 4;
    /// Bytes that its calls sent, or gave to a collective.
    pub const BYTES: usize = 5;
    /// The number of the text that says where it is, from 1 on, if an address does not.
    pub const TEXT: usize = 6;
    /// All of an entry.
    pub const WORDS: usize = 8;
    /// Entries of the table, a power of two.
    pub const MOST: usize = 4096;
}

/// Sizes of messages: for each power of two how many, and how many bytes.
pub mod histogram {
    /// Messages between two ranks, collectives, and access to windows.
    pub const KINDS: usize = 3;
    /// Entry n counts sizes from 2^(n-1) on, below 2^n; entry 0 counts empty ones.
    pub const BINS: usize = 64;
    /// Words of an entry.
    pub const WORDS: usize = 2;
}

/// A communicator: a number that all its members have for it, and its size.
pub mod communicator {
    /// Words of an entry.
    pub const WORDS: usize = 4;
    /// Entries.
    pub const MOST: usize = 1024;
}

/// A file of code: the address where it begins, and its path.
pub mod object {
    /// Words of an entry.
    pub const WORDS: usize = 128;
    /// Entries. Entry 0 means unknown.
    pub const MOST: usize = 256;
}

/// A place that has no address: a line of a script.
pub mod text {
    /// Words of an entry.
    pub const WORDS: usize = 32;
    /// Entries.
    pub const MOST: usize = 1024;
}

/// A mistake in the use of memory.
pub mod finding {
    /// Which mistake.
    pub const KIND: usize = 0;
    /// The call that is wrong, and the one that it disagrees with, as indices of places.
    pub const SITE: usize = 1;
    /// See above.
    pub const OTHER: usize = 2;
    /// The address and the bytes that are concerned.
    pub const ADDRESS: usize = 3;
    /// See above.
    pub const BYTES: usize = 4;
    /// The number of times that it was seen.
    pub const TIMES: usize = 5;
    /// All of an entry.
    pub const WORDS: usize = 8;
    /// Entries.
    pub const MOST: usize = 64;
}

/// Messages and bytes that a rank sent to another.
pub mod peer {
    /// Words of an entry.
    pub const WORDS: usize = 2;
}

/// Something that happened; see [`Event`](crate::Event).
pub mod event {
    /// Words of an entry.
    pub const WORDS: usize = 6;
}

/// The offsets of the tables of a region, in words from its start.
pub mod start {
    use super::{communicator, finding, head, histogram, object, site, text};

    /// Places.
    pub const SITES: usize = head::WORDS;
    /// Sizes.
    pub const HISTOGRAMS: usize = SITES + site::MOST * site::WORDS;
    /// Communicators.
    pub const COMMUNICATORS: usize =
        HISTOGRAMS + histogram::KINDS * histogram::BINS * histogram::WORDS;
    /// Files of code.
    pub const OBJECTS: usize = COMMUNICATORS + communicator::MOST * communicator::WORDS;
    /// Texts.
    pub const TEXTS: usize = OBJECTS + object::MOST * object::WORDS;
    /// Mistakes.
    pub const FINDINGS: usize = TEXTS + text::MOST * text::WORDS;
    /// Peers; events follow them.
    pub const PEERS: usize = FINDINGS + finding::MOST * finding::WORDS;
}

/// The entry of a histogram for a size.
#[inline]
pub fn bin_of(bytes: u64) -> usize {
    (64 - bytes.leading_zeros() as usize).min(histogram::BINS - 1)
}
