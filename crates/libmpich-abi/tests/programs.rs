//! C programs that are compiled against MPICH's own header, as ranks of our launcher, with our library under MPICH's
//! name.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use fabric_shm::launch_options;
use launcher::{Binding, LaunchError, launch_and_read};

/// Returns the folder of MPICH's header: that of the package that `make test` installs, or of one of
/// `CORNERSTONE_MPI_ROOTS`.
fn header() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv");
    let named = std::env::var_os("CORNERSTONE_MPI_ROOTS").unwrap_or_default();
    let roots = std::env::split_paths(&named).chain([own]);
    let found = roots.map(|root| root.join("include")).find(|folder| {
        let text = std::fs::read_to_string(folder.join("mpi.h")).unwrap_or_default();
        text.contains("MPICH_NUMVERSION")
    });
    if found.is_none() {
        // Not captured by the test runner.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: programs of MPICH's ABI: there is no mpi.h of MPICH"
        );
    }
    found
}

/// Returns a folder with both libraries under the names that the loader needs.
fn library_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpich");
        std::fs::create_dir_all(&folder).unwrap();
        for (file, name) in [
            ("libmpi_abi.so", "libmpi_abi.so.1"),
            ("libmpich_abi.so", "libmpi.so.12"),
            ("libmpich_abi.so", "libmpi.so"),
        ] {
            let built = std::env::current_exe().unwrap().with_file_name(file);
            assert!(built.exists(), "{} was not built", built.display());
            let _ = std::fs::remove_file(folder.join(name));
            std::os::unix::fs::symlink(&built, folder.join(name)).unwrap();
        }
        folder
    })
}

/// Compiles a program.
fn compile(header: &Path, source: &Path) -> PathBuf {
    let folder = library_folder();
    let program = folder.join(source.file_stem().unwrap());
    let ended = Command::new("cc")
        .args(["-std=gnu11", "-g", "-o"])
        .arg(&program)
        .arg(source)
        .arg(format!("-I{}", header.display()))
        .arg(format!("-L{}", folder.display()))
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .arg("-lmpi")
        .output()
        .expect("the tests need a C compiler named cc");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    program
}

/// Runs a program, and returns its outcome and the output of its ranks.
fn run(program: &Path, ranks: usize, arguments: &[&str]) -> (Result<(), LaunchError>, String) {
    let mut options = launch_options(ranks, Vec::new());
    options.program = program.into();
    options.arguments = arguments.iter().map(Into::into).collect();
    options.any_program = true;
    options.binding = Binding::None;
    let (ended, written) = launch_and_read(options);
    (ended, String::from_utf8_lossy(&written).into_owned())
}

#[track_caller]
fn succeeds(source: &Path, ranks: &[usize]) {
    let Some(header) = header() else { return };
    let program = compile(&header, source);
    for &ranks in ranks {
        let (ended, written) = run(&program, ranks, &[]);
        assert!(ended.is_ok(), "{} with {ranks} ranks: {ended:?}\n{written}", program.display());
    }
}

/// Compiles and runs the programs that test the library under the standard ABI.
#[test]
fn the_same_programs_run_under_both_abis() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../libmpi-abi/tests/programs");
    for name in ["messages", "errors", "types", "together", "again", "started", "windows"] {
        succeeds(&folder.join(format!("{name}.c")), &[1, 2, 4]);
    }
}

#[test]
fn what_differs_between_the_abis_is_converted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    succeeds(&folder.join("converted.c"), &[1, 2, 3]);
}

/// Checks the status of programs whose functions at the end of the process call the library. The number of MPI_Abort is
/// the program's own, although the ABIs have other numbers for the error classes from 7 on.
#[test]
fn the_first_that_ends_mpi_decides_the_status() {
    let Some(header) = header() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../libmpi-abi/tests/programs");
    let program = compile(&header, &folder.join("ending.c"));
    for how in ["finalize", "abort", "mistake", "destructor"] {
        // 6 is MPI_ERR_RANK in both ABIs.
        for (cause, expected) in
            [("abort", 5), ("mistake", 6), ("handler", 5), ("joined", 5), ("code19", 19)]
        {
            let (ended, output) = run(&program, 2, &[&format!("{how}-{cause}")]);
            let Err(LaunchError::RankFailed { rank: 1, status, .. }) = ended else {
                panic!("{how}-{cause}: {ended:?}\n{output}");
            };
            assert_eq!(status, expected, "{how}-{cause}: {output}");
            assert!(!output.contains("panicked"), "{how}-{cause}: {output}");
        }
    }
}

/// Checks that a program that was linked with MPICH finds every function here, served or not.
#[test]
fn every_function_of_mpich_is_exported() {
    let Some(header) = header() else { return };
    let names = |library: &Path| {
        let listed = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output();
        let listed = listed.expect("the tests need nm").stdout;
        let text = String::from_utf8(listed).unwrap();
        let all = text.lines().filter_map(|line| line.split_whitespace().last());
        let mine = |name: &&str| name.starts_with("MPI_") || name.starts_with("PMPI_");
        all.filter(mine).map(String::from).collect::<std::collections::BTreeSet<_>>()
    };
    let theirs = names(&header.with_file_name("lib").join("libmpi.so.12"));
    assert!(theirs.len() > 1000, "{} functions", theirs.len());
    let ours = names(&library_folder().join("libmpi.so.12"));
    let missing: Vec<_> = theirs.difference(&ours).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn an_error_names_the_place_of_the_call_in_the_program() {
    let Some(header) = header() else { return };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/wrong.c");
    let program = compile(&header, &source);
    let (ended, output) = run(&program, 1, &[]);
    let Err(LaunchError::RankFailed { reason, .. }) = ended else {
        panic!("{ended:?}\n{output}");
    };
    assert!(reason.contains("MPI_Send: MPI_ERR_TAG: tag -5 ("), "{reason}");
    assert!(reason.contains(&format!("{}+0x", program.display())), "{reason}");
}
