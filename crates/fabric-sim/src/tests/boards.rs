//! Collectives over boards in shared memory, with times derived by hand.

use contract::{Error, Rank, Reduction, Result, Time, TimeSpan};

use super::{machine, run};
use crate::Machine;

/// A part is seen after 1 µs. A byte written, read and combined takes 10, 20 and 30 ns, and each piece 2, 3 and 4 µs in
/// addition. Pieces are of 128 bytes, and a rank may have four on its board; more than 1024 bytes, or more than six
/// ranks, use messages.
pub(super) const BOARDS: &str = "[processor]\ncopy_mb_per_s = 1000\n[board]\nranks_max = 6\nbytes_max = 1024\n\
    piece_bytes = 128\nplaces = 4\nsee_us = 1\n\
    put = [{ from_bytes = 0, us = 2, ns_per_byte = 10 }]\n\
    take = [{ from_bytes = 0, us = 3, ns_per_byte = 20 }]\n\
    combine = [{ from_bytes = 0, us = 4, ns_per_byte = 30 }]\n\
    [protocol]\neager_bytes = 4096\n[network]\nshape = \"switch\"\nlink_mb_per_s = 100\nlatency_us = 50";

/// Returns the time at which each rank returns, in nanoseconds.
fn ends(ranks: usize, program: impl Fn(&mut dyn Rank) -> Result<()> + 'static) -> Vec<u64> {
    ends_on(BOARDS, ranks, program)
}

/// As [`ends`], on another machine.
pub(super) fn ends_on(
    lines: &str,
    ranks: usize,
    program: impl Fn(&mut dyn Rank) -> Result<()> + 'static,
) -> Vec<u64> {
    let outcome = run(&machine(lines), ranks, move |rank| {
        program(rank)?;
        Ok(rank.now().since(Time::ZERO))
    });
    outcome.unwrap().results.into_iter().map(|span: TimeSpan| span.as_ps() / 1000).collect()
}

/// Each writes nothing for 2 µs, which is seen 1 µs later, and reads the two others' for 3 µs each.
#[test]
fn a_barrier_is_a_look_at_every_board() {
    assert_eq!(ends(3, |rank| rank.barrier()), [9000; 3]);
}

/// The same with 0.5 µs for each further board: of four ranks each waits for one board as before, and reads two more.
#[test]
fn each_further_board_takes_a_look() {
    let looking = BOARDS.replace("see_us = 1", "see_us = 1\nlook_us = 0.5");
    let ends = |ranks, program: fn(&mut dyn Rank) -> Result<()>| ends_on(&looking, ranks, program);
    assert_eq!(ends(2, |rank| rank.barrier()), [6000; 2]);
    assert_eq!(ends(4, |rank| rank.barrier()), [2000 + 1000 + 3 * 3000 + 2 * 500; 4]);
    // A rank that reads one board only, whatever number of ranks do, has no further board.
    assert_eq!(ends(4, |rank| rank.broadcast(0, &mut [0; 100])), [3000, 9000, 9000, 9000]);
}

/// Of parts of more than 48 bytes at least as much is written and read as of 49: for two others blocks of 32 bytes are
/// a part of 64, which a rank writes in 2.64 µs, and of each of theirs it reads one block in 3.98 µs instead of 3.64. A
/// part of blocks of 16 is not so long.
#[test]
fn parts_that_lie_apart_from_their_line_take_as_long_as_the_shortest_such() {
    let separate = BOARDS.replace("piece_bytes = 128", "piece_bytes = 128\nline_bytes = 48");
    let of = |lines: &str, bytes: usize| {
        ends_on(lines, 3, move |rank| rank.all_to_all(&vec![0; 3 * bytes], &mut vec![0; 3 * bytes]))
    };
    assert_eq!(of(BOARDS, 32), [32 + 2640 + 1000 + 2 * 3640; 3]);
    assert_eq!(of(&separate, 32), [32 + 2640 + 1000 + 2 * 3980; 3]);
    assert_eq!(of(&separate, 16), of(BOARDS, 16));
}

/// As with two ranks, and 0.5 µs for a further board and the 8 bytes' own 0.24 µs for the third one's part. The 4 µs
/// for combining zero bytes are spent once.
#[test]
fn a_reduction_of_more_parts_takes_longer_by_their_bytes() {
    let looking = BOARDS.replace("see_us = 1", "see_us = 1\nlook_us = 0.5");
    let sum = Reduction::SUM_F64;
    let program = move |rank: &mut dyn Rank| rank.allreduce(sum, &[0; 8], &mut [0; 8]);
    assert_eq!(ends_on(&looking, 3, program), [7320 + 500 + 240; 3]);
}

/// The root writes 100 bytes for 3 µs, the others read them for 5 µs after 1 µs: all at once.
#[test]
fn a_broadcast_is_read_by_all_at_once() {
    assert_eq!(ends(4, |rank| rank.broadcast(0, &mut [0; 100])), [3000, 9000, 9000, 9000]);
}

