//! Reads the network of a machine from a file.

use contract::FileError;

use super::place::Place;
use super::schema::{FileMerge, FileNetwork, FileShape, FileSwitching};
use crate::machine::{MergePolicy, Network, Switching};
use crate::topology::{Shape, joined};

/// The packet length of a network that does not give one: longer than any message.
pub(crate) const WHOLE_MESSAGE_BYTES: u32 = 1 << 30;
const BUFFER_PACKETS: u32 = 4;

pub(super) fn network(place: &Place<'_>, file: &FileNetwork) -> Result<Network, FileError> {
    let at_least = |field: &str, value: u32, least: u32| {
        if value >= least {
            Ok(value)
        } else {
            Err(place.refuse(field, &format!("is {value}; it must be at least {least}")))
        }
    };
    let shape = shape(place, file)?;
    // Bubble flow control needs two places for a packet that enters a ring.
    let closed = matches!(shape, Shape::Ring { .. } | Shape::Torus(_) | Shape::EightNeighbours(_));
    let forward = place.span("network.forward_us", file.forward_us)?;
    Ok(Network {
        shape,
        packet_bytes: at_least(
            "network.packet_bytes",
            file.packet_bytes.unwrap_or(WHOLE_MESSAGE_BYTES),
            1,
        )?,
        header_bytes: file.header_bytes.unwrap_or(0),
        byte_time: place.rate("network.link_mb_per_s", file.link_mb_per_s)?,
        latency: place.span("network.latency_us", file.latency_us)?,
        forward,
        forward_control: match file.forward_control_us {
            Some(us) => place.span("network.forward_control_us", Some(us))?,
            None => forward,
        },
        switching: match file.switching {
            Some(FileSwitching::CutThrough) => Switching::CutThrough,
            Some(FileSwitching::StoreAndForward) | None => Switching::StoreAndForward,
        },
        merge: match file.merge {
            Some(FileMerge::Age) => MergePolicy::Age,
            Some(FileMerge::FixedPriority) => MergePolicy::FixedPriority,
            Some(FileMerge::RoundRobin) | None => MergePolicy::RoundRobin,
        },
        buffer_packets: at_least(
            "network.buffer_packets",
            file.buffer_packets.unwrap_or(BUFFER_PACKETS),
            if closed { 2 } else { 1 },
        )?,
        slot: place.span("network.slot_us", file.slot_us)?,
    })
}

fn shape(place: &Place<'_>, file: &FileNetwork) -> Result<Shape, FileError> {
    // The fields that only some shapes have, and those shapes.
    let takers: [(&str, bool, &[FileShape]); 4] = [
        ("one_way", file.one_way, &[FileShape::Ring]),
        (
            "extents",
            !file.extents.is_empty(),
            &[FileShape::Mesh, FileShape::Torus, FileShape::EightNeighbours],
        ),
        ("arity", file.arity.is_some(), &[FileShape::FatTree]),
        ("links", !file.links.is_empty(), &[FileShape::Graph]),
    ];
    for (field, given, shapes) in takers {
        if given && !shapes.contains(&file.shape) {
            return Err(place.refuse(&format!("network.{field}"), "does not belong to this shape"));
        }
    }
    let extents = if file.extents.is_empty() { vec![0, 0] } else { file.extents.clone() };
    Ok(match file.shape {
        FileShape::Line => Shape::Line,
        FileShape::Ring => Shape::Ring { one_way: file.one_way },
        FileShape::Mesh => Shape::Mesh(extents),
        FileShape::Torus => Shape::Torus(extents),
        FileShape::EightNeighbours => Shape::EightNeighbours(extents),
        FileShape::Hypercube => Shape::Hypercube,
        FileShape::Bus => Shape::Bus,
        FileShape::Switch => Shape::Switch,
        FileShape::FatTree => match file.arity {
            Some(arity) if arity >= 2 => Shape::FatTree { arity },
            _ => {
                return Err(
                    place.refuse("network.arity", "must be given for a fat tree, and at least 2")
                );
            }
        },
        FileShape::Graph if file.links.is_empty() => {
            return Err(
                place.refuse("network.links", "must be given for a graph: pairs of node numbers")
            );
        }
        FileShape::Graph => graph(place, &file.links)?,
    })
}

/// A graph whose links connect all the nodes that they name. How many of them are used is known when a run begins.
fn graph(place: &Place<'_>, links: &[(usize, usize)]) -> Result<Shape, FileError> {
    match joined(links) {
        Ok(_) => Ok(Shape::Graph(links.to_vec())),
        Err(why) => Err(place.refuse("network.links", &format!("make no network: {why}"))),
    }
}
