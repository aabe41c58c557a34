//! Growth of costs with the number of ranks, on a machine as `calibrate` creates it for shared memory: times derived by
//! hand.

use contract::{Rank, Reduction, Result, Source, Work, WorkKind};

use super::TAG;
use super::boards::ends_on;

/// A board is seen after 200 ns, a further one takes 50 ns. A message takes 200 ns, two at one end are 50 ns apart,
/// posting one takes 20 ns; any copy takes 10 ns. Up to 32 ranks use boards.
const TWIN: &str = "[processor]\ncopy = [{ from_bytes = 0, us = 0.01, ns_per_byte = 0 }]\n\
    [endpoint]\npost_us = 0.02\nlibrary_posts = true\ngap_us = 0.05\n\
    [board]\nranks_max = 32\nbytes_max = 1048576\npiece_bytes = 32768\nplaces = 8\nsee_us = 0.2\nlook_us = 0.05\n\
    put = [{ from_bytes = 0, us = 0, ns_per_byte = 0.1 }]\n\
    take = [{ from_bytes = 0, us = 0, ns_per_byte = 0.1 }]\n\
    combine = [{ from_bytes = 0, us = 0.05, ns_per_byte = 0.2 }]\n\
    [network]\nshape = \"switch\"\nlink_mb_per_s = 1e9\nlatency_us = 0.1";

type Program = fn(&mut dyn Rank) -> Result<()>;

/// Returns the time at which the last rank returns, in nanoseconds.
fn slowest(ranks: usize, program: Program) -> u64 {
    ends_on(TWIN, ranks, program).into_iter().max().unwrap_or(0)
}

/// Up to 32 ranks: one board after 200 ns, the others after 50 ns each. Beyond, log2 P rounds: in each a rank posts a
/// receive and a send for 20 ns each and gets a message of 200 ns.
#[test]
fn a_barrier_looks_at_every_board_or_goes_in_rounds() {
    let barrier: Program = |rank| rank.barrier();
    assert_eq!(slowest(2, barrier), 200);
    assert_eq!(slowest(16, barrier), 200 + 14 * 50);
    assert_eq!(slowest(32, barrier), 200 + 30 * 50);
    assert_eq!(slowest(64, barrier), 6 * 240);
    assert_eq!(slowest(512, barrier), 9 * 240);
}

/// The same machine with boards for any number of ranks: beyond 32 they arrive in groups. Three lines are transferred
/// one after another for 200 ns each: to the last of a group, to the last of all, and to the members. 64 ranks are
/// eight groups of eight: the last of all reads 7 + 7 boards, all but one of them for 50 ns. 512 are 16 groups of 32:
/// 31 + 15.
#[test]
fn a_barrier_of_many_goes_in_groups_where_they_have_boards() {
    let twin = TWIN.replace("ranks_max = 32", "ranks_max = 1024");
    let slowest = |ranks, program: Program| ends_on(&twin, ranks, program).into_iter().max();
    let barrier: Program = |rank| rank.barrier();
    assert_eq!(slowest(32, barrier), Some(200 + 30 * 50));
    assert_eq!(slowest(64, barrier), Some(3 * 200 + 13 * 50));
    assert_eq!(slowest(512, barrier), Some(3 * 200 + 45 * 50));
    // Eight bytes are written in 0.8 ns. Of eight parts and then of eight groups the first two are combined in 51.6 ns,
    // and each of the 13 others in 1.6: 1323.2 ns.
    let allreduce: Program = |rank| rank.allreduce(Reduction::SUM_F64, &[0; 8], &mut [0; 8]);
    assert_eq!(slowest(64, allreduce), Some(1323));
    // Broadcasts, and data longer than 1 KiB, use messages as without boards.
    let broadcast: Program = |rank| rank.broadcast(0, &mut [0; 8]);
    assert_eq!(slowest(64, broadcast), Some(self::slowest(64, broadcast)));
}

/// Up to 32 ranks each copies its own block and reads the others' boards; blocks of no bytes take no more time than
/// that. With 64 a rank copies its blocks in two runs, those for the ranks after it and those for the ranks before it;
/// in each of six rounds it packs 32 of them and unpacks as many, one by one, around an exchange; at last it puts all
/// 64 in their places. With 512 nine rounds of 256.
#[test]
fn an_all_to_all_of_short_blocks_copies_each_block_of_each_round() {
    assert_eq!(slowest(16, |rank| rank.all_to_all(&[], &mut [])), 10 + 200 + 14 * 50);
    let of_bytes: Program = |rank| {
        let ranks = rank.size();
        rank.all_to_all(&vec![0; ranks], &mut vec![0; ranks])
    };
    assert_eq!(slowest(64, of_bytes), 2 * 10 + 6 * (2 * 32 * 10 + 240) + 64 * 10);
    assert_eq!(slowest(512, of_bytes), 2 * 10 + 9 * (2 * 256 * 10 + 240) + 512 * 10);
}

