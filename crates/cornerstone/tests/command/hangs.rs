//! Tests `cornerstone launch` with programs whose ranks wait for each other for ever, and with programs that only seem
//! to (`hangs.c`). No test asserts a time: a hang that is not detected ends the test, which waits for two minutes.

use std::path::Path;

use crate::lab::Lab;
use crate::launching::{self, lab_with, run_program as run, start_program as start};

const SOURCE: &str = concat!(include_str!("stopping.c"), include_str!("hangs.c"));
const STATUS: i32 = 122;
pub(crate) const STUCK: &str = "all ranks wait, and no message is under way";

/// Options of the launches: ranks that sleep, ranks that spin, ranks over TCP, on one host as one of several, and on
/// several.
const VARIANTS: [&[&str]; 5] = [
    &["-n", "4"],
    &["-n", "2", "--bind", "core"],
    &["-n", "4", "--fabric", "tcp"],
    &["-n", "4", "--fabric", "cluster"],
    &["-n", "4", "--host", "localhost:1,127.0.0.1:3"],
];
/// The same over libfabric.
const VARIANTS_OF_LIBFABRIC: [&[&str]; 3] = [
    &["-n", "4", "--fabric", "ofi:tcp"],
    &["-n", "4", "--host", "localhost:1,127.0.0.1:3", "--fabric", "cluster:ofi:tcp"],
    &["-n", "4", "--host", "localhost:1,127.0.0.1:3", "--fabric", "ofi:tcp"],
];

/// Returns all of them, without those that the machine does not support.
pub(crate) fn variants(test: &str) -> Vec<&'static [&'static str]> {
    let more = crate::ofi::is_here(test).then_some(VARIANTS_OF_LIBFABRIC);
    VARIANTS.into_iter().chain(more.into_iter().flatten()).collect()
}

/// Returns a lab with the programs; `None` if our library is not built.
fn prepared(test: &str) -> Option<Lab> {
    lab_with(test, SOURCE)
}

/// Returns the number of the line of the source that ends with this remark.
fn line_with(remark: &str) -> usize {
    launching::line_with(SOURCE, remark)
}

/// The ways in which a short test launches: ranks that sleep, ranks that spin, over TCP, and on several hosts.
pub(crate) const FEW_WAYS: [&[&str]; 4] = [VARIANTS[0], VARIANTS[1], VARIANTS[2], VARIANTS[4]];

/// Checks that these programs come to their end however they are launched, and that nothing is reported.
pub(crate) fn are_left_alone(lab: &Lab, variants: &[&[&str]], names: &[&str]) {
    for &variant in variants {
        let running: Vec<_> = names.iter().map(|name| (name, start(lab, variant, name))).collect();
        for (name, running) in running {
            let ended = running.wait();
            assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""), "{name} {variant:?}");
        }
        let _ = std::fs::remove_file(lab.path("ready"));
    }
    assert!(lab.becomes_empty());
}

#[test]
fn ranks_that_wait_for_each_other_are_ended_and_each_wait_is_told_with_its_line() {
    let test = "ranks that wait for each other";
    let Some(lab) = prepared(test) else { return };
    let receive = line_with("// receive");
    for variant in variants(test) {
        run(&lab, variant, "tags").refuses(
            STATUS,
            &[
                STUCK,
                &format!(
                    "rank 0 waits in MPI_Recv (receive, program.c:{receive}) for tag 7 of rank 1"
                ),
                "not received there so far: 1 message of 4 bytes with tag 8 of rank 1",
                &format!(
                    "rank 1 waits in MPI_Recv (receive, program.c:{receive}) for tag 9 of rank 0"
                ),
            ],
        );
        assert!(lab.becomes_empty());
    }
    // Two ranks that do the same are one line.
    let barrier = line_with("// barrier");
    let printed =
        format!("ranks 2, 3 wait in MPI_Barrier (tags, program.c:{barrier}) for ranks 0, 1");
    run(&lab, VARIANTS[0], "tags").refuses(STATUS, &[&printed]);
}

