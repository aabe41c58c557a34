//! Cells that a paper computes by formula.

use analysis::model::loggp::{AllToAll, Broadcast, ByNodes, Packet, Unicast, ring_hops};

/// Returns the value of a formula by its name. Slashes separate the name's parts.
pub(crate) fn value(name: &str) -> Result<f64, String> {
    found(name).ok_or_else(|| format!("there is no formula `{name}`"))
}

fn found(name: &str) -> Option<f64> {
    let parts: Vec<&str> = name.split('/').collect();
    match parts[..] {
        ["sharc", call, nodes, metric] => sharc(call, nodes.parse().ok(), metric),
        ["sharc-scalability", call, size, system] => scalability(call, size, system),
        ["sharc-parameter", parameter] => sharc_parameter(parameter),
        ["sharc-scalability-mean", size, system] => scalability_mean(size, system),
        ["sharc-crossing-ratio", call, reference, nodes] => {
            let nodes = nodes.parse().ok()?;
            Some(crossing_bytes(call, nodes)? / crossing_bytes(reference, nodes)?)
        }
        ["sharc-crossing-nodes", call, bytes] => crossing_nodes(call, bytes.parse().ok()?),
        ["sharc-broadcast-per-unicasts", nodes, bytes] => {
            broadcast_per_unicasts(nodes.parse().ok()?, bytes.parse().ok()?)
        }
        ["sharc-tracking", system, nodes] => tracking(system, nodes.parse().ok()?),
        _ => None,
    }
}

/// A system of MPI-SHARC section 6: the factors by which its processors and its links are faster than the original's.
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

/// Returns the latency of 4 bytes or the bandwidth at 16 KiB by the model, which counts the bytes that each call
/// delivers (equations 1, 2).
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

/// Returns the time of a call by the models of tables 7 to 9.
pub(crate) fn sharc_time_us(call: &str, bytes: u64, nodes: usize) -> Option<f64> {
    SHARC.time_us(call, bytes, nodes)
}

/// Computes figure 8b: the time of a broadcast, in percent of that of a unicast to each other node, one after the
/// other.
fn broadcast_per_unicasts(nodes: usize, bytes: u64) -> Option<f64> {
    let unicast = SHARC.unicast();
    let to = |node| unicast.time_us(bytes, ring_hops(0, node, nodes), ring_hops(node, 0, nodes));
    let unicasts: f64 = (1..nodes).map(to).sum();
    Some(100.0 * SHARC.time_us("broadcast", bytes, nodes)? / unicasts)
}

/// Computes table 10: the parameters of table 7 at a clock of 1 MHz and a link of 1 MB/s. Those of the processor shrink
/// with its clock, those of the link with its rate. Latencies are for a hop, the gap for a link.
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

/// Returns the message sizes of figure 13 and table 11.
fn size_of_scalability(size: &str) -> Option<u64> {
    match size {
        "small" => Some(128),
        "large" => Some(4096),
        _ => None,
    }
}

/// Computes table 11: the time that one more node adds, against the original system, in percent. The model is a
/// straight line over the nodes, so any two numbers of them give its slope. A unicast is the longest one, around all
/// other nodes: only that reading reaches the axes of figure 13 and gives the averages of section 7
/// (docs/decisions/0009-the-tables-of-the-papers.md#figure-13-uses-the-longest-unicast).
fn scalability(call: &str, size: &str, system: &str) -> Option<f64> {
    let bytes = size_of_scalability(size)?;
    let system = match system {
        "enhanced-clock" => System { clock: FASTER, links: 1.0 },
        "enhanced-data-rate" => System { clock: 1.0, links: FASTER },
        "tigersharc" => System { clock: FASTER, links: FASTER },
        _ => return None,
    };
    let time_us = |system: System, nodes: usize| match call {
        "unicast" => Some(system.unicast().longest_us(bytes, nodes)),
        _ => system.time_us(call, bytes, nodes),
    };
    let slope = |system: System| Some(time_us(system, 32)? - time_us(system, 2)?);
    Some(100.0 * slope(system)? / slope(SHARC)?)
}

/// Computes the mean of table 11 over the four calls, as in section 7.
fn scalability_mean(size: &str, system: &str) -> Option<f64> {
    const CALLS: [&str; 4] = ["unicast", "broadcast", "allgather", "in-place-allgather"];
    let sum = CALLS.iter().try_fold(0.0, |sum, call| Some(sum + scalability(call, size, system)?));
    Some(sum? / CALLS.len() as f64)
}

/// Returns by how much faster links are better than a faster clock, in microseconds.
fn links_win_by_us(call: &str, bytes: u64, nodes: usize) -> Option<f64> {
    let clock = System { clock: FASTER, links: 1.0 };
    let links = System { clock: 1.0, links: FASTER };
    Some(clock.time_us(call, bytes, nodes)? - links.time_us(call, bytes, nodes)?)
}

/// Computes figure 12: the least message size at which faster links are better than a faster clock.
fn crossing_bytes(call: &str, nodes: usize) -> Option<f64> {
    const LONGEST_BYTES: u64 = 1 << 20;
    let mut at = (SMALLEST_BYTES..LONGEST_BYTES)
        .map(|bytes| links_win_by_us(call, bytes, nodes).map(|us| (bytes, us)));
    at.find_map(|found| found.filter(|(_, us)| *us > 0.0)).map(|(bytes, _)| bytes as f64)
}

