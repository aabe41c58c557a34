//! Tests `cornerstone launch --fabric sim:MACHINE`: unmodified programs (`predictions.c`) in virtual time.

use std::path::Path;

use crate::lab::{Ended, Lab, skip, words};
use crate::launching::{lab_with, library, run_program as run};

const SOURCE: &str = include_str!("predictions.c");

/// Returns a lab with the program; `None` if our libraries are not built.
fn prepared(test: &str) -> Option<Lab> {
    prepared_with(test, SOURCE)
}

/// As [`prepared`], with another program.
pub(crate) fn prepared_with(test: &str, source: &str) -> Option<Lab> {
    let library = library(test)?;
    if !library.with_file_name("libcornerstone_time.so").exists() {
        skip(
            test,
            "the library of virtual time is not built; `cargo build -p libvirtual-time` does",
        );
        return None;
    }
    lab_with(test, source)
}

/// Runs a part of the program, which must succeed.
pub(crate) fn well(lab: &Lab, options: &[&str], name: &str) -> Ended {
    let ended = run(lab, options, name);
    assert_eq!(ended.status, Some(0), "{options:?} {name}: {ended:#?}");
    assert!(ended.stdout.contains(&format!("{name} is well")), "{ended:#?}");
    assert!(ended.stderr.contains("of virtual time"), "{ended:#?}");
    ended
}

/// Returns the hash of all events that a run has printed.
fn hash(ended: &Ended) -> &str {
    ended.stderr.split("event hash ").nth(1).expect("a run tells its hash").trim()
}

#[test]
fn data_arrive_by_messages_collectives_and_windows_on_machines_of_all_kinds() {
    let Some(lab) = prepared("data arrive on simulated machines") else { return };
    for (machine, ranks) in [("cluster", "2"), ("fat-tree", "5"), ("paragon-osf1", "5")] {
        well(&lab, &["-n", ranks, "--fabric", &format!("sim:{machine}")], "all");
    }
    // The machine has collectives of its own, and windows are served while ranks wait there.
    well(&lab, &["-n", "5", "--fabric", "sim:sharc-ring"], "all");
    let shared = ["-n", "6", "--fabric", "sim:paragon-osf1", "--ranks-per-processor", "3"];
    well(&lab, &shared, "all");
    assert!(lab.becomes_empty());
}

#[test]
fn without_computing_a_run_is_the_same_twice() {
    let Some(lab) = prepared("a run is the same twice") else { return };
    let options = ["-n", "3", "--fabric", "sim:cluster", "--compute", "none"];
    for name in ["all", "polls", "sleeps", "computes"] {
        let (first, second) = (well(&lab, &options, name), well(&lab, &options, name));
        assert_eq!(hash(&first), hash(&second), "{name}");
        assert_eq!(first.stdout, second.stdout);
    }
}

#[test]
fn sleeps_and_clocks_are_virtual() {
    let Some(lab) = prepared("sleeps and clocks are virtual") else { return };
    let ended = well(&lab, &["-n", "2", "--fabric", "sim:cluster"], "sleeps");
    assert!(ended.stdout.contains("slept 7200."), "{ended:#?}");
    // The calendar of a run begins with the year 2000.
    assert!(ended.stdout.contains("from 9466848"), "{ended:#?}");
    let before = run(&lab, &["-n", "2", "--fabric", "sim:cluster"], "before");
    assert_eq!(before.status, Some(0), "{before:#?}");
}

#[test]
fn programs_that_poll_end() {
    let Some(lab) = prepared("programs that poll end") else { return };
    well(&lab, &["-n", "4", "--fabric", "sim:cluster"], "polls");
}

