//! Compares the throughput of saturated rings with the capacity of their links.

use super::*;

/// Returns the throughput in MB a second with moves of 64 bytes from every node, whenever there is room, and with hosts
/// that take no time.
fn saturated(nodes: u32, destination: Destination) -> f64 {
    saturated_by(TransactionKind::Move(64), nodes, destination)
}

fn saturated_by(operation: TransactionKind, nodes: u32, destination: Destination) -> f64 {
    let mut settings = ring(nodes);
    settings.delays.host = TimeSpan::ZERO;
    settings.delays.responder = TimeSpan::ZERO;
    let duration = TimeSpan::from_us(400);
    let traffic =
        Traffic { nodes: Vec::new(), pace: Pace::Available, destination, operation, priority: 0 };
    let warm_up = TimeSpan::from_us(50);
    let study =
        study::Study { settings, traffic: vec![traffic], warm_up, duration, joined: None, seed: 1 };
    study::run(&study).unwrap().traffic[0].mb_per_s(duration)
}

/// Returns the rate in MB a second of 64 bytes for each node in every `symbols` symbols of 16 ns.
fn each(nodes: u32, symbols: u32) -> f64 {
    f64::from(nodes) * 64.0 / (f64::from(symbols) * 0.016)
}

/// Checks that a rate is never above the bound, and not far below it: a ring that is loaded everywhere loses little to
/// go bits.
fn check(found: f64, bound: f64) {
    assert!(found <= bound * 1.005, "{found} MB/s; links carry {bound}");
    assert!(found >= bound * 0.8, "{found} MB/s; links carry {bound}");
}

#[test]
fn neighbours_share_links_with_echoes_only() {
    // A packet of 40 symbols and an idle symbol are on one link, and the packet's echo of 5 on all others.
    for nodes in [2, 4, 8, 16] {
        check(saturated(nodes, Destination::Downstream), each(nodes, 41 + 5 * (nodes - 1)));
    }
}

#[test]
fn events_leave_no_echoes_on_links() {
    // A packet of 40 symbols and an idle symbol are on one link for each node, and nothing else.
    let event = TransactionKind::Event(64);
    for nodes in [2, 8] {
        check(saturated_by(event, nodes, Destination::Downstream), each(nodes, 41));
        check(saturated_by(event, nodes, Destination::Upstream), each(nodes, 41 * (nodes - 1)));
    }
}

#[test]
fn the_farthest_node_is_the_worst() {
    // The packet is on all links but one, its echo on that one.
    for nodes in [4, 8, 16] {
        check(saturated(nodes, Destination::Upstream), each(nodes, 41 * (nodes - 1) + 5));
    }
}

#[test]
fn a_request_of_itself_is_on_every_link_twice() {
    // The packet is on every link, and its echo is on every link.
    for nodes in [4, 8] {
        check(saturated(nodes, Destination::Itself), each(nodes, nodes * (41 + 5)));
    }
}

#[test]
fn destinations_are_ranked_as_the_paper_says() {
    let [down, random, up, itself] =
        [Destination::Downstream, Destination::Random, Destination::Upstream, Destination::Itself]
            .map(|destination| saturated(8, destination));
    assert!(down > random && random > up && up > itself, "{down} {random} {up} {itself}");
}