/// Computes figure 13: the least number of nodes at which faster links are better.
fn crossing_nodes(call: &str, bytes: u64) -> Option<f64> {
    const NODES_MAX: usize = 32;
    let better = |nodes: &usize| links_win_by_us(call, bytes, *nodes).is_some_and(|us| us > 0.0);
    (2..=NODES_MAX).find(better).map(|nodes| nodes as f64)
}

/// Computes figure 9: the parallel efficiency of matched-field tracking in percent. The program's grid is divided
/// evenly, and it makes 20,000 allgathers of 40 bytes: T / (T + P A), where T is the sequential time and A that of all
/// allgathers. Those on Ethernet take the least times of table 5.
fn tracking(system: &str, nodes: usize) -> Option<f64> {
    const ALLGATHERS: f64 = 20_000.0;
    const BYTES: u64 = 40;
    // Fitted: see the cells.
    const SHARC_S: f64 = 188.0;
    const ETHERNET_S: f64 = 202.0;
    let (sequential_s, allgather_us) = match (system, nodes) {
        ("sharc", _) => (SHARC_S, SHARC.time_us("allgather", BYTES, nodes)?),
        ("fast-ethernet", 4) => (ETHERNET_S, 1096.27),
        ("fast-ethernet", 8) => (ETHERNET_S, 2079.03),
        ("gigabit-ethernet", 4) => (ETHERNET_S, 961.48),
        ("gigabit-ethernet", 8) => (ETHERNET_S, 1867.15),
        _ => return None,
    };
    let communication_s = ALLGATHERS * nodes as f64 * allgather_us / 1e6;
    Some(100.0 * sequential_s / (sequential_s + communication_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests a value that is derived by hand: one more node on the longest way costs 15.40 us, and 124 bytes beyond the
    /// smallest on a link cost 3.1 us.
    #[test]
    fn a_faster_clock_shrinks_latency_but_not_the_links() {
        let expected = 100.0 * (15.40 / 3.75 + 3.1) / 18.5;
        let found = value("sharc-scalability/unicast/small/enhanced-clock").unwrap();
        assert!((found - expected).abs() < 1e-9, "{found} where {expected} is expected");
    }

    /// Tests the axes of figure 13. They end at about 700 us for 128 bytes and 2500 us for 4 KiB, and its curves end
    /// near that at 32 nodes: axes in hundreds, and in five hundreds, are no longer than necessary.
    #[test]
    fn the_longest_unicast_reaches_the_axes_of_figure_13() {
        let at_32 = |bytes| SHARC.unicast().longest_us(bytes, 32);
        // 57.8 + 30 x 15.40 + 124 x 31 x 0.025 = 615.9; 57.8 + 462 + 2044 x 31 x 0.025 + 48.3 + 2048 x 0.025 = 2203.4.
        assert!((at_32(128) - 615.9).abs() < 1e-9 && (at_32(4096) - 2203.4).abs() < 1e-9);
        assert!((600.0..700.0).contains(&at_32(128)) && (2000.0..2500.0).contains(&at_32(4096)));
        // Half a round trip would end in the middle of both.
        assert!(SHARC.unicast().ping_pong_us(128, 32) < 500.0);
        assert!(SHARC.unicast().ping_pong_us(4096, 32) < 1500.0);
    }

    #[test]
    fn the_averages_of_section_7_are_those_of_table_11() {
        let mean = |name: &str| value(&format!("sharc-scalability-mean/{name}")).unwrap();
        // Section 7 prints 36 and 45 %. The savings of the others are printed as 18 and 9 %, interchanged: in the text
        // before table 11 faster links are within 10 % of the original for short allgathers.
        assert_eq!(mean("small/enhanced-clock").round(), 36.0);
        assert_eq!(mean("large/enhanced-data-rate").round(), 45.0);
        assert_eq!((100.0 - mean("small/enhanced-data-rate")).round(), 9.0);
        assert_eq!((100.0 - mean("large/enhanced-clock")).round(), 18.0);
    }

    #[test]
    fn a_clock_and_links_cross_where_their_times_are_equal() {
        // Broadcast on 8 nodes: 11/15 (63.25 + 6 x 24.7) = 11/15 x 7 x 0.025 (k - 4), k = 4 + 211.45 / 0.175 = 1212.3.
        assert_eq!(crossing_bytes("broadcast", 8), Some(1213.0));
        // In place: 11/15 x 256.1 = 11/15 x 0.175 k, so k = 1463.4.
        assert_eq!(crossing_bytes("in-place-allgather", 8), Some(1464.0));
        // A faster clock also saves 11/15 x 0.1627 k in memory: 256.1 + 0.1627 k = 0.175 k, so k = 20821.
        let allgather = crossing_bytes("allgather", 8).unwrap();
        assert!((allgather - 256.1 / (0.175 - 0.1627)).abs() < 2.0, "{allgather}");
        assert_eq!(value("sharc-crossing-nodes/allgather/4096"), Ok(11.0));
    }

    /// Tests a value that is derived by hand: unicasts of 4 bytes on four nodes take 57.8 us and 17.85, 8.925 + 15.4
    /// and 30.8, together 246.4; a broadcast takes 63.25 + 2 x 24.7.
    #[test]
    fn a_broadcast_stands_beside_a_unicast_to_each() {
        let found = value("sharc-broadcast-per-unicasts/4/4").unwrap();
        assert!((found - 100.0 * 112.65 / 246.375).abs() < 1e-9, "{found}");
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
