//! Tests plans on both sides of every threshold, for 2, 3, 4 and 8 ranks, and for more ranks than poll each other. The
//! expected plans were derived by hand from the conditions and must change with the thresholds.

use super::*;
use Collective::{AllToAll, Allgather, Allreduce, Broadcast, Gather, Reduce, Scatter};
use Owners::{Chunks, Groups, Members, Nobody, Processors, Receivers};
use Topology::{Oversubscribed, OversubscribedBound, OwnProcessors};
use Transport::{BoardByBoard, Memory, MemoryInHalves, Messages};

mod levels;

const KIB: usize = 1 << 10;
/// Oversubscribed topologies.
const SHARED: [Topology; 2] = [Oversubscribed, OversubscribedBound];
const ALL: [Topology; 3] = [OwnProcessors, Oversubscribed, OversubscribedBound];

/// Returns the boards of the shared-memory fabric as a library has them: no length is too long.
fn boards() -> Boards {
    let Thresholds { boards_most_ranks, piece_bytes, .. } = THRESHOLDS;
    Boards {
        most_ranks: boards_most_ranks,
        most_bytes: usize::MAX,
        slots: 16,
        slot_bytes: 72 * KIB,
        piece_bytes,
    }
}

/// Returns the plan of a call; elements of reductions have 8 bytes.
fn plan(collective: Collective, bytes: usize, ranks: usize, topology: Topology, cma: bool) -> Plan {
    let element_bytes = if matches!(collective, Reduce | Allreduce) { 8 } else { 1 };
    let shape = CallShape { collective, bytes, element_bytes };
    select(shape, ranks, topology, &Capabilities { boards: boards(), cma })
}

/// Checked part of a plan: transport, owners, length of a piece, pieces in a window.
type Row = (Transport, Owners, usize, usize);

fn row(plan: Plan) -> Row {
    (plan.transport, plan.owners, plan.pieces.piece_bytes, plan.pieces.window)
}

/// Checks rows (bytes, whether cross-memory attach is faster, expected) for each number of ranks and each topology.
fn check(
    collective: Collective,
    ranks: &[usize],
    topologies: &[Topology],
    rows: &[(usize, bool, Row)],
) {
    for (&ranks, &topology) in ranks.iter().flat_map(|r| topologies.iter().map(move |t| (r, t))) {
        for &(bytes, cma, expected) in rows {
            let found = row(plan(collective, bytes, ranks, topology, cma));
            let call =
                format!("{collective:?} of {bytes} bytes, {ranks} ranks, {topology:?}, {cma}");
            assert_eq!(found, expected, "{call}");
        }
    }
}

/// Returns a row over boards without combination, in windows of eight.
fn over_boards(piece_bytes: usize) -> Row {
    (Transport::Boards, Nobody, piece_bytes, 8)
}

/// Returns a row over boards in windows of eight, combined by `owners`.
fn combined(owners: Owners, piece_bytes: usize) -> Row {
    (Transport::Boards, owners, piece_bytes, 8)
}

/// Returns a row of one step through cross-memory attach.
fn memory(owners: Owners, bytes: usize) -> Row {
    (Memory, owners, bytes, 1)
}

#[test]
fn barriers_are_one_empty_step() {
    let expected = (Transport::Boards, Nobody, 0, 1);
    for cma in [false, true] {
        check(Collective::Barrier, &[2, 3, 4, 8, 32], &ALL, &[(0, cma, expected)]);
    }
}

#[test]
fn broadcasts() {
    let own = [OwnProcessors];
    // 512 KiB fill sixteen slots with pieces of 32 KiB; longer data use shorter pieces.
    check(
        Broadcast,
        &[2, 3, 4, 8],
        &own,
        &[
            (0, true, over_boards(32 * KIB)),
            (16 * KIB - 1, true, over_boards(32 * KIB)),
            (16 * KIB, false, over_boards(32 * KIB)),
            (512 * KIB, false, over_boards(32 * KIB)),
            (512 * KIB + 1, false, over_boards(16 * KIB)),
        ],
    );
    let halves = (MemoryInHalves, Nobody, 16 * KIB, 1);
    check(Broadcast, &[2], &own, &[(16 * KIB, true, halves)]);
    check(Broadcast, &[3, 4, 8], &own, &[(16 * KIB, true, memory(Nobody, 16 * KIB))]);
    check(
        Broadcast,
        &[2, 3, 4, 8],
        &SHARED,
        &[
            (16 * KIB, true, over_boards(72 * KIB)),
            (512 * KIB - 1, true, over_boards(72 * KIB)),
            (512 * KIB + 1, false, over_boards(72 * KIB)),
        ],
    );
    let halves = (MemoryInHalves, Nobody, 512 * KIB, 1);
    check(Broadcast, &[2], &SHARED, &[(512 * KIB, true, halves)]);
    check(Broadcast, &[3, 4, 8], &SHARED, &[(512 * KIB, true, memory(Nobody, 512 * KIB))]);
}

