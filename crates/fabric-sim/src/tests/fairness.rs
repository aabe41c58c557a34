//! Shares of the nodes on a saturated line, by the rule of merging.

use contract::{Source, TimeSpan};

use super::{TAG, machine};
use crate::Machine;

const SENDERS: usize = 5;
/// One packet takes 10 µs on a link.
const SLOT_US: u64 = 10;

/// Returns a line whose nodes always have a packet ready: preparing one takes no time.
fn line(merge: &str) -> Machine {
    machine(&format!(
        "level = \"packets\"\n[network]\nshape = \"line\"\npacket_bytes = 1000\nlink_mb_per_s = 100\nbuffer_packets = 2\nmerge = \"{merge}\""
    ))
}

/// Lets ranks 0 to 4 send messages of `packets` packets to rank 5 without end. Returns the number of messages of each
/// that have arrived after `slots` slots.
fn counts(machine: &Machine, packets: usize, slots: u64) -> Vec<u64> {
    let outcome = super::run(machine, SENDERS + 1, move |rank| {
        let end = contract::Time::ZERO + TimeSpan::from_us(SLOT_US).times(slots);
        let mut counts = vec![0; SENDERS];
        let mut message = vec![0; 1000 * packets];
        if rank.rank() < SENDERS {
            while rank.now() < end {
                rank.send(SENDERS, TAG, &message)?;
            }
        } else {
            while rank.now() < end {
                counts[rank.receive(Source::Any, TAG.into(), &mut message)?.source] += 1;
            }
        }
        Ok(counts)
    });
    outcome.unwrap().results.pop().unwrap()
}

/// The last link takes the traffic of its own node and the passing traffic in turn, so half of it is node 4's. The link
/// before gives half of the other half to node 3, and so on; nodes 0 and 1 meet at node 1 and have equal shares.
#[test]
fn round_robin_gives_the_shares_of_a_parking_lot() {
    let slots = 3200;
    let found = counts(&line("round-robin"), 1, slots);
    let shares = [(4, 2.0), (3, 4.0), (2, 8.0), (1, 16.0), (0, 16.0)];
    for (node, part) in shares {
        let expected = slots as f64 / part;
        // The line fills in the first slots: nodes near the end have the link to themselves for some of them.
        assert!((found[node] as f64 - expected).abs() < 16.0, "node {node}: {found:?}");
    }
}

/// The packets of the oldest message are first: no node gets a second message through before every node has had one,
/// except the one that is being prepared meanwhile.
#[test]
fn age_flattens_the_shares() {
    let found = counts(&line("age"), 20, 10_000);
    // 10 000 slots are 500 messages of 20 packets: 100 for each.
    assert!(found.iter().all(|count| (97..=103).contains(count)), "{found:?}");
}

/// Node 0 sends 20 packets to node 1 and, posted after them, 5 to node 2. Both share the links as far as node 1. The
/// times at which each has wholly left: one after the other at 200 and 250 µs; in turns the shorter one after 11
/// packets, because two of the longer one were ready before it was posted.
#[test]
fn messages_of_one_node_go_one_after_the_other_or_in_turns() {
    for (in_turns, first_us, second_us) in [(false, 200, 250), (true, 250, 110)] {
        let mut machine = line("round-robin");
        machine.endpoint.interleaves_messages = in_turns;
        let ended = super::run(&machine, 3, |rank| {
            let mut arrived = rank.now();
            if rank.rank() == 0 {
                let long = rank.post_send(1, TAG, contract::Buffer::try_zeroed(20_000)?)?;
                let short = rank.post_send(2, TAG, contract::Buffer::try_zeroed(5000)?)?;
                rank.wait(long)?;
                rank.wait(short)?;
            } else {
                rank.receive(Source::Rank(0), TAG.into(), &mut vec![0; 20_000])?;
                arrived = rank.now();
            }
            Ok(arrived)
        });
        let arrived = ended.unwrap().results;
        let us = |time: contract::Time| time.since(contract::Time::ZERO).as_us();
        // The second link takes one packet more.
        assert_eq!(
            (us(arrived[1]), us(arrived[2])),
            (f64::from(first_us), f64::from(second_us) + 10.0)
        );
    }
}

/// Passing packets are first: node 0, whose packets pass all others, takes everything, and the others only the slots
/// before its first packet has come by.
#[test]
fn passing_traffic_first_starves_the_nodes_along_the_way() {
    let found = counts(&line("fixed-priority"), 1, 3200);
    assert!(found[0] > 3100, "{found:?}");
    assert!(found[1..].iter().all(|&count| count < 16), "{found:?}");
}
