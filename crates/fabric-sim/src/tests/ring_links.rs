//! Urgent packets on rings of SCI, and the use of their links, with expected numbers derived by hand.

use contract::{Buffer, Source, Time, TimeSpan};

use super::TAG;
use super::rings::{error_of, rings};
use crate::Options;

const SYMBOL: TimeSpan = TimeSpan::from_ns(16);
const HOP: TimeSpan = TimeSpan::from_ns(64);
const LONG_MESSAGES: usize = 8;
const LONG_BYTES: usize = 4096;

/// Returns the time at which a message of 8 bytes arrives that its sender sends to one node behind many long ones to
/// another.
fn short_behind_long(lines: &str) -> TimeSpan {
    let outcome = super::run(&rings(lines), 4, |rank| {
        match rank.rank() {
            3 => {
                let mut posted = Vec::new();
                for _ in 0..LONG_MESSAGES {
                    posted.push(rank.post_send(0, TAG, Buffer::try_zeroed(LONG_BYTES)?)?);
                }
                rank.send(1, TAG, &[1; 8])?;
                for one in posted {
                    rank.wait(one)?;
                }
            }
            0 => {
                for _ in 0..LONG_MESSAGES {
                    rank.receive(Source::Rank(3), TAG.into(), &mut [0; LONG_BYTES])?;
                }
            }
            1 => {
                rank.receive(Source::Rank(3), TAG.into(), &mut [0; 8])?;
            }
            _ => {}
        }
        Ok(rank.now().since(Time::ZERO))
    });
    outcome.unwrap().results[1]
}

#[test]
fn short_messages_get_ahead_of_long_ones_where_they_are_urgent() {
    let ring = "shape = \"ring:4\"\n";
    // All packets of the long messages leave first, each of 40 symbols and an idle one.
    let packets = (LONG_MESSAGES * LONG_BYTES / 64) as u64;
    let behind = short_behind_long(ring);
    assert!(behind >= SYMBOL.times(41 * packets), "{behind:?}");
    for urgency in ["preempt", "two-bits"] {
        let urgent = format!("{ring}urgency = \"{urgency}\"\nurgent_bytes = 64");
        let ahead = short_behind_long(&urgent);
        // It needs a place of the queue, and four packets occupy one each: an echo frees it before these have left, or
        // soon after. The target then takes 300 ns for it.
        assert!(ahead < SYMBOL.times(8 * 41), "{urgency}: {ahead:?}");
        // A longer message than `urgent_bytes` is not urgent.
        let others = short_behind_long(&format!("{ring}urgency = \"{urgency}\"\nurgent_bytes = 7"));
        assert!(others >= SYMBOL.times(41 * packets), "{urgency}: {others:?}");
    }
}

/// A packet of 64 bytes passes the first link, and an echo of 4 symbols the others; an idle symbol follows each.
#[test]
fn links_of_a_ring_are_in_the_trace_and_their_use_is_counted() {
    let options = Options { trace: true, ..Options::new(4) };
    let outcome = crate::run(&rings("shape = \"ring:4\""), &options, |rank| match rank.rank() {
        0 => rank.send(1, TAG, &[1; 64]),
        1 => rank.receive(Source::Rank(0), TAG.into(), &mut [0; 64]).map(drop),
        _ => Ok(()),
    });
    let outcome = outcome.map_err(|(rank, error)| format!("{rank}: {error}")).unwrap();
    let used: Vec<_> = outcome
        .channels
        .iter()
        .map(|link| (link.name.as_str(), link.busy, link.packets, link.waited, link.queue_max))
        .collect();
    let (packet, echo) = (SYMBOL.times(41), SYMBOL.times(5));
    let none = TimeSpan::ZERO;
    assert_eq!(
        used,
        [
            ("node 0 to 1", packet, 1, none, 0),
            ("node 1 to 2", echo, 1, none, 0),
            ("node 2 to 3", echo, 1, none, 0),
            ("node 3 to 0", echo, 1, none, 0),
        ]
    );
    let begin = Time::ZERO;
    let spans = [
        ("node 0 to 1".to_string(), begin, begin + packet),
        ("node 1 to 2".to_string(), begin + HOP, begin + HOP + echo),
        ("node 2 to 3".to_string(), begin + HOP.times(2), begin + HOP.times(2) + echo),
        ("node 3 to 0".to_string(), begin + HOP.times(3), begin + HOP.times(3) + echo),
    ];
    assert_eq!(outcome.trace.unwrap().channels, spans);
}

#[test]
fn links_of_several_rings_have_the_names_of_their_rings() {
    let outcome = super::run(&rings("shape = \"bridge:2+2\""), 4, |rank| match rank.rank() {
        1 => rank.send(2, TAG, &[1; 64]),
        2 => rank.receive(Source::Rank(1), TAG.into(), &mut [0; 64]).map(drop),
        _ => Ok(()),
    });
    let outcome = outcome.unwrap();
    let names: Vec<&str> = outcome.channels.iter().map(|link| link.name.as_str()).collect();
    // Nodes 4 and 5 are the two sides of the bridge. Each link carries the packet, or the echo of one.
    let expected = [
        "ring 0: node 0 to 1",
        "ring 0: node 1 to agent 4",
        "ring 1: node 2 to 3",
        "ring 1: node 3 to agent 5",
        "ring 0: agent 4 to node 0",
        "ring 1: agent 5 to node 2",
    ];
    assert_eq!(names, expected);
}

#[test]
fn urgency_without_a_length_and_rings_within_machines_are_refused_with_their_place() {
    let wrong = |lines: &str| error_of(lines, &["sci", "inner_network"]);
    let shape = "[sci]\nshape = \"ring:8\"\n";
    assert!(
        wrong(&format!("{shape}urgency = \"preempt\""))
            .starts_with("m.toml, line 5: `sci.urgency` needs `urgent_bytes`")
    );
    assert!(
        wrong(&format!("{shape}urgent_bytes = 8"))
            .starts_with("m.toml, line 5: `sci.urgent_bytes` needs `urgency = \"preempt\"`")
    );
    let inner =
        "[[inner_network]]\nname = \"memory\"\nnodes = 2\nshape = \"bus\"\nlink_mb_per_s = 1\n";
    assert!(wrong(&format!("{inner}{shape}")).starts_with(
        "m.toml, line 3: `inner_network` stands beside [sci]: rings of SCI are not simulated together with other networks"
    ));
}
