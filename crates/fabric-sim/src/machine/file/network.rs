//! Reads the networks of a machine from a file.

use contract::TimeSpan;
use definition_files::FileError;

use super::place::Place;
use super::schema::{FileMerge, FileNetwork, FileShape, FileSwitching};
use crate::machine::{InnerNetwork, MergePolicy, Network, NodeCosts, Switching};
use crate::topology::{Shape, joined};

/// Packet length in bytes of a network whose file gives none: longer than any message.
pub(crate) const WHOLE_MESSAGE_BYTES: u32 = 1 << 30;
const BUFFER_PACKETS: u32 = 4;

/// Returns the network that joins all nodes.
pub(super) fn outermost(place: &Place<'_>, file: &FileNetwork) -> Result<Network, FileError> {
    if file.nodes.is_some() {
        let why = "belongs to an [[inner_network]]; [network] joins all nodes";
        return Err(place.refuse("network.nodes", why));
    }
    network(place, "network", file)
}

/// Returns the networks within groups of nodes, from the innermost outwards.
pub(super) fn inner(
    place: &Place<'_>,
    files: &[FileNetwork],
    outermost: &Network,
) -> Result<Vec<InnerNetwork>, FileError> {
    let mut all: Vec<InnerNetwork> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let place = Place { number, ..*place };
        let refuse =
            |field: &str, why: &str| Err(place.refuse(&format!("inner_network.{field}"), why));
        let network = network(&place, "inner_network", file)?;
        let group_nodes = file.nodes.unwrap_or(0);
        let within = all.last().map_or(1, |inner| inner.group_nodes);
        if group_nodes < 2 || !group_nodes.is_multiple_of(within) || group_nodes == within {
            let why = format!(
                "must say how many nodes a group of it has: 2 or more, and whole groups of the network before it, which have {within}"
            );
            return refuse("nodes", &why);
        }
        let names = all.iter().map(|inner| &inner.network).chain([outermost]);
        if file.name.is_none() || names.into_iter().any(|other| other.name == network.name) {
            return refuse("name", "must be given, and be that of no other network");
        }
        all.push(InnerNetwork { group_nodes, network });
    }
    ports_are_joined(place, &all, outermost)?;
    Ok(all)
}

/// Checks that nodes which share a port of one network reach each other by another network.
fn ports_are_joined(
    place: &Place<'_>,
    inner: &[InnerNetwork],
    outermost: &Network,
) -> Result<(), FileError> {
    let named =
        inner.iter().enumerate().map(|(number, one)| ("inner_network", number, &one.network));
    for (section, number, network) in named.chain([("network", 0, outermost)]) {
        let sharing = network.nodes_per_port;
        let joins = |one: &InnerNetwork| {
            one.network.nodes_per_port == 1 && one.group_nodes.is_multiple_of(sharing)
        };
        if sharing > 1 && !inner.iter().any(joins) {
            let place = Place { number, ..*place };
            let why = format!(
                "is {sharing}, and no [[inner_network]] joins the nodes that share a port: one with a port for each, in groups of {sharing}"
            );
            return Err(place.refuse(&format!("{section}.nodes_per_port"), &why));
        }
    }
    Ok(())
}

