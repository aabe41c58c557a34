//! Topologies of communicators: grids, graphs, and neighbourhoods that each member defines.

use crate::cartesian::Cartesian;
use crate::error::{ErrorClass, Result, ensure};

/// The topology of a communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankTopology {
    /// A grid.
    Cartesian(Cartesian),
    /// A graph that every member knows.
    Graph(Graph),
    /// A graph of which each member knows its own neighbours.
    Distributed(Neighbourhood),
}

/// A graph: the neighbours of each node, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// End of each node's neighbours among the edges.
    ends: Vec<usize>,
    edges: Vec<usize>,
}

/// The neighbours of one member, in the order in which they were named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbourhood {
    /// Members from which this one receives.
    pub sources: Vec<usize>,
    /// Members to which this one sends.
    pub destinations: Vec<usize>,
    /// Weights of the edges from the sources and to the destinations, if they have weights.
    pub weights: Option<(Vec<i32>, Vec<i32>)>,
}

/// An edge of a graph, from one member to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Described above.
pub struct Edge {
    pub source: usize,
    pub destination: usize,
    pub weight: i32,
}

/// The neighbours with which a member exchanges data in neighbourhood collectives. `None` stands for the null process
/// beyond the edge of a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchanges {
    /// Source of each received block.
    pub sources: Vec<Option<usize>>,
    /// Destination of each sent block.
    pub destinations: Vec<Option<usize>>,
    /// Order of the blocks from a member that is a neighbour several times.
    pub order: Vec<usize>,
}

impl From<Cartesian> for RankTopology {
    fn from(grid: Cartesian) -> Self {
        RankTopology::Cartesian(grid)
    }
}

impl From<Graph> for RankTopology {
    fn from(graph: Graph) -> Self {
        RankTopology::Graph(graph)
    }
}

impl From<Neighbourhood> for RankTopology {
    fn from(neighbours: Neighbourhood) -> Self {
        RankTopology::Distributed(neighbours)
    }
}

impl RankTopology {
    /// Returns the neighbours with which member `rank` exchanges data.
    pub fn exchanges(&self, rank: usize) -> Exchanges {
        match self {
            RankTopology::Cartesian(grid) => {
                let (before, after) = grid.neighbours(rank);
                let both = before.into_iter().zip(after);
                let all: Vec<Option<usize>> = both.flat_map(|(one, other)| [one, other]).collect();
                // In a ring of two, and alone, both neighbours along a dimension are the same. What it sends to the
                // neighbour before itself arrives from the one after this.
                let order = (0..all.len()).map(|index| index ^ 1).collect();
                Exchanges { sources: all.clone(), destinations: all, order }
            }
            RankTopology::Graph(graph) => {
                Exchanges::in_order(graph.neighbours(rank), graph.neighbours(rank))
            }
            RankTopology::Distributed(own) => Exchanges::in_order(&own.sources, &own.destinations),
        }
    }
}

impl Exchanges {
    fn in_order(sources: &[usize], destinations: &[usize]) -> Self {
        let some = |ranks: &[usize]| ranks.iter().copied().map(Some).collect();
        let order = (0..sources.len()).collect();
        Exchanges { sources: some(sources), destinations: some(destinations), order }
    }
}

impl Graph {
    /// Creates a graph from the end of each node's neighbours in `edges`.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] for ends that decrease or exceed the edges, and for an edge to no node.
    pub fn new(ends: &[i64], edges: &[i64]) -> Result<Self> {
        let nodes = ends.len() as i64;
        let mut before = 0;
        for &end in ends {
            let fits = (before..=edges.len() as i64).contains(&end);
            ensure!(fits, ErrorClass::Argument, "edges that end at {end} after {before}");
            before = end;
        }
        for &edge in edges {
            let is_in_range = (0..nodes).contains(&edge);
            ensure!(is_in_range, ErrorClass::Argument, "an edge to node {edge} of {nodes}");
        }
        let numbers = |of: &[i64]| of.iter().map(|&one| one as usize).collect();
        Ok(Graph { ends: numbers(ends), edges: numbers(edges) })
    }

    /// Returns the number of nodes.
    pub fn size(&self) -> usize {
        self.ends.len()
    }