#[test]
fn all_kinds_of_waits_are_found_on_every_fabric() {
    let test = "all kinds of waits";
    let Some(lab) = prepared(test) else { return };
    let all = [
        ("synchronous", &["MPI_Ssend", "until rank 1 receives 4 bytes with tag 3"][..]),
        ("long", &["MPI_Send (long_messages", "16777216 bytes with tag 3"]),
        ("requests", &["MPI_Waitall (requests", "for tag 20 of rank 1; for tag 22 of rank 1"]),
        ("probe", &["MPI_Probe (probe", "for tag 6 of any rank"]),
        ("started", &["rank 0 waits in MPI_Recv", "MPI_Wait (started, program.c:"]),
    ];
    let variants = variants(test);
    for &variant in &variants {
        let running = all.map(|(name, words)| (name, words, start(&lab, variant, name)));
        for (_, words, running) in running {
            let ended = running.wait();
            ended.refuses(STATUS, &[STUCK]);
            ended.refuses(STATUS, words);
        }
    }
    for &variant in variants.iter().filter(|variant| variant[1] == "4") {
        let ended = run(&lab, variant, "part");
        ended
            .refuses(STATUS, &["rank 0 waits in MPI_Recv", "for tag 4 of rank 2 in the communicator of ranks 0, 2, made by MPI_Comm_split (part"]);
        ended.refuses(STATUS, &["rank 2 waits in MPI_Barrier (part, program.c:"]);
    }
    assert!(lab.becomes_empty());
}

#[test]
fn locks_of_windows_that_ranks_take_in_different_orders_are_found() {
    let test = "locks of windows in different orders";
    let Some(lab) = prepared(test) else { return };
    let lock = line_with("// lock");
    let of = format!("rank 0 waits in MPI_Win_lock (locks, program.c:{lock})");
    for variant in variants(test) {
        run(&lab, variant, "locks")
            .refuses(STATUS, &[STUCK, &format!("{of} for the lock of rank 1")]);
    }
    let printed =
        format!("{of} for the lock of rank 1, which rank 1 holds, in the window of ranks 0");
    for variant in [VARIANTS[0], VARIANTS[1], VARIANTS[3]] {
        run(&lab, variant, "locks").refuses(STATUS, &[&printed]);
    }
    assert!(lab.becomes_empty());
}

#[test]
fn hangs_of_programs_with_several_threads_are_found_once_no_thread_can_act() {
    let test = "hangs of programs with several threads";
    let Some(lab) = prepared(test) else { return };
    let synchronous = line_with("// synchronous");
    let synchronous =
        format!("MPI_Ssend (synchronous, program.c:{synchronous}) until rank 1 receives");
    let all = [
        ("multiple_one", &[&*synchronous][..]),
        ("multiple_two", &["waits in 2 threads", "for tag 30 of rank 1", "for tag 31 of rank 1"]),
        ("multiple_joined", &["rank 0 waits in MPI_Recv (receive", "for tag 30 of rank 1"]),
        ("completed", &["rank 0 waits in MPI_Recv (receive", "for tag 30 of rank 1"]),
    ];
    for variant in variants(test) {
        // Libfabric handles SIGTERM, so a thread outside the library might be woken by a signal.
        let is_ruled_out =
            |name: &str| name == "multiple_joined" && VARIANTS_OF_LIBFABRIC.contains(&variant);
        let found = all.iter().filter(|(name, _)| !is_ruled_out(name));
        let running: Vec<_> =
            found.map(|(name, words)| (words, start(&lab, variant, name))).collect();
        for (words, running) in running {
            let ended = running.wait();
            ended.refuses(STATUS, &[STUCK]);
            ended.refuses(STATUS, words);
            assert!(!ended.stderr.contains("may still act"), "{ended:#?}");
        }
    }
    assert!(lab.becomes_empty());
}

#[test]
fn programs_with_a_thread_that_may_still_act_are_left_alone() {
    let test = "programs with a thread that may still act";
    let Some(lab) = prepared(test) else { return };
    let names = ["multiple_sleeps", "multiple_tests", "multiple_woken", "multiple_signal"];
    are_left_alone(&lab, &variants(test), &names);
}

