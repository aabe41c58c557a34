//! Tests that every command line of the README and of the help texts works as it is written. The guides have their own
//! test.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::lab::{Ended, Lab};
use crate::package::install;

const README: &str = include_str!("../../../../README.md");

/// Lines that are not run, with the reason. Their options are checked nevertheless.
const NOT_RUN: &[(&str, &str)] = &[
    ("cargo run --release -- run", "compiles everything"),
    ("make test", "runs this test"),
    (
        "make wheel && pip install target/wheels/*.whl",
        "tests/command/package.rs makes a wheel and installs it",
    ),
    ("cornerstone run --format json | jq .median", "needs jq"),
    ("cornerstone run --fabric mpi:mpich", "needs MPICH"),
    ("mpiexec -n 4 cornerstone run --fabric mpi", "needs another MPI's mpiexec"),
    ("cornerstone run ping-pong --fabric mpi:mpich --format osu", "needs MPICH in PATH"),
    (
        "cornerstone compare --measure 'old/cornerstone run ping-pong' 'new/cornerstone run ping-pong'",
        "measures until every number is decided; tests/command/in_turn.rs limits the time",
    ),
    (
        "for fabric in local tcp mpi:mpich; do\n    cornerstone run ping-pong bandwidth --ranks 2 --fabric $fabric \
         --out ${fabric%:*}.jsonl\ndone",
        "needs MPICH",
    ),
    (
        "cornerstone fit RUN.jsonl --loggp",
        "needs times on several numbers of ranks; tests/command/tradeoff.rs fits them",
    ),
    ("mpiexec -hosts alpha,beta -ppn 8 ./program", "needs these hosts"),
];

/// Lines that take long, so that a test of their own runs them.
const LONG: &[&str] = &[
    "cornerstone run",
    "cornerstone run everything",
    "cornerstone run barrier --precision 1% --time-limit 10s",
    "cornerstone check --against nightly --format github 'cornerstone run' >> $GITHUB_STEP_SUMMARY",
    "cornerstone run --fabric tcp",
    "cornerstone run --fabric tcp --hosts FILE",
    "cornerstone run --fabric cluster --hosts FILE",
    "cornerstone run --fabric ofi --hosts FILE",
    "cornerstone launch --hosts hosts.txt --fabric cluster:ofi -n 16 ./program",
    "cornerstone launch -n 4 --fabric ofi ./program",
    "cornerstone run collectives --ranks 2,4,8",
    "cornerstone run collectives --sizes 0..1MiB",
    "cornerstone run processor",
    "cornerstone run applications",
    "cornerstone run real-time",
    "cornerstone run wake-up",
    "cornerstone run clock --duration 1min --limit 100us",
    "cornerstone run hartstone --duration 5s",
    "cornerstone run multiply --ranks 1,2,4,8 --only form=blocks",
    "cornerstone run traffic --fabric sim:ipsc --ranks 16 --rule sphere:1,uniform --hits 0,0.9",
    "cornerstone run all-to-all --fabric sim:cluster --ranks 512 --level packets",
    "cornerstone reproduce mitre-1995/4.4",
    "cornerstone reproduce mitre-1995/4.4 --format csv",
    "cornerstone tradeoff sharc-ring --clock 3.75 --links 3.75",
    "cornerstone tradeoff sharc-ring --clock 2 --links 4",
    "cornerstone calibrate RUN.jsonl --tails --ranks 64",
    "cornerstone pmp patterns/corner-turn-8.pmp --fabric sim:paragon-osf1",
    "cornerstone pipeline pipelines/fft-corner-turn-fft.toml --granularity",
    "cornerstone pipeline pipelines/paragon-fft-corner-turn-fft.toml --fabric sim:paragon-osf1",
    "cornerstone pipeline pipelines/scalable-mapping.toml --doublings 3 --stages-alone --copies --fabric sim:paragon-osf1",
];

/// A program for the lines that start one.
const PROGRAM: &str = r#"
#include <mpi.h>
int main(int argc, char **argv) {
    int rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Finalize();
}
"#;

/// Calls the command of the installation, and gives measurements on this machine less time than they take by default.
/// Simulated machines are left as they are.
const SHORT: &str = r#"#!/bin/sh
has() { case " $words " in *" $1"*) return 0 ;; esac; return 1; }
words=$*
case $1 in
run | pmp | corner-turn | pipeline)
    if ! has "--fabric sim:" && ! has "--check" && ! has "--explain-plan" && ! has "--resume" && ! has "--pattern-to"; then
        has "--launches" || [ "$1" != run ] || set -- "$@" --launches 1
        case $1-$2 in
        run-wake-up | run-clock | run-hartstone | run-real-time) ;;
        run-*) has "--time-limit" || set -- "$@" --time-limit 2ms ;;
        esac
        case $1 in
        run) ;;
        *) if has "--period"; then set -- "$@" --instances 10; else set -- "$@" --search-limit 300ms; fi ;;
        esac
    fi
    ;;