#[test]
fn scatters() {
    check(
        Scatter,
        &[2, 3, 4, 8],
        &[OwnProcessors],
        &[
            (16 * KIB - 1, true, over_boards(32 * KIB)),
            (16 * KIB, true, memory(Nobody, 16 * KIB)),
            (16 * KIB, false, over_boards(32 * KIB)),
            (4096 * KIB, false, over_boards(32 * KIB)),
        ],
    );
    // A slot has 72 KiB, and fifteen of the sixteen have 1080 KiB: then all are one window.
    let in_turn = |window| (BoardByBoard, Nobody, 72 * KIB, window);
    check(
        Scatter,
        &[2, 3, 4, 8],
        &SHARED,
        &[
            (16 * KIB - 1, true, over_boards(72 * KIB)),
            (16 * KIB, true, in_turn(1)),
            (64 * KIB - 1, true, in_turn(1)),
            (64 * KIB, true, memory(Nobody, 64 * KIB)),
            (72 * KIB + 1, false, in_turn(2)),
            (1080 * KIB, false, in_turn(15)),
            (1080 * KIB + 1, false, in_turn(8)),
        ],
    );
}

#[test]
fn gathers() {
    check(Gather, &[2], &[OwnProcessors], &[(16 * KIB - 1, true, over_boards(72 * KIB))]);
    check(Gather, &[3, 4, 8], &[OwnProcessors], &[(16 * KIB - 1, true, over_boards(32 * KIB))]);
    check(Gather, &[2, 3, 4, 8], &[OwnProcessors], &[(16 * KIB, true, memory(Nobody, 16 * KIB))]);
    check(
        Gather,
        &[2, 3, 4, 8],
        &SHARED,
        &[
            (512 * KIB - 1, true, over_boards(72 * KIB)),
            (512 * KIB, true, memory(Nobody, 512 * KIB)),
            (512 * KIB, false, over_boards(72 * KIB)),
        ],
    );
}

#[test]
fn allgathers() {
    check(Allgather, &[2], &ALL, &[(16 * KIB - 1, true, over_boards(64 * KIB))]);
    check(Allgather, &[3, 4, 8], &[OwnProcessors], &[(16 * KIB - 1, true, over_boards(32 * KIB))]);
    check(Allgather, &[3, 4, 8], &SHARED, &[(16 * KIB - 1, true, over_boards(72 * KIB))]);
    check(
        Allgather,
        &[2, 3, 4, 8],
        &[OwnProcessors],
        &[(16 * KIB, true, memory(Nobody, 16 * KIB))],
    );
    check(Allgather, &[2], &SHARED, &[(512 * KIB - 1, true, over_boards(64 * KIB))]);
    check(
        Allgather,
        &[3, 8],
        &SHARED,
        &[
            (512 * KIB - 1, true, over_boards(72 * KIB)),
            (512 * KIB, true, memory(Nobody, 512 * KIB)),
            (512 * KIB, false, over_boards(72 * KIB)),
        ],
    );
}

