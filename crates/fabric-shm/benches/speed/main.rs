//! Benchmark of the local fabric against the limits of the machine: each number beside its lower bound, measured in the
//! same run, with the target for their ratio.
//!
//! `cargo bench -p fabric-shm --bench speed` prints the table. Words after `--` select rows by a part of their name.

mod floors;
mod programs;
mod rows;
mod samples;

use fabric_shm::join_if_rank;

#[global_allocator]
static ALLOCATOR: launcher::SharedAllocator = launcher::SharedAllocator;

fn main() {
    if let Some(joined) = join_if_rank() {
        let mut process = joined.expect("joining the run");
        let outcome = programs::run(&mut process);
        std::process::exit(process.finish(outcome));
    }
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    std::process::exit(rows::print(&wanted));
}
