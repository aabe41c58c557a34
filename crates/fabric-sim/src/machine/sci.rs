//! The links of a machine whose nodes are on rings of SCI, as tools see them.

use contract::TimeSpan;

use super::{MergePolicy, Network, Switching};
use crate::quantity::{Cost, PerUnit};
use crate::sci::{FULL_PACKET_BYTES, HEADER_SYMBOLS, RingSettings, SYMBOL_BYTES};
use crate::topology::Shape;

const BUFFER_PACKETS: u32 = 2;

impl Network {
    /// Returns links of the same rate, delay and packets in one ring, without echoes, queues and go bits.
    /// [`Machine::shaped`](super::Machine::shaped) builds other shapes of the same links from them.
    pub(super) fn of_rings(settings: &RingSettings) -> Self {
        let symbol_fs = settings.symbol.as_ps() * 1000;
        Network {
            name: "sci".into(),
            shape: Shape::Ring { one_way: true },
            packet_bytes: FULL_PACKET_BYTES,
            // At least one idle symbol follows each packet.
            header_bytes: (HEADER_SYMBOLS + 1) * SYMBOL_BYTES,
            byte_time: PerUnit::from_fs(symbol_fs / u64::from(SYMBOL_BYTES)),
            packet: TimeSpan::ZERO,
            simplex_links: false,
            single_hop: false,
            latency: settings.delays.transmission,
            forward: settings.delays.stripping + settings.delays.bypass,
            forward_control: settings.delays.stripping + settings.delays.bypass,
            switching: Switching::CutThrough,
            merge: MergePolicy::FixedPriority,
            buffer_packets: settings.input_packets.max(BUFFER_PACKETS),
            slot: TimeSpan::ZERO,
            nodes_per_port: 1,
            message: Cost::default(),
            detour_bytes: None,
            notice: TimeSpan::ZERO,
        }
    }
}

/// Divides the times of links and adapters. The times between nodes do not change.
pub(super) fn faster(
    settings: &RingSettings,
    divide: impl Fn(TimeSpan) -> TimeSpan,
) -> RingSettings {
    let mut faster = settings.clone();
    faster.symbol = divide(faster.symbol);
    let delays = &mut faster.delays;
    for delay in [
        &mut delays.stripping,
        &mut delays.routing,
        &mut delays.host,
        &mut delays.responder,
        &mut delays.bypass,
    ] {
        *delay = divide(*delay);
    }
    faster
}