fn network(place: &Place<'_>, section: &str, file: &FileNetwork) -> Result<Network, FileError> {
    let named = |field: &str| format!("{section}.{field}");
    let at_least = |field: &str, value: u32, least: u32| {
        if value >= least {
            Ok(value)
        } else {
            Err(place.refuse(&named(field), &format!("is {value}; it must be at least {least}")))
        }
    };
    let span = |field: &str, us| place.span(&named(field), us);
    let shape = shape(place, section, file)?;
    let packet = packet_time(place, section, file)?;
    // Bubble flow control needs two places for a packet that enters a ring.
    let closed = matches!(shape, Shape::Ring { .. } | Shape::Torus(_) | Shape::EightNeighbours(_));
    let least_places = if closed { 2 } else { 1 };
    let forward = span("forward_us", file.forward_us)?;
    let message = Some(file.message_us.unwrap_or(0.0));
    let sharing = file.nodes_per_port.unwrap_or(1).try_into().unwrap_or(u32::MAX);
    Ok(Network {
        name: file.name.clone().unwrap_or_else(|| "network".into()),
        shape,
        packet_bytes: at_least(
            "packet_bytes",
            file.packet_bytes.unwrap_or(WHOLE_MESSAGE_BYTES),
            1,
        )?,
        header_bytes: file.header_bytes.unwrap_or(0),
        byte_time: place.rate(&named("link_mb_per_s"), file.link_mb_per_s)?,
        packet,
        simplex_links: file.simplex_links,
        single_hop: file.single_hop,
        latency: span("latency_us", file.latency_us)?,
        forward,
        forward_control: match file.forward_control_us {
            Some(us) => span("forward_control_us", Some(us))?,
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
            "buffer_packets",
            file.buffer_packets.unwrap_or(BUFFER_PACKETS),
            least_places,
        )?,
        slot: span("slot_us", file.slot_us)?,
        nodes_per_port: at_least("nodes_per_port", sharing, 1)? as usize,
        message: place.cost(&named("message"), message, file.message_ns_per_byte)?,
        detour_bytes: file.detour_bytes,
        notice: span("notice_us", file.notice_us)?,
    })
}

/// Returns the time of a packet in addition to its bytes. Refuses fields that belong to other kinds of networks.
fn packet_time(
    place: &Place<'_>,
    section: &str,
    file: &FileNetwork,
) -> Result<TimeSpan, FileError> {
    let named = |field: &str| format!("{section}.{field}");
    let packet = place.span(&named("packet_us"), file.packet_us)?;
    if packet > TimeSpan::ZERO && matches!(file.switching, Some(FileSwitching::CutThrough)) {
        let why = "is the time of a whole packet, which nodes that pass headers on do not know; give `latency_us`";
        return Err(place.refuse(&named("packet_us"), why));
    }
    let direct = file.shape == FileShape::Hypercube;
    for (field, given) in [("simplex_links", file.simplex_links), ("single_hop", file.single_hop)] {
        if given && !direct {
            let why = "belongs to links between two nodes, of which the simulator knows those of a `hypercube`";
            return Err(place.refuse(&named(field), why));
        }
    }
    Ok(packet)
}

/// Refuses `processor_forwards` in machines that cannot have it. The processors queue whole messages, so there must be
/// a single hypercube whose nodes store and forward whole messages.
pub(super) fn forwarding(
    place: &Place<'_>,
    endpoint: &NodeCosts,
    outermost: &Network,
    inner: &[InnerNetwork],
) -> Result<(), FileError> {
    let can = outermost.shape == Shape::Hypercube
        && outermost.switching == Switching::StoreAndForward
        && outermost.packet_bytes >= WHOLE_MESSAGE_BYTES
        && inner.is_empty();
    match endpoint.processor_forwards && !can {
        true => Err(place.refuse(
            "endpoint.processor_forwards",
            "needs a single network, a `hypercube` that stores and forwards whole messages: without `packet_bytes`",
        )),
        false => Ok(()),
    }
}

fn shape(place: &Place<'_>, section: &str, file: &FileNetwork) -> Result<Shape, FileError> {
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
            return Err(
                place.refuse(&format!("{section}.{field}"), "does not belong to this shape")
            );
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
                return Err(place.refuse(
                    &format!("{section}.arity"),
                    "must be given for a fat tree, and at least 2",
                ));
            }
        },
        FileShape::Graph if file.links.is_empty() => {
            return Err(place.refuse(
                &format!("{section}.links"),
                "must be given for a graph: pairs of node numbers",
            ));
        }
        FileShape::Graph => graph(place, section, &file.links)?,
    })
}

/// Returns a graph whose links connect all nodes that they name. The number of used nodes is known only when a run
/// begins.
fn graph(place: &Place<'_>, section: &str, links: &[(usize, usize)]) -> Result<Shape, FileError> {
    match joined(links) {
        Ok(_) => Ok(Shape::Graph(links.to_vec())),
        Err(why) => {
            Err(place.refuse(&format!("{section}.links"), &format!("make no network: {why}")))
        }
    }
}