    /// Returns the end of each node's neighbours among the edges.
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Returns the neighbours of all nodes, consecutively.
    pub fn edges(&self) -> &[usize] {
        &self.edges
    }

    /// Returns the neighbours of a node.
    pub fn neighbours(&self, node: usize) -> &[usize] {
        let start = if node == 0 { 0 } else { self.ends[node - 1] };
        &self.edges[start..self.ends[node]]
    }
}

impl Neighbourhood {
    /// Returns the neighbours of a member with these incoming and outgoing edges.
    pub(crate) fn of_edges(incoming: &[Edge], outgoing: &[Edge], weighted: bool) -> Self {
        let weights = |edges: &[Edge]| edges.iter().map(|edge| edge.weight).collect();
        Neighbourhood {
            sources: incoming.iter().map(|edge| edge.source).collect(),
            destinations: outgoing.iter().map(|edge| edge.destination).collect(),
            weights: weighted.then(|| (weights(incoming), weights(outgoing))),
        }
    }

    pub(crate) fn check(&self, members: usize) -> Result {
        for &rank in self.sources.iter().chain(&self.destinations) {
            ensure!(rank < members, ErrorClass::Argument, "neighbour {rank} of {members} members");
        }
        Ok(())
    }
}

impl Edge {
    pub(crate) const BYTES: usize = 12;

    pub(crate) fn check(&self, members: usize) -> Result {
        let Edge { source, destination, .. } = *self;
        let is_in_range = source < members && destination < members;
        let what = "an edge from member";
        ensure!(is_in_range, ErrorClass::Argument, "{what} {source} to {destination} of {members}");
        Ok(())
    }

    pub(crate) fn to_bytes(self) -> [u8; Edge::BYTES] {
        let mut bytes = [0; Edge::BYTES];
        let words = [self.source as u32, self.destination as u32, self.weight as u32];
        for (place, word) in bytes.chunks_mut(4).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let word = |index: usize| {
            let bytes = bytes[4 * index..].first_chunk().expect("an edge has three words");
            u32::from_ne_bytes(*bytes)
        };
        let (source, destination) = (word(0) as usize, word(1) as usize);
        Edge { source, destination, weight: word(2) as i32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_knows_the_neighbours_of_each_node() {
        // Node 0 is adjacent to 1 and 3, node 2 to 3 alone, node 1 to none.
        let graph = Graph::new(&[2, 2, 3, 5], &[1, 3, 3, 0, 2]).unwrap();
        let neighbours: Vec<&[usize]> = (0..4).map(|node| graph.neighbours(node)).collect();
        assert_eq!(neighbours, [&[1, 3][..], &[], &[3], &[0, 2]]);
        for (ends, edges) in
            [(&[1_i64, 0][..], &[1_i64][..]), (&[2], &[0]), (&[-1], &[]), (&[1], &[1])]
        {
            assert_eq!(Graph::new(ends, edges).unwrap_err().class, ErrorClass::Argument);
        }
    }

    #[test]
    fn blocks_of_a_grid_go_before_and_after_along_each_dimension() {
        // Rank 1 of a column of three by a ring of two: none above it, 3 below; beside it twice 0.
        let grid = Cartesian::new(&[3, 2], vec![false, true]).unwrap();
        let exchanges = RankTopology::from(grid).exchanges(1);
        assert_eq!(exchanges.sources, [None, Some(3), Some(0), Some(0)]);
        assert_eq!(
            (&exchanges.destinations, &exchanges.order[..]),
            (&exchanges.sources, &[1, 0, 3, 2][..])
        );
    }

    #[test]
    fn edges_are_decoded_unchanged_and_edges_to_no_rank_are_refused() {
        let edge = Edge { source: 3, destination: 70_000, weight: -2 };
        assert_eq!(Edge::from_bytes(&edge.to_bytes()), edge);
        assert_eq!(edge.check(70_000).unwrap_err().class, ErrorClass::Argument);
        let found = Neighbourhood::of_edges(&[edge], &[], true);
        assert_eq!((found.sources, found.weights), (vec![3], Some((vec![-2], vec![]))));
    }
}
