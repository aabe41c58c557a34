//! Tests runs under real MPIs: this program starts itself again under each launcher that it finds.
//!
//! MPIs are searched in the installations that `CORNERSTONE_MPI_ROOTS` lists (separated by colons), in `.venv` of the
//! repository, and in PATH. Without any, all tests are skipped by name.
//!
//! `cargo test -p fabric-mpi --test mpi -- WORD` runs the tests whose name contains the word.

mod conformance;
mod endpoints;
mod found;
mod harness;
mod programs;

fn main() {
    if let Some(program) = programs::asked_for() {
        std::process::exit(programs::run(&program));
    }
    let mut tests = Vec::new();
    // The command line is this project's launcher; its tests run it with this project's library.
    let foreign = |flavour: &fabric_mpi::Flavour| *flavour != fabric_mpi::Flavour::Cornerstone;
    for flavour in fabric_mpi::Flavour::ALL.into_iter().filter(foreign) {
        match found::launcher(flavour) {
            Some(launcher) => tests.extend(conformance::tests(&launcher)),
            None => println!("skipped: all tests under {flavour}: it is not installed"),
        }
    }
    std::process::exit(harness::run(tests));
}