/// More bytes than all places hold are transferred in pieces half as long: 16 of 64 bytes, each written in 2.64 µs and
/// read in 4.28 µs. The root has written four at 10.56. The fifth has the place of the first, which was seen at 3.64
/// and read at 7.92 µs, which the root sees at 8.92: it does not wait. The sixth waits for the second, read at 12.20,
/// until 13.20. From then on the root waits for each. The last one has the place of the twelfth, which is read at
/// 12 x 4.28 + 3.64 = 55.00, so it is written from 56.00 to 58.64. The reader never waits after the first, and ends at
/// 16 x 4.28 + 3.64 = 72.12.
#[test]
fn a_long_broadcast_goes_in_pieces_whose_places_are_used_again() {
    assert_eq!(ends(2, |rank| rank.broadcast(0, &mut [0; 1024])), [58_640, 72_120]);
}

/// Each writes its own 64 bytes for 2.64 µs, copies them in 0.064 µs while they become visible in 1 µs, and reads the
/// other's for 4.28 µs.
#[test]
fn an_allgather_is_a_copy_a_write_and_a_read() {
    assert_eq!(ends(2, |rank| rank.allgather(&[1; 64], &mut [0; 128])), [7920; 2]);
}

/// Eight bytes are written in 2.08 µs, seen 1 µs later and combined in 4.24 µs, by all at once or by the root alone. In
/// a reduction to the root the others are done when they have written.
#[test]
fn a_reduction_is_a_write_and_a_combination() {
    let sum = Reduction::SUM_F64;
    assert_eq!(ends(2, move |rank| rank.allreduce(sum, &[0; 8], &mut [0; 8])), [7320; 2]);
    assert_eq!(ends(2, move |rank| rank.reduce(0, sum, &[0; 8], &mut [0; 8])), [7320, 2080]);
}

#[test]
fn ranks_that_disagree_about_a_call_are_told() {
    let outcome = run(&machine(BOARDS), 2, |rank| match rank.rank() {
        0 => rank.broadcast(0, &mut [0; 8]),
        _ => rank.broadcast(1, &mut [0; 8]).and_then(|()| rank.barrier()),
    });
    let (_, error) = outcome.map(drop).unwrap_err();
    assert!(
        matches!(error, Error::Deadlock { .. } | Error::MismatchedCollective { .. }),
        "{error}"
    );

    let outcome = run(&machine(BOARDS), 2, |rank| match rank.rank() {
        0 => rank.barrier(),
        _ => rank.allgather(&[0; 4], &mut [0; 8]),
    });
    let explanation = "rank 1 is in allgather, rank 0 in barrier".to_string();
    assert_eq!(outcome.map(drop), Err((1, Error::MismatchedCollective { explanation })));
}

#[test]
fn a_deadlock_at_a_board_names_whom_it_waits_for() {
    let outcome = run(&machine(BOARDS), 2, |rank| match rank.rank() {
        0 => rank.barrier(),
        _ => Ok(()),
    });
    let explanation =
        "rank 0 waits in a collective for the part of rank 1; rank 1 has ended".into();
    assert_eq!(outcome.map(drop), Err((0, Error::Deadlock { explanation })));
}

/// A message of 512 bytes takes 5.12 µs on a link; the receiver waits for memory beyond that. Copies of 512 bytes take
/// 1 µs, copies of 4096 bytes 16 µs: 512 of them 2 µs. Eight messages posted at once are 8 x 512 = 4096 bytes, as much
/// as a copy of 2048 touches, which takes 7 µs, so 512 of those 1.75 µs: 0.75 µs more than 1 µs, at each of eight.
#[test]
fn messages_posted_in_more_memory_than_the_caches_hold_take_longer() {
    let lines = |posted_in_memory: bool| {
        format!(
            "[processor]\ncopy = [{{ from_bytes = 0, us = 0, ns_per_byte = 1.953125 }}, \
             {{ from_bytes = 512, us = 1, ns_per_byte = 3.90625 }}]\n\
             [endpoint]\nposted_in_memory = {posted_in_memory}\n[network]\nshape = \"switch\"\nlink_mb_per_s = 100"
        )
    };
    let time = |machine: &Machine| {
        let outcome = run(machine, 2, |rank| {
            if rank.rank() == 0 {
                (0..8).try_for_each(|_| rank.send(1, super::TAG, &[0; 512]))?;
                return Ok(TimeSpan::ZERO);
            }
            let post = |rank: &mut dyn Rank| {
                let buffer = contract::Buffer::try_zeroed(512)?;
                rank.post_receive(contract::Source::Rank(0), super::TAG.into(), buffer)
            };
            let posted = (0..8).map(|_| post(rank)).collect::<Result<Vec<_>>>()?;
            rank.wait_until(Time::ZERO + TimeSpan::from_us(1000));
            posted.into_iter().try_for_each(|posted| rank.wait(posted).map(drop))?;
            Ok(rank.now().since(Time::ZERO))
        });
        outcome.unwrap().results[1]
    };
    let longer = time(&machine(&lines(true))) - time(&machine(&lines(false)));
    assert_eq!(longer, TimeSpan::from_ns(8 * 750));
}

