//! Describes rings of SCI in words.

use super::{trimmed, us};
use crate::sci::{Access, Retry, RingSettings, SYMBOL_BYTES, Shape, Urgency};

pub(super) fn lines(settings: &RingSettings) -> Vec<String> {
    let RingSettings { shape, symbol, delays, access, retry, urgency, urgent_bytes, .. } = settings;
    let rings = match shape {
        Shape::Ring { nodes } => format!("A ring of SCI with {nodes} nodes."),
        Shape::Bridge { left, right } => {
            format!("Two rings of SCI with {left} and {right} nodes, and a bridge between them.")
        }
        Shape::InnerRing { rings, nodes_each } => {
            format!("{rings} rings of SCI with {nodes_each} nodes each around an inner one.")
        }
        Shape::MultiService { rings, nodes_each } => format!(
            "{rings} rings of SCI with {nodes_each} nodes each around an inner one, and a crossbar that nobody uses."
        ),
    };
    let rate = f64::from(SYMBOL_BYTES) / symbol.as_us();
    let may_send = match access {
        Access::Free => "A node sends whenever no other packet passes it.".into(),
        Access::GoBits => "A node sends after an idle symbol with a go bit.".into(),
        Access::Train { seats } => {
            format!("A node sends up to {seats} packets while it has the train.")
        }
    };
    let refused = match retry {
        Retry::Aged => {
            "A packet that its target refuses is sent again, and has its turn before others that come later."
        }
        Retry::Again => "A packet that its target refuses is sent again.",
        Retry::Directed => "A packet that its target refuses waits until there is a place for it.",
    };
    let urgent = |bytes: u64| match urgency {
        Urgency::TwoBits => format!(
            "Messages and accesses of up to {bytes} bytes are urgent: idle symbols hold others back while they wait."
        ),
        _ => format!(
            "Messages and accesses of up to {bytes} bytes are urgent: their packets go ahead of others."
        ),
    };
    let mut lines = vec![
        rings,
        format!("A link carries {} MB/s, a symbol in {}.", trimmed(rate), us(*symbol)),
        format!(
            "A packet takes {} to the next node. Adapters take {} for a packet, and {} more for a request.",
            us(settings.hop()),
            us(delays.host),
            us(delays.responder)
        ),
        format!("Queues of an adapter hold {} packets.", settings.output_packets),
        may_send,
        refused.into(),
        "A message is a row of moves of 64 bytes; memory of other ranks is written, read and updated by transactions."
            .into(),
    ];
    lines.extend(urgent_bytes.map(urgent));
    lines
}
