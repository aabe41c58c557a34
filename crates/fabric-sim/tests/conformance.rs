//! The suites that every fabric must pass, on machines of different shape and level.
//!
//! The suite's own checks of data take nearly all of the time of many ranks.

use std::ops::ControlFlow;

use contract::{Endpoint, Rank, Time, TimeSpan};
use fabric_sim::machine::{find, parse};
use fabric_sim::{Level, Machine, Options, SimEndpoint, run_endpoints};

/// Numbers of ranks of the tests: alone, a pair, odd ones, and a power of two.
const FEW: [usize; 5] = [1, 2, 3, 5, 8];
/// Those of the long tests.
const OTHERS: [usize; 4] = [4, 6, 7, 9];
/// A case of 64 MiB: a million packets of SCI.
const HUGE: &str = "sizes/64-mib";

/// Creates a machine from these lines of TOML, with the source of every part assumed.
fn machine(lines: &str) -> Machine {
    let text = format!(
        "name = \"test\"\ntitle = \"a test's\"\n{lines}\n[[source]]\n\
         of = [\"processor\", \"endpoint\", \"protocol\", \"network\", \"sci\", \"board\", \"windows\"]\n\
         kind = \"assumed\"\nfrom = \"a test\"\n"
    );
    parse("test.toml", &text).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the machine with ranks that poll less often. The suite checks which messages arrive, not when, and on slow
/// machines nearly all of its events would be idle polls.
fn less_polling(machine: &Machine) -> Machine {
    let mut machine = machine.clone();
    machine.processor.polling = machine.processor.polling.times(16);
    machine
}

/// Runs the cases that `is_wanted` selects by name, with options for each number of ranks.
fn pass(
    machine: &Machine,
    ranks: impl IntoIterator<Item = usize>,
    is_wanted: impl Fn(&str) -> bool,
    options: impl Fn(usize) -> Options,
) {
    let machine = less_polling(machine);
    let launch = |case: &'static conformance::Case, ranks: usize| {
        if !is_wanted(case.name) {
            return Ok(());
        }
        fabric_sim::run(&machine, &options(ranks), |rank| case.run(rank))
            .map(drop)
            .map_err(|(rank, error)| format!("rank {rank}: {error}"))
    };
    conformance::run_all(ranks, launch)
        .unwrap_or_else(|failed| panic!("{}: {failed}", machine.name));
}

fn passes(machine: &Machine, level: Level, ranks: impl IntoIterator<Item = usize>) {
    let options = |ranks| Options { level: Some(level), ..Options::new(ranks) };
    pass(machine, ranks, |_| true, options);
}

fn at_both_levels(name: &str, ranks: impl IntoIterator<Item = usize> + Clone) {
    let machine = find(name).unwrap();
    passes(&machine, Level::LogGp, ranks.clone());
    passes(&machine, Level::Packets, ranks);
}

#[test]
fn a_switch_passes_at_both_levels() {
    at_both_levels("cluster", FEW);
}

#[test]
fn a_line_passes_at_both_levels() {
    at_both_levels("paragon-osf1", FEW);
}

#[test]
fn a_hypercube_passes_at_both_levels() {
    at_both_levels("ipsc", FEW);
}

#[test]
fn a_ring_with_its_own_protocol_passes_at_both_levels() {
    at_both_levels("sharc-ring", FEW);
}

#[test]
#[ignore = "long"]
fn other_numbers_of_ranks_pass_on_a_switch_and_a_line() {
    at_both_levels("cluster", OTHERS);
    at_both_levels("paragon-osf1", OTHERS);
}

#[test]
#[ignore = "long"]
fn other_numbers_of_ranks_pass_on_a_hypercube_and_a_ring() {
    at_both_levels("ipsc", OTHERS);
    at_both_levels("sharc-ring", OTHERS);
}

/// Runs 256 ranks packet by packet. The suite sends between any two of them.
fn large_passes(name: &str) {
    let mut machine = find(name).unwrap();
    machine.network.single_hop = false;
    passes(&machine, Level::Packets, [256]);
}

#[test]
#[ignore = "long"]
fn a_switch_of_256_ranks_passes() {
    large_passes("cluster");
}

#[test]
#[ignore = "long"]
fn a_fat_tree_of_256_ranks_passes() {
    large_passes("fat-tree");
}

#[test]
#[ignore = "long"]
fn a_hypercube_of_256_ranks_passes() {
    large_passes("mark-iii");
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
    pass(machine, ranks, |case| case != HUGE, Options::new);
}

