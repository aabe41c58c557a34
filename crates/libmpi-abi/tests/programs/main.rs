//! Tests C programs with the header and the library, as ranks of the launcher.

mod compiled;
mod ending;
mod generated;
mod header;

use std::ffi::OsString;
use std::os::{fd::OwnedFd, unix::net::UnixDatagram};
use std::path::Path;
use std::process::Command;

use compiled::compile;
use fabric_shm::launch_options;
use fabric_tcp::Secret;
use fabric_tcp::library::job;
use launcher::{Binding, LaunchError, launch_and_read};

/// Runs a program, and returns its outcome and the output of its ranks.
fn run(program: &Path, ranks: usize, argument: &str) -> (Result<(), LaunchError>, String) {
    run_bound(program, ranks, argument, Binding::None)
}

/// Runs a program over TCP. An argument informs the program of it.
fn run_over_tcp(program: &Path, ranks: usize) -> (Result<(), LaunchError>, String) {
    job_over_tcp(program, ranks, "tcp")
}

fn job_over_tcp(program: &Path, ranks: usize, argument: &str) -> (Result<(), LaunchError>, String) {
    run_job(program, ranks, argument, Binding::None, job(&Secret::generate().unwrap()))
}

/// Runs a program with bound ranks.
fn run_bound(
    program: &Path,
    ranks: usize,
    argument: &str,
    binding: Binding,
) -> (Result<(), LaunchError>, String) {
    run_job(program, ranks, argument, binding, Vec::new())
}

fn run_job(
    program: &Path,
    ranks: usize,
    argument: &str,
    binding: Binding,
    job: Vec<u8>,
) -> (Result<(), LaunchError>, String) {
    let mut options = launch_options(ranks, job);
    options.program = program.into();
    options.arguments = vec![OsString::from(argument)];
    options.any_program = true;
    options.binding = binding;
    let (ended, written) = launch_and_read(options);
    (ended, String::from_utf8(written).unwrap())
}

fn succeeds(name: &str) {
    let program = compile(name);
    for ranks in [1, 2, 3, 4, 8] {
        let (ended, output) = run(&program, ranks, "");
        assert!(ended.is_ok(), "{name} with {ranks} ranks: {ended:?}\n{output}");
    }
    // The same program as a run of one process without a launcher.
    let alone = Command::new(&program).output().unwrap();
    assert!(alone.status.success(), "{name} alone: {}", String::from_utf8_lossy(&alone.stderr));
}

#[test]
fn the_environment_conforms_to_the_standard() {
    succeeds("environment");
}

#[test]
fn messages_arrive_whole_in_order_and_in_every_mode() {
    succeeds("messages");
}

#[test]
fn misuse_gets_the_right_class_through_the_right_handler() {
    succeeds("errors");
}

#[test]
fn mismatched_collectives_fail_where_detectable_and_no_rank_waits_for_ever() {
    succeeds("mismatched");
}

#[test]
fn a_mismatched_first_collective_of_a_new_communicator_still_returns_on_all_ranks() {
    let program = compile("fresh");
    for ranks in [2, 3, 4] {
        let (ended, output) = run(&program, ranks, "");
        assert!(ended.is_ok(), "{ranks} ranks: {ended:?}\n{output}");
    }
}

#[test]
fn collectives_by_shared_memory_and_by_messages_do_not_wait_for_each_other() {
    succeeds("parted");
}

#[test]
fn concurrent_collectives_each_complete_correctly() {
    succeeds("started");
}

#[test]
fn grids_and_hints_conform_to_the_standard() {
    succeeds("grids");
}

#[test]
fn handles_convert_to_fortran_and_back_and_removed_names_keep_their_meaning() {
    succeeds("fortran");
}

#[test]
fn neighbours_exchange_the_blocks_of_their_topology() {
    succeeds("neighbours");
    succeeds_over_tcp("neighbours", &[3, 4]);
}

#[test]
fn intercommunicators_conform_to_the_standard() {
    succeeds("between");
    succeeds_over_tcp("between", &[2, 5]);
}