/// Tests the cost of polls. While another rank is known to compute, polls find nothing and send no request: a poll of
/// the simulation takes a switch between processes, and the loop makes some hundred thousand. A rank that shares its
/// processor yields and then sleeps after some polls.
#[test]
fn a_program_that_polls_beside_one_that_computes_asks_little() {
    let Some(lab) = prepared("a program that polls asks little") else { return };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let requests = |options: &[&str]| {
        let ended = well(&lab, &[&["--fabric", "sim:cluster"], options].concat(), "listens");
        let line =
            ended.stderr.lines().find(|line| line.contains(" requests to the machine, ")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    let separate = requests(&["-n", "2"]);
    assert!(processors == 1 || separate < 50_000, "{separate} requests");
    let sharing = requests(&["-n", "4", "--ranks-per-processor", "2"]);
    assert!(sharing < 50_000, "{sharing} requests of ranks that share processors");
    well(&lab, &["-n", "3", "--fabric", "sim:cluster", "--compute", "none"], "listens");
}

/// Tests a rank that ends early: it waits in MPI_Finalize for those that have not arrived.
#[test]
fn programs_of_several_threads_end_together() {
    let Some(lab) = prepared("programs of several threads end") else { return };
    for ranks in ["2", "3", "5"] {
        for _ in 0..3 {
            well(&lab, &["-n", ranks, "--fabric", "sim:cluster"], "threads");
        }
    }
}

#[test]
fn computing_costs_its_factor_of_the_processors_time() {
    let Some(lab) = prepared("computing costs its factor") else { return };
    let computed = |how: &str| {
        let ended =
            well(&lab, &["-n", "1", "--fabric", "sim:cluster", "--compute", how], "computes");
        let words = ended.stdout.lines().find_map(|line| line.strip_prefix("computed "));
        words.unwrap().parse::<f64>().unwrap()
    };
    // On a machine of any speed, the factor of a hundred makes the time longer, and `none` makes it nearly zero.
    let (once, often) = (computed("measured"), computed("measured*100"));
    assert!(once > 0.001 && often > 10.0 * once, "{once} {often}");
    assert!(computed("none") < 0.001);
}

#[test]
fn what_arrives_while_a_program_looks_at_a_clock_is_not_lost() {
    let Some(lab) = prepared("what arrives while a program looks at a clock") else { return };
    for how in ["none", "measured"] {
        well(&lab, &["-n", "3", "--fabric", "sim:cluster", "--compute", how], "looks");
    }
}

/// Tests the order of messages. Processes compute at the same time, in an order that the system chooses, but their
/// messages are in the order of virtual time.
#[test]
fn ranks_that_compute_at_once_come_in_the_order_of_virtual_time() {
    let Some(lab) = prepared("ranks that compute at once") else { return };
    well(&lab, &["-n", "5", "--fabric", "sim:cluster"], "races");
    let slow = ["-n", "5", "--fabric", "sim:sharc-ring", "--compute", "measured*3"];
    well(&lab, &slow, "races");
}

#[test]
fn ends_of_all_kinds_are_told_as_on_real_fabrics() {
    let Some(lab) = prepared("ends of all kinds") else { return };
    let options = ["-n", "3", "--fabric", "sim:cluster"];
    run(&lab, &options, "abort").refuses(42, &["rank 1", "MPI_Abort", "42"]);
    assert!(lab.becomes_empty());
    run(&lab, &options, "dies").refuses(128 + 9, &["rank 1", "SIGKILL"]);
    assert!(lab.becomes_empty());
    run(&lab, &options, "exits").refuses(5, &["rank 1"]);
    assert!(lab.becomes_empty());
    run(&lab, &options, "late").refuses(6, &["status 6"]);
    assert!(lab.becomes_empty());
}

#[test]
fn ranks_that_wait_for_each_other_are_told_as_on_real_fabrics() {
    let Some(lab) = prepared("ranks that wait for each other") else { return };
    let line = 1 + SOURCE.lines().position(|line| line.ends_with("// stuck")).unwrap();
    let options = ["-n", "3", "--fabric", "sim:cluster"];
    let printed = format!("rank 1 waits in MPI_Recv (main, program.c:{line}) for tag 8 of rank 2");
    let unexpected = "    not received there so far: 1 message of 4 bytes with tag 5 of rank 0\n";
    let ended = run(&lab, &options, "stuck");
    ended.refuses(122, &["all ranks wait, and no message is under way", &printed, unexpected]);
    let printed = "rank 2 waits in MPI_Waitall (main, program.c:";
    let both = "for tag 8 of rank 0; for tag 9 of any rank";
    run(&lab, &options, "waits")
        .refuses(122, &["all ranks wait, and no message is under way", printed, both]);
    assert!(lab.becomes_empty());
}

#[test]
fn what_cannot_be_simulated_is_told_before_it_fails() {
    let Some(lab) = prepared("what cannot be simulated") else { return };
    let refused = |options: &[&str], program: &str, status, words: &[&str]| {
        lab.run(&[&["launch"], options, &[program]].concat()).refuses(status, words);
    };
    let (two, program) = (["-n", "2", "--fabric", "sim:cluster"], lab.path("program"));
    let program = program.to_str().unwrap();
    refused(&["-n", "2", "--fabric", "sim:clustre"], program, 2, &["cluster"]);
    refused(
        &["-n", "2", "--fabric", "sim:sharc-ring", "--compute", "fast"],
        program,
        2,
        &["'fast'"],
    );
    refused(&["-n", "5000", "--fabric", "sim:cluster"], program, 2, &["5000"]);
    refused(&["-n", "2", "--compute", "none"], program, 2, &["--compute", "sim:MACHINE"]);
    refused(&two, "true", 1, &["no rank has called MPI_Init"]);
    run(&lab, &two, "alone").refuses(1, &["no rank has called MPI_Init"]);
    refused(&two, "no-such-program", 127, &["no-such-program"]);
    lab.write("static.c", "int main(void) { return 0; }");
    let compiled = std::process::Command::new("cc")
        .args(["-static", "-o"])
        .args([lab.path("static"), lab.path("static.c")])
        .output()
        .unwrap();
    // Not every system has the C library to link with statically.
    if compiled.status.success() {
        let path = lab.path("static");
        refused(&two, path.to_str().unwrap(), 2, &["linked statically"]);
    }
    let other = other_mpi(&lab, "libmpi.so.40");
    refused(&two, other.to_str().unwrap(), 2, &["libmpi.so.40", "libmpi_abi.so.1"]);
    assert!(lab.becomes_empty());
}

/// Builds a program that needs another MPI's library, of this name.
pub(crate) fn other_mpi(lab: &Lab, library: &str) -> std::path::PathBuf {
    lab.write("other.c", "int MPI_Nothing(void) { return 0; }");
    lab.write("caller.c", "int MPI_Nothing(void); int main(void) { return MPI_Nothing(); }");
    let cc = |words: &[&str]| {
        let done = std::process::Command::new("cc").current_dir(lab.path("")).args(words).output();
        assert!(done.unwrap().status.success(), "{words:?}");
    };
    let name = format!("-Wl,-soname,{library}");
    cc(&["-shared", "-fPIC", &name, "-o", "libother.so", "other.c"]);
    cc(&["-o", "caller", "caller.c", "-L.", "-lother"]);
    Path::new(&lab.path("caller")).to_path_buf()
}

#[test]
fn a_recorded_program_is_replayed_on_other_machines_and_in_other_formats() {
    let Some(lab) = prepared("a recorded program is replayed") else { return };
    let record = ["-n", "5", "--fabric", "sim:cluster", "--record", "r", "--compute", "none"];
    let recorded = well(&lab, &record, "messages");
    let messages = |ended: &Ended| {
        let line = ended.stderr.lines().find(|line| line.contains(" messages with ")).unwrap();
        let words = line.split(" messages").next().unwrap().split_whitespace().last().unwrap();
        words.parse::<u64>().unwrap()
    };
    let replay = |file: &str, machine: &str| {
        lab.succeed(&["replay", file, "--fabric", machine, "--compute", "none"])
    };
    let (first, second) = (replay("r", "sim:cluster"), replay("r", "sim:cluster"));
    assert_eq!(hash(&first), hash(&second));
    // Its messages are those of the program, except for those inside collectives of all ranks, which have the same
    // algorithms.
    assert!(messages(&first) * 10 > messages(&recorded) * 8, "{recorded:#?} {first:#?}");
    assert!(first.stderr.contains("5 ranks") && first.stderr.contains("rank 4: computing 0"));
    for machine in ["sim:sharc-ring", "sim:paragon-osf1"] {
        assert_ne!(hash(&replay("r", machine)), hash(&first), "{machine}");
    }
    lab.succeed(&["replay", "r", "--to", "r.goal"]);
    lab.succeed(&["replay", "r", "--to", "r.ti"]);
    std::os::unix::fs::symlink("nothing", lab.path("link.goal")).unwrap();
    for file in ["r.goal", "link.goal"] {
        lab.run(&["replay", "r", "--to", file]).refuses(2, &[file, "is already there"]);
    }
    assert!(!lab.path("nothing").exists());
    assert_eq!(messages(&replay("r.ti", "sim:cluster")), messages(&first));
    assert!(messages(&replay("r.goal", "sim:cluster")) > 100);
}

/// Tests ranks that serve each other's windows while they wait in collectives.
#[test]
fn a_program_with_windows_is_replayed_and_not_written_as_text() {
    let Some(lab) = prepared("a program with windows is replayed") else { return };
    let record = ["-n", "5", "--fabric", "sim:cluster", "--record", "r", "--compute", "none"];
    well(&lab, &record, "all");
    for machine in ["sim:cluster", "sim:sharc-ring", "sim:paragon-osf1"] {
        let replay = || lab.succeed(&["replay", "r", "--fabric", machine]);
        assert_eq!(hash(&replay()), hash(&replay()), "{machine}");
    }
    lab.run(&["replay", "r", "--to", "r.goal"]).refuses(1, &["in the middle of a collective"]);
}

#[test]
fn recorded_computing_makes_a_run_the_same_twice() {
    let Some(lab) = prepared("recorded computing") else { return };
    let cluster = ["-n", "3", "--fabric", "sim:cluster"];
    for name in ["computes", "messages"] {
        let (file, compute) = (format!("{name}.rec"), format!("recorded:{name}.rec"));
        let record = [&cluster[..], &["--record", &file]].concat();
        well(&lab, &record, name);
        let recorded = [&cluster[..], &["--compute", &compute]].concat();
        let (first, second) = (well(&lab, &recorded, name), well(&lab, &recorded, name));
        assert_eq!((hash(&first), &first.stdout), (hash(&second), &second.stdout));
    }
    let of = |ranks, name| {
        let compute = "recorded:messages.rec";
        run(&lab, &["-n", ranks, "--fabric", "sim:cluster", "--compute", compute], name)
    };
    of("2", "messages").refuses(2, &["'messages.rec'", "3 ranks, not of 2"]);
    of("3", "sleeps").refuses(1, &["another program", "messages"]);
    assert!(lab.becomes_empty());
}

#[test]
fn recordings_that_cannot_be_made_or_used_are_named() {
    let Some(lab) = prepared("recordings that cannot be used") else { return };
    let record = |file| ["-n", "2", "--fabric", "sim:cluster", "--record", file];
    run(&lab, &record("no/folder"), "all").refuses(2, &["no/folder"]);
    run(&lab, &record("/dev/full"), "all").refuses(1, &["/dev/full"]);
    well(&lab, &record("r"), "all");
    let bytes = std::fs::read(lab.path("r")).unwrap();
    // Nothing is overwritten, and no link is followed, be it to a file or to none.
    std::os::unix::fs::symlink("r", lab.path("link")).unwrap();
    for file in ["r", "link"] {
        run(&lab, &record(file), "all").refuses(2, &[file, "is already there"]);
        assert_eq!(std::fs::read(lab.path("r")).unwrap(), bytes);
    }
    std::fs::write(lab.path("cut"), &bytes[..bytes.len() / 2]).unwrap();
    lab.write("later", "cornerstone-recording 9\n2 x\n");
    lab.write("other", "no recording");
    lab.write("wrong.ti", "0 init\n0 fly\n");
    let refused = |file: &str, status, words: &[&str]| {
        lab.run(&["replay", file, "--fabric", "sim:cluster"]).refuses(status, words);
    };
    refused("cut", 2, &["'cut'", "cut off"]);
    refused("later", 2, &["'later'", "another version"]);
    refused("other", 2, &["'other'", "no recording"]);
    refused("wrong.ti", 2, &["'wrong.ti', line 2", "'fly'"]);
    refused("missing", 2, &["missing"]);
    let coarse = ["replay", "r", "--fabric", "sim:scale-faults", "--level", "loggp"];
    lab.run(&coarse).refuses(2, &["sim:scale-faults cannot be simulated at level loggp"]);
    lab.run(&["replay", "r", "--fabric", "local"]).refuses(2, &["local", "sim:MACHINE"]);
    lab.run(&["replay", "r"]).refuses(2, &["--fabric", "--to"]);
    lab.run(&["replay", "r", "--to", "r.txt"]).refuses(2, &["r.txt", ".goal"]);
    let few = ["replay", "r", "--fabric", "sim:cluster", "--ranks-per-processor", "0"];
    lab.run(&few).refuses(2, &["ranks-per-processor"]);
}

#[test]
fn a_run_that_fails_leaves_no_recording() {
    let Some(lab) = prepared("a run that fails leaves no recording") else { return };
    let record = ["-n", "2", "--fabric", "sim:cluster", "--record", "r"];
    for (name, status) in [("abort", 42), ("stuck", 122), ("dies", 128 + 9), ("alone", 1)] {
        run(&lab, &record, name).refuses(status, &["the recording 'r' was removed"]);
        assert!(!lab.path("r").exists(), "{name}");
    }
    // All ranks have finalized, so the later exit status of one is not recorded.
    let late = run(&lab, &record, "late");
    assert!(late.status == Some(6) && !late.stderr.contains("removed"), "{late:#?}");
    lab.succeed(&["replay", "r", "--fabric", "sim:cluster"]);
}

/// Tests an index that names a file for each rank, as SimGrid writes it.
#[test]
fn traces_of_simgrid_are_replayed_by_their_index() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("parts")).unwrap();
    lab.write("trace.txt", "parts/first.txt\nparts/second.txt\n");
    let first = "0 init\n0 compute 3e6\n0 isend 1 7 100 0\n0 sendRecv 5 1 5 1 1 1\n0 wait 0 1 7\n";
    let second = "1 init\n1 irecv 0 7 100 0\n1 sendRecv 5 0 5 0 1 1\n1 wait 0 1 7\n";
    let both = |rank| {
        format!("{rank} allreduce 12 0 0 \n{rank} gatherv {rank} 0 1 0 0 0\n{rank} finalize\n")
    };
    lab.write("parts/first.txt", &format!("{first}{}", both(0)));
    lab.write("parts/second.txt", &format!("{second}{}", both(1)));
    let replayed = lab.succeed(&["replay", "trace.txt", "--fabric", "sim:cluster"]);
    // 3e6 operations at 1e9 a second.
    assert!(replayed.stderr.contains("rank 0: computing 3.00 ms"), "{replayed:#?}");
    let tradeoff = "tradeoff sim:cluster --program trace.txt --machines sim:fat-tree";
    lab.succeed(&words(tradeoff));
    lab.write("parts/second.txt", &format!("{second}1 waitAny 1\n"));
    let places = ["second.txt', line 5", "'waitAny'"];
    lab.run(&["replay", "trace.txt", "--fabric", "sim:cluster"]).refuses(2, &places);
    // An index leads to no file outside its folder.
    let here = lab.path("parts/second.txt");
    for outside in [here.to_str().unwrap(), "../parts/second.txt"] {
        lab.write("parts/index.txt", &format!("first.txt\n{outside}\n"));
        lab.run(&["replay", "parts/index.txt", "--fabric", "sim:cluster"])
            .refuses(2, &["parts/index.txt", "outside its folder"]);
    }
    lab.write("outside.txt", "0 init\n");
    std::os::unix::fs::symlink("../outside.txt", lab.path("parts/link.txt")).unwrap();
    for (names, reason) in [
        ("link.txt\n", "outside its folder"),
        (".\n", "no regular file"),
        ("second.txt\n./second.txt\n", "names a file twice"),
    ] {
        lab.write("parts/index.txt", names);
        lab.run(&["replay", "parts/index.txt", "--fabric", "sim:cluster"])
            .refuses(2, &["parts/index.txt", reason]);
    }
    std::fs::remove_file(lab.path("parts/second.txt")).unwrap();
    lab.run(&["replay", "trace.txt", "--fabric", "sim:cluster"]).refuses(2, &["second.txt"]);
}

#[test]
fn the_help_of_replays_speaks_of_recorded_times() {
    let lab = Lab::new();
    // Lines break at the width of the terminal.
    let help = |command| {
        let help = lab.succeed(&[command, "--help"]).stdout;
        help.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for command in ["replay", "tradeoff"] {
        let help = help(command);
        assert!(help.contains("measured (as recorded)"), "{help}");
        assert!(!help.contains("that the program uses on this machine"), "{help}");
    }
    assert!(help("launch").contains("that the program uses on this machine"));
}
