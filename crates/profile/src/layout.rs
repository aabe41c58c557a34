//! The position of each number in the memory that ranks and launcher share. Every number is a word of eight bytes in
//! the byte order of this machine. A text is bytes that end with a zero.
//!
//! The memory begins with a head, which the launcher writes. A region for each rank follows. Only its rank writes a
//! region, except for one word. A region's tables have fixed places; its room for events comes last.

/// First word of the memory: its kind, and the version of this layout.
pub const MAGIC: u64 = u64::from_le_bytes(*b"CSPROF01");

/// Variable from which a rank reads the number of the memory's descriptor.
pub const VARIABLE: &str = "CORNERSTONE_PROFILE";

/// Name of the library that writes the memory.
pub const LIBRARY: &str = "libcornerstone_profile.so";

/// Bytes of a word.
pub const WORD_BYTES: usize = 8;

/// The head of the memory, as indices of words.
pub mod area {
    /// [`MAGIC`](super::MAGIC).
    pub const MAGIC: usize = 0;
    /// Number of regions that follow.
    pub const RANKS: usize = 1;
    /// Maximum number of peers in a region.
    pub const PEERS: usize = 2;
    /// Maximum number of events in a region.
    pub const EVENTS: usize = 3;
    /// Requested records in addition to tables: [`WANTS_SPANS`](super::WANTS_SPANS),
    /// [`WANTS_CHECKS`](super::WANTS_CHECKS).
    pub const WANTED: usize = 4;
    /// Start of the launcher, in nanoseconds of the system's monotonic clock.
    pub const LAUNCHED_NS: usize = 5;
    /// Number of regions taken by ranks.
    pub const TAKEN: usize = 6;
    /// Length of the head, in words.
    pub const WORDS: usize = 512;
}

/// Requests an event for every call, for a picture of the run.
pub const WANTS_SPANS: u64 = 1;
/// Requests checks of the memory of posted operations.
pub const WANTS_CHECKS: u64 = 2;

/// The head of a region, as indices of words from its start.
pub mod head {
    /// State of the rank: 0 before MPI_Init, then [`RUNNING`](super::RUNNING) and so on.
    pub const STATE: usize = 0;
    /// Its rank in MPI_COMM_WORLD.
    pub const RANK: usize = 1;
    /// Size of MPI_COMM_WORLD.
    pub const SIZE: usize = 2;
    /// Ticks, and nanoseconds of the system's monotonic clock, when MPI_Init was called.
    pub const INIT_TICKS: usize = 3;
    /// See above.
    pub const INIT_NS: usize = 4;
    /// Ticks, nanoseconds, and the bits of MPI_Wtime in seconds, when MPI_Init had ended.
    pub const BEGIN_TICKS: usize = 5;
    /// See above.
    pub const BEGIN_NS: usize = 6;
    /// See above.
    pub const BEGIN_TIME: usize = 7;
    /// As at the beginning, when MPI_Finalize was called, or zeros.
    pub const END_TICKS: usize = 8;
    /// See above.
    pub const END_NS: usize = 9;
    /// See above.
    pub const END_TIME: usize = 10;
    /// Ticks at the end of the last call.
    pub const LAST_TICKS: usize = 11;
    /// Number of written events. The n-th is at place n modulo the room.
    pub const EVENTS: usize = 12;
    /// Number of events that occurred when the room was full. After the first of them none is written.
    pub const EVENTS_LOST: usize = 13;
    /// Peak memory of the process until the end of MPI_Init, in KiB.
    pub const BEGIN_MEMORY_KIB: usize = 14;
    /// The same at the last check.
    pub const MEMORY_KIB: usize = 15;
    /// Numbers of communicators, objects, texts and findings in the tables.
    pub const COMMUNICATORS: usize = 16;
    /// See above.
    pub const OBJECTS: usize = 17;
    /// See above.
    pub const TEXTS: usize = 18;
    /// See above.
    pub const FINDINGS: usize = 19;
    /// 1 if ticks are nanoseconds of the system's clock because the processor's counter is unreliable.
    pub const SYSTEM_CLOCK: usize = 20;
    /// Number of events that the launcher has taken out. Only the launcher writes this.
    pub const EVENTS_TAKEN: usize = 64;
    /// Name of the host.
    pub const HOST: usize = 256;
    /// Words of that name.
    pub const HOST_WORDS: usize = 32;
    /// Length of the head.
    pub const WORDS: usize = 512;
}