#[test]
fn sessions_work_without_init_and_beside_it() {
    succeeds("sessions");
    succeeds_over_tcp("sessions", &[3]);
    let (ended, output) = run(&compile("sessions"), 4, "world");
    assert!(ended.is_ok(), "{ended:?}\n{output}");
}

#[test]
fn partitions_arrive_as_they_are_marked_ready() {
    succeeds("partitions");
    succeeds_over_tcp("partitions", &[2, 3]);
}

#[test]
fn tools_find_every_variable_before_while_and_after() {
    succeeds("tools");
    succeeds_over_tcp("tools", &[2]);
}

#[test]
fn persistent_requests_serve_again_and_again_and_receives_can_be_cancelled() {
    succeeds("again");
}

#[test]
fn members_start_persistent_collectives_in_any_order() {
    succeeds("persistent");
}

fn succeeds_over_tcp(name: &str, ranks: &[usize]) {
    let program = compile(name);
    for &ranks in ranks {
        let (ended, output) = run_over_tcp(&program, ranks);
        assert!(ended.is_ok(), "{name} with {ranks} ranks: {ended:?}\n{output}");
    }
}

#[test]
fn programs_run_over_tcp_as_well() {
    for name in
        ["environment", "messages", "errors", "grids", "again", "types", "together", "persistent"]
    {
        succeeds_over_tcp(name, &[1, 2, 4]);
    }
}

#[test]
fn collectives_that_do_not_match_fail_alone_over_tcp() {
    for name in ["mismatched", "parted"] {
        succeeds_over_tcp(name, &[2, 3, 4, 8]);
    }
    succeeds_over_tcp("fresh", &[3]);
}

#[test]
fn a_root_that_is_far_ahead_waits_for_the_others_in_finalize() {
    succeeds("late");
}

#[test]
fn communicators_of_many_ranks_work_from_start_to_end() {
    let program = compile("many");
    for ranks in [33, 64] {
        let (ended, output) = run(&program, ranks, "");
        assert!(ended.is_ok(), "{ranks} ranks: {ended:?}\n{output}");
    }
}

/// Tests communicators of more than 32 ranks, whose members arrive in groups.
#[test]
fn programs_of_few_ranks_also_pass_on_many() {
    for name in ["together", "mismatched", "parted", "late"] {
        let (ended, output) = run_bound(&compile(name), 40, "", Binding::OneCoreEach);
        assert!(ended.is_ok(), "{name}: {ended:?}\n{output}");
    }
}

#[test]
fn halves_of_a_run_meet_at_a_port_and_a_service() {
    succeeds("ports");
    let (ended, output) = run_over_tcp(&compile("ports"), 3);
    assert!(ended.is_ok(), "over TCP: {ended:?}\n{output}");
}

#[test]
fn datatypes_have_the_standard_layout_and_collectives_leave_their_gaps_unchanged() {
    succeeds("types");
}

#[test]
fn communicators_reductions_and_unequal_collectives_conform_to_the_standard() {
    succeeds("together");
}

#[test]
fn collectives_of_ranks_that_are_bound_go_as_well() {
    let program = compile("together");
    for (ranks, binding) in [
        (3, Binding::OneCoreEach),
        (4, Binding::Halves),
        (8, Binding::OneCoreEach),
        (5, Binding::OneForAll),
    ] {
        let (ended, output) = run_bound(&program, ranks, "", binding.clone());
        assert!(ended.is_ok(), "{ranks} ranks, {binding:?}: {ended:?}\n{output}");
    }
}

#[test]
fn a_wait_for_a_finalized_rank_returns_an_error() {
    let program = compile("finalized");
    for how in [
        "receive",
        "wait",
        "any",
        "probe",
        "send",
        "collective",
        "messages",
        "request",
        "duplicate",
    ] {
        let (ended, output) = run(&program, 2, how);
        let Err(LaunchError::RankFailed { rank, reason, .. }) = ended else {
            panic!("{how}: {ended:?}\n{output}");
        };
        // MPI_Finalize is itself collective, so the other rank may be the first to detect that the two are in different
        // calls.
        let is_collective = ["collective", "request"].contains(&how);
        assert!(rank == 0 || is_collective, "{how}: rank {rank}: {reason}");
        assert!(reason.contains("MPI_"), "{how}: {reason}");
        assert!(!output.contains("must not be reached"), "{how}: {output}");
    }
}

