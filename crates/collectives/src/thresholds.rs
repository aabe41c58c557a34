//! Table of all lengths and numbers of members that decide how a collective runs: its plan over shared memory, or its
//! algorithm over messages.

/// Thresholds of the choices. The first ones are of plans over shared memory, the others of algorithms over messages.
#[derive(Clone, Copy, Debug)]
pub struct Thresholds {
    /// Most ranks of a context with one level. In larger contexts members arrive in groups: each reads one line per
    /// member of its group instead of one per member of the context.
    pub one_level_most_ranks: usize,
    /// Most ranks of a context that uses boards: groups of 32 are 32 groups. Larger contexts use messages.
    pub boards_most_ranks: usize,
    /// Longest part in bytes of a member over boards in contexts whose members arrive in groups and have a processor
    /// each. Longer parts use messages: in log2 P rounds each rank reads less. Not measured, for lack of a machine with
    /// so many processors.
    pub levels_most_bytes: usize,
    /// Longest data in bytes over boards for programs. Longer data use messages: they are in arenas, from which each
    /// rank copies them once.
    pub boards_most_bytes: usize,
    /// Longest piece in bytes while every rank has a processor: both sides stay in the near caches.
    pub piece_bytes: usize,
    /// Factor by which pieces are shorter in a broadcast that fills all slots: its root is so far ahead that it waits
    /// for each slot, and fewer bytes in slots move faster. In all other collectives such pieces are slower. See
    /// docs/measurements.md#slots-and-pieces.
    pub long_broadcast_pieces_are_shorter: usize,
    /// Factor by which pieces are longer if two members send to each other: both wait in each step. See
    /// docs/measurements.md#slots-and-pieces.
    pub exchange_pieces_are_longer: usize,
    /// Longest own block of an all-to-all in bytes that is copied before the blocks of others: the copy takes less time
    /// than returning to it. See docs/measurements.md#fewer-and-faster-copies.
    pub own_block_first_bytes: usize,
    /// Bytes of its own block that the root of a gather copies before it polls again for the parts of the others.
    pub own_block_chunk_bytes: usize,
    /// Shortest block in bytes that an oversubscribed root scatters board by board: the first member leaves long before
    /// the last block is there. See docs/measurements.md#fewer-and-faster-copies.
    pub board_by_board_from_bytes: usize,
    /// Shortest piece in bytes that members divide into chunks. For shorter ones, claiming takes longer than combining.
    pub chunks_from_bytes: usize,
    /// Shortest allreduce in bytes that two members with a processor each divide in halves: a fifth less is read and
    /// written, for one more wait per piece. See docs/measurements.md#fewer-and-faster-copies.
    pub halves_from_bytes: usize,
    /// Shortest allreduce in bytes of which processors combine shares if ranks are oversubscribed and bound. For
    /// shorter ones, one more switch takes as long as it saves. See docs/measurements.md#ranks-that-share-processors.
    pub processors_from_bytes: usize,
    /// Shortest block in bytes that uses cross-memory attach: for shorter ones, the system call takes longer than the
    /// second copy. For this and the following lengths, see docs/measurements.md#where-cross-memory-attach-is-faster.
    pub memory_from_bytes: usize,
    /// As `memory_from_bytes`, for oversubscribed ranks and blocks that are each for one rank. Two ranks then share one
    /// cache, which holds both copies of a board's slots.
    pub memory_from_bytes_separate_oversubscribed: usize,
    /// As `memory_from_bytes`, for oversubscribed ranks if several ranks read one block, or all write to one rank: on
    /// boards they share its copy.
    pub memory_from_bytes_common_oversubscribed: usize,
    /// Shortest reduction in bytes per member that uses cross-memory attach: each member reads its share of the data of
    /// all others, and the shares must pay for as many system calls.
    pub memory_reduce_from_bytes_each: usize,
    /// As `memory_reduce_from_bytes_each`, for oversubscribed ranks.
    pub memory_reduce_from_bytes_each_oversubscribed: usize,
    /// Length in bytes that a member claims at once. It stays in the nearest cache while all members' parts are
    /// combined.
    pub chunk_bytes: usize,
    /// Length in bytes of data over messages from which moving each byte fewer times is worth more messages: the
    /// product of latency and bandwidth. The value is an assumption for fast networks, not a measurement.
    pub long_bytes: usize,
    /// Most members for which a broadcast of any length uses the tree: each member then passes on about as much as in a
    /// scatter and an allgather.
    pub tree_most_members: usize,
    /// Longest block in bytes that dissemination forwards, several in a message: for such blocks a message costs more
    /// than log2 P / 2 more copies of each block.
    pub bruck_most_bytes: usize,
    /// Least members for dissemination: with fewer it saves too few messages to pay for its copies.
    pub bruck_least_members: usize,
    /// Most bytes of an all-to-all that a member sends in one round: more could exceed the memory of switches when all
    /// members send to one. In several rounds every member waits for one other in each, which costs most if ranks share
    /// processors. See docs/measurements.md#two-hosts-of-four-ranks.
    pub one_round_most_bytes: usize,
    /// Most members for which a member posts messages to all others at once, if only their number bounds the messages
    /// under way.
    pub linear_most_members: usize,
    /// Calls of a context before it receives contexts for the levels of its hosts. All members must agree twice to make
    /// them, which few calls would not repay.
    pub calls_before_levels: u32,
    /// Longest copy in bytes of all blocks of an allgather in levels: the programs with the longest blocks may have no
    /// memory for them twice.
    pub levels_copy_most_bytes: usize,
}

/// The table. It affects speed only.
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
    chunk_bytes: 8 << 10,
    long_bytes: 16 << 10,
    tree_most_members: 4,
    bruck_most_bytes: 256,
    bruck_least_members: 8,
    one_round_most_bytes: 4 << 20,
    linear_most_members: 64,
    calls_before_levels: 4,
    levels_copy_most_bytes: 64 << 20,
};
