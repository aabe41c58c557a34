//! Tests the exit statuses that let a script see what was found: each row of `docs/statuses.md` that no other test has.

use crate::lab::{Ended, Lab, words};
use crate::launching::{built, lab_with, run_program};

/// A program that leaves a communicator or not, and a rank that fails or not.
const LEAVES: &str = r#"
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv) {
    MPI_Comm kept;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &kept);
    if (strcmp(argv[1], "tidy") == 0 || rank == 0)
        MPI_Comm_free(&kept);
    MPI_Finalize();
    return strcmp(argv[1], "fails") == 0 && rank == 1 ? 7 : 0;
}
"#;

/// Ways to launch two ranks: one launcher, a launcher for each of two hosts, and a simulation.
const VARIANTS: [&[&str]; 4] = [
    &["-n", "2"],
    &["-n", "2", "--fabric", "tcp"],
    &["-n", "2", "--host", "localhost:1,127.0.0.1:1"],
    &["-n", "2", "--fabric", "sim:cluster"],
];

#[test]
fn objects_that_are_left_give_a_program_that_ends_well_the_status_1() {
    let Some(lab) = lab_with("objects that are left", LEAVES) else { return };
    for variant in VARIANTS {
        let checked = |name| run_program(&lab, &[variant, &["--check-leaks"]].concat(), name);
        let tidy = checked("tidy");
        assert_eq!(tidy.status, Some(0), "{variant:?}: {tidy:#?}");
        let left = "rank 1: not freed at MPI_Finalize: 1 communicator";
        checked("leaves").refuses(1, &[left, "--check-leaks found objects"]);
        assert_eq!(run_program(&lab, variant, "leaves").status, Some(0), "nothing was asked");
        // Another failure has precedence.
        checked("fails").refuses(7, &[left]);
    }
    let program = lab.path("program");
    let words = ["mpiexec", "-n", "2", "--check-leaks", program.to_str().unwrap(), "leaves"];
    lab.run(&words).refuses(1, &["--check-leaks found objects"]);
    assert!(lab.becomes_empty());
}

#[test]
fn a_check_that_saw_no_rank_is_undecided() {
    let test = "a check that saw no rank";
    if built(test, "libcornerstone_profile.so", "libprofile").is_none() {
        return;
    }
    let lab = Lab::new();
    for launcher in ["launch", "mpiexec"] {
        lab.run(&[launcher, "-n", "2", "--check", "true"])
            .refuses(3, &["--check has checked nothing", "libmpi_abi.so.1"]);
        assert_eq!(lab.run(&[launcher, "-n", "2", "--check", "false"]).status, Some(1));
    }
}

const PAIR: &str = "0: S 1 8 R E\n1: R S 0 0 E\n";

/// Tests a given period with instances that all sustain it, as many as prove a miss rate of 1 % at 95 % (0.99^299 is
/// 4.95 %) and one less, and one that no machine sustains.
#[test]
fn a_given_period_holds_is_refused_or_is_not_proven() {
    let lab = Lab::new();
    lab.write("pair.pmp", PAIR);
    let on = |words_of: &str| lab.run(&words(&format!("{words_of} --fabric sim:cluster")));
    let pmp = |more: &str| on(&format!("pmp pair.pmp {more}"));
    assert_eq!(pmp("--period 10ms --instances 299").status, Some(0));
    pmp("--period 10ms --instances 298")
        .refuses(3, &["pmp, 2 ranks: 10.0 ms is not refused: 0 of 298 missed", "299"]);
    pmp("--period 10ns --instances 299").refuses(1, &["pmp, 2 ranks: 10.0 ns is refused"]);
    // No processors exchange a message in this period.
    lab.run(&words("pmp pair.pmp --period 50ns --instances 100"))
        .refuses(1, &["50.0 ns is refused"]);
    let turn = "corner-turn --ranks 2 --matrix 8x8";
    on(&format!("{turn} --period 10ns --instances 99")).refuses(1, &["corner-turn, 2 ranks"]);
    on(&format!("{turn} --period 1s --instances 9")).refuses(3, &["corner-turn, 2 ranks: 1.00 s"]);
    let stone = "run hartstone --ranks 2 --sizes 8";
    let refused = on(&format!("{stone} --period 10ns --instances 99"));
    // With and without priorities.
    refused.refuses(1, &["hartstone, 2 ranks: 10.0 ns is refused"]);
    // A search without a given period has found one.
    assert_eq!(pmp("--duration 20ms").status, Some(0));
}

