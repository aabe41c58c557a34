//! Tests programs that were compiled for a sanitizer, beside libraries that the launcher loads before others.

use crate::lab::{Lab, skip};
use crate::launching::{compile_with, library, run_program};

/// A program that writes beyond its memory if it is told to.
const SOURCE: &str = r#"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char **words) {
    int rank, size, *memory = malloc(100 * sizeof(int)), *got = malloc(100 * sizeof(int));
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 100; i++) memory[i] = i;
    MPI_Sendrecv(memory, 100, MPI_INT, (rank + 1) % size, 0, got, 100, MPI_INT, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(words[1], "writes_beyond") == 0) memory[100 + rank] = 1; // beyond
    free(memory);
    free(got);
    return MPI_Finalize();
}
"#;

/// Options with which the launcher loads a library of its own.
const VARIANTS: [&[&str]; 6] = [
    &["-n", "2"],
    &["-n", "2", "--check"],
    &["-n", "2", "--report=report.json"],
    &["-n", "2", "--fabric", "sim:cluster"],
    &["-n", "2", "--fabric", "sim:cluster", "--check"],
    &["-n", "2", "--host", "localhost:1,127.0.0.1:1", "--check"],
];

/// Returns a lab with the program for a sanitizer; `None` if there is no such sanitizer here.
fn sanitized(test: &str, sanitizer: &str) -> Option<Lab> {
    let library = library(test)?;
    let lab = Lab::new();
    match compile_with(&lab, &library, SOURCE, &[&format!("-fsanitize={sanitizer}")]) {
        Ok(_) => Some(lab),
        Err(why) => {
            skip(test, &why);
            None
        }
    }
}

#[test]
fn the_address_sanitizer_finds_its_mistakes_beside_our_libraries() {
    let Some(lab) = sanitized("the address sanitizer", "address") else { return };
    for variant in VARIANTS {
        let ended = run_program(&lab, variant, "right");
        assert_eq!(ended.status, Some(0), "{variant:?}: {ended:#?}");
        assert!(!ended.stderr.contains("ASan"), "{variant:?}: {ended:#?}");
        let ended = run_program(&lab, variant, "writes_beyond");
        assert_eq!(ended.status, Some(1), "{variant:?}: {ended:#?}");
        assert!(ended.stderr.contains("heap-buffer-overflow"), "{variant:?}: {ended:#?}");
        assert!(ended.stderr.contains("ended with status 1"), "{variant:?}: {ended:#?}");
    }
    assert!(lab.becomes_empty());
}

#[test]
fn the_thread_sanitizer_admits_our_libraries() {
    let Some(lab) = sanitized("the thread sanitizer", "thread") else { return };
    for variant in [VARIANTS[0], VARIANTS[1]] {
        let ended = run_program(&lab, variant, "right");
        if ended.stderr.contains("FATAL: ThreadSanitizer: unexpected memory mapping") {
            return skip("the thread sanitizer", "it does not know this kernel's addresses");
        }
        assert_eq!(ended.status, Some(0), "{variant:?}: {ended:#?}");
    }
}
