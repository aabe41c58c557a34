//! The suites that every fabric must pass, on machines of different shape and level; with 256 ranks in tests/.

use contract::Endpoint;

use super::machine;
use crate::machine::find;
use crate::{Level, Machine, Options, SimEndpoint, run_endpoints};

/// Returns the machine with ranks that poll less often. The suite checks which messages arrive, not when, and on slow
/// machines nearly all of its events would be idle polls. A test of shared processors runs it with all polls.
pub(super) fn less_polling(machine: &Machine) -> Machine {
    let mut machine = machine.clone();
    machine.processor.polling = machine.processor.polling.times(16);
    machine
}

/// A case of 64 MiB: a million packets of SCI.
const HUGE: &str = "sizes/64-mib";

fn passes(machine: &Machine, level: Level, ranks: impl IntoIterator<Item = usize>) {
    let machine = &less_polling(machine);
    let launch = |case: &'static conformance::Case, ranks: usize| {
        let options = Options { level: Some(level), ..Options::new(ranks) };
        crate::run(machine, &options, |rank| case.run(rank))
            .map(drop)
            .map_err(|(rank, error)| format!("rank {rank}: {error}"))
    };
    conformance::run_all(ranks, launch)
        .unwrap_or_else(|failed| panic!("{}: {failed}", machine.name));
}

#[test]
fn a_switch_passes_at_both_levels() {
    passes(&find("cluster").unwrap(), Level::LogGp, 1..=9);
    passes(&find("cluster").unwrap(), Level::Packets, 1..=9);
}

#[test]
fn a_line_passes_at_both_levels() {
    passes(&find("paragon-osf1").unwrap(), Level::LogGp, 1..=9);
    passes(&find("paragon-osf1").unwrap(), Level::Packets, 1..=9);
}

#[test]
fn a_hypercube_passes_at_both_levels() {
    passes(&find("ipsc").unwrap(), Level::LogGp, 1..=9);
    passes(&find("ipsc").unwrap(), Level::Packets, 1..=9);
}

#[test]
fn a_ring_with_its_own_protocol_passes_at_both_levels() {
    passes(&find("sharc-ring").unwrap(), Level::LogGp, 1..=9);
    passes(&find("sharc-ring").unwrap(), Level::Packets, 1..=9);
}

#[test]
fn a_ring_of_sci_passes() {
    let machine = find("sci-ring").unwrap();
    rings_pass(&machine, [1, 5]);
    endpoints_pass(&machine, Level::Packets, "", 3);
}

/// Queues of one packet refuse most packets that arrive.
#[test]
fn rings_of_sci_with_switches_and_other_rules_pass() {
    let rings = |lines: &str| {
        machine(&format!("[protocol]\neager_bytes = 200\n[sci]\nlink_gbit_per_s = 8\n{lines}"))
    };
    rings_pass(&rings("shape = \"ring:4\"\nqueue_packets = 1"), [4]);
    rings_pass(&rings("shape = \"bridge:2+4\"\nretry = \"directed\"\nqueue_packets = 1"), [4]);
    for lines in [
        "shape = \"bridge:2+4\"\nqueue_packets = 1",
        "shape = \"inner-ring:3x3\"\naccess = \"train\"",
        "shape = \"multi-service:2x3\"\naccess = \"free\"",
    ] {
        endpoints_pass(&rings(lines), Level::Packets, "windows/", 4);
    }
}

/// Runs all cases but that of a message of millions of packets.
fn rings_pass<const N: usize>(machine: &Machine, ranks: [usize; N]) {
    let machine = &less_polling(machine);
    let launch = |case: &'static conformance::Case, ranks: usize| {
        if case.name == HUGE {
            return Ok(());
        }
        crate::run(machine, &Options::new(ranks), |rank| case.run(rank))
            .map(drop)
            .map_err(|(rank, error)| format!("rank {rank}: {error}"))
    };
    conformance::run_all(ranks, launch)
        .unwrap_or_else(|failed| panic!("{}: {failed}", machine.name));
}

#[test]
fn boards_in_shared_memory_pass() {
    let boards = machine(super::boards::BOARDS);
    passes(&boards, Level::LogGp, 1..=9);
    passes(&boards, Level::Packets, [4]);
    // In groups of eight.
    let many = machine(&super::boards::BOARDS.replace("ranks_max = 6", "ranks_max = 64"));
    passes(&many, Level::LogGp, [40]);
}

#[test]
fn a_torus_a_bus_and_a_graph_pass() {
    passes(&find("fem").unwrap(), Level::Packets, [5]);
    let network = "link_mb_per_s = 100\npacket_bytes = 4096\nheader_bytes = 8";
    passes(
        &machine(&format!("[network]\nshape = \"bus\"\nslot_us = 3\n{network}")),
        Level::Packets,
        [5],
    );
    let links = "[[0, 1], [1, 2], [2, 3], [3, 4], [1, 4]]";
    passes(
        &machine(&format!("[network]\nshape = \"graph\"\nlinks = {links}\n{network}")),
        Level::Packets,
        [5],
    );
}

#[test]
fn endpoints_pass_at_both_levels() {
    let machine = find("cluster").unwrap();
    for level in [Level::LogGp, Level::Packets] {
        (2..=5).for_each(|ranks| endpoints_pass(&machine, level, "", ranks));
    }
}

/// Runs the cases of endpoints whose names begin with `names`.
pub(super) fn endpoints_pass(machine: &Machine, level: Level, names: &str, ranks: usize) {
    for (index, case) in conformance::endpoint_cases::<SimEndpoint<'_>>().iter().enumerate() {
        if !case.name.starts_with(names) {
            continue;
        }
        let options = Options { level: Some(level), ..Options::new(ranks) };
        let program = move |mut endpoint: SimEndpoint<'_>| {
            let outcome = (conformance::endpoint_cases()[index].program)(&mut endpoint);
            endpoint.finish(outcome.clone());
            outcome
        };
        let outcome = run_endpoints(machine, &options, program).map(drop);
        assert_eq!(outcome, Ok(()), "{} of {} on {ranks} ranks", case.name, machine.name);
    }
}
