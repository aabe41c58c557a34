//! Throughput of saturated rings against what their links can carry.

use super::*;

/// Moves of 64 bytes from every node, whenever there is room, with hosts that take no time.
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

/// 64 bytes for each node in every so many symbols of 16 ns, in MB a second.
fn each(nodes: u32, symbols: u32) -> f64 {
    f64::from(nodes) * 64.0 / (f64::from(symbols) * 0.016)
}

/// Never above the bound, and not far below it: a ring that is loaded everywhere loses little to go bits.
fn check(found: f64, bound: f64) {
    assert!(found <= bound * 1.005, "{found} MB/s; links carry {bound}");
    assert!(found >= bound * 0.8, "{found} MB/s; links carry {bound}");
}

#[test]
fn neighbours_share_links_with_echoes_only() {
    // A packet of 40 symbols and an idle symbol on one link, its echo of 5 on all others.
    for nodes in [2, 4, 8, 16] {
        check(saturated(nodes, Destination::Downstream), each(nodes, 41 + 5 * (nodes - 1)));
    }
}

#[test]
fn events_leave_no_echoes_on_links() {
    // A packet of 40 symbols and an idle symbol on one link for each node, and nothing else.
    let event = TransactionKind::Event(64);
    for nodes in [2, 8] {
        check(saturated_by(event, nodes, Destination::Downstream), each(nodes, 41));
        check(saturated_by(event, nodes, Destination::Upstream), each(nodes, 41 * (nodes - 1)));
    }
}

#[test]
fn the_farthest_node_is_the_worst() {
    // The packet on all links but one, its echo on that one.
    for nodes in [4, 8, 16] {
        check(saturated(nodes, Destination::Upstream), each(nodes, 41 * (nodes - 1) + 5));
    }
}

#[test]
fn a_request_of_itself_is_on_every_link_twice() {
    // The packet on every link, and its echo on every link.
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
