//! Communicators with a topology. All members make the same calls.

use collectives::{CallId, LibraryCall};
use contract::Endpoint;

use super::Communicator;
use crate::cartesian::Cartesian;
use crate::collective::all_to_all_bytes;
use crate::error::{ErrorClass, Result, ensure};
use crate::topology::{Edge, Graph, Neighbourhood, RankTopology};

impl<E: Endpoint + 'static> Communicator<E> {
    /// Splits the communicator, and gives the part a topology.
    ///
    /// # Errors
    /// As for [`split`](Communicator::split), and [`ErrorClass::Communicator`] between two groups.
    pub fn split_with_topology(
        &self,
        colour: Option<u32>,
        key: i64,
        topology: impl Into<RankTopology>,
    ) -> Result<Option<Self>> {
        self.check_one_group()?;
        let part = self.split(colour, key)?;
        let topology = Some(topology.into());
        Ok(part.map(|part| Communicator { topology, ..part }))
    }

    /// Creates a communicator of the first `members`, as many as a topology has places. Returns `None` to the others.
    fn with_places(
        &self,
        topology: RankTopology,
        needed: usize,
        class: ErrorClass,
    ) -> Result<Option<Self>> {
        self.check_one_group()?;
        let size = self.size();
        ensure!(needed <= size, class, "a topology of {needed} in a communicator of {size}");
        let colour = (self.rank() < needed).then_some(0);
        self.split_with_topology(colour, self.rank() as i64, topology)
    }

    /// Creates a communicator whose ranks are those of a grid. Returns `None` to members without a place in it.
    ///
    /// # Errors
    /// [`ErrorClass::Dimensions`] if the grid has more places than there are members, [`ErrorClass::Communicator`] for
    /// an intercommunicator, and as for [`split`](Communicator::split).
    pub fn with_cartesian(&self, grid: Cartesian) -> Result<Option<Self>> {
        let needed = grid.size();
        self.with_places(grid.into(), needed, ErrorClass::Dimensions)
    }

    /// Creates a communicator whose ranks are the nodes of a graph. Returns `None` to members without a node.
    ///
    /// # Errors
    /// As for [`with_cartesian`](Communicator::with_cartesian), with [`ErrorClass::Argument`] if the graph has too many
    /// nodes.
    pub fn with_graph(&self, graph: Graph) -> Result<Option<Self>> {
        let needed = graph.size();
        self.with_places(graph.into(), needed, ErrorClass::Argument)
    }

    /// Creates a communicator of the same members, each of which names its own neighbours.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] for a neighbour that is not a member, and as for [`split`](Communicator::split).
    pub fn with_neighbours(&self, neighbours: Neighbourhood) -> Result<Self> {
        self.check_one_group()?;
        neighbours.check(self.size())?;
        let made = self.split_with_topology(Some(0), self.rank() as i64, neighbours)?;
        Ok(made.expect("every member gives the colour"))
    }

    /// As [`with_neighbours`](Communicator::with_neighbours), where each member gives some edges of the graph, between
    /// any members.
    ///
    /// # Errors
    /// As for [`with_neighbours`](Communicator::with_neighbours).
    pub fn with_edges(&self, edges: &[Edge], weighted: bool) -> Result<Self> {
        self.check_one_group()?;
        edges.iter().try_for_each(|edge| edge.check(self.size()))?;
        // Each edge goes to both of its ends, in the order of the members that gave it, at both alike.
        let to_ends = |end: fn(&Edge) -> usize| {
            let mut blocks = vec![Vec::new(); self.size()];
            edges.iter().for_each(|edge| blocks[end(edge)].extend(edge.to_bytes()));
            all_to_all_bytes(self.context(), CallId::of_library(LibraryCall::Graph), &blocks)
        };
        let incoming = to_ends(|edge| edge.destination)?;
        let outgoing = to_ends(|edge| edge.source)?;
        let read = |bytes: &[Vec<u8>]| -> Vec<Edge> {
            let all = bytes.concat();
            all.chunks(Edge::BYTES).map(Edge::from_bytes).collect()
        };
        self.with_neighbours(Neighbourhood::of_edges(&read(&incoming), &read(&outgoing), weighted))
    }
}
