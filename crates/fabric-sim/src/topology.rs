//! Which nodes are joined by links, and which links a message takes.

use std::collections::VecDeque;

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
    },
}

const NO_CHANNEL: u32 = u32::MAX;
/// A graph's table of routes grows with the square of the nodes.
const GRAPH_NODES_MAX: usize = 4096;

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

    /// Places for nodes: at least as many as there are nodes, since a grid or a cube may be filled in part, and a packet
    /// may pass an empty place.
    fn places(&self) -> usize {
        match &self.shape {
            Kind::Grid { extents, .. } => extents.iter().product(),
            Kind::EightNeighbours { extents } => extents.iter().product(),
            Kind::Hypercube { dimensions } => 1 << dimensions,
            Kind::FatTree { arity, levels } => arity.pow(*levels as u32),
            Kind::OneWayRing | Kind::Bus | Kind::Switch | Kind::Graph { .. } => self.nodes,
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
            Kind::Graph { next, ends } => {
                let mut at = from;
                while at != to {
                    let channel = next[at * self.nodes + to];
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

/// Dimension order: all the way along the first, then along the next.
fn grid(extents: &[usize], closed: bool, from: usize, to: usize, channels: &mut Vec<u32>) {
    let (mut at, mut stride) = (from, 1);
    for (dimension, &extent) in extents.iter().enumerate() {
        let (here, there) = (at / stride % extent, to / stride % extent);
        for up in steps(here, there, extent, closed) {
            let port = 2 * dimension + usize::from(!up);
            channels.push((at * 2 * extents.len() + port) as u32);
            at = neighbour(at, stride, extent, up);
        }
        stride *= extent;
    }
}

/// The steps up (true) or down along a dimension, the shorter way round where it is closed; up where both are equal.
fn steps(here: usize, there: usize, extent: usize, closed: bool) -> impl Iterator<Item = bool> {
    let up = (there + extent - here) % extent;
    let go_up = if closed { up <= extent - up } else { there >= here };
    let count = if go_up { up } else { (extent - up) % extent };
    std::iter::repeat_n(go_up, count)
}

fn neighbour(at: usize, stride: usize, extent: usize, up: bool) -> usize {
    let here = at / stride % extent;
    let there = if up { (here + 1) % extent } else { (here + extent - 1) % extent };
    at - here * stride + there * stride
}

/// Along the diagonal first, then straight on.
fn diagonal([width, height]: [usize; 2], from: usize, to: usize, channels: &mut Vec<u32>) {
    // Port numbers go round from east: E, NE, N, NW, W, SW, S, SE.
    const PORTS: [[u32; 3]; 3] = [[5, 4, 3], [6, 8, 2], [7, 0, 1]];
    let mut x = steps(from % width, to % width, width, true);
    let mut y = steps(from / width, to / width, height, true);
    let mut at = from;
    loop {
        let (dx, dy) = (x.next(), y.next());
        if dx.is_none() && dy.is_none() {
            return;
        }
        let index = |step: Option<bool>| step.map_or(1, |up| if up { 2 } else { 0 });
        channels.push(at as u32 * 8 + PORTS[index(dx)][index(dy)]);
        if let Some(up) = dx {
            at = neighbour(at, 1, width, up);
        }
        if let Some(up) = dy {
            at = neighbour(at, width, height, up);
        }
    }
}

/// Up to the lowest common switch, choosing among the links up by the destination's digits, and down again: messages to
/// different nodes share no link on the way down.
fn fat_tree(arity: usize, levels: usize, from: usize, to: usize, channels: &mut Vec<u32>) {
    let places = arity.pow(levels as u32);
    let top =
        (1..=levels).find(|&level| from / arity.pow(level as u32) == to / arity.pow(level as u32));
    let top = top.unwrap_or(levels);
    for level in 0..top {
        let below = arity.pow(level as u32);
        channels.push((level * places + from / below * below + to % below) as u32);
    }
    for level in (0..top).rev() {
        channels.push(((levels + level) * places + to) as u32);
    }
}

/// Shortest paths; of several the one over the neighbour named first.
fn graph(edges: &[(usize, usize)], nodes: usize) -> Result<Kind, String> {
    if nodes > GRAPH_NODES_MAX {
        return Err(format!("a graph has at most {GRAPH_NODES_MAX} nodes, not {nodes}"));
    }
    if let Some((a, b)) = edges.iter().find(|(a, b)| *a >= nodes || *b >= nodes) {
        return Err(format!("the link {a}-{b} leaves the nodes 0 to {}", nodes - 1));
    }
    let ends: Vec<(u32, u32)> =
        edges.iter().flat_map(|&(a, b)| [(a as u32, b as u32), (b as u32, a as u32)]).collect();
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for (channel, &(_, to)) in ends.iter().enumerate() {
        into[to as usize].push(channel as u32);
    }
    let mut next = vec![NO_CHANNEL; nodes * nodes];
    for to in 0..nodes {
        let mut open = VecDeque::from([to]);
        while let Some(at) = open.pop_front() {
            for &channel in &into[at] {
                let before = ends[channel as usize].0 as usize;
                if before != to && next[before * nodes + to] == NO_CHANNEL {
                    next[before * nodes + to] = channel;
                    open.push_back(before);
                }
            }
        }
        if let Some(apart) = (0..nodes).find(|&n| n != to && next[n * nodes + to] == NO_CHANNEL) {
            return Err(format!("no links lead from node {apart} to node {to}"));
        }
    }
    Ok(Kind::Graph { next, ends })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hops(shape: Shape, nodes: usize, from: usize, to: usize) -> usize {
        let mut channels = Vec::new();
        Topology::new(&shape, nodes, false).unwrap().route(from, to, &mut channels);
        channels.len()
    }

    #[test]
    fn distances_are_those_of_the_shape() {
        assert_eq!(hops(Shape::Line, 16, 2, 13), 11);
        assert_eq!(hops(Shape::Ring { one_way: true }, 8, 1, 0), 7);
        assert_eq!(hops(Shape::Ring { one_way: false }, 8, 1, 0), 1);
        // (1, 1) to (3, 0) in a grid of 4 by 4.
        assert_eq!(hops(Shape::Mesh(vec![4, 4]), 16, 5, 3), 3);
        assert_eq!(hops(Shape::Torus(vec![4, 4]), 16, 0, 15), 2);
        assert_eq!(hops(Shape::EightNeighbours(vec![6, 6]), 36, 0, 35), 1);
        assert_eq!(hops(Shape::EightNeighbours(vec![6, 6]), 36, 0, 15), 3);
        assert_eq!(hops(Shape::Hypercube, 32, 0b10101, 0b01100), 3);
        assert_eq!(hops(Shape::Bus, 9, 3, 4), 1);
        assert_eq!(hops(Shape::Switch, 9, 3, 4), 2);
        assert_eq!(hops(Shape::FatTree { arity: 4 }, 64, 0, 3), 2);
        assert_eq!(hops(Shape::FatTree { arity: 4 }, 64, 0, 63), 6);
        assert_eq!(hops(Shape::Graph(vec![(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]), 4, 1, 3), 2);
    }

    /// Follows every route over a table of where each channel leads, which is built from routes of one hop only.
    #[test]
    fn routes_are_unbroken() {
        for (shape, nodes) in [
            (Shape::Mesh(vec![3, 4]), 12),
            (Shape::Torus(vec![3, 3, 3]), 27),
            (Shape::EightNeighbours(vec![5, 4]), 20),
            (Shape::Hypercube, 16),
            (Shape::Ring { one_way: false }, 7),
        ] {
            let topology = Topology::new(&shape, nodes, false).unwrap();
            let route = |from, to| {
                let mut channels = Vec::new();
                topology.route(from, to, &mut channels);
                channels
            };
            let mut leads = std::collections::HashMap::new();
            for from in 0..nodes {
                for to in (0..nodes).filter(|&to| to != from) {
                    if let [channel] = route(from, to)[..] {
                        leads.insert((from, channel), to);
                    }
                }
            }
            for from in 0..nodes {
                for to in (0..nodes).filter(|&to| to != from) {
                    let end = route(from, to).into_iter().fold(from, |at, c| leads[&(at, c)]);
                    assert_eq!(end, to, "{shape:?}: {from} to {to}");
                }
            }
        }
    }

    #[test]
    fn all_to_one_shift_over_a_fat_tree_shares_no_link() {
        let topology = Topology::new(&Shape::FatTree { arity: 4 }, 64, false).unwrap();
        let mut used = std::collections::HashSet::new();
        for from in 0..64 {
            let mut channels = Vec::new();
            topology.route(from, (from + 16) % 64, &mut channels);
            assert!(channels.into_iter().all(|channel| used.insert(channel)));
        }
    }

    #[test]
    fn shapes_that_cannot_be_are_refused() {
        assert!(Topology::new(&Shape::Mesh(vec![2, 2]), 5, false).is_err());
        let apart = Topology::new(&Shape::Graph(vec![(0, 1), (2, 3)]), 4, false).unwrap_err();
        assert_eq!(apart, "no links lead from node 2 to node 0");
    }
}