esac
exec PREFIX/bin/cornerstone "$@"
"#;

/// Prints the table of osu_latency in rank 0.
const OSU: &str = r#"#!/bin/sh
case $CORNERSTONE_MPI_RANK in "" | 0) printf '# OSU MPI Latency Test\n# Size  Latency (us)\n8  1.25\n64  1.50\n' ;; esac
"#;

/// Makes the files that the lines name, by their names there.
const FILES: &str = r#"
mkdir -p results nightly FOLDER old new build other home/.local/share/man/man1 home/.zfunc
mkdir -p home/.local/share/bash-completion/completions home/.config/fish/completions
for name in patterns pipelines; do ln -s PREFIX/share/cornerstone/$name $name; done
for name in old new build; do ln -s "$PWD/short/cornerstone" $name/cornerstone; done
for name in OLD NEW COMMAND; do ln -s osu_latency short/$name; done
ln -s PREFIX/bin/mpiexec other/mpiexec
printf 'localhost:8\n127.0.0.1:8\n' | tee hosts.txt HOSTS FILE > /dev/null
echo 'print("hello")' > program.py
touch input.txt
cp pipelines/fft-corner-turn-fft.toml CHAIN.toml
mpicc -g program.c -o program
cp program server && cp program client
cornerstone run ping-pong bandwidth copy clock-cost clock allreduce noise --ranks 2 --sizes 8,64,1KiB,64KiB,1MiB \
    --launches 1 --time-limit 20ms --out RUN.jsonl
for name in OLD NEW A.jsonl B.jsonl old.jsonl new.jsonl before.jsonl after.jsonl results/RUN.jsonl \
    nightly/1.jsonl local.jsonl tcp.jsonl mpi.jsonl; do
    cp RUN.jsonl $name
done
cornerstone check --against FOLDER --add COMMAND || [ $? = 3 ]
cornerstone calibrate RUN.jsonl -o twin.toml
cornerstone launch --fabric sim:cluster -n 2 --record program.rec ./program && cp program.rec p.rec
"#;

/// Returns the commands of the README: those of its code blocks, and those in its tables.
fn lines_of_the_readme() -> Vec<String> {
    let mut lines = Vec::new();
    let mut loops = String::new();
    for line in README.lines() {
        if let Some(code) = line.strip_prefix("    ") {
            // A loop is one command.
            loops += &format!("{code}\n");
            if !loops.starts_with("for ") || code == "done" {
                let command = loops.split("  #").next().unwrap_or_default();
                lines.push(command.trim_end().to_string());
                loops.clear();
            }
        } else if line.starts_with('|') {
            let spans = line.split('`').skip(1).step_by(2);
            lines.extend(spans.filter(|span| is_command(span)).map(String::from));
        }
    }
    lines
}

fn is_command(words: &str) -> bool {
    ["cornerstone ", "mpiexec "].iter().any(|start| words.starts_with(start))
}

/// Returns the names of the commands.
fn commands(lab: &Lab) -> Vec<String> {
    let help = lab.succeed(&["--help"]).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    // The lines of a long description begin with more blanks.
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty());
    ["", "machines show"].into_iter().chain(names).map(String::from).collect()
}

/// Returns the commands in the examples of all help texts. A description follows on the same line after several blanks,
/// or on the next line.
fn lines_of_the_help(lab: &Lab) -> Vec<String> {
    let mut lines = Vec::new();
    for command in commands(lab) {
        let words: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let help = lab.succeed(&words).stdout;
        let examples = help.lines().skip_while(|line| *line != "Examples:").skip(1);
        let mut continued = false;
        for line in examples.take_while(|line| !line.is_empty()) {
            let (line, is_first) =
                (line.trim_start(), line.starts_with("  ") && is_command(&line[2..]));
            if !is_first && !continued {
                continue;
            }
            let words = line.split("  ").next().unwrap_or_default();
            let part = words.trim_end_matches('\\').trim_end();
            match (lines.last_mut(), continued) {
                (Some(last), true) => *last = format!("{last} {part}"),
                _ => lines.push(part.to_string()),
            }
            continued = words.ends_with('\\');
        }
    }
    lines
}

