//! Describes the networks of a machine and its faults in words.

use contract::{Time, TimeSpan};

use super::{cost, sci, trimmed, us};
use crate::machine::{Broken, Fault, Machine, MergePolicy, Network, Switching};
use crate::topology::Shape;

/// Rate in MB/s at or above which a link limits nothing.
const NO_LIMIT_MB_PER_S: f64 = 1e8;

/// Returns a paragraph with its heading for each network, and one for the faults.
pub(super) fn paragraphs(machine: &Machine) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for inner in &machine.inner_networks {
        let heading =
            format!("In each group of {} nodes: {}", inner.group_nodes, inner.network.name);
        all.push((heading, network(&inner.network)));
    }
    let heading = match machine.inner_networks.is_empty() {
        true => "The network".into(),
        false => format!("Between all nodes: {}", machine.network.name),
    };
    let mut lines = match &machine.sci {
        Some(settings) => sci::lines(settings),
        None => network(&machine.network),
    };
    if let Some(most) = machine.ranks_max {
        lines.insert(1, format!("At most {most} nodes."));
    }
    lines.push(format!("Simulated at level `{}` unless told otherwise.", machine.level.name()));
    all.push((heading, lines));
    if !machine.faults.is_empty() {
        let faults = machine.faults.iter().map(|one| fault(machine, one)).collect();
        all.push(("What breaks".into(), faults));
    }
    all
}

fn fault(machine: &Machine, fault: &Fault) -> String {
    let name = |number: usize| machine.over(number).network.name;
    let what = match fault.broken {
        Broken::Link { network, between: (a, b) } => {
            format!("The link between nodes {a} and {b} of {}", name(network))
        }
        Broken::Port { network, node } => format!("The port of node {node} to {}", name(network)),
        Broken::Switch { network } => format!("All of {}", name(network)),
        Broken::Node(node) => format!("Node {node}"),
    };
    let at = us(fault.at.since(Time::ZERO));
    match fault.until {
        Some(until) => format!("{what}, from {at} to {}.", us(until.since(Time::ZERO))),
        None => format!("{what}, from {at} on."),
    }
}

/// Describes a network and its costs.
fn network(network: &Network) -> Vec<String> {
    let shape = match &network.shape {
        Shape::Line => "Nodes in a line, links both ways.".into(),
        Shape::Ring { one_way: true } => "Nodes in a ring, links one way.".into(),
        Shape::Ring { one_way: false } => "Nodes in a ring, links both ways.".into(),
        Shape::Mesh(extents) => format!("A mesh{}.", extents_in_words(extents)),
        Shape::Torus(extents) => format!("A torus{}.", extents_in_words(extents)),
        Shape::EightNeighbours(extents) => {
            format!("A torus{} with links to all eight neighbours.", extents_in_words(extents))
        }
        Shape::Hypercube => "A hypercube.".into(),
        Shape::Bus => "A bus that all nodes share.".into(),
        Shape::Switch => "One switch.".into(),
        Shape::FatTree { arity } => {
            format!("A fat tree of switches with {arity} ports down and up.")
        }
        Shape::Graph(links) => format!("A graph of {} links.", links.len()),
    };
    let mut lines = vec![shape];
    lines.push(match network.byte_time.rate_per_us() {
        rate if rate < NO_LIMIT_MB_PER_S => format!("A link carries {} MB/s.", trimmed(rate)),
        _ => "A link carries whatever the ends send.".into(),
    });
    if network.packet > TimeSpan::ZERO {
        lines.push(format!("A packet takes it {} beside its bytes.", us(network.packet)));
    }
    if network.simplex_links {
        lines.push("It carries them one way at a time.".into());
    }
    if network.packet_bytes < crate::machine::file::WHOLE_MESSAGE_BYTES {
        lines.push(format!(
            "Packets carry at most {} B, and {} B of header.",
            network.packet_bytes, network.header_bytes
        ));
    }
    lines.push(match network.switching {
        Switching::StoreAndForward => "A node stores a packet before it passes it on.".into(),
        Switching::CutThrough => "A packet is passed on as soon as its header is there.".into(),
    });
    if network.single_hop {
        lines.push("No node passes messages on: programs send to neighbours only.".into());
    }
    if network.forward > TimeSpan::ZERO {
        lines.push(format!("Passing a packet on takes a node {}.", us(network.forward)));
    }
    lines.push(match network.merge {
        MergePolicy::RoundRobin => {
            "Where packets meet, inputs take turns: fair there, unfair to those who come far."
                .into()
        }
        MergePolicy::Age => "Where packets meet, the oldest goes first.".into(),
        MergePolicy::FixedPriority => {
            "Where packets meet, passing ones go before the node's own.".into()
        }
    });
    lines.extend(among_others(network));
    lines
}

/// Describes the properties that matter beside other networks.
fn among_others(network: &Network) -> Vec<String> {
    let mut lines = Vec::new();
    if network.nodes_per_port > 1 {
        lines.push(format!("{} nodes share a port.", network.nodes_per_port));
    }
    if !network.message.is_zero() {
        lines.push(format!("Its software takes {} for each message.", cost(network.message)));
    }
    if let Some(bytes) = network.detour_bytes {
        lines.push(format!(
            "While {bytes} B of a node wait for it, the node's next messages go by a network further out."
        ));
    }
    if network.notice > TimeSpan::ZERO {
        lines.push(format!("What it loses is sent again after {}.", us(network.notice)));
    }
    lines
}

fn extents_in_words(extents: &[usize]) -> String {
    if extents.contains(&0) {
        return " as nearly square as the ranks allow".into();
    }
    let words: Vec<String> = extents.iter().map(usize::to_string).collect();
    format!(" of {}", words.join(" by "))
}
