//! Tests the wheel and the installation, as a user installs them: a new environment, a C program, CMake, and several
//! programs at once.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::lab::{Lab, skip};
use crate::launching::{built, library};

const HELLO: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int rank, size, flag, sum, *number;
    const char *role = getenv("ROLE");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%s %d of %d, program %d, sum %d\n", role ? role : "nobody", rank, size, flag ? *number : -1, sum);
    MPI_Finalize();
    return 0;
}
"#;

fn packaging(words: &[&str], place: &Path) -> Output {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let built = Path::new(env!("CARGO_BIN_EXE_cornerstone")).parent().unwrap();
    Command::new("python3")
        .arg(format!("{root}/packaging/package.py"))
        .args(words)
        .arg(place)
        .arg("--built")
        .arg(built)
        .output()
        .expect("the tests need python3")
}

/// Runs a command, which must succeed, and returns its output.
#[track_caller]
fn must(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {stdout}{stderr}");
    stdout
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Returns a program of an installation, or another that finds those first.
fn program(lab: &Lab, prefix: &Path, name: &str) -> Command {
    let own = prefix.join("bin").join(name);
    let mut command = Command::new(if own.exists() { own } else { name.into() });
    let path = std::env::var("PATH").unwrap_or_default();
    command.current_dir(lab.path("")).env("PATH", format!("{}/bin:{path}", prefix.display()));
    command
}

/// Returns `Some` if the libraries of an installation are built.
fn libraries(test: &str) -> Option<()> {
    library(test)?;
    built(test, "libmpich_abi.so", "libmpich-abi")?;
    built(test, "libcornerstone_profile.so", "libprofile")?;
    built(test, "libcornerstone_time.so", "libvirtual-time")?;
    built(test, "libhcs.so", "libhcs").map(drop)
}

/// Returns an installation in a folder of that name, or `None` if our library is not built.
fn installed(test: &str, folder: &str) -> Option<(Lab, PathBuf)> {
    let lab = Lab::new();
    let prefix = install(test, &lab, folder)?;
    lab.write("hello.c", HELLO);
    Some((lab, prefix))
}

/// As [`installed`], in a lab.
pub(crate) fn install(test: &str, lab: &Lab, folder: &str) -> Option<PathBuf> {
    libraries(test)?;
    let prefix = lab.path(folder);
    let made = packaging(&["install"], &prefix);
    assert!(made.status.success(), "{}", text(&made.stderr));
    Some(prefix)
}

fn lines(output: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = output.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_wheel_brings_what_compiles_and_runs_a_program_into_a_new_environment() {
    let test = "a wheel in a new environment";
    if libraries(test).is_none() {
        return;
    }
    let lab = Lab::new();
    let made = packaging(&["wheel", "--out"], &lab.path("wheels"));
    assert!(made.status.success(), "{}", text(&made.stderr));
    let wheel = text(&made.stdout).split(": ").next().unwrap().to_string();
    let environment = lab.path("environment");
    let mut python = Command::new("python3");
    if !python.args(["-m", "venv"]).arg(&environment).output().unwrap().status.success() {
        skip(test, "python3 cannot make an environment here");
        return;
    }
    let pip = |words: &[&str]| {
        must(program(&lab, &environment, "python3").args(["-m", "pip"]).args(words))
    };
    pip(&["install", "--no-index", "--quiet", "--disable-pip-version-check", &wheel]);
    lab.write("hello.c", HELLO);
    must(program(&lab, &environment, "mpicc").args(["hello.c", "-o", "hello"]));
    let output = must(program(&lab, &environment, "mpiexec").args(["-n", "2", "./hello"]));
    let expected = ["nobody 0 of 2, program 0, sum 1", "nobody 1 of 2, program 0, sum 1"];
    assert_eq!(lines(&output), expected);
    let report = ["-n", "2", "--report=report.json", "./hello"];
    must(program(&lab, &environment, "mpiexec").args(report));
    assert!(std::fs::read_to_string(lab.path("report.json")).unwrap().contains("MPI_Allreduce"));
    assert!(
        pip(&["show", "--files", "cornerstone-mpi"])
            .contains("share/man/man1/cornerstone-launch.1")
    );
    assert!(environment.join("share/man/man1/cornerstone-launch.1").exists());
    each_library_has_the_version_of_its_own_abi(&lab, &environment);
    mpi4py_of_pypi_finds_the_library(&lab, &environment);
    pip(&["uninstall", "--quiet", "--yes", "cornerstone-mpi"]);
    assert!(!environment.join("bin/mpiexec").exists());
}

/// Asks both libraries as PyPI's mpi4py does. -1 means that a library does not have the standard ABI.
fn each_library_has_the_version_of_its_own_abi(lab: &Lab, environment: &Path) {
    let script = r#"
import ctypes, sys
for name in ("libmpi.so.12", "libmpi_abi.so.1"):
    library = ctypes.CDLL(f"{sys.exec_prefix}/lib/{name}")
    major, minor = ctypes.c_int(7), ctypes.c_int(7)
    status = library.MPI_Abi_get_version(ctypes.byref(major), ctypes.byref(minor))
    print(name, status, major.value, minor.value)
"#;
    let output = must(program(lab, environment, "python3").args(["-c", script]));
    assert_eq!(output, "libmpi.so.12 0 -1 -1\nlibmpi_abi.so.1 0 1 0\n");
}

/// Runs a program with the mpi4py that `make test` has fetched as a wheel. No variable names a library.
fn mpi4py_of_pypi_finds_the_library(lab: &Lab, environment: &Path) {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/lib");
    let pythons = std::fs::read_dir(own).into_iter().flatten().flatten();
    let packages = pythons.map(|one| one.path().join("site-packages"));
    let Some(packages) = packages.into_iter().find(|one| one.join("mpi4py").is_dir()) else {
        skip("PyPI's mpi4py beside the wheel", "`make test` has not fetched it into .venv");
        return;
    };
    std::os::unix::fs::symlink(packages.join("mpi4py"), lab.path("mpi4py")).unwrap();
    let script = "from mpi4py import MPI; import sys; world = MPI.COMM_WORLD
sys.stdout.write(f'{world.allreduce(world.rank)}\\n')";
    for launcher in ["mpiexec", "mpirun"] {
        let python = environment.join("bin/python3");
        let mut command = program(lab, environment, launcher);
        command.args(["-n", "3"]).arg(python).args(["-c", script]).env_remove("LD_LIBRARY_PATH");
        let output = must(&mut command);
        // 0 + 1 + 2
        assert_eq!(lines(&output), ["3", "3", "3"]);
    }
}

/// Tests `mpifort` with a script in place of the bindings, which prints its arguments.
#[test]
fn mpifort_passes_on_to_the_bindings_or_says_how_to_get_them() {
    let Some((lab, prefix)) = installed("mpifort", "own place") else { return };
    let mpifort = |variable: &str, value: &str| {
        program(&lab, &prefix, "mpif90").args(["a b.f90", "-c"]).env(variable, value).output()
    };
    let none = mpifort("PATH", "/usr/bin:/bin").unwrap();
    let printed = text(&none.stderr);
    assert!(
        !none.status.success() && printed.starts_with("mpif90: MPI programs in Fortran"),
        "{printed}"
    );
    assert!(printed.contains(&format!("-DMPI_HOME={}", prefix.display())), "{printed}");
    std::fs::create_dir_all(lab.path("with blank/bin")).unwrap();
    for name in ["mpifort", "mpifc"] {
        let words = "#!/bin/sh\nprintf '%s|' \"$MPIF_MPI_PREFIX\" \"$@\"\n";
        let script = format!("with blank/bin/{name}");
        lab.write(&script, words);
        must(Command::new("chmod").arg("+x").arg(lab.path(&script)));
    }
    let expected = format!("{}|a b.f90|-c|", prefix.display());
    let bindings = lab.path("with blank").display().to_string();
    let named = mpifort("CORNERSTONE_MPIF", &bindings).unwrap();
    assert_eq!(text(&named.stdout), expected, "{named:?}");
    let found = mpifort("PATH", &format!("/usr/bin:/bin:{bindings}/bin")).unwrap();
    assert_eq!(text(&found.stdout), expected, "{found:?}");
    let wrong = mpifort("CORNERSTONE_MPIF", "/nowhere").unwrap();
    assert!(text(&wrong.stderr).starts_with("mpif90: '/nowhere' has no bin/mpifort"), "{wrong:?}");
}

#[test]
fn several_programs_run_as_one_world() {
    let Some((lab, prefix)) = installed("several programs", "own place") else { return };
    must(program(&lab, &prefix, "mpicxx").args(["-x", "c++", "hello.c", "-o", "hello"]));
    std::fs::create_dir(lab.path("sub")).unwrap();
    must(Command::new("cp").args([lab.path("hello"), lab.path("sub/other")]));
    let words = "-genv ROLE any -n 1 ./hello : -np 2 -wdir sub -env ROLE client ./other";
    let output = must(program(&lab, &prefix, "mpiexec").args(words.split(' ')));
    let expected = [
        "any 0 of 3, program 0, sum 3",
        "client 1 of 3, program 1, sum 3",
        "client 2 of 3, program 1, sum 3",
    ];
    assert_eq!(lines(&output), expected);
    let output = must(program(&lab, &prefix, "mpirun").args(["-l", "-n", "2", "echo", "a  b"]));
    assert_eq!(lines(&output), ["[0] a  b", "[1] a  b"]);
}

#[test]
fn mpiexec_refuses_what_it_cannot_do_by_name() {
    let lab = Lab::new();
    for (words, printed) in [
        ("-n 2 -envnone ./a", "-envnone is not supported"),
        ("-n 2 --bogus ./a", "does not know the option '--bogus'"),
        ("-n 2 -wdir no-such-folder true", "'no-such-folder' is no folder"),
        ("-n 2", "no program"),
        ("-host a -n 1 true : -n 1 true", "several programs run on this host alone"),
    ] {
        let words: Vec<&str> = ["mpiexec"].into_iter().chain(words.split(' ')).collect();
        lab.run(&words).refuses(2, &[printed]);
    }
    let help = lab.succeed(&["mpiexec", "-help"]).stdout;
    assert!(help.contains("-genv NAME VALUE") && help.contains("-hosts alpha,beta"), "{help}");
    assert!(lab.succeed(&["mpiexec", "--version"]).stdout.starts_with("mpiexec (Cornerstone) "));
    // A rank's failure becomes mpiexec's.
    lab.run(&["mpiexec", "-n", "1", "true", ":", "-n", "1", "sh", "-c", "exit 7"])
        .refuses(7, &["rank 1"]);
}

#[test]
fn compilers_say_what_they_would_do() {
    let Some((lab, prefix)) = installed("what compilers say", "own") else { return };
    let show = |word: &str| must(program(&lab, &prefix, "mpicc").arg(word)).trim().to_string();
    let (include, lib) = (prefix.join("include"), prefix.join("lib"));
    assert_eq!(show("-showme:incdirs"), include.display().to_string());
    assert_eq!(show("-showme:libdirs"), lib.display().to_string());
    assert_eq!(show("-compile_info"), format!("-I{}", include.display()));
    assert!(show("-link_info").ends_with("-lmpi_abi"));
    let whole = must(program(&lab, &prefix, "mpicc").args(["-show", "-cc=gcc-7", "-c", "a.c"]));
    assert!(whole.starts_with("gcc-7 -I") && !whole.contains("-lmpi_abi"), "{whole}");
    let wrong = program(&lab, &prefix, "mpicc").arg("-showme:moods").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("'moods'"));
    assert_eq!(program(&lab, &prefix, "mpicc").output().unwrap().status.code(), Some(2));
}

#[test]
fn pkg_config_and_cmake_find_the_installation() {
    let Some((lab, prefix)) = installed("pkg-config and CMake", "own") else { return };
    let run = |ranks: &str, path: &str| {
        let output = must(program(&lab, &prefix, "mpiexec").args(["-n", ranks, path]));
        assert_eq!(output.lines().count().to_string(), ranks, "{output}");
    };
    if is_there("pkg-config") {
        let compile = "cc hello.c -o by-flags $(pkg-config --cflags --libs mpi)";
        let path = prefix.join("lib/pkgconfig");
        let mut shell = Command::new("sh");
        shell.current_dir(lab.path("")).env("PKG_CONFIG_PATH", path);
        must(shell.args(["-c", compile]));
        run("2", "./by-flags");
    } else {
        skip("an installation found by pkg-config", "it is not installed");
    }
    if !is_there("cmake") {
        skip("an installation found by CMake", "it is not installed");
        return;
    }
    let project = "cmake_minimum_required(VERSION 3.16)\nproject(hello C CXX)\n\
        find_package(MPI REQUIRED COMPONENTS C CXX)\nadd_executable(hello hello.c)\n\
        target_link_libraries(hello MPI::MPI_C)\nmessage(STATUS \"starts by ${MPIEXEC_EXECUTABLE}\")\n";
    lab.write("CMakeLists.txt", project);
    let found = must(program(&lab, &prefix, "cmake").args(["-B", "made", "-S", "."]));
    must(program(&lab, &prefix, "cmake").args(["--build", "made"]));
    let own = format!("starts by {}/bin/mpiexec", prefix.display());
    assert!(found.contains(&own), "{found}");
    assert!(found.contains("Found MPI_C") && found.contains("Found MPI_CXX"), "{found}");
    run("3", "made/hello");
}

#[test]
fn man_pages_and_completions_come_from_the_definition_of_the_command_line() {
    let lab = Lab::new();
    lab.succeed(&["generate", "man", "--output", "."]);
    let page = std::fs::read_to_string(lab.path("cornerstone-mpiexec.1")).unwrap();
    assert!(page.starts_with(".ie") || page.contains(".TH"), "{page}");
    assert!(page.contains("machinefile"), "{page}");
    for (shell, mark) in
        [("bash", "complete -F"), ("zsh", "#compdef cornerstone"), ("fish", "complete -c")]
    {
        let text = lab.succeed(&["generate", shell]).stdout;
        assert!(text.contains(mark) && text.contains("corner-turn"), "{shell}");
    }
    lab.run(&["generate", "man"]).refuses(2, &["--output"]);
    lab.run(&["generate", "man", "-o", "nowhere"]).refuses(1, &["'nowhere'"]);
    lab.run(&["generate", "tcsh"]).refuses(2, &["tcsh", "bash"]);
}
