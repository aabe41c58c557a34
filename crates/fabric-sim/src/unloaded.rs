//! Level L0: the time of a message in a network that carries nothing else, in closed form.
//!
//! A message of m packets passes a row of stages (the sender's engine, each link, the receiver's engine) as jobs pass
//! the machines of a flow shop: packet i leaves stage j after `max(leave(i, j-1), leave(i-1, j)) + cost(i, j)`. The
//! last packet leaves the last stage after the time of the longest path through the table of costs, which goes only to
//! the right (the next stage) and down (the next packet). The packets between the first and the last cost the same. The
//! longest path therefore spends all of them but one in the most expensive of the stages that it passes with them, and
//! only a few corners need to be tried.

use contract::TimeSpan;

use crate::machine::{Machine, Switching};
use crate::message_kind::MessageKind;
use crate::quantity::Cost;

/// Equal stages in a row: an engine, a link, or both if one waits while the other works.
#[derive(Clone, Copy)]
struct Stage {
    engine: Cost,
    link: bool,
    count: u64,
}

/// Returns the time of an engine before the first packet of a message. The steps of a machine's own collectives and
/// accesses have none.
fn setup(machine: &Machine, bytes: u64, kind: MessageKind) -> TimeSpan {
    match kind {
        MessageKind::Bare | MessageKind::Access => TimeSpan::ZERO,
        _ => machine.endpoint.setup.of(bytes) + machine.network.message.of(bytes),
    }
}

/// Costs of the first packet, each of the middle ones and the last in a stage, and number of equal stages in a row.
#[derive(Clone, Copy)]
struct Column {
    first: TimeSpan,
    middle: TimeSpan,
    last: TimeSpan,
    width: u64,
}

/// Returns the time from the moment at which the sender's engine starts a message of `bytes` bytes until its last byte
/// leaves the receiver's engine, over a route of `links` links.
pub fn transfer(machine: &Machine, bytes: u64, links: u64, kind: MessageKind) -> TimeSpan {
    setup(machine, bytes, kind)
        + delays(machine, links, kind)
        + longest_path(&columns(machine, &stages(machine, links), bytes, kind))
}

/// Returns the time after which the sender's engine and the first link are free again.
pub fn occupation(machine: &Machine, bytes: u64, kind: MessageKind) -> TimeSpan {
    let [send, link, _] = stages(machine, 1);
    setup(machine, bytes, kind) + longest_path(&columns(machine, &[send, link], bytes, kind))
}

/// Returns the time for which a message occupies the last link and the receiver's engine.
pub fn reception(machine: &Machine, bytes: u64, kind: MessageKind) -> TimeSpan {
    let [_, _, receive] = stages(machine, 1);
    let link = Stage { engine: Cost::default(), link: true, count: 1 };
    let simplex = machine.endpoint.is_simplex(bytes);
    let setup = if simplex { setup(machine, bytes, kind) } else { TimeSpan::ZERO };
    setup + longest_path(&columns(machine, &[link, receive], bytes, kind))
}

/// Returns the delays of a message that do not depend on its length.
fn delays(machine: &Machine, links: u64, kind: MessageKind) -> TimeSpan {
    let network = &machine.network;
    let forward = network.forwarding(kind) + network.head_time(kind);
    network.latency.times(links) + forward.times(links.saturating_sub(1))
}

fn stages(machine: &Machine, links: u64) -> [Stage; 3] {
    let endpoint = &machine.endpoint;
    // With cut-through all links carry a packet at nearly the same time, so they are one stage.
    let wires = match machine.network.switching {
        Switching::StoreAndForward => links,
        Switching::CutThrough => links.min(1),
    };
    let together = !endpoint.engine_overlaps_link && wires > 0;
    [
        Stage { engine: endpoint.packet_send, link: together, count: 1 },
        Stage { engine: Cost::default(), link: true, count: wires - u64::from(together) },
        Stage { engine: endpoint.packet_receive, link: false, count: 1 },
    ]
}

