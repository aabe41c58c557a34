//! Tests `cornerstone launch`, as a user of `mpiexec` uses it. Its programs are scripts, or C programs with our library
//! if it was built.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::lab::{Ended, Lab, Running, eventually, signal, skip};

/// Returns `cornerstone launch -n RANKS OPTIONS -- sh -c SCRIPT`, with the rank in `$rank`.
fn shell<'a>(ranks: &'a str, options: &[&'a str], script: &str) -> Vec<String> {
    let begin = ["launch", "-n", ranks].into_iter().chain(options.iter().copied());
    let words = begin.chain(["--", "sh", "-c"]).map(String::from);
    words.chain([format!("rank=$CORNERSTONE_MPI_RANK; {script}")]).collect()
}

fn run(lab: &Lab, words: &[String]) -> Ended {
    start(lab, words).wait()
}

fn start<'a>(lab: &'a Lab, words: &[String]) -> Running<'a> {
    lab.start(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Returns the lines in alphabetical order, because ranks write in any order.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// Returns our library from the tests' build: the newer of the two places.
pub(crate) fn library(test: &str) -> Option<PathBuf> {
    built(test, "libmpi_abi.so", "libmpi-abi")
}

/// As [`library`], for a library of any crate.
pub(crate) fn built(test: &str, file: &str, package: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_BIN_EXE_cornerstone")).parent().unwrap();
    let places = [folder.join(file), folder.join("deps").join(file)];
    let built = |path: &PathBuf| path.metadata().and_then(|one| one.modified()).ok();
    let found = places.into_iter().filter(|path| path.exists()).max_by_key(built);
    if found.is_none() {
        skip(test, &format!("{file} is not built; `cargo build -p {package}` does"));
    }
    found
}

/// Returns a lab with this C program; `None` if our library is not built.
pub(crate) fn lab_with(test: &str, source: &str) -> Option<Lab> {
    let library = library(test)?;
    let lab = Lab::new();
    compile(&lab, &library, source);
    Some(lab)
}

/// Returns the number of the line of such a program's source that ends with these words.
pub(crate) fn line_with(source: &str, end: &str) -> usize {
    let index = source.lines().position(|line| line.ends_with(end));
    1 + index.unwrap_or_else(|| panic!("no line ends with {end}"))
}

/// Returns the place of the call in a function, in the line of the source with this remark, in the words of a report.
pub(crate) fn place_in(source: &str, function: &str, remark: &str) -> String {
    format!("{function}, program.c:{}", line_with(source, &format!("// {remark}")))
}

/// Launches the part `name` of the program of such a lab.
pub(crate) fn start_program<'a>(lab: &'a Lab, options: &[&str], name: &str) -> Running<'a> {
    let program = lab.path("program");
    lab.start(&[&["launch"], options, &[program.to_str().unwrap(), name]].concat())
}

/// As [`start_program`], to the end.
pub(crate) fn run_program(lab: &Lab, options: &[&str], name: &str) -> Ended {
    start_program(lab, options, name).wait()
}

/// Compiles a C program with our header and library.
pub(crate) fn compile(lab: &Lab, library: &Path, source: &str) -> PathBuf {
    compile_with(lab, library, source, &[]).unwrap_or_else(|why| panic!("{why}"))
}

/// As [`compile`], with options for the compiler. Returns what it says if it fails.
pub(crate) fn compile_with(
    lab: &Lab,
    library: &Path,
    source: &str,
    options: &[&str],
) -> Result<PathBuf, String> {
    let program = lab.path("program");
    lab.write("program.c", source);
    for name in ["libmpi_abi.so", "libmpi_abi.so.1"] {
        std::os::unix::fs::symlink(library, lab.path(name)).unwrap();
    }
    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-g", "-pthread"])
        .args(options)
        .arg("-o")
        .arg(&program)
        .arg(lab.path("program.c"))
        .arg(format!("-I{}/../libmpi-abi/include", env!("CARGO_MANIFEST_DIR")))
        .arg(format!("-I{}/../libmpi-abi/tests/programs", env!("CARGO_MANIFEST_DIR")))
        .arg(format!("-L{}", lab.path("").display()))
        .arg(format!("-Wl,-rpath,{}", lab.path("").display()))
        .arg("-lmpi_abi")
        .output()
        .expect("the tests need a C compiler named cc");
    match compiled.status.success() {
        true => Ok(program),
        false => Err(String::from_utf8_lossy(&compiled.stderr).into_owned()),
    }
}

