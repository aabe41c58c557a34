//! Cells that a paper computes by formula.

use analysis::model::loggp::{AllToAll, Broadcast, ByNodes, Packet, Unicast};

/// The value of a formula by its name, whose parts lie between slashes.
pub(crate) fn value(name: &str) -> Result<f64, String> {
    let parts: Vec<&str> = name.split('/').collect();
    let found = match parts[..] {
        ["sharc", call, nodes, metric] => sharc(call, nodes.parse().ok(), metric),
        ["sharc-scalability", call, size, system] => scalability(call, size, system),
        ["sharc-parameter", parameter] => sharc_parameter(parameter),
        _ => None,
    };
    found.ok_or_else(|| format!("there is no formula `{name}`"))
}

/// A system of MPI-SHARC section 6: how many times as fast as the original its processors and its links are.
#[derive(Clone, Copy)]
struct System {
    clock: f64,
    links: f64,
}

const SHARC: System = System { clock: 1.0, links: 1.0 };
/// 150 MHz instead of 40, and 150 MB/s instead of 40.
const FASTER: f64 = 150.0 / 40.0;
const SMALLEST_BYTES: u64 = 4;
const LARGEST_BYTES: u64 = 16 * 1024;
const PACKET: Packet = Packet { payload_min_bytes: SMALLEST_BYTES, payload_max_bytes: 2048 };
const LINK_US_PER_BYTE: f64 = 0.025;

/// Tables 7 to 9 with the scaling of section 6: overheads and latencies by the clock, gaps by the links.
impl System {
    fn by_nodes(self, two_nodes_us: f64, each_more_us: f64) -> ByNodes {
        ByNodes { two_nodes_us: two_nodes_us / self.clock, each_more_us: each_more_us / self.clock }
    }

    fn unicast(self) -> Unicast {
        Unicast {
            send_overhead_us: 28.63 / self.clock,
            receive_overhead_us: 29.17 / self.clock,
            packet_overhead_us: 48.30 / self.clock,
            send_latency_us_per_hop: 15.40 / self.clock,
            ready_latency_us_per_hop: 8.925 / self.clock,
            gap_us_per_byte_and_link: LINK_US_PER_BYTE / self.links,
            gap_us_per_byte: LINK_US_PER_BYTE / self.links,
            packet: PACKET,
        }
    }

    fn broadcast(self) -> Broadcast {
        Broadcast {
            overhead: self.by_nodes(63.25, 23.10),
            latency: self.by_nodes(0.0, 1.6),
            gap_us_per_byte_and_link: LINK_US_PER_BYTE / self.links,
            gap_us_per_byte: 0.0266 / self.links,
            packet: PACKET,
        }
    }

    fn allgather(self, in_place: bool) -> AllToAll {
        AllToAll {
            overhead: self.by_nodes(91.10, 27.5),
            move_us_per_byte: if in_place { 0.0 } else { 0.1627 / self.clock },
            gap_us_per_byte_and_link: LINK_US_PER_BYTE / self.links,
        }
    }

    fn time_us(self, call: &str, bytes: u64, nodes: usize) -> Option<f64> {
        Some(match call {
            "unicast" => self.unicast().ping_pong_us(bytes, nodes),
            "broadcast" => self.broadcast().time_us(bytes, nodes),
            "allgather" => self.allgather(false).time_us(bytes, nodes),
            "in-place-allgather" => self.allgather(true).time_us(bytes, nodes),
            _ => return None,
        })
    }
}

/// The latency of 4 bytes or the bandwidth at 16 KiB by the model, which counts what each call delivers (equations 1, 2).
fn sharc(call: &str, nodes: Option<usize>, metric: &str) -> Option<f64> {
    let nodes = nodes?;
    let others = nodes as f64 - 1.0;
    let delivered = match call {
        "unicast" => 1.0,
        "broadcast" => others,
        _ => others * nodes as f64,
    };
    match metric {
        "latency-us" => SHARC.time_us(call, SMALLEST_BYTES, nodes),
        "bandwidth-mb-per-s" => {
            Some(delivered * LARGEST_BYTES as f64 / SHARC.time_us(call, LARGEST_BYTES, nodes)?)
        }
        _ => None,
    }
}

/// The time of a call by the models of tables 7 to 9.
pub(crate) fn sharc_time_us(call: &str, bytes: u64, nodes: usize) -> Option<f64> {
    SHARC.time_us(call, bytes, nodes)
}

/// Table 10: what the parameters of table 7 take at a clock of 1 MHz and a link of 1 MB/s. Those of the processor
/// shrink with its clock, those of the link with its rate; latencies are for a hop, the gap for a link.
fn sharc_parameter(parameter: &str) -> Option<f64> {
    const CLOCK_MHZ: f64 = 40.0;
    const LINK_MB_PER_S: f64 = 40.0;
    let unicast = SHARC.unicast();
    Some(match parameter {
        "receive-overhead" => unicast.receive_overhead_us * CLOCK_MHZ,
        "send-overhead" => unicast.send_overhead_us * CLOCK_MHZ,
        "packet-overhead" => unicast.packet_overhead_us * CLOCK_MHZ,
        "send-latency" => unicast.send_latency_us_per_hop * CLOCK_MHZ,
        "ready-latency" => unicast.ready_latency_us_per_hop * CLOCK_MHZ,
        "gap" => unicast.gap_us_per_byte_and_link * LINK_MB_PER_S,
        "gap-per-byte" => unicast.gap_us_per_byte * LINK_MB_PER_S,
        _ => return None,
    })
}

/// Table 11: how much a node more adds to the time, against the original system, in percent. The model is a straight
/// line over the nodes, so any two numbers of them give its slope.
fn scalability(call: &str, size: &str, system: &str) -> Option<f64> {
    let bytes = match size {
        "small" => 128,
        "large" => 4096,
        _ => return None,
    };
    let system = match system {
        "enhanced-clock" => System { clock: FASTER, links: 1.0 },
        "enhanced-data-rate" => System { clock: 1.0, links: FASTER },
        "tigersharc" => System { clock: FASTER, links: FASTER },
        _ => return None,
    };
    let slope =
        |system: System| Some(system.time_us(call, bytes, 32)? - system.time_us(call, bytes, 2)?);
    Some(100.0 * slope(system)? / slope(SHARC)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: a node more costs half of 15.40 + 8.925 µs in a ping-pong, and 124 bytes beyond the smallest on half a
    /// link, 1.55 µs. The clock shrinks the first part to 3.2433 of 12.1625 µs.
    #[test]
    fn a_faster_clock_shrinks_latency_but_not_the_links() {
        let expected = 100.0 * (12.1625 / 3.75 + 1.55) / (12.1625 + 1.55);
        let found = value("sharc-scalability/unicast/small/enhanced-clock").unwrap();
        assert!((found - expected).abs() < 1e-9, "{found} where {expected} is expected");
    }

    #[test]
    fn what_is_faster_in_all_is_faster_by_that_much() {
        for call in ["unicast", "broadcast", "allgather", "in-place-allgather"] {
            for size in ["small", "large"] {
                let found = value(&format!("sharc-scalability/{call}/{size}/tigersharc")).unwrap();
                assert!((found - 100.0 / 3.75).abs() < 1e-9, "{call} {size}: {found}");
            }
        }
    }

    #[test]
    fn unknown_names_are_refused() {
        assert!(value("sharc/unicast/four/latency-us").is_err());
        assert!(value("nothing").is_err());
    }
}
