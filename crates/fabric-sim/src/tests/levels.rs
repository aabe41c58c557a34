//! A message that meets no other takes the same time at every level.

use contract::TimeSpan;

use super::{machine, time_of_one};
use crate::random::Random;
use crate::topology::Topology;
use crate::{Level, Machine, MessageKind, Options, unloaded};

fn simulated(machine: &Machine, level: Level, ranks: usize, to: usize, bytes: usize) -> TimeSpan {
    time_of_one(machine, &Options { level: Some(level), ..Options::new(ranks) }, to, bytes)
}

/// Returns the closed form of the whole message: the ends, what precedes the data, and the data.
fn closed_form(machine: &Machine, links: u64, bytes: u64) -> TimeSpan {
    let ends = machine.endpoint.send.of(bytes) + machine.endpoint.receive.of(bytes);
    let data = ends + unloaded::transfer(machine, bytes, links, MessageKind::Data);
    if machine.protocol.sends_at_once(bytes) {
        return data;
    }
    let control = u64::from(machine.protocol.control_bytes);
    let one_way = unloaded::transfer(machine, control, links, MessageKind::Control);
    data + one_way.times(2) + machine.protocol.answer
}

#[test]
fn all_three_levels_agree_to_the_picosecond() {
    let seed = 5;
    let mut random = Random::new(seed, 0);
    for _ in 0..150 {
        let shape = ["line", "hypercube", "switch", "mesh"][random.below(4) as usize];
        let lines = format!(
            "[endpoint]\nsend_us = 3\nreceive_us = 4\nreceive_ns_per_byte = 1\npacket_send_us = {}\n\
             packet_send_ns_per_byte = {}\npacket_receive_us = {}\nsetup_us = {}\nengine_overlaps_link = {}\n\
             co_processor = {}\n[protocol]\neager_bytes = {}\ncontrol_bytes = 9\nanswer_us = 6\n[network]\n\
             shape = \"{shape}\"\npacket_bytes = 128\nheader_bytes = {}\nlink_mb_per_s = {}\nlatency_us = {}\n\
             forward_us = {}\nforward_control_us = 0.7\nswitching = \"{}\"\nbuffer_packets = 16",
            random.below(4),
            random.below(3),
            random.below(4),
            random.below(3),
            random.below(2) == 0,
            random.below(2) == 0,
            random.below(900),
            random.below(30),
            10 + random.below(90),
            random.below(2),
            random.below(3),
            ["store-and-forward", "cut-through"][random.below(2) as usize],
        );
        let machine = machine(&lines);
        let (ranks, bytes) = (8, random.below(1200) as usize);
        let to = 1 + random.below(7) as usize;
        let ejection = lines.contains("cut-through");
        let mut route = Vec::new();
        Topology::new(&machine.network.shape, ranks, ejection).unwrap().route(0, to, &mut route);
        let expected = closed_form(&machine, route.len() as u64, bytes as u64);
        for level in [Level::LogGp, Level::Packets] {
            let found = simulated(&machine, level, ranks, to, bytes);
            assert_eq!(found, expected, "seed {seed}, {level:?}, {bytes} bytes to {to}:\n{lines}");
        }
    }
}

/// Derived by hand: 300 bytes are packets of 128, 128 and 44 bytes. Sending takes 2 µs. At 100 MB/s with 12 bytes of
/// header the packets take 1.4, 1.4 and 0.56 µs on a link. Stored at one node between, which takes 0.5 µs to forward
/// one, the last byte arrives after 2 + (1.4 + 1.4 + 0.56) on the first link; the last packet waits at the node until
/// the second packet is gone, at 2 + 1.4 + 0.5 + 1.4 + 1.4 = 6.7, and takes 0.56 more. Receiving takes 1 µs: 8.26 µs.
#[test]
fn packets_follow_each_other_over_two_links() {
    let machine = machine(
        "[endpoint]\nsend_us = 2\nreceive_us = 1\n[network]\nshape = \"line\"\npacket_bytes = 128\n\
         header_bytes = 12\nlink_mb_per_s = 100\nforward_us = 0.5",
    );
    for level in [Level::LogGp, Level::Packets] {
        assert_eq!(simulated(&machine, level, 3, 2, 300), TimeSpan::from_ns(8260));
    }
}