/// Messages of 63 ranks that arrive at once are received 50 ns apart, the first after 200 ns.
#[test]
fn a_rank_that_hears_from_all_takes_one_message_after_the_other() {
    let last = slowest(64, |rank| match rank.rank() {
        0 => (1..rank.size())
            .try_for_each(|_| rank.receive(Source::Any, TAG.into(), &mut []).map(drop)),
        _ => rank.send(0, TAG, &[]),
    });
    assert_eq!(last, 200 + 62 * 50);
}

#[test]
fn several_copies_take_longer_than_one_of_all_their_bytes() {
    let copies = |times: u64| {
        ends_on(TWIN, 1, move |rank| {
            let copy = Work::new(WorkKind::CopyBytes, 64);
            rank.compute(copy.repeated(times), &mut || {});
            Ok(())
        })
    };
    assert_eq!((copies(1), copies(7)), (vec![10], vec![70]));
}

/// With eight bytes, each collective takes no less time with more ranks, whether over boards or by messages.
#[test]
fn no_collective_gets_faster_with_more_ranks() {
    let all: [(&str, Program); 8] = [
        ("barrier", |rank| rank.barrier()),
        ("broadcast", |rank| rank.broadcast(0, &mut [0; 8])),
        ("scatter", |rank| {
            let all = vec![0; if rank.rank() == 0 { 8 * rank.size() } else { 0 }];
            rank.scatter(0, &all, &mut [0; 8])
        }),
        ("gather", |rank| {
            let mut all = vec![0; if rank.rank() == 0 { 8 * rank.size() } else { 0 }];
            rank.gather(0, &[0; 8], &mut all)
        }),
        ("allgather", |rank| rank.allgather(&[0; 8], &mut vec![0; 8 * rank.size()])),
        ("reduce", |rank| rank.reduce(0, Reduction::SUM_F64, &[0; 8], &mut [0; 8])),
        ("allreduce", |rank| rank.allreduce(Reduction::SUM_F64, &[0; 8], &mut [0; 8])),
        ("all-to-all", |rank| {
            let blocks = vec![0; 8 * rank.size()];
            rank.all_to_all(&blocks, &mut blocks.clone())
        }),
    ];
    for (name, program) in all {
        let times = [2, 4, 16, 64, 512].map(|ranks| slowest(ranks, program));
        assert!(times.is_sorted(), "{name}: {times:?} ns");
        assert!(times[4] > 2 * times[0], "{name}: {times:?} ns");
    }
}

/// A gap follows a long message and none a short one. The second sender starts when a message from the receiver has
/// arrived: its message arrives after the time of two, or a gap after the first one.
#[test]
fn a_gap_is_that_of_the_message_before_it() {
    const MESSAGE_NS: u64 = 2 * 100;
    const GAP_NS: u64 = 10_000;
    const GAPS: &str = "[endpoint]\n\
        gap = [{ from_bytes = 0, us = 0, ns_per_byte = 0 }, { from_bytes = 1024, us = 10, ns_per_byte = 0 }]\n\
        [network]\nshape = \"switch\"\nlink_mb_per_s = 1e9\nlatency_us = 0.1";
    let last = |first: usize, second: usize| {
        let ends = ends_on(GAPS, 3, move |rank| {
            match rank.rank() {
                0 => {
                    rank.send(2, TAG, &[])?;
                    rank.receive(Source::Rank(1), TAG.into(), &mut vec![0; first])?;
                    rank.receive(Source::Rank(2), TAG.into(), &mut vec![0; second])?;
                }
                1 => rank.send(0, TAG, &vec![0; first])?,
                _ => {
                    rank.receive(Source::Rank(0), TAG.into(), &mut [])?;
                    rank.send(0, TAG, &vec![0; second])?;
                }
            }
            Ok(())
        });
        ends[0]
    };
    assert_eq!(last(8, 1024), 2 * MESSAGE_NS);
    assert_eq!(last(1024, 8), MESSAGE_NS + GAP_NS);
}