/// State between MPI_Init and MPI_Finalize.
pub const RUNNING: u64 = 1;
/// State after MPI_Finalize.
pub const FINALIZED: u64 = 2;
/// State in MPI_Abort.
pub const ABORTED: u64 = 3;

/// A place that calls a function. If the table is full, all further places share the first entry.
pub mod site {
    /// Return address; 0 in a free entry, 1 in the first.
    pub const ADDRESS: usize = 0;
    /// Number of the function, and from bit 16 on that of the object.
    pub const FUNCTION: usize = 1;
    /// Number of calls.
    pub const CALLS: usize = 2;
    /// Ticks of all its calls.
    pub const TICKS: usize = 3;
    /// Ticks of the longest call.
    pub const LONGEST: usize = 4;
    /// Bytes that its calls sent, or contributed to a collective.
    pub const BYTES: usize = 5;
    /// Number of the text that describes the place, from 1 on, if an address does not.
    pub const TEXT: usize = 6;
    /// Words of an entry.
    pub const WORDS: usize = 8;
    /// Entries of the table, a power of two.
    pub const MOST: usize = 4096;
}

/// Sizes of messages: for each power of two the number of messages and of bytes.
pub mod histogram {
    /// Messages between two ranks, collectives, and access to windows.
    pub const KINDS: usize = 3;
    /// Number of entries. Entry n counts sizes from 2^(n-1) on, below 2^n; entry 0 counts empty messages.
    pub const BINS: usize = 64;
    /// Words of an entry.
    pub const WORDS: usize = 2;
}

/// A communicator: a number that is the same at all its members, and its size.
pub mod communicator {
    /// Words of an entry.
    pub const WORDS: usize = 4;
    /// Entries.
    pub const MOST: usize = 1024;
}

/// A file of code: the address at which it begins, and its path.
pub mod object {
    /// Words of an entry.
    pub const WORDS: usize = 128;
    /// Entries. Entry 0 means unknown.
    pub const MOST: usize = 256;
}

/// A place without an address: a line of a script.
pub mod text {
    /// Words of an entry.
    pub const WORDS: usize = 32;
    /// Entries.
    pub const MOST: usize = 1024;
}

/// A mistake in the use of memory.
pub mod finding {
    /// Kind of the mistake.
    pub const KIND: usize = 0;
    /// The wrong call and the one that it conflicts with, as indices of places.
    pub const SITE: usize = 1;
    /// See above.
    pub const OTHER: usize = 2;
    /// Address and length of the memory concerned.
    pub const ADDRESS: usize = 3;
    /// See above.
    pub const BYTES: usize = 4;
    /// Number of times that it was seen.
    pub const TIMES: usize = 5;
    /// Words of an entry.
    pub const WORDS: usize = 8;
    /// Entries.
    pub const MOST: usize = 64;
}

/// Messages and bytes that a rank sent to another.
pub mod peer {
    /// Words of an entry.
    pub const WORDS: usize = 2;
}

/// An event; see [`Event`](crate::Event).
pub mod event {
    /// Words of an entry.
    pub const WORDS: usize = 6;
}

/// The offsets of the tables of a region, in words from its start.
pub mod start {
    use super::{communicator, finding, head, histogram, object, site, text};

    /// Places.
    pub const SITES: usize = head::WORDS;
    /// Histograms of sizes.
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

/// Returns the entry of a histogram for a size.
#[inline]
pub fn bin_of(bytes: u64) -> usize {
    (64 - bytes.leading_zeros() as usize).min(histogram::BINS - 1)
}
