//! The table: every length that decides which way a collective goes.

/// The lengths at which collectives over shared memory change their way.
#[derive(Clone, Copy, Debug)]
pub struct Thresholds {
    /// In contexts of more ranks members arrive in groups: each reads as many lines as its group has members, not one of
    /// every member.
    pub one_level_most_ranks: usize,
    /// Contexts of more ranks go by messages: groups of 32 are 32 groups.
    pub boards_most_ranks: usize,
    /// In contexts whose members arrive in groups and have a processor each, a member's longer parts go by messages: in
    /// log2 P rounds each rank reads less. Not measured, for want of a machine with so many processors.
    pub levels_most_bytes: usize,
    /// Longer data of programs go by messages: they lie in arenas, and each rank copies them from there once.
    pub boards_most_bytes: usize,
    /// The longest piece while every rank has a processor: both ends stay in the near caches.
    pub piece_bytes: usize,
    /// A broadcast that fills all slots with pieces has pieces so many times shorter: its root is so far ahead that it
    /// waits for each slot, and fewer bytes in slots move faster. In all other collectives such pieces are slower. See
    /// docs/measurements.md#pieces-of-long-broadcasts.
    pub long_broadcast_pieces_are_shorter: usize,
    /// Where two members give to each other, pieces are so many times longer: each step is a wait of both. See
    /// docs/measurements.md#pieces-of-exchanges.
    pub exchange_pieces_are_longer: usize,
    /// Of an all-to-all a rank's own blocks up to this length are copied before the others': the copy takes less
    /// than to come back to them. See docs/measurements.md#a-ranks-own-block.
    pub own_block_first_bytes: usize,
    /// How much of its own block the root of a gather copies before it polls again for the others' parts.
    pub own_block_chunk_bytes: usize,
    /// Where ranks are oversubscribed a root scatters blocks from this length on board by board: the first
    /// member has long left when the last block is there. See docs/measurements.md#scatter-board-by-board.
    pub board_by_board_from_bytes: usize,
    /// From this length of a piece on members claim chunks of it. Below, to claim takes longer than to combine.
    pub chunks_from_bytes: usize,
    /// An allreduce of two members that have a processor each is divided in halves from this length on: a fifth less is
    /// read and written, for one more wait a piece. See docs/measurements.md#halves-of-an-allreduce.
    pub halves_from_bytes: usize,
    /// Where ranks are oversubscribed and bound, processors combine shares of an allreduce from this length on.
    /// Below, one more switch takes as long as what it saves. See docs/measurements.md#allreduce-per-processor.
    pub processors_from_bytes: usize,
    /// Blocks from this length on go by cross-memory attach: below, the system call takes longer than the second copy.
    /// See docs/measurements.md#collectives-from-memory-to-memory; so for the lengths below.
    pub memory_from_bytes: usize,
    /// The same where ranks are oversubscribed, for blocks of which each is for one rank only. Two ranks then
    /// have one cache, which holds both copies of a board's slots.
    pub memory_from_bytes_separate_oversubscribed: usize,
    /// The same where several ranks read one block, or all write to one rank: on boards they share its copy.
    pub memory_from_bytes_common_oversubscribed: usize,
    /// Reductions go by cross-memory attach from this length for each member on: each reads its share of all
    /// others' data, and shares must pay for as many system calls.
    pub memory_reduce_from_bytes_each: usize,
    /// The same where ranks are oversubscribed.
    pub memory_reduce_from_bytes_each_oversubscribed: usize,
}

/// The table. Nothing but speed depends on it.
pub const THRESHOLDS: Thresholds = Thresholds {
    one_level_most_ranks: 32,
    boards_most_ranks: 1024,
    levels_most_bytes: 1 << 10,
    boards_most_bytes: 1 << 20,
    piece_bytes: 32 << 10,
    long_broadcast_pieces_are_shorter: 2,
    exchange_pieces_are_longer: 2,
    own_block_first_bytes: 512,
    own_block_chunk_bytes: 16 << 10,
    board_by_board_from_bytes: 16 << 10,
    chunks_from_bytes: 2 << 10,
    halves_from_bytes: 96 << 10,
    processors_from_bytes: 8 << 10,
    memory_from_bytes: 16 << 10,
    memory_from_bytes_separate_oversubscribed: 64 << 10,
    memory_from_bytes_common_oversubscribed: 512 << 10,
    memory_reduce_from_bytes_each: 64 << 10,
    memory_reduce_from_bytes_each_oversubscribed: 128 << 10,
};