/// The other writes 64 bytes for 2.64 µs; they are seen 1 µs later and read in 4.28 µs. The root meanwhile copies its
/// own in 0.064 µs, which delays no rank.
#[test]
fn the_root_of_a_gather_copies_its_own_block_while_it_would_wait() {
    let gather = |rank: &mut dyn Rank| rank.gather(0, &[1; 64], &mut [0; 128]);
    let of = move |rank: &mut dyn Rank| {
        let root = rank.rank() == 0;
        if root { gather(rank) } else { rank.gather(0, &[1; 64], &mut []) }
    };
    assert_eq!(ends(2, of), [2640 + 1000 + 4280, 2640]);
    // A copy takes 10 µs: 3.64 of them pass before the other's part is seen, which waits for the rest.
    let slow = BOARDS.replace("copy_mb_per_s = 1000", "copy_mb_per_s = 6.4");
    assert_eq!(ends_on(&slow, 2, of), [10_000 + 4280, 2640]);
}

/// With its own block left out an all-to-all of two ranks sends pieces of 128 bytes, as a scatter does: each writes one
/// for 3.28 µs, which the other sees after 1 µs and reads in 5.56; its own block takes 0.128 µs before.
#[test]
fn own_blocks_take_no_room_on_boards() {
    let all = |rank: &mut dyn Rank| rank.all_to_all(&[1; 256], &mut [0; 256]);
    assert_eq!(ends(2, all), [128 + 3280 + 1000 + 5560; 2]);
    let scatter = |rank: &mut dyn Rank| {
        let root = rank.rank() == 0;
        rank.scatter(0, if root { &[1; 256] } else { &[] }, &mut [0; 128])
    };
    assert_eq!(ends(2, scatter), [128 + 3280, 128 + 3280 + 1000 + 5560]);
}

/// A piece of 128 bytes is written in 3.28 µs and read in 5.56, half as long again while the other works there: the
/// first is written, and the last read, alone. Of two the root writes for 3.28 and 4.92; the other reads from 4.28 on,
/// for 8.34 and 5.56.
#[test]
fn the_first_piece_is_written_and_the_last_one_read_alone() {
    let crowded = BOARDS.replace("see_us = 1", "see_us = 1\ncrowding_permille = 500");
    let broadcast = |rank: &mut dyn Rank| rank.broadcast(0, &mut [0; 256]);
    assert_eq!(ends_on(&crowded, 2, broadcast), [3280 + 4920, 4280 + 8340 + 5560]);
}

/// If two ranks exchange, pieces of 64 bytes may fill slots of 128 bytes: each copies its own 100 bytes after it has
/// written them for 3 µs, and reads the other's for 5 µs after 1 µs, in one piece. Between three the pieces are of 64
/// and 36 bytes: written in 2.64 and 2.36 µs, each before a copy of 0.064 and 0.036, and read in 4.28 and 3.72 µs,
/// twice, from 5.10 µs on, because the first are seen at 3.64 and the second ones at 6.064.
#[test]
fn two_ranks_exchange_longer_pieces() {
    let slots = BOARDS.replace("piece_bytes = 128", "piece_bytes = 64\nslot_bytes = 128");
    let of = |ranks: usize| {
        ends_on(&slots, ranks, move |rank| {
            rank.allgather(&[1; 100], &mut vec![0; 100 * rank.size()])
        })
    };
    assert_eq!(of(2), [3000 + 1000 + 5000; 2]);
    assert_eq!(of(3), [2640 + 64 + 2360 + 36 + 2 * 4280 + 2 * 3720; 3]);
}

/// From 96 KiB on each of two combines a half. With slots of 64 KiB that is two pieces: of each a rank writes one half
/// (32 KiB and 16 KiB) for 2 + 10 ns a byte, sees the other's after 1 µs, combines its own half (4 + 30), writes that
/// (2 + 10), and reads the other's after 1 µs (3 + 20).
#[test]
fn two_ranks_combine_a_half_each() {
    let long = BOARDS
        .replace("piece_bytes = 128", "piece_bytes = 65536")
        .replace("bytes_max = 1024", "bytes_max = 1048576");
    let time = |bytes: usize| {
        let sum = Reduction::SUM_F64;
        ends_on(&long, 2, move |rank| rank.allreduce(sum, &vec![0; bytes], &mut vec![0; bytes]))
    };
    // One byte in ns: both halves are written for the other (10), combined (30) and written (10), and read (20): of
    // 49152 bytes. Each piece takes 2 + 4 + 2 + 3 µs in addition. No rank waits: all is seen while more is written,
    // combined or read.
    assert_eq!(time(96 << 10), [49152 * (10 + 30 + 10 + 20) + 2 * 11_000; 2]);
}