#[test]
fn output_comes_as_it_is_written_or_with_the_rank_before_each_line() {
    let lab = Lab::new();
    let script = "echo out $rank; printf 'no end' >&2";
    let plain = run(&lab, &shell("3", &[], script));
    assert_eq!(plain.status, Some(0), "{plain:#?}");
    assert_eq!(sorted(&plain.stdout), ["out 0", "out 1", "out 2"]);
    assert_eq!(plain.stderr, "no endno endno end");
    let marked = run(&lab, &shell("3", &["--prefix"], script));
    assert_eq!(sorted(&marked.stdout), ["[0] out 0", "[1] out 1", "[2] out 2"]);
    assert_eq!(sorted(&marked.stderr), ["[0] no end", "[1] no end", "[2] no end"]);
}

#[test]
fn standard_input_goes_to_rank_0_alone() {
    let lab = Lab::new();
    let words = shell("3", &["--prefix"], "cat");
    let mut child = lab
        .command(&words.iter().map(String::as_str).collect::<Vec<_>>())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"one\ntwo\n").unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success());
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), "[0] one\n[0] two\n");
}

#[test]
fn arguments_are_the_programs_own_whatever_they_look_like() {
    let lab = Lab::new();
    let ended = lab.succeed(&["launch", "-n", "1", "echo", "--ranks", "-n", "a b", "--", "*"]);
    assert_eq!(ended.stdout, "--ranks -n a b -- *\n");
}

#[test]
fn the_first_status_that_is_not_zero_is_returned_and_ends_the_others() {
    let lab = Lab::new();
    let ended = run(&lab, &shell("3", &[], "[ $rank = 1 ] && exit 42; exec sleep 1000"));
    ended.refuses(42, &["rank 1", "42"]);
    assert!(lab.becomes_empty());
}

#[test]
fn a_rank_that_is_killed_is_named_and_ends_the_others() {
    let lab = Lab::new();
    let running = start(&lab, &shell("3", &[], "exec sleep 1000"));
    signal(running.started(2), "KILL");
    running.wait().refuses(128 + 9, &["rank 2", "SIGKILL"]);
    assert!(lab.becomes_empty());
}

#[test]
fn what_ranks_have_started_ends_with_a_run_that_fails_and_holds_up_none() {
    let lab = Lab::new();
    let script = "sleep 1000 & [ $rank = 1 ] && exit 9; exec sleep 1000";
    run(&lab, &shell("2", &[], script)).refuses(9, &["rank 1"]);
    assert!(lab.becomes_empty());
    run(&lab, &shell("2", &["--prefix"], script)).refuses(9, &["rank 1"]);
    assert!(lab.becomes_empty());
    // Processes that a program leaves running on purpose are not ended.
    let script = "sleep 1000 > /dev/null 2>&1 & exit 0";
    assert_eq!(run(&lab, &shell("2", &[], script)).status, Some(0));
    assert_eq!(lab.processes().len(), 2);
}

#[test]
fn signals_that_mean_the_end_end_all_ranks() {
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let lab = Lab::new();
        let running = start(&lab, &shell("2", &[], "echo started; exec sleep 1000"));
        running.started(1);
        running.signal(name);
        running.wait().refuses(128 + number, &[&format!("SIG{name}")]);
        assert!(lab.becomes_empty(), "{name}");
    }
}

#[test]
fn signals_that_a_program_may_want_reach_every_rank() {
    let lab = Lab::new();
    let script =
        "trap 'echo heard $rank; exit 0' USR1; touch ready$rank; while :; do sleep 0.01; done";
    let running = start(&lab, &shell("2", &[], script));
    let ready = || [0, 1].iter().all(|rank| lab.path(&format!("ready{rank}")).exists());
    assert!(eventually(ready), "the ranks did not start");
    running.signal("USR1");
    let ended = running.wait();
    assert_eq!(ended.status, Some(0), "{ended:#?}");
    assert_eq!(sorted(&ended.stdout), ["heard 0", "heard 1"]);
}