#[test]
fn a_thread_that_waits_beside_one_that_does_not_is_told() {
    let Some(lab) = prepared("a thread that waits beside one that does not") else { return };
    for options in ["-n 2", "-n 2 --fabric tcp"] {
        let printed = while_it_runs(&lab, options, "multiple_until", "may still act", "touch go");
        let other_thread = "    another thread of the process may still act";
        assert!(printed.contains("rank 0 waits in MPI_Recv (receive, program.c:"), "{printed}");
        assert!(
            printed.contains("for tag 2 of rank 0\n") && printed.contains(other_thread),
            "{printed}"
        );
        std::fs::remove_file(lab.path("go")).unwrap();
    }
    assert!(lab.becomes_empty());
}

/// Programs that only look like a hang.
const LEFT_ALONE: [&str; 10] = [
    "tests",
    "probes",
    "file",
    "computes",
    "sleeps",
    "held",
    "thread",
    "generalized",
    "stopped",
    "turns",
];

#[test]
fn programs_that_poll_sleep_compute_or_wait_for_others_than_ranks_are_left_alone() {
    let test = "programs that only look like a hang";
    let Some(lab) = prepared(test) else { return };
    are_left_alone(&lab, &FEW_WAYS, &LEFT_ALONE);
}

#[test]
#[ignore = "long"]
fn programs_without_a_hang_are_left_alone_in_every_way() {
    let test = "programs that only look like a hang, launched in every way";
    let Some(lab) = prepared(test) else { return };
    are_left_alone(&lab, &variants(test), &LEFT_ALONE);
}

#[test]
fn a_hang_that_is_to_be_debugged_is_told_once_and_left_as_it_is() {
    let Some(lab) = prepared("a hang that is to be debugged") else { return };
    for fabric in ["local", "cluster"] {
        let options = format!("-n 2 --on-hang tell --fabric {fabric}");
        let printed = while_it_runs(&lab, &options, "tags", "all ranks wait", "sleep 2; kill $pid");
        assert_eq!(printed.matches(STUCK).count(), 1, "{printed}");
        assert!(printed.contains("rank 1 waits in MPI_Recv"), "{printed}");
        assert!(lab.becomes_empty());
    }
}

#[test]
fn who_asks_with_a_signal_is_told_and_nothing_ends() {
    let Some(lab) = prepared("who asks with a signal is told") else { return };
    let waits = "ranks 1, 2 wait in MPI_Recv (receive, program.c:";
    let printed = while_it_runs(&lab, "-n 3", "until", waits, "touch go");
    assert!(printed.contains("cornerstone: what the ranks do"), "{printed}");
    assert!(
        printed.contains("rank 0 is not in a call that waits for others (running)"),
        "{printed}"
    );
    assert!(lab.becomes_empty());
}

#[test]
fn each_host_tells_what_its_ranks_do_and_so_does_libfabric() {
    let test = "each host tells what its ranks do";
    let Some(lab) = prepared(test) else { return };
    let receive = line_with("// receive");
    let waits = format!("ranks 1 to 3.* wait in MPI_Recv (receive, program.c:{receive})");
    let hosts = "-n 4 --host localhost:1,127.0.0.1:3";
    let mut all = vec!["-n 4 --fabric cluster".to_owned(), hosts.to_owned()];
    if crate::ofi::is_here(test) {
        all.extend(["-n 4 --fabric ofi:tcp".into(), format!("{hosts} --fabric ofi:tcp")]);
        all.push(format!("{hosts} --fabric cluster:ofi:tcp"));
    }
    for options in all {
        let printed = while_it_runs(&lab, &options, "until", &waits, "touch go");
        let [first, rest] = match options.contains("--host") {
            true => ["rank 0 on localhost", "ranks 1 to 3 on 127.0.0.1"],
            false => ["rank 0", "ranks 1 to 3"],
        };
        let waits = format!("  {rest} wait in MPI_Recv (receive, program.c:{receive}) for tag 2");
        assert!(printed.contains(&waits), "{options}: {printed}");
        let runs = format!("  {first} is not in a call that waits for others (running)");
        assert!(printed.contains(&runs), "{options}: {printed}");
        assert!(!printed.contains(STUCK), "{options}: {printed}");
        std::fs::remove_file(lab.path("go")).unwrap();
        assert!(lab.becomes_empty());
    }
}

