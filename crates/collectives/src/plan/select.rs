//! Choice of the plan of a call.

use super::{
    CallShape, Capabilities, Collective, Owners, Pieces, Plan, THRESHOLDS, Topology, Transport,
    group_ranks, piece_within,
};

/// Recipients of the blocks of a collective.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blocks {
    /// Each block is for one rank, and every rank receives one from each: scatter, all-to-all.
    Separate,
    /// Several ranks read one block, or one rank receives all: broadcast, allgather, gather.
    Common,
}

/// Facts that are equal at all members of a call.
#[derive(Clone, Copy)]
struct Members<'a> {
    ranks: usize,
    topology: Topology,
    capabilities: &'a Capabilities,
}

/// Returns the plan of a call among `ranks` ranks.
///
/// The function is inlined where the kind of call is known, so that only the comparisons between the transports of that
/// call remain.
#[inline(always)]
pub fn select(
    shape: CallShape,
    ranks: usize,
    topology: Topology,
    capabilities: &Capabilities,
) -> Plan {
    let members = Members { ranks, topology, capabilities };
    let CallShape { collective, bytes, element_bytes } = shape;
    if !members.share_boards(shape) {
        let pieces = Pieces::one(bytes);
        return members.plan(Transport::Messages, Owners::Nobody, pieces);
    }
    match collective {
        Collective::Barrier => Plan { group_ranks: group_ranks(ranks), ..Plan::BARRIER },
        Collective::Broadcast => members.broadcast(bytes),
        Collective::Scatter => members.scatter(bytes),
        Collective::Gather => members.gather(bytes),
        Collective::Allgather => members.allgather(bytes),
        Collective::AllToAll => members.all_to_all(bytes),
        Collective::Reduce => members.reduce(bytes, element_bytes),
        Collective::Allreduce => members.allreduce(bytes, element_bytes),
        Collective::ReduceScatter | Collective::InclusiveScan | Collective::ExclusiveScan => {
            members.plan(Transport::Messages, Owners::Nobody, Pieces::one(bytes))
        }
    }
}