#[test]
fn each_rank_has_a_core_of_its_own_where_that_is_asked_for() {
    let lab = Lab::new();
    let script = "echo $(grep Cpus_allowed_list /proc/self/status | cut -f 2)";
    let all = run(&lab, &shell("1", &[], script)).stdout;
    let processors = std::thread::available_parallelism().unwrap().get();
    if processors < 2 {
        return skip("a core for each rank", "there is but one processor");
    }
    let bound = run(&lab, &shell("2", &["--bind", "core"], script)).stdout;
    let cores: Vec<u32> = bound.lines().map(|core| core.parse().unwrap()).collect();
    assert!(cores.len() == 2 && cores[0] != cores[1], "{bound}");
    assert!(all.trim().parse::<u32>().is_err(), "without it a rank may run anywhere: {all}");
}

#[test]
fn what_cannot_be_started_is_refused_by_name() {
    let lab = Lab::new();
    let starts = |options: &[&str], program: &str, status: i32, words: &[&str]| {
        let arguments = [&["launch", "-n", "2"], options, &[program]].concat();
        let words = [&["cannot start", program], words].concat();
        lab.run(&arguments).refuses(status, &words);
    };
    lab.write("data", "no program");
    lab.write("script", "#!/no/such/interpreter\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(lab.path("script"), mode).unwrap();
    for options in [&[][..], &["--fabric", "tcp"], &["--fabric", "cluster"]] {
        // The statuses of shells: 127 for a program that is not found, 126 for one that is not executed.
        starts(options, "./not-there", 127, &[]);
        starts(options, "no-program-has-this-name", 127, &[]);
        starts(options, "data", 127, &[]);
        starts(options, "./script", 127, &[]);
        starts(options, "./data", 126, &[]);
        starts(options, "/", 126, &[]);
    }
    starts(&[], "./not-there", 127, &["hint: there is no such file"]);
    starts(&[], "data", 127, &["hint: write ./data"]);
    starts(&[], "./data", 126, &["hint: make it executable with `chmod +x ./data`"]);
    lab.run(&["launch", "-n", "2", "--no-option", "true"]).refuses(2, &["'--no-option'"]);
    lab.run(&["launch", "-n", "0", "true"]).refuses(2, &["at least 1 rank"]);
    for ranks in ["-3", "two", "99999999999999999999"] {
        let ended = lab.run(&["launch", "-n", ranks, "true"]);
        assert_eq!(ended.status, Some(2), "{ended:#?}");
        assert!(ended.stderr.contains(ranks), "{ended:#?}");
    }
    lab.run(&["launch", "-n", "1000000", "true"]).refuses(2, &["1000000"]);
    let mut limited = std::process::Command::new("sh");
    let script =
        format!("ulimit -f 1024; exec {} launch -n 2 true", env!("CARGO_BIN_EXE_cornerstone"));
    limited.args(["-c", &script]);
    lab.spawn(limited).wait().refuses(1, &["shared memory", "ulimit -f"]);
    assert_eq!(lab.run(&["launch", "-n", "2"]).status, Some(2));
    assert!(lab.becomes_empty());
}

#[test]
fn fabrics_that_no_program_can_be_launched_on_are_refused_with_what_to_do_instead() {
    let lab = Lab::new();
    for (fabric, words) in [
        ("carrier-pigeon", "there are: local, tcp"),
        ("tcp:7000", "takes no argument"),
        ("mpi:mpich", "mpiexec"),
    ] {
        lab.run(&["launch", "-n", "2", "--fabric", fabric, "true"]).refuses(2, &[fabric, words]);
    }
    let many = lab.run(&["launch", "-n", "257", "--fabric", "tcp", "true"]);
    many.refuses(2, &["up to 256 ranks", "257", "leave --fabric tcp out"]);
    assert!(lab.becomes_empty());
}

#[test]
fn a_program_that_passes_no_messages_runs_as_ranks_over_tcp_too() {
    let lab = Lab::new();
    let ended = run(&lab, &shell("3", &["--fabric", "tcp"], "echo out $rank"));
    assert_eq!(ended.status, Some(0), "{ended:#?}");
    assert_eq!(sorted(&ended.stdout), ["out 0", "out 1", "out 2"]);
}

#[test]
fn an_mpi_program_passes_its_messages_over_the_fabric_that_is_asked_for() {
    let Some(library) = library("an MPI program over TCP") else { return };
    let lab = Lab::new();
    // Each rank counts its sockets: over TCP it has one to each other rank, over shared memory none.
    let source = "#include <mpi.h>\n#include <stdio.h>\n#include <string.h>\n#include <unistd.h>\n\
        int main(int c, char **v) { int rank, size, got, sum, sockets = 0; char path[64], place[64];\n\
        MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);\n\
        for (int fd = 0; fd < 100; fd++) { snprintf(path, 64, \"/proc/self/fd/%d\", fd);\n\
        memset(place, 0, 64); if (readlink(path, place, 63) > 0 && !strncmp(place, \"socket\", 6)) sockets++; }\n\
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &got, 1, MPI_INT, (rank + size - 1) % size, 3,\n\
        MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n\
        MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n\
        if (rank == 0) printf(\"sum %d sockets %d\\n\", sum, sockets);\n\
        MPI_Finalize(); return 0; }";
    let program = compile(&lab, &library, source);
    // 0 + 1 + 2 + 3.
    for (fabric, expected) in [("local", "sum 6 sockets 0\n"), ("tcp", "sum 6 sockets 3\n")] {
        let program = program.to_str().unwrap();
        let ended = lab.succeed(&["launch", "-n", "4", "--fabric", fabric, program]);
        assert_eq!(ended.stdout, expected, "{fabric}");
    }
}

#[test]
fn more_ranks_start_than_the_soft_limit_of_descriptors_has_room_for() {
    let lab = Lab::new();
    // Two descriptors a rank and four more with the prefix: 40 ranks need at least 240.
    let script = format!(
        "ulimit -S -n 100; exec {} launch -n 40 --prefix sh -c 'ulimit -n'",
        env!("CARGO_BIN_EXE_cornerstone")
    );
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", &script]);
    let ended = lab.spawn(limited).wait();
    assert_eq!(ended.status, Some(0), "{ended:#?}");
    // Started programs have the limit of the user.
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines.len(), 40, "{ended:#?}");
    assert!(lines.iter().all(|line| line.ends_with("] 100")), "{ended:#?}");
}