/// Returns the statuses with which a command may end: comparisons may find something, and a short trial of a period may
/// refuse it or prove nothing (docs/statuses.md).
fn permitted(line: &str) -> &[i32] {
    let judge = [
        " compare ",
        " verdict ",
        " check ",
        " pmp ",
        " corner-turn ",
        " pipeline ",
        " hartstone ",
    ];
    let is_judged = judge.iter().any(|word| line.contains(word));
    if is_judged { &[0, 1, 3] } else { &[0] }
}

/// Runs all lines, except those of [`NOT_RUN`], in a folder with what they need.
fn run_all(test: &str, lines_of: impl Fn(&Lab) -> Vec<String>) {
    let lab = Lab::new();
    let Some(prefix) = install(test, &lab, "own") else { return };
    let mut lines = lines_of(&lab);
    let mut seen = BTreeSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    let with_prefix = |text: &str| text.replace("PREFIX", &prefix.display().to_string());
    let folder = lab.path("short");
    std::fs::create_dir(&folder).unwrap();
    for (name, text) in [("cornerstone", SHORT), ("osu_latency", OSU)] {
        lab.write(&format!("short/{name}"), &with_prefix(text));
        let made = Command::new("chmod").arg("+x").arg(folder.join(name)).status().unwrap();
        assert!(made.success());
    }
    lab.write("program.c", PROGRAM);
    let ended = shell(&lab, &prefix, &format!("set -e\n{}", with_prefix(FILES)));
    assert_eq!(ended.status, Some(0), "{ended:#?}");
    let mut failed = Vec::new();
    for line in &lines {
        if NOT_RUN.iter().any(|(name, _)| name == line) {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.windows(2).filter(|pair| ["--out", "--record", "--to"].contains(&pair[0]))
        {
            // Other lines read it, and no file is replaced.
            let _ = std::fs::remove_file(lab.path(pair[1]));
        }
        let ended = shell(&lab, &prefix, line);
        if !ended.status.is_some_and(|status| permitted(line).contains(&status)) {
            failed.push(format!("{line}\n{ended:#?}"));
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {} lines fail:\n{}",
        failed.len(),
        lines.len(),
        failed.join("\n")
    );
}

/// Runs a line as a user would, with the installation in PATH.
fn shell(lab: &Lab, prefix: &Path, line: &str) -> Ended {
    let path = std::env::var("PATH").unwrap_or_default();
    let own = format!("{}:{}/bin:{path}", lab.path("short").display(), prefix.display());
    let mut shell = Command::new("sh");
    shell
        .args(["-c", line])
        .current_dir(lab.path(""))
        .env("PATH", own)
        .env("HOME", lab.path("home"));
    shell.env("GITHUB_STEP_SUMMARY", lab.path("summary.md"));
    lab.spawn(lab.marked(shell)).wait()
}

/// Appends an option that does not exist to the lines that the other tests here leave out: all others must be known.
#[test]
fn lines_that_are_long_or_not_run_are_shown_and_have_known_options() {
    let lab = Lab::new();
    let shown: BTreeSet<String> =
        lines_of_the_readme().into_iter().chain(lines_of_the_help(&lab)).collect();
    for line in NOT_RUN.iter().map(|(line, _)| line).chain(LONG) {
        assert!(shown.contains(*line), "no text shows {line}");
        let words = line.split(['|', '>']).next().unwrap_or_default();
        let Some(options) = words.strip_prefix("cornerstone run ") else { continue };
        let wrong: Vec<&str> =
            ["run"].into_iter().chain(options.split_whitespace()).chain(["--unknown"]).collect();
        let ended = lab.run(&wrong);
        assert!(
            ended.status == Some(2) && ended.stderr.contains("'--unknown'"),
            "{line}: {ended:#?}"
        );
    }
}

#[test]
fn every_command_line_of_the_readme_works() {
    let short = |line: &String| !LONG.contains(&line.as_str());
    run_all("the README", |_| lines_of_the_readme().into_iter().filter(short).collect());
}

#[test]
fn every_other_example_of_the_help_texts_works() {
    let readme = lines_of_the_readme();
    let is_other = |line: &String| !LONG.contains(&line.as_str()) && !readme.contains(line);
    run_all("the help texts", |lab| lines_of_the_help(lab).into_iter().filter(is_other).collect());
}

#[test]
#[ignore = "long"]
fn every_line_of_the_readme_and_the_help_texts_that_takes_long_works() {
    let test = "lines that take long";
    let has_libfabric = crate::ofi::is_here(test);
    let runs = |line: &&&str| has_libfabric || !line.contains("ofi");
    run_all(test, |_| LONG.iter().filter(runs).map(|line| line.to_string()).collect());
}
