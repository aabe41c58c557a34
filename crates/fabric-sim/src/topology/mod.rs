//! The links between nodes, and the route of each message.

mod graph;
mod routes;

use graph::graph;
pub(crate) use graph::joined;
use routes::{diagonal, fat_tree, grid, neighbour};

/// The shape of a network, before the number of nodes is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Nodes in a row, links both ways.
    Line,
    /// Nodes in a ring.
    Ring {
        /// True if links lead one way only.
        one_way: bool,
    },
    /// A grid with these extents, or as nearly square as the number of nodes allows.
    Mesh(Vec<usize>),
    /// A grid whose ends are connected.
    Torus(Vec<usize>),
    /// A torus in two dimensions with links along the diagonals as well.
    EightNeighbours(Vec<usize>),
    /// Nodes that are connected if their numbers differ in one bit.
    Hypercube,
    /// One medium for all.
    Bus,
    /// One switch for all.
    Switch,
    /// Switches with the same number of ports down and up (a k-ary n-tree).
    FatTree {
        /// Number of ports down.
        arity: usize,
    },
    /// These links, both ways.
    Graph(Vec<(usize, usize)>),
}

/// Most channels of a network. Each takes memory, and a machine file names any number in a few words.
pub(crate) const CHANNELS_MAX: usize = 1 << 24;

/// A network of a known number of nodes: its channels (each a link in one direction), and the routes over them.
#[derive(Clone, Debug)]
pub struct Topology {
    layout: Layout,
    nodes: usize,
    channels: usize,
    /// True if packets leave the network through one port for each node, for which they contend as for a link.
    ejection: bool,
}

/// A shape of a known number of nodes.
#[derive(Clone, Debug)]
enum Layout {
    /// Two ports for each dimension; `closed` if the ends are connected.
    Grid {
        extents: Vec<usize>,
        closed: bool,
    },
    OneWayRing,
    EightNeighbours {
        extents: [usize; 2],
    },
    Hypercube {
        dimensions: usize,
    },
    Bus,
    Switch,
    FatTree {
        arity: usize,
        levels: usize,
    },
    Graph {
        next: Vec<u32>,
        ends: Vec<(u32, u32)>,
        places: usize,
    },
}

