//! Tests reports of programs whose calls come from a library of bindings, as those in Fortran do. The library here is
//! in C, so no compiler for Fortran is needed.

use std::process::Command;

use crate::explaining::rows;
use crate::lab::Lab;
use crate::launching::library;

/// Bindings: one function calls MPI itself, the other from a function of its own.
const BINDINGS: &str = "
#include <mpi.h>
void mpi_barrier_(int *error) { *error = MPI_Barrier(MPI_COMM_WORLD); }
__attribute__((noinline)) static int wait_all(int count) {
    int error = 0;
    for (int i = 0; i < count; i++) error += MPI_Barrier(MPI_COMM_WORLD);
    return error;
}
void mpi_barriers_(int *count, int *error) { *error = wait_all(*count); }
";

const PROGRAM: &str = "
#include <mpi.h>
void mpi_barrier_(int *);
void mpi_barriers_(int *, int *);
int main(int count, char **words) {
    int error, times = 3;
    MPI_Init(&count, &words);
    mpi_barrier_(&error);
    mpi_barrier_(&error);
    mpi_barriers_(&times, &error);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return error;
}
";

fn cc(lab: &Lab, words: &[&str]) {
    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-g", "-O1"])
        .current_dir(lab.path(""))
        .arg(format!("-I{}/../libmpi-abi/include", env!("CARGO_MANIFEST_DIR")))
        .args(words)
        .args(["-L.", "-lmpi_abi", "-Wl,-rpath,$ORIGIN"])
        .output()
        .expect("the tests need a C compiler named cc");
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}");
}

#[test]
fn calls_from_bindings_are_reported_by_the_lines_of_the_program() {
    let Some(library) = library("calls from bindings") else { return };
    let lab = Lab::new();
    for name in ["libmpi_abi.so", "libmpi_abi.so.1"] {
        std::os::unix::fs::symlink(&library, lab.path(name)).unwrap();
    }
    lab.write("bindings.c", BINDINGS);
    lab.write("program.c", PROGRAM);
    cc(&lab, &["-shared", "-fPIC", "-o", "libmpif.so.1", "bindings.c"]);
    cc(&lab, &["-o", "program", "program.c", "-l:libmpif.so.1"]);
    let program = lab.path("program");
    let words = ["launch", "-n", "2", "--report=report.json", program.to_str().unwrap()];
    let ended = lab.run(&words);
    assert_eq!(ended.status, Some(0), "{ended:#?}");
    let text = std::fs::read_to_string(lab.path("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut found: Vec<(&str, u64)> = rows(&report, "calls")
        .iter()
        .filter(|row| row["function"] == "MPI_Barrier")
        .map(|row| (row["place"].as_str().unwrap(), row["calls"].as_u64().unwrap()))
        .collect();
    found.sort_unstable();
    // Two ranks; the line of the plain call is the fourth.
    let expected = [
        ("main, program.c:10", 6),
        ("main, program.c:11", 2),
        ("main, program.c:8", 2),
        ("main, program.c:9", 2),
    ];
    assert_eq!(found, expected, "{report:#}");
}
