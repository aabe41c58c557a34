//! Tests that options of `mpiexec` do with ranks what they ask for. Which words each option becomes is tested with the
//! table of options (`arguments/mpiexec/spellings.rs`). The programs are scripts.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::lab::{Ended, Lab, skip, words};
use crate::launching::{lab_with, run_program};

/// Runs `mpiexec OPTIONS sh -c SCRIPT`.
fn run(lab: &Lab, options: &str, script: &str) -> Ended {
    start(lab, options, script, |_| {})
}

fn start(lab: &Lab, options: &str, script: &str, change: impl Fn(&mut Command)) -> Ended {
    let before = [&["mpiexec"], &words(options)[..]].concat();
    let mut command = lab.command(&[&before[..], &["sh", "-c", script]].concat());
    change(&mut command);
    lab.spawn(command).wait()
}

fn succeed(lab: &Lab, options: &str, script: &str) -> Vec<String> {
    let ended = run(lab, options, script);
    assert_eq!((ended.status, &*ended.stderr), (Some(0), ""), "{ended:#?}");
    let mut lines: Vec<String> = ended.stdout.lines().map(String::from).collect();
    lines.sort();
    lines
}

#[test]
fn each_rank_has_its_numbers_in_variables() {
    let lab = Lab::new();
    let script = "echo $CORNERSTONE_MPI_RANK/$CORNERSTONE_MPI_SIZE \
        $CORNERSTONE_MPI_LOCAL_RANK/$CORNERSTONE_MPI_LOCAL_SIZE $PMI_RANK/$PMI_SIZE \
        $MPI_LOCALRANKID/$MPI_LOCALNRANKS";
    let of_three = ["0/3 0/3 0/3 0/3", "1/3 1/3 1/3 1/3", "2/3 2/3 2/3 2/3"];
    assert_eq!(succeed(&lab, "-n 3", script), of_three);
    // Ranks 0 and 1 are on one host, rank 2 on another.
    let on_two = ["0/3 0/2 0/3 0/2", "1/3 1/2 1/3 1/2", "2/3 0/1 2/3 0/1"];
    let hosts = "--fabric cluster -host localhost:2,127.0.0.1:1 -n 3";
    assert_eq!(succeed(&lab, hosts, script), on_two);
}

#[test]
fn what_is_for_one_program_is_not_for_the_next() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("inside")).unwrap();
    let script = "echo $PMI_RANK ${A--} ${B--} ${PWD##*/} $CORNERSTONE_MPI_APPNUM $0";
    let first =
        ["mpiexec", "-n", "1", "-env", "A", "1", "-wdir", "inside", "sh", "-c", script, "x"];
    let second = [":", "-n", "1", "-env", "B", "2", "sh", "-c", script, "y"];
    let here = lab.path("").canonicalize().unwrap();
    let here = here.file_name().unwrap().to_str().unwrap();
    let ended = lab.succeed(&[&first[..], &second].concat());
    let mut lines: Vec<&str> = ended.stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0 1 - inside 0 x".to_owned(), format!("1 - 2 {here} 1 y")]);
}

#[test]
fn a_file_starts_its_programs() {
    let lab = Lab::new();
    lab.write("programs", "-l\n-n 1 echo 'a  b'\n# two\n-n 2 \\\n sh -c 'echo $PMI_RANK'\n");
    let ended = lab.succeed(&["mpiexec", "-configfile", "programs"]);
    let mut lines: Vec<&str> = ended.stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["[0] a  b", "[1] 1", "[2] 2"]);
}

/// The C library, as most programs, writes to a file or a pipe in blocks that end anywhere in a line.
#[test]
fn lines_of_several_ranks_never_mix_in_a_file() {
    let lab = Lab::new();
    let script = "awk -v rank=$PMI_RANK 'BEGIN { for (i = 0; i < 3000; i++) \
        print \"line\", i, \"of rank\", rank, \"with some more words to be long\" }'";
    let cornerstone = env!("CARGO_BIN_EXE_cornerstone");
    for (options, redirected) in
        [("-n 4", "> lines"), ("-n 4 -outfile-pattern lines", "> /dev/null")]
    {
        let mut shell = Command::new("sh");
        let line = format!("{cornerstone} mpiexec {options} sh -c \"$0\" {redirected}");
        shell.args(["-c", &line, script]).current_dir(lab.path(""));
        assert_eq!(lab.spawn(shell).wait().status, Some(0));
        let text = std::fs::read_to_string(lab.path("lines")).unwrap();
        let mut next = [0; 4];
        for line in text.lines() {
            let rank: usize = words(line)[4].parse().unwrap_or_else(|_| panic!("{line}"));
            let own = next[rank];
            let expected = format!("line {own} of rank {rank} with some more words to be long");
            assert_eq!(line, expected, "{options}");
            next[rank] += 1;
        }
        assert_eq!(next, [3000; 4]);
    }
}

