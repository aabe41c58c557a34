//! Builds C programs with our header and our library, and runs them as nodes of our launcher.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use fabric_shm::launch_options;
use launched::jobs_on_this_host;
use launcher::{LaunchError, launch_and_read};

/// Returns the folder in which the library was built.
fn library_folder() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let built = tests.with_file_name("libhcs.so");
    assert!(built.exists(), "{} was not built", built.display());
    tests.parent().unwrap().to_path_buf()
}

/// Compiles a program of this crate.
fn compile(source: &str) -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = library_folder();
    let name = Path::new(source).file_stem().unwrap();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let ended = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L", "-o"])
        .arg(&program)
        .arg(crate_folder.join(source))
        .arg(format!("-I{}", crate_folder.join("include").display()))
        .arg(format!("-L{}", folder.display()))
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .arg("-lhcs")
        .output()
        .expect("the tests need a C compiler named cc");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    program
}

/// Runs a program. Returns its outcome and the output of its nodes.
fn run(program: &Path, nodes: usize, job: Vec<u8>) -> (Result<(), LaunchError>, String) {
    let mut options = launch_options(nodes, job);
    options.program = program.into();
    options.any_program = true;
    // Cargo's own path may name another folder first, with a library of an earlier build.
    options.environment.push(("LD_LIBRARY_PATH".into(), library_folder().into()));
    let (ended, written) = launch_and_read(options);
    (ended, String::from_utf8(written).unwrap())
}

fn succeeds(program: &Path, nodes: &[usize], words: impl Fn(usize) -> String) {
    for &nodes in nodes {
        for (fabric, job) in jobs_on_this_host().unwrap() {
            let (ended, output) = run(program, nodes, job);
            let is_right = ended.is_ok() && output.contains(&words(nodes));
            assert!(is_right, "{nodes} nodes over {fabric}: {ended:?}\n{output}");
        }
    }
}

#[test]
fn all_32_functions_do_what_they_should() {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| compile("tests/programs/all.c"));
    succeeds(program, &[2, 3, 5], |nodes| format!("{nodes} nodes: all calls do what they should"));
    // Without a launcher it is a cluster of one node.
    let alone = Command::new(program).output().unwrap();
    assert!(alone.status.success(), "{}", String::from_utf8_lossy(&alone.stderr));
}

#[test]
fn the_lower_library_stands_alone() {
    succeeds(&compile("tests/programs/lower.c"), &[1, 3], |_| String::new());
}

#[test]
fn the_example_multiplies_matrices() {
    let element = |at: usize, row: usize| ((row * 7 + at * 3) % 11) * ((at * 5 + row) % 13);
    let trace: usize = (0..64).flat_map(|row| (0..64).map(move |at| element(at, row))).sum();
    succeeds(&compile("examples/matrix.c"), &[2, 4], |nodes| {
        format!("{nodes} nodes: 64 rows, the diagonal of the product sums to {trace}")
    });
}

#[test]
fn a_node_that_dies_ends_the_waits_of_all_by_name() {
    let program = compile("tests/programs/dies.c");
    for (_, job) in jobs_on_this_host().unwrap() {
        let (ended, output) = run(&program, 4, job);
        let error = ended.expect_err("a node was killed").to_string();
        assert!(error.contains("rank 1") && error.contains("9"), "{error}\n{output}");
        assert!(!output.contains("got 0"), "{output}");
    }
}

#[test]
fn a_node_that_forgets_safe_exit_is_told_so() {
    let program = compile("tests/programs/forgets.c");
    for (fabric, job) in jobs_on_this_host().unwrap() {
        let (ended, output) = run(&program, 3, job);
        let error = ended.expect_err("a node did not end its part").to_string();
        let why = "rank 1 failed: its program ended without safe_exit()";
        assert!(error.contains(why), "{fabric}: {error}\n{output}");
    }
}

/// The fabric must be refused. Nodes of several hosts would otherwise each make a cluster of their own host, without a
/// message.
#[test]
fn a_fabric_of_another_version_is_refused_by_name() {
    let program = compile("examples/matrix.c");
    let (ended, output) = run(&program, 2, b"cornerstone-tcp-9\nmore".to_vec());
    let error = ended.expect_err("the fabric is unknown").to_string();
    let named = |text: &str| text.contains("the fabric 'cornerstone-tcp-9'");
    // The program queries the words, and then its node.
    assert!(named(&error) && named(&output), "{error}\n{output}");
}

/// The header must name what the library exports, and the library must export the names in the tables of the paper.
#[test]
fn the_library_exports_the_32_names() {
    let names = Command::new("nm")
        .args(["-D", "--defined-only", "--format=just-symbols"])
        .arg(library_folder().join("libhcs.so"))
        .output()
        .expect("the tests need nm");
    let names = String::from_utf8(names.stdout).unwrap();
    let exported: Vec<&str> = names.lines().collect();
    let header = include_str!("../include/hcs.h");
    let tables = "sci_init_lib sci_close_lib sci_lib_info sci_create_receive_port \
        sci_receive_port_connected sci_connect_transmit_port sci_read_msg sci_write_msg \
        sci_remove_receive_port sci_remove_transmit_port sci_create_shm sci_map_shm sci_unmap_shm \
        sci_remove_shm safe_shared_memory_make safe_shared_memory_map safe_create_receive_port \
        safe_connect_transmit_port safe_wait_for_connection send_block get_block send_broadcast \
        get_broadcast service_signals default_signal_handler ignore_signal_handler send_signal \
        send_signal_and_wait set_signal_handler barrier_sync cluster_init safe_exit";
    let tables: Vec<&str> = tables.split_whitespace().collect();
    assert_eq!(tables.len(), 14 + 18);
    for name in tables {
        assert!(exported.contains(&name), "{name} is not exported");
        assert!(header.contains(&format!(" {name}(")), "{name} is not in the header");
    }
    let ours = exported.iter().filter(|name| name.starts_with("hcs_"));
    assert!(ours.clone().all(|name| header.contains(&format!("{name}("))), "{exported:?}");
    assert_eq!(ours.count(), 9);
}
