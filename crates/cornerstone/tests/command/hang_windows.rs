//! Tests that `cornerstone launch` detects hangs of programs with windows on every fabric, and leaves those alone that
//! only seem to hang (`hang_windows.c`). A hang that is not detected ends the test, which waits for two minutes.

use crate::hangs::{FEW_WAYS, STUCK, are_left_alone, variants};
use crate::launching::{lab_with, place_in, run_program as run, start_program as start};

const SOURCE: &str = concat!(include_str!("stopping.c"), include_str!("hang_windows.c"));
const STATUS: i32 = 122;
/// The last four ranks are on a host of their own, on which they share memory.
const FOUR_ON_A_HOST: &[&str] = &["-n", "5", "--host", "localhost:1,127.0.0.1:4"];

/// The place of a call in parentheses, as reports of hangs name it.
fn place(function: &str, remark: &str) -> String {
    format!("({})", place_in(SOURCE, function, remark))
}

#[test]
fn ranks_that_wait_at_a_window_for_ever_are_found_after_accesses_on_every_fabric() {
    let test = "ranks that wait at a window for ever";
    let Some(lab) = lab_with(test, SOURCE) else { return };
    let window = "in the window of ranks 0 to";
    let in_fence = format!("in MPI_Win_fence {}", place("fence", "fence"));
    let in_start = format!("rank 0 waits in MPI_Win_start {}", place("posts", "start"));
    let in_wait = format!("rank 1 waits in MPI_Win_wait {}", place("posts", "wait"));
    let posts = format!("until rank 1 calls MPI_Win_post {window}");
    let completes = format!("until rank 2 calls MPI_Win_complete {window}");
    let in_lock = format!("rank 1 waits in MPI_Win_lock {}", place("lock", "lock"));
    let all = [
        ("fence", vec![&*in_fence, window]),
        ("posts", vec![&*in_start, &posts, &in_wait, &completes]),
        ("lock", vec![&*in_lock, "for the lock of rank 3", "rank 0 holds"]),
    ];
    for variant in variants(test).into_iter().filter(|variant| variant[1] == "4") {
        let running = all.each_ref().map(|(name, words)| (words, start(&lab, variant, name)));
        for (words, running) in running {
            let ended = running.wait();
            ended.refuses(STATUS, &[STUCK]);
            ended.refuses(STATUS, words);
        }
    }
    assert!(lab.becomes_empty());
}

/// Programs with windows that only look like a hang.
const LEFT_ALONE: [&str; 5] = ["polls", "accesses", "late", "turns", "stopped"];

#[test]
fn programs_with_windows_that_only_look_like_a_hang_are_left_alone() {
    let test = "programs with windows that only look like a hang";
    let Some(lab) = lab_with(test, SOURCE) else { return };
    are_left_alone(&lab, &FEW_WAYS, &LEFT_ALONE);
}

#[test]
#[ignore = "long"]
fn programs_with_windows_are_left_alone_in_every_way() {
    let test = "programs with windows that only look like a hang, launched in every way";
    let Some(lab) = lab_with(test, SOURCE) else { return };
    are_left_alone(&lab, &variants(test), &LEFT_ALONE);
}

/// Between hosts memory is accessed by messages, also between ranks of one host. Their locks are in memory that they
/// share.
#[test]
fn locks_between_ranks_of_one_of_several_hosts_are_told_and_their_ends_are_not_awaited_as_messages()
{
    let Some(lab) = lab_with("locks between ranks of one of several hosts", SOURCE) else { return };
    let waits = place("lock_on_host", "lock on host");
    let printed = format!(
        "rank 2 waits in MPI_Win_lock {waits} for the lock of rank 3, which rank 1 holds, in the window of ranks 1 to 4"
    );
    run(&lab, FOUR_ON_A_HOST, "lock_on_host").refuses(STATUS, &[STUCK, &printed]);
    for variant in [FOUR_ON_A_HOST, &["-n", "4"]] {
        let ended = run(&lab, variant, "passes");
        assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""), "{variant:?}");
    }
    assert!(lab.becomes_empty());
}