#[test]
fn mpi_abort_ends_the_job_at_once_with_its_code() {
    let Some(library) = library("MPI_Abort ends the job at once") else { return };
    let lab = Lab::new();
    let source = "#include <mpi.h>\n#include <unistd.h>\n\
        int main(int c, char **v) { int rank; MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n\
        if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7); if (rank == 2) pause(); MPI_Barrier(MPI_COMM_WORLD); }";
    let program = compile(&lab, &library, source);
    let ended = lab.run(&["launch", "-n", "3", program.to_str().unwrap()]);
    ended.refuses(7, &["rank 1", "MPI_Abort", "7"]);
    assert!(lab.becomes_empty());
}

#[test]
fn an_mpi_program_that_ends_without_finalizing_is_told_apart() {
    let Some(library) = library("an MPI program that does not finalize") else { return };
    let lab = Lab::new();
    let source = "#include <mpi.h>\n\
        int main(int c, char **v) { int rank; MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n\
        if (rank == 1) return 0; MPI_Finalize(); return 0; }";
    let program = compile(&lab, &library, source);
    let ended = lab.run(&["launch", "-n", "2", program.to_str().unwrap()]);
    assert_ne!(ended.status, Some(0), "{ended:#?}");
    assert!(ended.stderr.contains("rank 1"), "{ended:#?}");
    assert!(lab.becomes_empty());
}

/// Tests 1000 threads of each rank, more than any of these machines has processors.
#[test]
fn threads_of_openmp_sleep_where_ranks_have_too_many_unless_the_user_decides() {
    let lab = Lab::new();
    let script = "echo \"policy ${OMP_WAIT_POLICY-unset}\"";
    let printed = |options: &[&str]| run(&lab, &shell("2", options, script)).stdout;
    assert_eq!(printed(&["--env", "OMP_NUM_THREADS=1000"]), "policy passive\n".repeat(2));
    assert_eq!(printed(&["--env", "OMP_NUM_THREADS=1"]), "policy unset\n".repeat(2));
    let decided = ["--env", "OMP_NUM_THREADS=1000", "--env", "OMP_WAIT_POLICY=active"];
    assert_eq!(printed(&decided), "policy active\n".repeat(2));
    // Each host counts its own ranks: two on one, one on the other.
    let threads = std::thread::available_parallelism().unwrap().to_string();
    let both =
        ["--env", &format!("OMP_NUM_THREADS={threads}"), "--host", "localhost:2,127.0.0.1:1"];
    let printed = run(&lab, &shell("3", &both, script)).stdout;
    let one_has_room = threads != "1";
    let expected = ["policy passive", "policy passive", "policy unset"];
    assert_eq!(sorted(&printed), if one_has_room { expected } else { ["policy unset"; 3] });
}