#[test]
fn a_rank_that_computes_while_the_others_wait_is_told_again_and_again_on_request() {
    let Some(lab) = prepared("a rank that computes while the others wait") else { return };
    let options = "-n 3 --watch 500ms";
    let printed = while_it_runs(&lab, options, "until", "nothing has moved for [2-9]", "touch go");
    assert!(printed.contains("ranks 1, 2 wait in MPI_Recv (receive, program.c:"), "{printed}");
    assert!(printed.matches("nothing has moved for").count() >= 2, "{printed}");
    for hosts in ["--host localhost:1,127.0.0.1:2", "--fabric cluster"] {
        std::fs::remove_file(lab.path("go")).unwrap();
        let options = format!("-n 3 {hosts} --watch 500ms");
        let printed =
            while_it_runs(&lab, &options, "until", "nothing has moved for [2-9]", "touch go");
        let on =
            |host: &str| if hosts.contains(host) { format!(" on {host}") } else { String::new() };
        let (first, rest) = (on("localhost"), on("127.0.0.1"));
        assert!(printed.contains(&format!("  rank 0{first} is not in a call")), "{printed}");
        assert!(
            printed.contains(&format!("  ranks 1, 2{rest} wait in MPI_Recv (receive")),
            "{printed}"
        );
    }
    let quiet = run(&lab, &["-n", "3", "--watch", "1h"], "computes");
    assert_eq!((quiet.status, quiet.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_rank_that_polls_is_told_with_its_line_again_and_again_or_on_request() {
    let Some(lab) = prepared("a rank that polls") else { return };
    let line = line_with("// polls");
    let polls = format!("  rank 0 polls in MPI_Test (polls, program.c:{line})");
    let variants =
        [("-n 3 --watch 500ms", "nothing has moved for [2-9]"), ("-n 3", "rank 0 polls")];
    for (options, until) in variants {
        let printed = while_it_runs(&lab, options, "polls", until, "touch go");
        assert!(printed.contains(&polls), "{printed}");
        assert!(printed.contains("ranks 1, 2 wait in MPI_Recv (receive, program.c:"), "{printed}");
        assert!(!printed.contains(STUCK), "{printed}");
        std::fs::remove_file(lab.path("go")).unwrap();
    }
    assert!(lab.becomes_empty());
}

/// Launches a program, sends the launcher signals that request the state of the ranks until it has written some words,
/// and then carries out a command that ends the run. Returns all its output.
fn while_it_runs(lab: &Lab, options: &str, name: &str, words: &str, end: &str) -> String {
    let asks = if options.contains("--watch") || options.contains("--on-hang") {
        ":"
    } else {
        "kill -USR1 $pid"
    };
    let launch = env!("CARGO_BIN_EXE_cornerstone");
    let script = format!(
        "{launch} launch {options} ./program {name} 2>told & pid=$!; \
         until pgrep -P $pid; do sleep 0.1; done; asked=0; until grep -q '{words}' told; do \
         sleep 0.2; {asks}; asked=$((asked + 1)); [ $asked -lt 600 ] || {{ kill $pid; exit 1; }}; done; \
         {end}; wait $pid; true"
    );
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).current_dir(lab.path(""));
    assert_eq!(lab.spawn(command).wait().status, Some(0));
    std::fs::read_to_string(lab.path("told")).unwrap()
}

#[test]
fn a_program_without_debug_information_is_told_by_its_functions() {
    let Some(lab) = prepared("a program without debug information") else { return };
    let program = lab.path("program");
    strip(&program, "--strip-debug");
    run(&lab, &["-n", "2"], "tags").refuses(STATUS, &["MPI_Recv (receive) for tag 7 of rank 1"]);
    strip(&program, "--strip-all");
    run(&lab, &["-n", "2"], "tags").refuses(STATUS, &["MPI_Recv (program at 0x"]);
}

fn strip(program: &Path, how: &str) {
    let stripped = std::process::Command::new("strip").arg(how).arg(program).status();
    assert!(stripped.expect("strip comes with the compiler").success());
}

#[test]
fn a_wrong_time_or_action_is_refused() {
    let lab = Lab::new();
    for (option, value) in [("--watch", "0"), ("--watch", "often"), ("--on-hang", "cry")] {
        let ended = lab.run(&["launch", "-n", "2", option, value, "true"]);
        assert_eq!(ended.status, Some(2), "{ended:#?}");
        assert!(ended.stderr.contains(value), "{ended:#?}");
    }
}