#[test]
fn output_and_errors_of_a_rank_to_one_place_keep_their_order() {
    let lab = Lab::new();
    let script =
        "for i in 0 1 2 3 4 5 6 7 8 9; do echo out $PMI_RANK $i; echo err $PMI_RANK $i >&2; done";
    let cornerstone = env!("CARGO_BIN_EXE_cornerstone");
    let in_order = |text: &str| {
        for rank in ["0", "1"] {
            let of_rank = text.lines().filter(|line| words(line)[1] == rank);
            let numbers =
                (0..10).flat_map(|i| ["out", "err"].map(|what| format!("{what} {rank} {i}")));
            assert!(of_rank.eq(numbers), "{text}");
        }
    };
    let mut shell = Command::new("sh");
    let line = format!("{cornerstone} mpiexec -n 2 sh -c \"$0\" 2>&1");
    shell.args(["-c", &line, script]);
    in_order(&lab.spawn(shell).wait().stdout);
    let merged = run(&lab, "-n 2 --merge-stderr-to-stdout", script);
    assert_eq!((merged.status, &*merged.stderr), (Some(0), ""));
    in_order(&merged.stdout);
}

/// The program asks for an answer in the middle of a line, and goes on when it has it.
#[test]
fn a_question_without_an_end_of_line_is_seen_before_the_answer() {
    let lab = Lab::new();
    let script = "[ $PMI_RANK = 0 ] || exit 0; printf 'name? '; read name; echo \"hello $name\"";
    let mut child = lab
        .command(&["mpiexec", "-n", "2", "sh", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut question = [0; 6];
    output.read_exact(&mut question).unwrap();
    assert_eq!(&question, b"name? ");
    child.stdin.take().unwrap().write_all(b"Ada\n").unwrap();
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "hello Ada\n");
    assert!(child.wait().unwrap().success());
}

#[test]
fn output_goes_to_files_of_the_ranks() {
    let lab = Lab::new();
    let script = "echo out $PMI_RANK; echo err $PMI_RANK >&2";
    let read = |name: &str| std::fs::read_to_string(lab.path(name)).unwrap();
    assert_eq!(succeed(&lab, "-n 2 --output-filename log", script), [""; 0]);
    assert_eq!(read("log/1/rank.0/stdout"), "out 0\n");
    assert_eq!(read("log/1/rank.1/stderr"), "err 1\n");
    let patterns = "-n 2 -l -outfile-pattern a%%/%r.out -errfile-pattern a%%/%r.err";
    assert_eq!(succeed(&lab, patterns, script), [""; 0]);
    assert_eq!(read("a%/1.out"), "[1] out 1\n");
    assert_eq!(read("a%/0.err"), "[0] err 0\n");
    succeed(&lab, "-n 2 --output file=both", script);
    assert_eq!(read("both.1"), "out 1\nerr 1\n");
    let hosts = "--fabric cluster -host localhost:1,127.0.0.1:1 -n 2 -outfile-pattern c.%r";
    run(&lab, hosts, script);
    assert_eq!(read("c.1"), "out 1\n");
    lab.write("file", "");
    run(&lab, "-n 2 -outfile-pattern file/%r", script)
        .refuses(2, &["'file/0'", "check the folder"]);
}

#[test]
fn a_place_that_is_full_ends_the_run_with_the_reason() {
    let lab = Lab::new();
    let script = "exec yes";
    let full = run(&lab, "-n 2 -outfile-pattern /dev/full", script);
    full.refuses(128 + 13, &["writing '/dev/full': No space left on device"]);
    assert!(lab.becomes_empty());
}

#[test]
fn each_line_gets_the_time_if_it_is_asked_for() {
    let lab = Lab::new();
    let lines = succeed(&lab, "-n 2 --timestamp-output -l", "echo here");
    for line in lines {
        let (time, rest) = line.split_once(' ').unwrap();
        assert!(rest.starts_with('[') && rest.ends_with("] here"), "{line}");
        assert!(time.len() == "2026-01-31T12:00:00.000Z".len() && time.ends_with('Z'), "{line}");
    }
}

#[test]
fn standard_input_goes_to_whom_it_is_given() {
    let lab = Lab::new();
    lab.write("input", &"some line\n".repeat(20_000));
    let counted = |options: &str| {
        let input = || Stdio::from(std::fs::File::open(lab.path("input")).unwrap());
        let before = [&["mpiexec"], &words(options)[..]].concat();
        let script = "echo $PMI_RANK $(wc -l)";
        let command =
            lab.command(&[&before[..], &["sh", "-c", script]].concat()).stdin(input()).output();
        let text = String::from_utf8(command.unwrap().stdout).unwrap();
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        lines.sort();
        lines
    };
    assert_eq!(counted("-n 3"), ["0 20000", "1 0", "2 0"]);
    assert_eq!(counted("-n 3 -s all"), ["0 20000", "1 20000", "2 20000"]);
    assert_eq!(counted("-n 3 --stdin 1"), ["0 0", "1 20000", "2 0"]);
    assert_eq!(counted("-n 2 -s none"), ["0 0", "1 0"]);
    run(&lab, "-n 2 -s 2", "true").refuses(2, &["rank 2 is to read standard input"]);
    run(&lab, "-n 2 -s 0,1", "true").refuses(2, &["'0,1' is no rank"]);
    let hosts = "--fabric cluster -host localhost:1,127.0.0.1:1 -n 2 -s all";
    run(&lab, hosts, "true").refuses(2, &["on several hosts, rank 0 reads"]);
}

#[test]
fn a_run_ends_when_its_time_is_over() {
    let lab = Lab::new();
    let script = "trap 'echo ended $PMI_RANK; exit 0' TERM; sleep 1000 & wait";
    let of_script = [
        "the run has not ended in 0.4 s",
        "all ranks were ended",
        "ranks 0, 1 have not called MPI_Init",
    ];
    run(&lab, "-n 2 --timeout 0.4", script).refuses(124, &of_script);
    assert!(lab.becomes_empty());
    let hosts = "--fabric cluster -host localhost:1,127.0.0.1:1 -n 2 --timeout 0.4";
    run(&lab, hosts, script).refuses(124, &["the run has not ended in 0.4 s"]);
    assert!(lab.becomes_empty());
    let by_variable = start(&lab, "-n 2", script, |command| {
        command.env("MPIEXEC_TIMEOUT", "0.4");
    });
    by_variable.refuses(124, &["the run has not ended in 0.4 s"]);
    // The ranks end first.
    assert_eq!(run(&lab, "-n 2 --timeout 3600", "true").status, Some(0));
}

#[test]
fn the_processors_of_ranks_are_those_that_are_asked_for() {
    let lab = Lab::new();
    let script = "grep Cpus_allowed_list /proc/self/status | cut -f 2";
    let all = std::thread::available_parallelism().unwrap().get();
    if all < 2 {
        return skip("the processors of ranks", "there is but one processor");
    }
    let first_and_second = |lines: &[String]| lines.len() == 2 && lines[0] != lines[1];
    assert!(first_and_second(&succeed(&lab, "-n 2 --bind-to core", script)));
    // Two processors each: more than there are on some machines, where ranks then share them.
    let pairs = succeed(&lab, "-n 2 --map-by slot:PE=2", script);
    assert!(pairs.iter().all(|line| line.contains([',', '-'])), "{pairs:?}");
    let shown = run(&lab, "-n 2 --bind-to core --report-bindings", "true");
    let shown: Vec<&str> = shown.stderr.lines().collect();
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(shown[0].starts_with("cornerstone: rank 0 on ") && shown[0].contains(", processor "));
    assert!(shown[1].starts_with("cornerstone: rank 1 on "), "{shown:?}");
    lab.run(&["launch", "-n", "2", "--map-by", "socket", "true"]).refuses(2, &["--bind core"]);
    lab.run(&["launch", "-n", "2", "--processors-each", "2", "--bind", "socket", "true"])
        .refuses(2, &["--bind core"]);
}

#[test]
fn options_without_effect_are_noted_unless_nobody_wants_notes() {
    let lab = Lab::new();
    let noted = run(&lab, "--mca btl self,tcp -n 2", "echo here");
    assert_eq!(noted.stdout, "here\nhere\n");
    let note =
        "cornerstone: note: --mca btl has no effect: it configures the components of Open MPI\n";
    assert_eq!((noted.status, &*noted.stderr), (Some(0), note));
    succeed(&lab, "-q --mca btl self,tcp -n 2", "true");
}

#[test]
fn errors_have_the_handler_that_a_program_starts_with() {
    let source = "#include <mpi.h>\n#include <stdio.h>\n\
        int main(int c, char **v) { int x = 0; MPI_Errhandler h; MPI_Init(&c, &v);\n\
        MPI_Comm_get_errhandler(MPI_COMM_SELF, &h);\n\
        int code = MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);\n\
        printf(\"%d %d\\n\", code == MPI_ERR_RANK, h == MPI_ERRORS_RETURN); MPI_Finalize(); return 0; }";
    let Some(lab) = lab_with("an initial error handler", source) else { return };
    let program = lab.path("program");
    let program = program.to_str().unwrap();
    let returns = ["mpiexec", "-n", "1", "-initial-errhandler", "mpi_errors_return", program];
    assert_eq!(lab.succeed(&returns).stdout, "1 1\n");
    let fatal = run_program(&lab, &["-n", "1"], "");
    fatal.refuses(6, &["MPI_ERR_RANK"]);
}