#[test]
fn all_to_alls() {
    let own = [OwnProcessors];
    // A board contains the blocks of all other members: 32 KiB for 2, 3 and 7 of them are 16384, 10922.7 and 4681.1
    // bytes each, in whole lines 16384, 10880 and 4672.
    check(
        AllToAll,
        &[2],
        &own,
        &[
            (16 * KIB - 1, true, over_boards(64 * KIB)),
            (512 * KIB, false, over_boards(64 * KIB)),
            // Two windows of 8 pieces, each of 32768.06 bytes, in whole lines 32832.
            (512 * KIB + 1, false, over_boards(32832)),
        ],
    );
    check(
        AllToAll,
        &[3],
        &own,
        &[
            (16 * KIB - 1, true, over_boards(16 * KIB)),
            (128 * KIB, false, over_boards(16 * KIB)),
            // Two windows of 8 pieces: 8192.06 each, in whole lines 8256.
            (128 * KIB + 1, false, over_boards(8256)),
        ],
    );
    check(AllToAll, &[4], &own, &[(16 * KIB - 1, true, over_boards(10880))]);
    check(AllToAll, &[8], &own, &[(16 * KIB - 1, true, over_boards(4672))]);
    check(AllToAll, &[2, 3, 4, 8], &own, &[(16 * KIB, true, memory(Nobody, 16 * KIB))]);
    // 72 KiB for 2, 3 and 7: 36864, 24576 and 10532.6 bytes each.
    check(AllToAll, &[2], &SHARED, &[(64 * KIB - 1, true, over_boards(64 * KIB))]);
    check(AllToAll, &[3], &SHARED, &[(64 * KIB - 1, true, over_boards(36864))]);
    check(AllToAll, &[4], &SHARED, &[(64 * KIB - 1, true, over_boards(24576))]);
    check(AllToAll, &[8], &SHARED, &[(64 * KIB - 1, true, over_boards(10496))]);
    check(AllToAll, &[2, 3, 4, 8], &SHARED, &[(64 * KIB, true, memory(Nobody, 64 * KIB))]);
}

#[test]
fn an_own_block_is_copied_first_if_short_or_oversubscribed() {
    let first = |bytes, topology| plan(AllToAll, bytes, 2, topology, false).own_block_first;
    assert_eq!([first(512, OwnProcessors), first(513, OwnProcessors)], [true, false]);
    assert_eq!([first(513, Oversubscribed), first(513, OversubscribedBound)], [true, true]);
    assert!(!plan(Allgather, 8, 2, OwnProcessors, false).own_block_first);
}

#[test]
fn reductions_to_a_root() {
    let own = [OwnProcessors];
    // Of two ranks the root combines alone at every length.
    check(
        Reduce,
        &[2],
        &own,
        &[
            (8, true, combined(Receivers, 32 * KIB)),
            (1024 * KIB, true, combined(Receivers, 32 * KIB)),
        ],
    );
    check(
        Reduce,
        &[3, 4, 8],
        &own,
        &[
            (2 * KIB - 8, true, combined(Receivers, 32 * KIB)),
            (2 * KIB, true, combined(Chunks, 32 * KIB)),
            (1024 * KIB, false, combined(Chunks, 32 * KIB)),
        ],
    );
    // 64 KiB for each of 3, 4 and 8.
    check(
        Reduce,
        &[3],
        &own,
        &[
            (192 * KIB - 8, true, combined(Chunks, 32 * KIB)),
            (192 * KIB, true, memory(Members, 192 * KIB)),
        ],
    );
    check(Reduce, &[4], &own, &[(256 * KIB, true, memory(Members, 256 * KIB))]);
    check(
        Reduce,
        &[8],
        &own,
        &[
            (512 * KIB - 8, true, combined(Chunks, 32 * KIB)),
            (512 * KIB, true, memory(Members, 512 * KIB)),
        ],
    );
    check(
        Reduce,
        &[2, 3, 4, 8],
        &SHARED,
        &[
            (8, true, combined(Receivers, 72 * KIB)),
            (4096 * KIB, true, combined(Receivers, 72 * KIB)),
        ],
    );
}