/// Returns the number of packets of a message, and their costs in each stage. Of equal stages in a row only the first
/// and the last are columns of their own, because a path that turns between them costs no more than one that turns at
/// an end.
fn columns(
    machine: &Machine,
    stages: &[Stage],
    bytes: u64,
    kind: MessageKind,
) -> (u64, Vec<Column>) {
    let network = &machine.network;
    let (packets, whole) = (network.packets(bytes, kind), u64::from(network.packet_bytes));
    let rest = bytes - (packets - 1) * whole;
    let mut columns = Vec::with_capacity(5);
    for stage in stages {
        let cost = |bytes: u64| {
            let link = if stage.link { network.serialisation(bytes, kind) } else { TimeSpan::ZERO };
            link + stage.engine.per_byte.times(bytes)
        };
        let middle = cost(whole) + stage.engine.fixed;
        let (first, last) = if packets == 1 {
            (cost(rest), TimeSpan::ZERO)
        } else {
            (cost(whole), cost(rest) + stage.engine.fixed)
        };
        let widths: &[u64] = match stage.count {
            0 => &[],
            1 => &[1],
            2 => &[1, 1],
            more => &[1, more - 2, 1],
        };
        columns.extend(widths.iter().map(|&width| Column { first, middle, last, width }));
    }
    (packets, columns)
}

/// Returns the length of the longest path: the first packet through the columns up to `down`, the middle packets from
/// there to `over`, the last packet through the rest.
fn longest_path((packets, columns): &(u64, Vec<Column>)) -> TimeSpan {
    let sum = |range: &[Column], cost: fn(&Column) -> TimeSpan| {
        range.iter().fold(TimeSpan::ZERO, |sum, column| sum + cost(column).times(column.width))
    };
    if *packets == 1 {
        return sum(columns, |column| column.first);
    }
    let corners = || (0..columns.len()).filter(|&index| columns[index].width == 1);
    let mut longest = TimeSpan::ZERO;
    for down in corners() {
        let first = sum(&columns[..=down], |column| column.first);
        for over in corners().filter(|&over| over >= down && (*packets > 2 || over == down)) {
            let passed = &columns[down..=over];
            let middle = match packets - 2 {
                0 => TimeSpan::ZERO,
                count => {
                    let dearest =
                        passed.iter().map(|column| column.middle).max().unwrap_or_default();
                    sum(passed, |column| column.middle) + dearest.times(count - 1)
                }
            };
            longest = longest.max(first + middle + sum(&columns[over..], |column| column.last));
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse;
    use crate::random::Random;

    /// Returns the time of the flow shop, computed packet by packet and stage by stage.
    fn obvious(machine: &Machine, bytes: u64, links: u64) -> TimeSpan {
        let (packets, whole) = (
            machine.network.packets(bytes, MessageKind::Data),
            u64::from(machine.network.packet_bytes),
        );
        let stages: Vec<Stage> = stages(machine, links)
            .into_iter()
            .flat_map(|stage| std::iter::repeat_n(stage, stage.count as usize))
            .collect();
        let mut left = vec![TimeSpan::ZERO; stages.len()];
        for packet in 0..packets {
            let payload = whole.min(bytes - packet * whole);
            let mut at = TimeSpan::ZERO;
            for (stage, left) in stages.iter().zip(&mut left) {
                let fixed = if packet > 0 { stage.engine.fixed } else { TimeSpan::ZERO };
                let link = if stage.link {
                    machine.network.serialisation(payload, MessageKind::Data)
                } else {
                    TimeSpan::ZERO
                };
                *left = at.max(*left) + fixed + stage.engine.per_byte.times(payload) + link;
                at = *left;
            }
        }
        machine.endpoint.setup.of(bytes)
            + delays(machine, links, MessageKind::Data)
            + left.last().copied().unwrap_or_default()
    }

    #[test]
    fn the_closed_form_is_the_flow_shop() {
        let seed = 3;
        let mut random = Random::new(seed, 0);
        for _ in 0..400 {
            let text = format!(
                "name = \"x\"\ntitle = \"x\"\n[endpoint]\nsetup_us = 7\npacket_send_us = {}\npacket_send_ns_per_byte = {}\n\
                 packet_receive_us = {}\nengine_overlaps_link = {}\n[network]\nshape = \"line\"\n\
                 packet_bytes = 100\nheader_bytes = {}\nlink_mb_per_s = {}\nswitching = \"{}\"\nforward_us = 0.5\n[[source]]\nof = [\"endpoint\", \"network\"]\n\
                 kind = \"assumed\"\nfrom = \"a test\"\n",
                random.below(9),
                random.below(3),
                random.below(9),
                random.below(2) == 0,
                random.below(30),
                10 + random.below(200),
                ["store-and-forward", "cut-through"][random.below(2) as usize],
            );
            let machine = parse("x", &text).unwrap();
            let (bytes, links) = (random.below(1500), 1 + random.below(7));
            let expected = obvious(&machine, bytes, links);
            assert_eq!(
                transfer(&machine, bytes, links, MessageKind::Data),
                expected,
                "seed {seed}, {bytes} bytes over {links}: {text}"
            );
        }
    }
}