#[test]
fn objects_not_freed_are_reported_by_kind_and_number_on_request() {
    let program = compile("leaks");
    for (how, kinds) in [("leak", &["request", "communicator", "datatype"][..]), ("clean", &[])] {
        // Each write is a datagram. Lines of several writes would be mixed with those of other ranks.
        let (ours, theirs) = UnixDatagram::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let mut command = Command::new(&program);
        command.env("CORNERSTONE_CHECK_LEAKS", "1").arg(how).stderr(OwnedFd::from(theirs));
        assert!(command.status().unwrap().success());
        let mut line = [0; 2000];
        for kind in kinds {
            let end = ours.recv(&mut line).unwrap();
            // Each kind names the call that has made it, in the program's file.
            let (what, place) = str::from_utf8(&line[..end]).unwrap().split_once(" (").unwrap();
            assert_eq!(what, format!("cornerstone: rank 0: not freed at MPI_Finalize: 1 {kind}"));
            assert!(place.starts_with(&format!("{}+0x", program.display())), "{place}");
            assert!(place.ends_with(")\n"), "{place}");
        }
        assert!(ours.recv(&mut line).is_err(), "{line:?}");
        let silent = Command::new(&program).arg(how).output().unwrap();
        assert!(silent.stderr.is_empty(), "nothing is told unless asked for: {silent:?}");
    }
}

#[test]
fn file_access_conforms_to_the_standard() {
    succeeds("files");
    succeeds_over_tcp("files", &[1, 2, 4]);
}

#[test]
fn threads_of_a_rank_do_not_keep_each_other_from_getting_on() {
    succeeds("threads");
    succeeds_over_tcp("threads", &[1, 2, 4]);
    let (ended, output) = run_bound(&compile("threads"), 2, "", Binding::OneCoreEach);
    assert!(ended.is_ok(), "{ended:?}\n{output}");
}

#[test]
fn ranks_that_poll_and_never_wait_progress_on_shared_processors() {
    succeeds("polls");
    succeeds_over_tcp("polls", &[1, 4]);
}

#[test]
fn one_sided_communication_conforms_to_the_standard() {
    succeeds("windows");
    succeeds_over_tcp("windows", &[1, 2, 4]);
}

#[test]
fn a_rank_that_ends_in_an_epoch_is_an_error_of_ranks_that_wait_for_it() {
    let program = compile("windows_end");
    let over_tcp = |how: &str| job_over_tcp(&program, 3, how);
    for how in ["lock", "post", "fence", "flush"] {
        for (kind, tcp) in [("", 0), ("-messages", 0), ("-shared", 0), ("", 1), ("-shared", 1)] {
            let how = format!("{how}{kind}");
            let (ended, output) = if tcp == 1 { over_tcp(&how) } else { run(&program, 3, &how) };
            let Err(LaunchError::RankFailed { rank: 1, reason, .. }) = ended else {
                panic!("{how}: {ended:?}\n{output}");
            };
            assert!(reason.contains("SIGKILL"), "{how}: {reason}");
            assert!(!output.contains("must not be reached"), "{how}: {output}");
        }
    }
}

#[test]
fn a_window_that_is_not_freed_is_served_in_finalize_and_its_locks_are_released() {
    let program = compile("windows_unfreed");
    for how in ["access", "exclusive", "all"] {
        for (kind, ranks) in [("", 3), ("-messages", 3), ("-messages", 2)] {
            let how = format!("{how}{kind}");
            let (ended, output) = run(&program, ranks, &how);
            assert!(ended.is_ok(), "{how} with {ranks} ranks: {ended:?}\n{output}");
        }
        let (ended, output) = job_over_tcp(&program, 4, how);
        assert!(ended.is_ok(), "{how} over TCP: {ended:?}\n{output}");
    }
}