#[test]
fn boards_in_shared_memory_pass() {
    const BOARDS: &str = "[processor]\ncopy_mb_per_s = 1000\n[board]\nranks_max = 6\nbytes_max = 1024\n\
         piece_bytes = 128\nplaces = 4\nsee_us = 1\n\
         put = [{ from_bytes = 0, us = 2, ns_per_byte = 10 }]\n\
         take = [{ from_bytes = 0, us = 3, ns_per_byte = 20 }]\n\
         combine = [{ from_bytes = 0, us = 4, ns_per_byte = 30 }]\n\
         [protocol]\neager_bytes = 4096\n[network]\nshape = \"switch\"\nlink_mb_per_s = 100\nlatency_us = 50";
    let boards = machine(BOARDS);
    passes(&boards, Level::LogGp, [1, 2, 5, 6, 9]);
    passes(&boards, Level::Packets, [4]);
    // In groups of eight.
    let many = machine(&BOARDS.replace("ranks_max = 6", "ranks_max = 64"));
    passes(&many, Level::LogGp, [40]);
}

#[test]
fn a_torus_a_bus_a_graph_and_a_fat_tree_pass() {
    passes(&find("fem").unwrap(), Level::Packets, [5]);
    let network = "link_mb_per_s = 100\npacket_bytes = 4096\nheader_bytes = 8";
    let bus = format!("[network]\nshape = \"bus\"\nslot_us = 3\n{network}");
    passes(&machine(&bus), Level::Packets, [5]);
    let links = "[[0, 1], [1, 2], [2, 3], [3, 4], [1, 4]]";
    let graph = format!("[network]\nshape = \"graph\"\nlinks = {links}\n{network}");
    passes(&machine(&graph), Level::Packets, [5]);
    passes(&find("fat-tree").unwrap(), Level::Packets, [17]);
}

#[test]
fn endpoints_pass_at_both_levels() {
    let machine = find("cluster").unwrap();
    for level in [Level::LogGp, Level::Packets] {
        (2..=5).for_each(|ranks| endpoints_pass(&machine, level, "", ranks));
    }
}

/// Runs the cases of endpoints whose names begin with `names`.
fn endpoints_pass(machine: &Machine, level: Level, names: &str, ranks: usize) {
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

#[test]
fn windows_pass_by_an_agent_and_by_the_processor() {
    let agent = "[processor]\npolling_us = 0.25\n[endpoint]\nsend_us = 1000\nreceive_us = 1000\nsetup_us = 1000\n\
         [network]\nshape = \"switch\"\nlink_mb_per_s = 100\nlatency_us = 1\n\
         [windows]\nput_us = 1\nput_ns_per_byte = 1\nget_us = 2\nupdate_us = 3\ntarget_us = 4\ntarget_ns_per_byte = 2\n\
         target_update_us = 5\ndone_us = 0.5\nsee_us = 0.125\nrequest_bytes = 100\nanswer_bytes = 10\n";
    let processor = "[network]\nshape = \"switch\"\nlink_mb_per_s = 100\nlatency_us = 1\n\
         [windows]\npath = \"processor\"\nput_us = 0.1\nget_us = 0.1\nupdate_us = 0.1\n";
    for machine in [machine(agent), machine(processor)] {
        for level in [Level::LogGp, Level::Packets] {
            (2..=5).for_each(|ranks| endpoints_pass(&machine, level, "windows/", ranks));
        }
    }
}

#[test]
fn three_ranks_on_each_processor_pass() {
    for (name, level) in [("paragon-osf1", Level::Packets), ("sharc-ring", Level::LogGp)] {
        let options = |ranks| Options {
            level: Some(level),
            ranks_per_processor: Some(3),
            ..Options::new(ranks)
        };
        pass(&find(name).unwrap(), [2, 5], |_| true, options);
    }
}

/// Ranks that poll while switches are long. A choice of the scheduler before all jobs of that moment were submitted
/// gave the same rank slice after slice, for ever.
#[test]
fn ranks_that_poll_get_on_however_long_a_switch_is() {
    let mut machine = find("paragon-osf1").unwrap();
    machine.processor.switch = TimeSpan::from_us(800);
    // Every case that polls takes some slices of 10 ms for each message; none comes near to ten minutes.
    let limit = Time::ZERO + TimeSpan::from_us(600_000_000);
    let launch = |case: &'static conformance::Case, ranks: usize| {
        let options = Options { ranks_per_processor: Some(3), ..Options::new(ranks) };
        let program = move |rank: &mut dyn Rank| case.run(rank);
        let outcome = fabric_sim::run_watched(&machine, &options, program, &mut |watched| {
            if watched.now() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        outcome.map(drop).map_err(|(rank, error)| format!("rank {rank}: {error}"))
    };
    conformance::run_all([2, 5], launch).unwrap_or_else(|failed| panic!("{failed}"));
}