#[test]
fn periods_that_do_not_hold_are_results_for_a_comparison() {
    let lab = Lab::new();
    lab.write("pair.pmp", PAIR);
    let program = env!("CARGO_BIN_EXE_cornerstone");
    let command = format!(
        "{program} run hartstone --ranks 2 --sizes 8 --period 10ns --instances 99 --fabric sim:cluster"
    );
    let ended = lab.run(&["check", "--against", "past", "--add", &command]);
    assert_eq!(ended.status, Some(0), "{ended:#?}");
    assert!(ended.stdout.contains("nothing to compare with yet"), "{ended:#?}");
    // A failure is still one.
    let broken = format!("{command} --ranks-per-processor 0");
    let ended = lab.run(&["check", "--against", "past", &broken]);
    ended.refuses(1, &["it ended with status 2"]);
}

/// Numbers of simulated machines are equal or different, and a rate of another machine is a regression there, too.
#[test]
fn simulated_machines_have_the_same_statuses_and_nothing_undecided() {
    let lab = Lab::new();
    for machine in ["cluster", "gigabit-ethernet"] {
        let out = format!("run ping-pong --sizes 0,8 --fabric sim:{machine} --out {machine}.jsonl");
        let shown = lab.succeed(&words(&out)).stdout;
        assert!(shown.contains("times are virtual and exact"), "{shown}");
        assert!(!shown.contains("interval") && !shown.contains("converge"), "{shown}");
        let found = lab.measurements(&format!("{machine}.jsonl"));
        let is_exact = |m: &serde_json::Value| {
            m["stop_reason"] == "exact" && m["ci_low"] == m["median"] && m["ci_high"] == m["median"]
        };
        assert!(found.iter().all(is_exact), "{found:#?}");
    }
    let compare = |a: &str, b: &str| -> Ended { lab.run(&["compare", a, b]) };
    let same = compare("cluster.jsonl", "cluster.jsonl");
    assert_eq!(same.status, Some(0), "{same:#?}");
    assert!(
        same.stdout.contains("0 slower, 0 faster, 2 equal; all numbers are exact"),
        "{same:#?}"
    );
    let slower = compare("cluster.jsonl", "gigabit-ethernet.jsonl");
    assert_eq!(slower.status, Some(1), "{slower:#?}");
    assert!(!slower.stdout.contains("interval"), "{slower:#?}");
    assert_eq!(compare("gigabit-ethernet.jsonl", "cluster.jsonl").status, Some(0));
    let page = std::fs::read_to_string(lab.path("cluster.html")).unwrap();
    assert!(page.contains("Times are virtual and exact") && !page.contains("interval from"));
}

/// Returns the statuses in the first column of lines or rows.
fn numbers(text: &str) -> Vec<u32> {
    let first = |line: &str| line.split_whitespace().find(|word| *word != "|").map(String::from);
    let words = text.lines().filter_map(first);
    let all = words.map(|word| word.trim_end_matches(',').parse().ok());
    all.flatten().collect()
}

#[test]
fn the_help_lists_the_statuses_of_the_table() {
    let lab = Lab::new();
    let help = lab.succeed(&["--help"]).stdout;
    let (_, listed) = help.split_once("Exit status:").unwrap();
    let table = numbers(include_str!("../../../../docs/statuses.md"));
    // The table has 126 and 127 in one row, and 130 as 128 + 2.
    assert_eq!(table, [0, 1, 2, 3, 122, 124, 126, 128]);
    assert_eq!(numbers(listed), [0, 1, 2, 3, 122, 124, 126, 127, 130]);
    let says = |command: &str, words: &str| {
        let help = lab.succeed(&[command, "--help"]).stdout;
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(words), "{command}: {help}");
    };
    for command in ["run", "pmp", "corner-turn", "pipeline"] {
        says(
            command,
            "The status is 1 if it is refused, and 3 if it is neither refused nor proven",
        );
    }
    says("compare", "Exit with status 1 if a number is slower by more than this share, and with 3");
    says("check", "The status is 3 if undecided numbers seem slower by more, or all are undecided");
    says("launch", "3 if --check has checked nothing");
    says("mpiexec", "The exit status is that of `cornerstone launch`");
}
