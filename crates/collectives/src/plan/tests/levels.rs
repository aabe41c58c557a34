//! Contexts of more ranks than poll each other.

use super::*;

/// Returns a row over messages in one piece.
fn by_messages(bytes: usize) -> Row {
    (Messages, Nobody, bytes, 1)
}

#[test]
fn many_ranks_with_a_processor_each_arrive_in_groups_with_short_data() {
    let own = [OwnProcessors];
    for (ranks, group) in [(32, None), (33, Some(8)), (64, Some(8)), (65, Some(16))] {
        assert_eq!(plan(Collective::Barrier, 0, ranks, OwnProcessors, true).group_ranks, group);
        assert_eq!(plan(Allreduce, 8, ranks, OwnProcessors, true).group_ranks, group);
    }
    let barrier = (Transport::Boards, Nobody, 0, 1);
    check(Collective::Barrier, &[33, 64, 1024], &own, &[(0, true, barrier)]);
    check(Collective::Barrier, &[1025], &own, &[(0, true, by_messages(0))]);
    for reduction in [Reduce, Allreduce] {
        let rows = [(KIB, true, combined(Groups, 32 * KIB)), (KIB + 8, true, by_messages(KIB + 8))];
        check(reduction, &[33, 64], &own, &rows);
    }
    let rows = [(KIB, true, over_boards(32 * KIB)), (KIB + 1, true, by_messages(KIB + 1))];
    check(Allgather, &[33, 64], &own, &rows);
    // A part of 63 blocks: 63 x 16 = 1008 bytes. Pieces of 32 KiB / 63 = 520.1, in whole lines 512.
    let rows = [(16, true, over_boards(512)), (17, true, by_messages(17))];
    check(AllToAll, &[64], &own, &rows);
    for rooted in [Broadcast, Scatter, Gather] {
        check(rooted, &[32], &own, &[(8, true, row(plan(rooted, 8, 8, OwnProcessors, true)))]);
        check(rooted, &[33, 64], &own, &[(8, true, by_messages(8))]);
    }
}

#[test]
fn many_oversubscribed_ranks_go_as_few_do_but_combine_in_groups() {
    check(
        Allreduce,
        &[33, 64, 1024],
        &SHARED,
        &[
            (8, true, combined(Groups, 72 * KIB)),
            (2 * KIB - 8, true, combined(Groups, 72 * KIB)),
            (2 * KIB, true, combined(Chunks, 72 * KIB)),
        ],
    );
    let by_processors = (Transport::Boards, Processors, 72 * KIB, 1);
    check(Allreduce, &[64], &[OversubscribedBound], &[(8 * KIB, true, by_processors)]);
    let lengths = [8, 2 * KIB, 16 * KIB, 64 * KIB, 512 * KIB];
    for collective in [Broadcast, Scatter, Gather, Allgather, Reduce] {
        for (bytes, topology) in lengths.iter().flat_map(|&b| SHARED.map(|t| (b, t))) {
            let few = row(plan(collective, bytes, 8, topology, true));
            check(collective, &[33, 64], &[topology], &[(bytes, true, few)]);
        }
    }
    // 72 KiB for 63: 1170.3 bytes, in whole lines 1152.
    check(AllToAll, &[64], &SHARED, &[(8 * KIB, true, over_boards(1152))]);
}
