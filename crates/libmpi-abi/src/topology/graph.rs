//! Graphs that all members have, and graphs of which each member has its own part.

use std::ffi::c_int;

use mpi::{Edge, Graph, Neighbourhood, RankTopology};

use super::list;
use crate::abi::*;
use crate::arguments::array;
use crate::communicator::{self, Communicator};
use crate::failure::{Result, ensure, error_of};

/// Reads a graph from C arguments.
unsafe fn read(nodes: c_int, ends: *const c_int, edges: *const c_int) -> Result<Graph> {
    ensure!(nodes >= 0, ERR_ARG, "{nodes} nodes");
    let ends = array(ends, nodes, "index")?;
    let ends: Vec<i64> = ends.iter().map(|&end| i64::from(end)).collect();
    let many = usize::try_from(ends.last().copied().unwrap_or(0));
    let many = many.map_err(|_| error_of(ERR_ARG, "a negative number of edges"))?;
    ensure!(many == 0 || !edges.is_null(), ERR_ARG, "edges is a null pointer");
    Graph::new(&ends, &list(edges, many))
}

fn graph(communicator: &Communicator) -> Result<&Graph> {
    match communicator.topology() {
        Some(RankTopology::Graph(graph)) => Ok(graph),
        _ => Err(error_of(ERR_TOPOLOGY, "the communicator has no graph topology")),
    }
}

pub(crate) unsafe fn graph_create(
    comm: Comm,
    nodes: c_int,
    ends: *const c_int,
    edges: *const c_int,
    _reorder: c_int,
    new: *mut Comm,
) -> Result {
    communicator::get(comm)?;
    let graph = read(nodes, ends, edges)?;
    *new = communicator::made_of(comm, |old| match graph.size() {
        0 => old.check_one_group().map(|()| None),
        _ => old.with_graph(graph),
    })?;
    Ok(())
}

/// Implements MPI_Graph_map: returns the rank that this process would have.
pub(crate) unsafe fn graph_map(
    comm: Comm,
    nodes: c_int,
    ends: *const c_int,
    edges: *const c_int,
    rank: *mut c_int,
) -> Result {
    let communicator = communicator::get(comm)?;
    let graph = read(nodes, ends, edges)?;
    let (needed, size) = (graph.size(), communicator.size());
    ensure!(needed <= size, ERR_ARG, "a graph of {needed} in a communicator of {size}");
    let own = communicator.rank();
    *rank = if own < needed { own as c_int } else { UNDEFINED };
    Ok(())
}

pub(crate) unsafe fn graph_lengths(comm: Comm, nodes: *mut c_int, edges: *mut c_int) -> Result {
    let communicator = communicator::get(comm)?;
    let graph = graph(&communicator)?;
    (*nodes, *edges) = (graph.size() as c_int, graph.edges().len() as c_int);
    Ok(())
}

/// Writes as many numbers as there is room for.
unsafe fn fill<T: Copy>(from: impl IntoIterator<Item = T>, room: c_int, to: *mut T) {
    for (index, one) in from.into_iter().take(room.max(0) as usize).enumerate() {
        *to.add(index) = one;
    }
}

fn numbers(of: &[usize]) -> impl Iterator<Item = c_int> + '_ {
    of.iter().map(|&one| one as c_int)
}

pub(crate) unsafe fn graph_get(
    comm: Comm,
    most_ends: c_int,
    most_edges: c_int,
    ends: *mut c_int,
    edges: *mut c_int,
) -> Result {
    let communicator = communicator::get(comm)?;
    let graph = graph(&communicator)?;
    fill(numbers(graph.ends()), most_ends, ends);
    fill(numbers(graph.edges()), most_edges, edges);
    Ok(())
}

/// Returns a node of a communicator's graph.
fn node(communicator: &Communicator, rank: c_int) -> Result<usize> {
    let in_range = usize::try_from(rank).ok().filter(|&rank| rank < communicator.size());
    in_range.ok_or_else(|| error_of(ERR_RANK, format!("rank {rank} of a graph")))
}

pub(crate) unsafe fn graph_neighbours_count(comm: Comm, rank: c_int, count: *mut c_int) -> Result {
    let communicator = communicator::get(comm)?;
    let graph = graph(&communicator)?;
    *count = graph.neighbours(node(&communicator, rank)?).len() as c_int;
    Ok(())
}

pub(crate) unsafe fn graph_neighbours(
    comm: Comm,
    rank: c_int,
    room: c_int,
    neighbours: *mut c_int,
) -> Result {
    let communicator = communicator::get(comm)?;
    let graph = graph(&communicator)?;
    fill(numbers(graph.neighbours(node(&communicator, rank)?)), room, neighbours);
    Ok(())
}

