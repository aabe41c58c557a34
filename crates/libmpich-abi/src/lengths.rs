//! The lengths of arrays with an element for each member of a communicator, or for each neighbour.

use std::ffi::c_int;

use crate::convert::Convert;
use crate::handles::Comm;
use crate::numbers::TopologyKind;
use crate::standard::standard;

/// Calls a function that returns one number. It is 0 if the function fails, because the call itself will report the
/// error.
macro_rules! queried {
    ($name:ident, $comm:expr) => {{
        let mut number = 0;
        let code = standard!($name: fn(usize, *mut c_int) -> c_int)($comm, &mut number);
        if code == 0 { number } else { 0 }
    }};
}

/// Returns the number of processes with which those of a communicator exchange data.
pub(crate) unsafe fn members(comm: c_int) -> c_int {
    let comm = Comm::inward(comm);
    match queried!(MPI_Comm_test_inter, comm) {
        0 => queried!(MPI_Comm_size, comm),
        _ => queried!(MPI_Comm_remote_size, comm),
    }
}

/// Returns the number of neighbours from which data come.
pub(crate) unsafe fn sources(comm: c_int) -> c_int {
    neighbours(Comm::inward(comm)).0
}

/// Returns the number of neighbours to which data go.
pub(crate) unsafe fn destinations(comm: c_int) -> c_int {
    neighbours(Comm::inward(comm)).1
}

unsafe fn neighbours(comm: usize) -> (c_int, c_int) {
    const GRAPH: c_int = 1;
    const CARTESIAN: c_int = 2;
    const DISTRIBUTED: c_int = 3;
    match TopologyKind::outward(queried!(MPI_Topo_test, comm)) {
        CARTESIAN => {
            let both = 2 * queried!(MPI_Cartdim_get, comm);
            (both, both)
        }
        GRAPH => {
            let (rank, mut number) = (queried!(MPI_Comm_rank, comm), 0);
            let count = standard!(MPI_Graph_neighbors_count: fn(usize, c_int, *mut c_int) -> c_int);
            let code = count(comm, rank, &mut number);
            if code == 0 { (number, number) } else { (0, 0) }
        }
        DISTRIBUTED => {
            let (mut into, mut out, mut weighted) = (0, 0, 0);
            let count = standard!(MPI_Dist_graph_neighbors_count:
                fn(usize, *mut c_int, *mut c_int, *mut c_int) -> c_int);
            let code = count(comm, &mut into, &mut out, &mut weighted);
            if code == 0 { (into, out) } else { (0, 0) }
        }
        _ => (0, 0),
    }
}

/// Returns the sum of the first `count` of `numbers`.
pub(crate) unsafe fn sum(count: c_int, numbers: *const c_int) -> c_int {
    if numbers.is_null() {
        return 0;
    }
    (0..count.max(0) as usize).map(|index| *numbers.add(index)).sum()
}

/// Returns the number in a place, or 0 if the place is null.
pub(crate) unsafe fn behind(place: *const c_int) -> c_int {
    if place.is_null() { 0 } else { *place }
}
