//! The suite that every fabric must pass, packet by packet between 256 ranks, on machines of different topology.
//!
//! The suite's own checks of data take nearly all of the time.

use fabric_sim::{Level, Options, machine, run};

const RANKS: usize = 256;

fn passes(name: &str) {
    let mut machine = machine::find(name).unwrap();
    // The suite sends between any two ranks.
    machine.network.single_hop = false;
    // The suite checks which messages arrive, not when, and most polls would be idle.
    machine.processor.polling = machine.processor.polling.times(16);
    let launch = |case: &'static conformance::Case, ranks: usize| {
        let options = Options { level: Some(Level::Packets), ..Options::new(ranks) };
        run(&machine, &options, |rank| case.run(rank))
            .map(drop)
            .map_err(|(rank, error)| format!("rank {rank}: {error}"))
    };
    conformance::run_all([RANKS], launch).unwrap_or_else(|failed| panic!("{name}: {failed}"));
}

#[test]
fn a_switch_of_256_ranks_passes() {
    passes("cluster");
}

#[test]
fn a_fat_tree_of_256_ranks_passes() {
    passes("fat-tree");
}

#[test]
fn a_hypercube_of_256_ranks_passes() {
    passes("mark-iii");
}

/// Messages cross 85 links on average, in 150 million events.
#[test]
#[ignore = "takes a minute: cargo test --release -p fabric-sim -- --ignored"]
fn a_line_of_256_ranks_passes() {
    passes("paragon-osf1");
}
