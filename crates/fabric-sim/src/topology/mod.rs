//! Which nodes are joined by links, and which links a message takes.

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
    /// Nodes in a circle.
    Ring {
        /// Whether links lead one way only.
        one_way: bool,
    },
    /// A grid with these extents, or as nearly square as the number of nodes allows.
    Mesh(Vec<usize>),
    /// A grid that closes at its ends.
    Torus(Vec<usize>),
    /// A torus in two dimensions with links along the diagonals as well.
    EightNeighbours(Vec<usize>),
    /// Nodes whose numbers differ in one bit.
    Hypercube,
    /// One medium for all.
    Bus,
    /// One switch for all.
    Switch,
    /// Switches of this many ports down and as many up (a k-ary n-tree).
    FatTree {
        /// Ports down.
        arity: usize,
    },
    /// These links, both ways.
    Graph(Vec<(usize, usize)>),
}

/// A network of a known number of nodes: its channels (each a link in one direction), and the routes over them.
#[derive(Clone, Debug)]
pub struct Topology {
    shape: Kind,
    nodes: usize,
    channels: usize,
    /// Whether packets leave the network through one port a node, for which they contend as for a link.
    ejection: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Ports along each dimension, two a dimension; `closed` where the ends are joined.
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
    /// The network of this shape with `nodes` nodes; `ejection` adds a port that packets leave through.
    ///
    /// # Errors
    /// In words, if the shape cannot have so many nodes or leaves some of them apart.
    pub fn new(shape: &Shape, nodes: usize, ejection: bool) -> Result<Self, String> {
        let kind = match shape {
            Shape::Line => Kind::Grid { extents: vec![nodes], closed: false },
            Shape::Ring { one_way: true } => Kind::OneWayRing,
            Shape::Ring { one_way: false } => Kind::Grid { extents: vec![nodes], closed: true },
            Shape::Mesh(extents) => Kind::Grid { extents: fill(extents, nodes)?, closed: false },
            Shape::Torus(extents) => Kind::Grid { extents: fill(extents, nodes)?, closed: true },
            Shape::EightNeighbours(extents) => {
                let extents = fill(extents, nodes)?;
                let [x, y] = extents[..] else {
                    return Err("eight neighbours need two dimensions".into());
                };
                Kind::EightNeighbours { extents: [x, y] }
            }
            Shape::Hypercube => {
                Kind::Hypercube { dimensions: nodes.next_power_of_two().trailing_zeros() as usize }
            }
            Shape::Bus => Kind::Bus,
            Shape::Switch => Kind::Switch,
            Shape::FatTree { arity } => {
                let levels = (1..).find(|&levels| arity.pow(levels) >= nodes).unwrap_or(1);
                Kind::FatTree { arity: *arity, levels: levels as usize }
            }
            Shape::Graph(edges) => graph(edges, nodes)?,
        };
        let mut topology = Topology { shape: kind, nodes, channels: 0, ejection };
        topology.ejection = ejection && topology.is_direct();
        topology.channels =
            topology.links() + if topology.ejection { topology.places() } else { 0 };
        Ok(topology)
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The number of channels; their numbers are below it.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Whether links join the nodes themselves.
    fn is_direct(&self) -> bool {
        !matches!(self.shape, Kind::Bus | Kind::Switch | Kind::FatTree { .. })
    }

    /// Places for nodes: at least as many as there are nodes, since a grid, a cube or a graph may be filled in part, and a
    /// packet may pass an empty place.
    fn places(&self) -> usize {
        match &self.shape {
            Kind::Grid { extents, .. } => extents.iter().product(),
            Kind::EightNeighbours { extents } => extents.iter().product(),
            Kind::Hypercube { dimensions } => 1 << dimensions,
            Kind::FatTree { arity, levels } => arity.pow(*levels as u32),
            Kind::Graph { places, .. } => *places,
            Kind::OneWayRing | Kind::Bus | Kind::Switch => self.nodes,
        }
    }

    fn links(&self) -> usize {
        match &self.shape {
            Kind::Grid { extents, .. } => self.places() * 2 * extents.len(),
            Kind::OneWayRing => self.nodes,
            Kind::EightNeighbours { .. } => self.places() * 8,
            Kind::Hypercube { dimensions } => self.places() * dimensions,
            Kind::Bus => 1,
            Kind::Switch => 2 * self.nodes,
            Kind::FatTree { levels, .. } => 2 * self.places() * levels,
            Kind::Graph { ends, .. } => ends.len(),
        }
    }

    /// Appends the channels from node `from` to node `to`, which is another, in order.
    pub fn route(&self, from: usize, to: usize, channels: &mut Vec<u32>) {
        match &self.shape {
            Kind::Grid { extents, closed } => grid(extents, *closed, from, to, channels),
            Kind::OneWayRing => {
                let hops = (to + self.nodes - from) % self.nodes;
                channels.extend((0..hops).map(|hop| ((from + hop) % self.nodes) as u32));
            }
            Kind::EightNeighbours { extents } => diagonal(*extents, from, to, channels),
            Kind::Hypercube { dimensions } => {
                let mut at = from;
                for bit in (0..*dimensions).filter(|bit| (from ^ to) >> bit & 1 == 1) {
                    channels.push((at * dimensions + bit) as u32);
                    at ^= 1 << bit;
                }
            }
            Kind::Bus => channels.push(0),
            Kind::Switch => channels.extend([from as u32, (self.nodes + to) as u32]),
            Kind::FatTree { arity, levels } => fat_tree(*arity, *levels, from, to, channels),
            Kind::Graph { next, ends, places } => {
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

    /// The channels from which packets leave the network, of those that no packet is passed on from.
    pub fn last_channels(&self) -> std::ops::Range<usize> {
        match self.shape {
            _ if self.ejection => self.links()..self.channels,
            Kind::Bus => 0..1,
            Kind::Switch => self.nodes..2 * self.nodes,
            Kind::FatTree { levels, .. } => levels * self.places()..(levels + 1) * self.places(),
            _ => 0..0,
        }
    }

    /// Whether a channel is part of a circle of channels that packets follow straight on.
    pub fn in_ring(&self, channel: u32) -> bool {
        let closed = matches!(
            self.shape,
            Kind::Grid { closed: true, .. } | Kind::OneWayRing | Kind::EightNeighbours { .. }
        );
        closed && (channel as usize) < self.links()
    }

    /// Whether a packet that goes from channel `a` to channel `b` of a ring stays in it.
    pub fn same_ring(&self, a: u32, b: u32) -> bool {
        let ports = match &self.shape {
            Kind::Grid { extents, .. } => 2 * extents.len() as u32,
            Kind::EightNeighbours { .. } => 8,
            _ => 1,
        };
        a % ports == b % ports
    }

    /// A channel's name for people.
    pub fn channel_name(&self, channel: u32) -> String {
        let (channel, links) = (channel as usize, self.links());
        if channel >= links {
            return format!("out of node {}", channel - links);
        }
        let place = |ports: usize| (channel / ports, channel % ports);
        match &self.shape {
            // Of two nodes in a circle both links lead to the other one.
            Kind::Grid { extents, .. } if extents.len() == 1 && extents[0] > 2 => {
                let (node, port) = place(2);
                format!("node {node} to {}", neighbour(node, 1, extents[0], port == 0))
            }
            Kind::Grid { extents, .. } => {
                let (node, port) = place(2 * extents.len());
                let sign = if port % 2 == 0 { '+' } else { '-' };
                format!("node {node} {sign}{}", ["x", "y", "z", "w"][(port / 2).min(3)])
            }
            Kind::OneWayRing => format!("node {channel} to {}", (channel + 1) % self.nodes),
            Kind::EightNeighbours { .. } => {
                let (node, port) = place(8);
                format!("node {node} {}", ["E", "NE", "N", "NW", "W", "SW", "S", "SE"][port])
            }
            Kind::Hypercube { dimensions } => {
                let (node, bit) = place(*dimensions);
                format!("node {node} to {}", node ^ (1 << bit))
            }
            Kind::Bus => "bus".into(),
            Kind::Switch if channel < self.nodes => format!("node {channel} to switch"),
            Kind::Switch => format!("switch to node {}", channel - self.nodes),
            Kind::FatTree { levels, .. } => {
                let (level, index) = (channel / self.places(), channel % self.places());
                let way = if level < *levels { "up" } else { "down" };
                format!("level {} {way} {index}", level % levels)
            }
            Kind::Graph { ends, .. } => {
                format!("node {} to {}", ends[channel].0, ends[channel].1)
            }
        }
    }
}

/// The extents given, or ones as nearly equal as possible (in as many dimensions) that hold `nodes` nodes.
fn fill(extents: &[usize], nodes: usize) -> Result<Vec<usize>, String> {
    if extents.contains(&0) {
        let mut square = vec![1; extents.len()];
        while square.iter().product::<usize>() < nodes {
            *square.iter_mut().min().expect("a grid has a dimension") += 1;
        }
        return Ok(square);
    }
    let places: usize = extents.iter().product();
    if places < nodes {
        return Err(format!("the grid has {places} places for {nodes} nodes"));
    }
    Ok(extents.to_vec())
}

#[cfg(test)]
mod tests;
