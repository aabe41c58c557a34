//! The neighbours of a rank in the topology of a communicator, in the order of neighbourhood collectives.

use std::ffi::c_int;

use crate::abi::*;
use crate::mpi;

/// Returns the ranks that data come from, and those that data go to; MPI_PROC_NULL beyond an edge of a grid. `rank` is
/// this rank.
pub(crate) fn of(comm: Comm, rank: c_int) -> (Vec<c_int>, Vec<c_int>) {
    let mut kind = UNDEFINED;
    mpi::topo_test(comm, &mut kind);
    match kind {
        CART => of_grid(comm),
        GRAPH => of_graph(comm, rank),
        DIST_GRAPH => of_distributed_graph(comm),
        _ => (Vec::new(), Vec::new()),
    }
}

fn of_grid(comm: Comm) -> (Vec<c_int>, Vec<c_int>) {
    let (mut dimensions, mut ranks) = (0, Vec::new());
    mpi::cartdim_get(comm, &mut dimensions);
    for dimension in 0..dimensions {
        let (mut before, mut after) = (PROC_NULL, PROC_NULL);
        mpi::cart_shift(comm, dimension, 1, &mut before, &mut after);
        ranks.extend([before, after]);
    }
    (ranks.clone(), ranks)
}

fn of_graph(comm: Comm, rank: c_int) -> (Vec<c_int>, Vec<c_int>) {
    let mut count = 0;
    mpi::graph_neighbors_count(comm, rank, &mut count);
    let mut ranks = room(count);
    mpi::graph_neighbors(comm, rank, count, ranks.as_mut_ptr());
    (ranks.clone(), ranks)
}

fn of_distributed_graph(comm: Comm) -> (Vec<c_int>, Vec<c_int>) {
    let (mut from, mut to, mut is_weighted) = (0, 0, 0);
    mpi::dist_graph_neighbors_count(comm, &mut from, &mut to, &mut is_weighted);
    let (mut sources, mut weights) = (room(from), room(from));
    let (mut destinations, mut other_weights) = (room(to), room(to));
    mpi::dist_graph_neighbors(
        comm,
        from,
        sources.as_mut_ptr(),
        weights.as_mut_ptr(),
        to,
        destinations.as_mut_ptr(),
        other_weights.as_mut_ptr(),
    );
    (sources, destinations)
}

fn room(count: c_int) -> Vec<c_int> {
    vec![PROC_NULL; usize::try_from(count).unwrap_or(0)]
}
