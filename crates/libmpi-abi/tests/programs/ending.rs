//! Tests the end of programs by the library: MPI_Abort and failures that nobody handles.

use super::*;

#[test]
fn an_unhandled_failure_ends_the_job_at_once_and_is_named() {
    let program = compile("fatal");
    for (how, words, expected) in [
        ("abort", "MPI_Abort with error code 7", 7),
        ("fatal", "MPI_Send: MPI_ERR_RANK", 6),
        ("exit", "status 5", 5),
        ("crash", "SIGABRT", 134),
    ] {
        let (ended, output) = run(&program, 3, how);
        let Err(LaunchError::RankFailed { rank: 2, reason, status }) = ended else {
            panic!("{how}: {ended:?}\n{output}");
        };
        assert!(reason.contains(words), "{how}: {reason}");
        assert_eq!(status, expected, "{how}: {reason}");
        assert!(!output.contains("must not be reached"), "{how}: {output}");
    }
}

/// The ways in which `ending.c` ends MPI, the expected status, and the words of the reason.
const CAUSES: &[(&str, u8, &str)] = &[
    ("abort", 5, "MPI_Abort with error code 5"),
    // 6 is MPI_ERR_RANK.
    ("mistake", 6, "MPI_Send: MPI_ERR_RANK"),
    ("handler", 5, "MPI_Abort with error code 5"),
    ("delete", 5, "MPI_Abort with error code 5"),
    ("operation", 5, "MPI_Abort with error code 5"),
    ("reduction", 5, "MPI_Abort with error code 5"),
    ("thread", 5, "MPI_Abort with error code 5"),
    ("joined", 5, "MPI_Abort with error code 5"),
    ("before", 5, "MPI_Abort with error code 5"),
    ("after", 5, "MPI_Abort with error code 5"),
];

/// Checks what a process has written that was ended by the library while its function `how` called the library again.
fn check_output(how: &str, cause: &str, output: &str) {
    let place = format!("{how}-{cause}: {output}");
    assert!(!output.contains("panicked") && !output.contains("must not be reached"), "{place}");
    if cause == "joined" {
        // The function at exit waits for a thread that is in the library. Only the process ends, with its status.
        return;
    }
    assert!(output.contains("the function that was registered first"), "{place}");
    if ["finalize", "destructor"].contains(&how) && cause != "after" {
        assert!(output.contains("the guard returned, finalized 1"), "{place}");
    } else {
        assert!(!output.contains("the guard returned"), "{place}");
    }
}

#[test]
fn the_first_that_ends_mpi_decides_the_status_and_the_functions_at_exit_still_run() {
    let program = compile("ending");
    for how in ["finalize", "abort", "mistake", "destructor"] {
        // A reduction of one rank combines nothing.
        for &(cause, status, words) in CAUSES.iter().filter(|(cause, ..)| *cause != "reduction") {
            let ended = Command::new(&program).arg(format!("{how}-{cause}")).output().unwrap();
            let [output, errors] =
                [&ended.stdout, &ended.stderr].map(|w| String::from_utf8_lossy(w));
            assert_eq!(ended.status.code(), Some(status.into()), "{how}-{cause}: {output}{errors}");
            check_output(how, cause, &output);
            assert_eq!(errors.lines().count(), 1, "{how}-{cause}: {errors}");
            assert!(errors.contains(words), "{how}-{cause}: {errors}");
        }
    }
}

/// Runs `ending.c` as `ranks` ranks. Several ranks may be the first where all do the same.
fn ends(program: &Path, ranks: usize, argument: &str, expected: u8, words: &str) {
    let (ended, output) = run(program, ranks, argument);
    let Err(LaunchError::RankFailed { reason, status, .. }) = ended else {
        panic!("{argument}: {ended:?}\n{output}");
    };
    assert_eq!(status, expected, "{argument}: {reason}\n{output}");
    let (how, cause) = argument.split_once('-').unwrap();
    check_output(how, cause, &output);
    let reasons = format!("{reason}\n{output}").matches(words).count();
    let is_by_all = ["before", "reduction"].contains(&cause);
    assert!(reasons == 1 || is_by_all && reasons <= ranks, "{argument}: {reason}\n{output}");
}

#[test]
fn the_first_that_ends_mpi_decides_what_the_launcher_reports() {
    let program = compile("ending");
    for how in ["finalize", "abort", "mistake", "destructor"] {
        for &(cause, status, words) in CAUSES {
            ends(&program, 2, &format!("{how}-{cause}"), status, words);
        }
    }
    // A guard at the end of a process that has called exit(3).
    ends(&program, 2, "abort-exit", 9, "MPI_Abort with error code 9");
    ends(&program, 2, "mistake-exit", 6, "MPI_Send: MPI_ERR_RANK");
}