impl Members<'_> {
    #[inline]
    fn plan(self, transport: Transport, owners: Owners, pieces: Pieces) -> Plan {
        let group_ranks = group_ranks(self.ranks);
        Plan { transport, owners, pieces, own_block_first: false, group_ranks }
    }

    #[inline]
    fn over_boards(self, pieces: Pieces) -> Plan {
        self.plan(Transport::Boards, Owners::Nobody, pieces)
    }

    /// Returns a plan of one step in which the members publish addresses.
    #[inline]
    fn by_memory(self, owners: Owners, bytes: usize) -> Plan {
        self.plan(Transport::Memory, owners, Pieces::one(bytes))
    }

    /// Returns whether a call uses boards or cross-memory attach.
    #[inline]
    fn share_boards(self, shape: CallShape) -> bool {
        let boards = &self.capabilities.boards;
        let all_bytes = match shape.collective {
            Collective::Allgather | Collective::AllToAll => shape.bytes * self.ranks,
            _ => shape.bytes,
        };
        self.ranks <= boards.most_ranks
            && all_bytes <= boards.most_bytes
            && shape.element_bytes <= boards.slot_bytes
            && (group_ranks(self.ranks).is_none() || self.gain_by_levels(shape))
    }

    /// Returns whether a call of members that arrive in groups is faster over boards than over messages.
    #[cold]
    fn gain_by_levels(self, CallShape { collective, bytes, .. }: CallShape) -> bool {
        use Collective::{AllToAll, Allgather, Allreduce, Barrier, Reduce};
        // Each round of messages would switch every rank.
        if self.topology.is_oversubscribed() {
            return true;
        }
        let part_bytes = if collective == AllToAll { bytes * (self.ranks - 1) } else { bytes };
        // The root of any other collective would write or read one line for each member.
        let arrive = matches!(collective, Barrier | Allgather | AllToAll | Reduce | Allreduce);
        arrive && part_bytes <= THRESHOLDS.levels_most_bytes
    }

    /// Returns whether blocks of that length use cross-memory attach.
    #[inline]
    fn blocks_go_by_memory(self, blocks: Blocks, each: usize) -> bool {
        let from = match (self.topology.is_oversubscribed(), blocks) {
            (false, _) => THRESHOLDS.memory_from_bytes,
            (true, Blocks::Separate) => THRESHOLDS.memory_from_bytes_separate_oversubscribed,
            (true, Blocks::Common) => THRESHOLDS.memory_from_bytes_common_oversubscribed,
        };
        each >= from && self.ranks > 1 && self.capabilities.cma
    }

    /// Returns whether operands of that length are combined through cross-memory attach.
    #[inline]
    fn combine_by_memory(self, bytes: usize) -> bool {
        let each = match self.topology.is_oversubscribed() {
            true => THRESHOLDS.memory_reduce_from_bytes_each_oversubscribed,
            false => THRESHOLDS.memory_reduce_from_bytes_each,
        };
        bytes >= self.ranks * each && self.ranks > 1 && self.capabilities.cma
    }

    /// Returns pieces for steps of `parts` parts of the data each, in multiples of `unit` bytes.
    #[inline]
    fn pieces(self, bytes: usize, parts: usize, unit: usize) -> Pieces {
        self.pieces_of(bytes, self.piece_bytes(parts, unit))
    }

    /// Returns pieces in windows of half the slots: a slot is not used again before the window after the next, so no
    /// rank waits for a slot while all progress at the same rate.
    #[inline]
    fn pieces_of(self, bytes: usize, piece_bytes: usize) -> Pieces {
        Pieces::new(bytes, piece_bytes, self.capabilities.boards.slots / 2)
    }

    /// Returns the length of a piece in bytes. Oversubscribed ranks fill slots, because they switch once per window.
    #[inline]
    fn piece_bytes(self, parts: usize, unit: usize) -> usize {
        let boards = &self.capabilities.boards;
        let oversubscribed = self.topology.is_oversubscribed();
        let room_bytes = if oversubscribed { boards.slot_bytes } else { boards.piece_bytes };
        piece_within(room_bytes / parts, unit)
    }

    /// Returns the length of a piece in bytes if each member sends a part to every other.
    #[inline]
    fn exchange_piece_bytes(self, parts: usize) -> usize {
        let boards = &self.capabilities.boards;
        match self.ranks {
            2 => {
                (boards.piece_bytes * THRESHOLDS.exchange_pieces_are_longer).min(boards.slot_bytes)
            }
            _ => self.piece_bytes(parts, 1),
        }
    }

    /// Returns pieces that fill slots, all written before the first is read if all slots except one suffice for them.
    #[inline]
    fn whole_slots(self, bytes: usize, unit: usize) -> Pieces {
        let boards = &self.capabilities.boards;
        let pieces = self.pieces_of(bytes, piece_within(boards.slot_bytes, unit));
        pieces.in_fewest_windows(boards.slots)
    }

    #[inline]
    fn broadcast(self, bytes: usize) -> Plan {
        if self.blocks_go_by_memory(Blocks::Common, bytes) {
            let halves = self.ranks == 2;
            let transport = if halves { Transport::MemoryInHalves } else { Transport::Memory };
            return self.plan(transport, Owners::Nobody, Pieces::one(bytes));
        }
        let boards = &self.capabilities.boards;
        let is_long = bytes > boards.slots * boards.piece_bytes;
        let piece_bytes = match is_long && !self.topology.is_oversubscribed() {
            true => boards.piece_bytes / THRESHOLDS.long_broadcast_pieces_are_shorter,
            false => self.piece_bytes(1, 1),
        };
        self.over_boards(self.pieces_of(bytes, piece_bytes))
    }

    #[inline]
    fn scatter(self, each: usize) -> Plan {
        if self.blocks_go_by_memory(Blocks::Separate, each) {
            return self.by_memory(Owners::Nobody, each);
        }
        let is_long = each >= THRESHOLDS.board_by_board_from_bytes;
        if is_long && self.topology.is_oversubscribed() {
            let pieces = self.whole_slots(each, 1);
            return self.plan(Transport::BoardByBoard, Owners::Nobody, pieces);
        }
        self.over_boards(self.pieces(each, 1, 1))
    }

    #[inline]
    fn gather(self, each: usize) -> Plan {
        if self.blocks_go_by_memory(Blocks::Common, each) {
            return self.by_memory(Owners::Nobody, each);
        }
        // Of two members only one writes, and the other has nothing to do before a piece arrives. See
        // docs/measurements.md#slots-and-pieces.
        let piece_bytes = match self.ranks {
            2 => piece_within(self.capabilities.boards.slot_bytes, 1),
            _ => self.piece_bytes(1, 1),
        };
        self.over_boards(self.pieces_of(each, piece_bytes))
    }

    #[inline]
    fn allgather(self, each: usize) -> Plan {
        if self.blocks_go_by_memory(Blocks::Common, each) {
            return self.by_memory(Owners::Nobody, each);
        }
        self.over_boards(self.pieces_of(each, self.exchange_piece_bytes(1)))
    }

    #[inline]
    fn all_to_all(self, each: usize) -> Plan {
        if self.blocks_go_by_memory(Blocks::Separate, each) {
            return self.by_memory(Owners::Nobody, each);
        }
        // No member reads its own block from a board.
        let parts = (self.ranks - 1).max(1);
        let most = self.exchange_piece_bytes(parts);
        // The own block comes last if the other member has a processor, which need not wait for it. It comes first if
        // ranks are oversubscribed, and if blocks are short.
        let own_block_first =
            self.topology.is_oversubscribed() || each <= THRESHOLDS.own_block_first_bytes;
        let pieces = self.pieces_of(each, most).in_equal_windows();
        Plan { own_block_first, ..self.over_boards(pieces) }
    }

    #[inline]
    fn reduce(self, bytes: usize, unit: usize) -> Plan {
        let oversubscribed = self.topology.is_oversubscribed();
        // Of two members, the one that is not the root would both read and write. Boards are also faster if ranks are
        // oversubscribed. See docs/measurements.md#where-cross-memory-attach-is-faster.
        if self.ranks > 2 && !oversubscribed && self.combine_by_memory(bytes) {
            return self.by_memory(Owners::Members, bytes);
        }
        // If ranks are oversubscribed, a member that has written its part leaves its processor to another. A root that
        // combines alone need not publish its own part and copies no result. See
        // docs/measurements.md#ranks-that-share-processors.
        let helped = self.ranks > 2 && !oversubscribed;
        let owners = if helped { self.claims(bytes) } else { Owners::Receivers };
        self.plan(Transport::Boards, owners, self.pieces(bytes, 1, unit))
    }

    #[inline]
    fn allreduce(self, bytes: usize, unit: usize) -> Plan {
        if self.combine_by_memory(bytes) {
            return self.by_memory(Owners::Members, bytes);
        }
        let boards = &self.capabilities.boards;
        // No element may wrap around the end of a board.
        if bytes >= THRESHOLDS.processors_from_bytes
            && self.topology == Topology::OversubscribedBound
            && boards.slot_bytes.is_multiple_of(unit)
        {
            let pieces = self.whole_slots(bytes, unit);
            return self.plan(Transport::Boards, Owners::Processors, pieces);
        }
        let oversubscribed = self.topology.is_oversubscribed();
        if self.ranks == 2 && !oversubscribed && bytes >= THRESHOLDS.halves_from_bytes {
            // Pieces fill a slot, because one half of a slot is combined at a time.
            let pieces = self.pieces_of(bytes, piece_within(boards.slot_bytes, unit));
            return self.plan(Transport::Boards, Owners::Members, pieces);
        }
        // Two members with a processor each would only wait for each other.
        let divided = self.ranks > 2 || oversubscribed;
        let owners = if divided { self.claims(bytes) } else { Owners::Receivers };
        self.plan(Transport::Boards, owners, self.pieces(bytes, 1, unit))
    }

    /// Returns chunks if any piece is long enough, else the owners of short pieces.
    #[inline]
    fn claims(self, bytes: usize) -> Owners {
        match bytes >= THRESHOLDS.chunks_from_bytes {
            true => Owners::Chunks,
            false => Owners::of_short(group_ranks(self.ranks)),
        }
    }
}