impl Topology {
    /// Builds the network of this shape with `nodes` nodes. `ejection` adds a port for each node through which packets
    /// leave.
    ///
    /// # Errors
    /// A sentence, if the shape cannot have this number of nodes or does not connect all of them.
    pub fn new(shape: &Shape, nodes: usize, ejection: bool) -> Result<Self, String> {
        let layout = match shape {
            Shape::Line => Layout::Grid { extents: vec![nodes], closed: false },
            Shape::Ring { one_way: true } => Layout::OneWayRing,
            Shape::Ring { one_way: false } => Layout::Grid { extents: vec![nodes], closed: true },
            Shape::Mesh(extents) => Layout::Grid { extents: fill(extents, nodes)?, closed: false },
            Shape::Torus(extents) => Layout::Grid { extents: fill(extents, nodes)?, closed: true },
            Shape::EightNeighbours(extents) => {
                let extents = fill(extents, nodes)?;
                let [x, y] = extents[..] else {
                    return Err("eight neighbours need two dimensions".into());
                };
                Layout::EightNeighbours { extents: [x, y] }
            }
            Shape::Hypercube => Layout::Hypercube {
                dimensions: nodes.next_power_of_two().trailing_zeros() as usize,
            },
            Shape::Bus => Layout::Bus,
            Shape::Switch => Layout::Switch,
            Shape::FatTree { arity } => {
                let enough = |&levels: &u32| arity.saturating_pow(levels) >= nodes;
                let levels = (1..).find(enough).unwrap_or(1);
                Layout::FatTree { arity: *arity, levels: levels as usize }
            }
            Shape::Graph(edges) => graph(edges, nodes)?,
        };
        let mut topology = Topology { layout, nodes, channels: 0, ejection };
        topology.ejection = ejection && topology.is_direct();
        let ejection = if topology.ejection { topology.places() } else { 0 };
        topology.channels = topology.links().saturating_add(ejection);
        if topology.channels > CHANNELS_MAX {
            return Err(format!("its network has more than {CHANNELS_MAX} links and ports"));
        }
        Ok(topology)
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Returns the number of channels. The channels' numbers are below it.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Returns whether a route ends with a port through which packets leave.
    pub(crate) fn has_ejection(&self) -> bool {
        self.ejection
    }

    /// Returns whether links connect the nodes directly.
    pub(crate) fn is_direct(&self) -> bool {
        !matches!(self.layout, Layout::Bus | Layout::Switch | Layout::FatTree { .. })
    }

    /// Returns the number of places for nodes. It is at least the number of nodes: a grid, a cube or a graph may be
    /// filled in part, and a packet may pass an empty place.
    fn places(&self) -> usize {
        match &self.layout {
            Layout::Grid { extents, .. } => product(extents),
            Layout::EightNeighbours { extents } => product(extents),
            Layout::Hypercube { dimensions } => 1 << dimensions,
            Layout::FatTree { arity, levels } => arity.saturating_pow(*levels as u32),
            Layout::Graph { places, .. } => *places,
            Layout::OneWayRing | Layout::Bus | Layout::Switch => self.nodes,
        }
    }

    fn links(&self) -> usize {
        match &self.layout {
            Layout::Grid { extents, .. } => self.places().saturating_mul(2 * extents.len()),
            Layout::OneWayRing => self.nodes,
            Layout::EightNeighbours { .. } => self.places().saturating_mul(8),
            Layout::Hypercube { dimensions } => self.places() * dimensions,
            Layout::Bus => 1,
            Layout::Switch => 2 * self.nodes,
            Layout::FatTree { levels, .. } => self.places().saturating_mul(2 * levels),
            Layout::Graph { ends, .. } => ends.len(),
        }
    }

    /// Appends the channels from node `from` to another node `to`, in order.
    pub fn route(&self, from: usize, to: usize, channels: &mut Vec<u32>) {
        match &self.layout {
            Layout::Grid { extents, closed } => grid(extents, *closed, from, to, channels),
            Layout::OneWayRing => {
                let hops = (to + self.nodes - from) % self.nodes;
                channels.extend((0..hops).map(|hop| ((from + hop) % self.nodes) as u32));
            }
            Layout::EightNeighbours { extents } => diagonal(*extents, from, to, channels),
            Layout::Hypercube { dimensions } => {
                let mut at = from;
                for bit in (0..*dimensions).filter(|bit| (from ^ to) >> bit & 1 == 1) {
                    channels.push((at * dimensions + bit) as u32);
                    at ^= 1 << bit;
                }
            }
            Layout::Bus => channels.push(0),
            Layout::Switch => channels.extend([from as u32, (self.nodes + to) as u32]),
            Layout::FatTree { arity, levels } => fat_tree(*arity, *levels, from, to, channels),
            Layout::Graph { next, ends, places } => {
                let mut at = from;
                while at != to {
                    let channel = next[at * places + to];
                    channels.push(channel);
                    at = ends[channel as usize].1 as usize;
                }
            }
        }
        if self.ejection {
            channels.push((self.links() + to) as u32);
        }
    }

    /// Returns the node from which a channel leads, and the channel that leads back over its link. Known for
    /// hypercubes.
    pub(crate) fn link_of(&self, channel: u32) -> Option<(u32, u32)> {
        let Layout::Hypercube { dimensions } = self.layout else { return None };
        let (node, bit) = (channel as usize / dimensions, channel as usize % dimensions);
        Some((node as u32, ((node ^ (1 << bit)) * dimensions + bit) as u32))
    }

    /// Returns the channels from which packets only leave the network and are never forwarded.
    pub fn last_channels(&self) -> std::ops::Range<usize> {
        match self.layout {
            _ if self.ejection => self.links()..self.channels,
            Layout::Bus => 0..1,
            Layout::Switch => self.nodes..2 * self.nodes,
            Layout::FatTree { levels, .. } => levels * self.places()..(levels + 1) * self.places(),
            _ => 0..0,
        }
    }

    /// Returns whether there are closed rings of channels that packets follow.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(
            self.layout,
            Layout::Grid { closed: true, .. } | Layout::OneWayRing | Layout::EightNeighbours { .. }
        )
    }

    /// Returns whether a channel is part of a closed ring of channels that packets follow.
    pub fn in_ring(&self, channel: u32) -> bool {
        self.is_closed() && (channel as usize) < self.links()
    }

    /// Returns whether a packet that goes from channel `a` to channel `b` of a ring stays in that ring.
    pub fn same_ring(&self, a: u32, b: u32) -> bool {
        let ports = match &self.layout {
            Layout::Grid { extents, .. } => 2 * extents.len() as u32,
            Layout::EightNeighbours { .. } => 8,
            _ => 1,
        };
        a % ports == b % ports
    }

    /// Returns a channel's name for users.
    pub fn channel_name(&self, channel: u32) -> String {
        let (channel, links) = (channel as usize, self.links());
        if channel >= links {
            return format!("out of node {}", channel - links);
        }
        let place = |ports: usize| (channel / ports, channel % ports);
        match &self.layout {
            // In a ring of two nodes both links lead to the other node.
            Layout::Grid { extents, .. } if extents.len() == 1 && extents[0] > 2 => {
                let (node, port) = place(2);
                format!("node {node} to {}", neighbour(node, 1, extents[0], port == 0))
            }
            Layout::Grid { extents, .. } => {
                let (node, port) = place(2 * extents.len());
                let sign = if port % 2 == 0 { '+' } else { '-' };
                format!("node {node} {sign}{}", ["x", "y", "z", "w"][(port / 2).min(3)])
            }
            Layout::OneWayRing => format!("node {channel} to {}", (channel + 1) % self.nodes),
            Layout::EightNeighbours { .. } => {
                let (node, port) = place(8);
                format!("node {node} {}", ["E", "NE", "N", "NW", "W", "SW", "S", "SE"][port])
            }
            Layout::Hypercube { dimensions } => {
                let (node, bit) = place(*dimensions);
                format!("node {node} to {}", node ^ (1 << bit))
            }
            Layout::Bus => "bus".into(),
            Layout::Switch if channel < self.nodes => format!("node {channel} to switch"),
            Layout::Switch => format!("switch to node {}", channel - self.nodes),
            Layout::FatTree { levels, .. } => {
                let (level, index) = (channel / self.places(), channel % self.places());
                let direction = if level < *levels { "up" } else { "down" };
                format!("level {} {direction} {index}", level % levels)
            }
            Layout::Graph { ends, .. } => {
                format!("node {} to {}", ends[channel].0, ends[channel].1)
            }
        }
    }
}

/// Returns the number of places of a grid, or the greatest number if it is greater.
fn product(extents: &[usize]) -> usize {
    extents.iter().fold(1, |places, &extent| places.saturating_mul(extent))
}

/// Returns the given extents. If one of them is 0, returns as many extents that are as nearly equal as possible and
/// hold `nodes` nodes.
fn fill(extents: &[usize], nodes: usize) -> Result<Vec<usize>, String> {
    if extents.contains(&0) {
        let mut square = vec![1; extents.len()];
        while square.iter().product::<usize>() < nodes {
            *square.iter_mut().min().expect("a grid has a dimension") += 1;
        }
        return Ok(square);
    }
    let places = product(extents);
    if places < nodes {
        return Err(format!("the grid has {places} places for {nodes} nodes"));
    }
    Ok(extents.to_vec())
}

#[cfg(test)]
mod tests;