/// Returns the weights from C arguments, or `None` for MPI_UNWEIGHTED, which all members must pass alike.
unsafe fn weights(from: *const c_int, count: usize) -> Result<Option<Vec<c_int>>> {
    if from as usize == UNWEIGHTED {
        return Ok(None);
    }
    if from as usize == WEIGHTS_EMPTY {
        ensure!(count == 0, ERR_ARG, "MPI_WEIGHTS_EMPTY for {count} edges");
        return Ok(Some(vec![]));
    }
    let given = array(from, count as c_int, "weights")?;
    given.iter().try_for_each(|&weight| check_weight(weight))?;
    Ok(Some(given.to_vec()))
}

fn check_weight(weight: c_int) -> Result {
    ensure!(weight >= 0, ERR_ARG, "a weight of {weight}");
    Ok(())
}

/// Returns the ranks of neighbours.
unsafe fn ranks(from: *const c_int, count: c_int, name: &str) -> Result<Vec<usize>> {
    let rank = |&rank: &c_int| {
        usize::try_from(rank).map_err(|_| error_of(ERR_ARG, format!("neighbour {rank}")))
    };
    array(from, count, name)?.iter().map(rank).collect()
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn distributed_create_adjacent(
    comm: Comm,
    in_degree: c_int,
    sources: *const c_int,
    source_weights: *const c_int,
    out_degree: c_int,
    destinations: *const c_int,
    destination_weights: *const c_int,
    _info: Info,
    _reorder: c_int,
    new: *mut Comm,
) -> Result {
    communicator::get(comm)?;
    let sources = ranks(sources, in_degree, "sources")?;
    let destinations = ranks(destinations, out_degree, "destinations")?;
    let inward = weights(source_weights, sources.len())?;
    let outward = weights(destination_weights, destinations.len())?;
    let both = inward.is_some() == outward.is_some();
    ensure!(both, ERR_ARG, "MPI_UNWEIGHTED for one direction alone");
    let neighbours = Neighbourhood { sources, destinations, weights: inward.zip(outward) };
    *new = communicator::made_of(comm, |old| old.with_neighbours(neighbours).map(Some))?;
    Ok(())
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn distributed_create(
    comm: Comm,
    nodes: c_int,
    sources: *const c_int,
    degrees: *const c_int,
    destinations: *const c_int,
    given: *const c_int,
    _info: Info,
    _reorder: c_int,
    new: *mut Comm,
) -> Result {
    communicator::get(comm)?;
    let sources = ranks(sources, nodes, "sources")?;
    let degrees = ranks(degrees, nodes, "degrees")?;
    let many: usize = degrees.iter().sum();
    let destinations = ranks(destinations, many as c_int, "destinations")?;
    let weights = weights(given, many)?;
    let of_sources = sources.iter().zip(&degrees);
    let of_sources = of_sources.flat_map(|(&source, &degree)| vec![source; degree]);
    let edges = of_sources.zip(destinations).enumerate().map(|(index, (source, destination))| {
        let weight = weights.as_ref().map_or(1, |weights| weights[index]);
        Edge { source, destination, weight }
    });
    let edges: Vec<Edge> = edges.collect();
    let weighted = weights.is_some();
    *new = communicator::made_of(comm, |old| old.with_edges(&edges, weighted).map(Some))?;
    Ok(())
}

fn neighbourhood(communicator: &Communicator) -> Result<&Neighbourhood> {
    match communicator.topology() {
        Some(RankTopology::Distributed(own)) => Ok(own),
        _ => Err(error_of(ERR_TOPOLOGY, "the communicator has no distributed graph topology")),
    }
}

pub(crate) unsafe fn distributed_neighbours_count(
    comm: Comm,
    in_degree: *mut c_int,
    out_degree: *mut c_int,
    weighted: *mut c_int,
) -> Result {
    let communicator = communicator::get(comm)?;
    let own = neighbourhood(&communicator)?;
    *in_degree = own.sources.len() as c_int;
    *out_degree = own.destinations.len() as c_int;
    *weighted = c_int::from(own.weights.is_some());
    Ok(())
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn distributed_neighbours(
    comm: Comm,
    most_sources: c_int,
    sources: *mut c_int,
    source_weights: *mut c_int,
    most_destinations: c_int,
    destinations: *mut c_int,
    destination_weights: *mut c_int,
) -> Result {
    let communicator = communicator::get(comm)?;
    let own = neighbourhood(&communicator)?;
    fill(numbers(&own.sources), most_sources, sources);
    fill(numbers(&own.destinations), most_destinations, destinations);
    if let Some((inward, outward)) = &own.weights {
        for (from, most, to) in [
            (inward, most_sources, source_weights),
            (outward, most_destinations, destination_weights),
        ] {
            if ![UNWEIGHTED, WEIGHTS_EMPTY].contains(&(to as usize)) {
                fill(from.iter().copied(), most, to);
            }
        }
    }
    Ok(())
}