#[test]
fn reductions_to_all() {
    let own = [OwnProcessors];
    check(
        Allreduce,
        &[2],
        &own,
        &[
            (2 * KIB, true, combined(Receivers, 32 * KIB)),
            (96 * KIB - 8, true, combined(Receivers, 32 * KIB)),
            (96 * KIB, true, combined(Members, 72 * KIB)),
            (128 * KIB - 8, true, combined(Members, 72 * KIB)),
            (128 * KIB, true, memory(Members, 128 * KIB)),
            (128 * KIB, false, combined(Members, 72 * KIB)),
        ],
    );
    check(
        Allreduce,
        &[3, 4, 8],
        &own,
        &[
            (2 * KIB - 8, true, combined(Receivers, 32 * KIB)),
            (2 * KIB, true, combined(Chunks, 32 * KIB)),
            (1024 * KIB, false, combined(Chunks, 32 * KIB)),
        ],
    );
    check(Allreduce, &[3], &own, &[(192 * KIB, true, memory(Members, 192 * KIB))]);
    check(Allreduce, &[8], &own, &[(512 * KIB, true, memory(Members, 512 * KIB))]);
    check(
        Allreduce,
        &[2, 3, 4, 8],
        &[Oversubscribed],
        &[
            (2 * KIB - 8, true, combined(Receivers, 72 * KIB)),
            (2 * KIB, true, combined(Chunks, 72 * KIB)),
            (1024 * KIB, false, combined(Chunks, 72 * KIB)),
        ],
    );
    // 1080 KiB fit fifteen slots.
    let by_processors = |window| (Transport::Boards, Processors, 72 * KIB, window);
    check(
        Allreduce,
        &[2, 3, 4, 8],
        &[OversubscribedBound],
        &[
            (2 * KIB, true, combined(Chunks, 72 * KIB)),
            (8 * KIB - 8, true, combined(Chunks, 72 * KIB)),
            (8 * KIB, true, by_processors(1)),
            (256 * KIB - 8, true, by_processors(4)),
            (1080 * KIB, false, by_processors(15)),
            (1080 * KIB + 8, false, by_processors(8)),
        ],
    );
    // 128 KiB for each of 2 and 4.
    check(Allreduce, &[2], &SHARED, &[(256 * KIB, true, memory(Members, 256 * KIB))]);
    check(Allreduce, &[4], &SHARED, &[(512 * KIB, true, memory(Members, 512 * KIB))]);
    check(Allreduce, &[4], &[Oversubscribed], &[(512 * KIB - 8, true, combined(Chunks, 72 * KIB))]);
}

#[test]
fn elements_are_not_divided() {
    let allreduce = |bytes, element_bytes, topology| {
        let shape = CallShape { collective: Allreduce, bytes, element_bytes };
        row(select(shape, 3, topology, &Capabilities { boards: boards(), cma: false }))
    };
    // 32 KiB contain 2730 elements of 12 bytes.
    assert_eq!(allreduce(4800, 12, OwnProcessors), combined(Chunks, 32760));
    // A slot of 73728 bytes is a multiple of 12, but not of 20: 3686 of them fit.
    assert_eq!(allreduce(48000, 12, OversubscribedBound).1, Processors);
    assert_eq!(allreduce(48000, 20, OversubscribedBound), combined(Chunks, 73720));
}

#[test]
fn the_last_piece_of_a_reduction_may_be_too_short_for_chunks() {
    let plan = plan(Allreduce, 34 * KIB - 8, 3, OwnProcessors, false);
    assert_eq!([plan.owners_of(32 * KIB), plan.owners_of(2 * KIB - 8)], [Chunks, Receivers]);
    let many = self::plan(Allreduce, 74 * KIB - 8, 64, Oversubscribed, false);
    assert_eq!([many.owners_of(72 * KIB), many.owners_of(2 * KIB - 8)], [Chunks, Groups]);
    let halves = self::plan(Allreduce, 96 * KIB, 2, OwnProcessors, false);
    assert_eq!(halves.owners_of(8), Members);
}

#[test]
fn more_ranks_or_longer_data_go_by_messages() {
    let program = Boards { most_bytes: THRESHOLDS.boards_most_bytes, ..boards() };
    let transport = |collective, bytes, ranks| {
        let shape = CallShape::of_bytes(collective, bytes);
        let capabilities = Capabilities { boards: program, cma: false };
        select(shape, ranks, OwnProcessors, &capabilities).transport
    };
    let mib = 1024 * KIB;
    assert_eq!(transport(Collective::Barrier, 0, 32), Transport::Boards);
    assert_eq!(transport(Collective::Barrier, 0, 1025), Messages);
    for collective in Collective::with_plans() {
        let from_all = matches!(collective, Allgather | AllToAll);
        let most = if from_all { mib / 4 } else { mib };
        assert_eq!(transport(collective, most, 4), Transport::Boards, "{collective:?}");
        assert_eq!(transport(collective, most + 1, 4), Messages, "{collective:?}");
    }
}
