//! The lengths of arrays with an element for each member of a communicator, or for each neighbour.

use std::ffi::c_int;

use crate::convert::Convert;
use crate::handles::Comm;
use crate::numbers::TopologyKind;
use crate::standard::standard;

/// Asks a function that fills one number in. It is 0 where the question fails, for the call itself will say why.
macro_rules! asked {
    ($name:ident, $comm:expr) => {{
        let mut number = 0;
        let code = standard!($name: fn(usize, *mut c_int) -> c_int)($comm, &mut number);
        if code == 0 { number } else { 0 }
    }};
}

/// The processes with which those of a communicator exchange data.
pub(crate) unsafe fn members(comm: c_int) -> c_int {
    let comm = Comm::inward(comm);
    match asked!(MPI_Comm_test_inter, comm) {
        0 => asked!(MPI_Comm_size, comm),
        _ => asked!(MPI_Comm_remote_size, comm),
    }
}

/// The neighbours from which data come.
pub(crate) unsafe fn sources(comm: c_int) -> c_int {
    neighbours(Comm::inward(comm)).0
}

/// The neighbours to which data go.
pub(crate) unsafe fn destinations(comm: c_int) -> c_int {
    neighbours(Comm::inward(comm)).1
}

unsafe fn neighbours(comm: usize) -> (c_int, c_int) {
    const GRAPH: c_int = 1;
    const CARTESIAN: c_int = 2;
    const DISTRIBUTED: c_int = 3;
    match TopologyKind::outward(asked!(MPI_Topo_test, comm)) {
        CARTESIAN => {
            let both = 2 * asked!(MPI_Cartdim_get, comm);
            (both, both)
        }
        GRAPH => {
            let (rank, mut number) = (asked!(MPI_Comm_rank, comm), 0);
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

/// The sum of the first `count` of `numbers`.
pub(crate) unsafe fn sum(count: c_int, numbers: *const c_int) -> c_int {
    if numbers.is_null() {
        return 0;
    }
    (0..count.max(0) as usize).map(|index| *numbers.add(index)).sum()
}

/// The number in a place, which may be null.
pub(crate) unsafe fn behind(place: *const c_int) -> c_int {
    if place.is_null() { 0 } else { *place }
}
