//! The functions of MPI that this library calls. These calls are not recorded.

use std::ffi::{c_char, c_int, c_void};

use crate::abi::*;
use crate::real::Real;

/// Declares a function that calls the library's.
macro_rules! function {
    ($(#[$doc:meta])* $name:ident, $own:literal, $profiling:literal, ($($p:ident: $t:ty),*) -> $r:ty) => {
        $(#[$doc])*
        pub(crate) fn $name($($p: $t),*) -> $r {
            static REAL: Real = Real::new($own, $profiling);
            let real: unsafe extern "C" fn($($t),*) -> $r = {
                // SAFETY: the function has this type in the ABI.
                unsafe { std::mem::transmute(REAL.get()) }
            };
            // SAFETY: every caller in this crate passes handles from the program, and live places.
            unsafe { real($($p),*) }
        }
    };
}

function!(comm_rank, c"MPI_Comm_rank", c"PMPI_Comm_rank", (comm: Comm, rank: *mut c_int) -> c_int);
function!(comm_size, c"MPI_Comm_size", c"PMPI_Comm_size", (comm: Comm, size: *mut c_int) -> c_int);
function!(comm_group, c"MPI_Comm_group", c"PMPI_Comm_group", (comm: Comm, group: *mut Group) -> c_int);
function!(comm_remote_group, c"MPI_Comm_remote_group", c"PMPI_Comm_remote_group",
    (comm: Comm, group: *mut Group) -> c_int);
function!(comm_test_inter, c"MPI_Comm_test_inter", c"PMPI_Comm_test_inter",
    (comm: Comm, flag: *mut c_int) -> c_int);
function!(win_get_group, c"MPI_Win_get_group", c"PMPI_Win_get_group", (win: Win, group: *mut Group) -> c_int);
function!(win_get_attr, c"MPI_Win_get_attr", c"PMPI_Win_get_attr",
    (win: Win, key: c_int, value: *mut c_void, flag: *mut c_int) -> c_int);
function!(group_size, c"MPI_Group_size", c"PMPI_Group_size", (group: Group, size: *mut c_int) -> c_int);
function!(group_free, c"MPI_Group_free", c"PMPI_Group_free", (group: *mut Group) -> c_int);
function!(group_translate_ranks, c"MPI_Group_translate_ranks", c"PMPI_Group_translate_ranks",
    (from: Group, count: c_int, ranks: *const c_int, to: Group, found: *mut c_int) -> c_int);
function!(type_size, c"MPI_Type_size_c", c"PMPI_Type_size_c", (datatype: Datatype, size: *mut i64) -> c_int);
function!(type_true_extent, c"MPI_Type_get_true_extent_c", c"PMPI_Type_get_true_extent_c",
    (datatype: Datatype, low: *mut i64, extent: *mut i64) -> c_int);
function!(type_extent, c"MPI_Type_get_extent_c", c"PMPI_Type_get_extent_c",
    (datatype: Datatype, low: *mut i64, extent: *mut i64) -> c_int);
function!(unpack, c"MPI_Unpack_c", c"PMPI_Unpack_c", (from: *const c_void, size: i64, position: *mut i64,
    to: *mut c_void, count: i64, datatype: Datatype, comm: Comm) -> c_int);
function!(topo_test, c"MPI_Topo_test", c"PMPI_Topo_test", (comm: Comm, kind: *mut c_int) -> c_int);
function!(cartdim_get, c"MPI_Cartdim_get", c"PMPI_Cartdim_get", (comm: Comm, dimensions: *mut c_int) -> c_int);
function!(cart_shift, c"MPI_Cart_shift", c"PMPI_Cart_shift",
    (comm: Comm, dimension: c_int, by: c_int, source: *mut c_int, destination: *mut c_int) -> c_int);
function!(graph_neighbors_count, c"MPI_Graph_neighbors_count", c"PMPI_Graph_neighbors_count",
    (comm: Comm, rank: c_int, count: *mut c_int) -> c_int);
function!(graph_neighbors, c"MPI_Graph_neighbors", c"PMPI_Graph_neighbors",
    (comm: Comm, rank: c_int, most: c_int, ranks: *mut c_int) -> c_int);
function!(dist_graph_neighbors_count, c"MPI_Dist_graph_neighbors_count", c"PMPI_Dist_graph_neighbors_count",
    (comm: Comm, sources: *mut c_int, destinations: *mut c_int, is_weighted: *mut c_int) -> c_int);
function!(dist_graph_neighbors, c"MPI_Dist_graph_neighbors", c"PMPI_Dist_graph_neighbors",
    (comm: Comm, most_sources: c_int, sources: *mut c_int, source_weights: *mut c_int,
     most_destinations: c_int, destinations: *mut c_int, weights: *mut c_int) -> c_int);
function!(query_thread, c"MPI_Query_thread", c"PMPI_Query_thread", (provided: *mut c_int) -> c_int);
function!(wtime, c"MPI_Wtime", c"PMPI_Wtime", () -> f64);

function!(tools_init, c"MPI_T_init_thread", c"MPI_T_init_thread", (required: c_int, provided: *mut c_int) -> c_int);
function!(tools_finalize, c"MPI_T_finalize", c"MPI_T_finalize", () -> c_int);
function!(control_index, c"MPI_T_cvar_get_index", c"MPI_T_cvar_get_index", (name: *const c_char, index: *mut c_int) -> c_int);
function!(control_handle, c"MPI_T_cvar_handle_alloc", c"MPI_T_cvar_handle_alloc",
    (index: c_int, object: *mut c_void, handle: *mut usize, count: *mut c_int) -> c_int);
function!(control_write, c"MPI_T_cvar_write", c"MPI_T_cvar_write", (handle: usize, value: *const c_void) -> c_int);
function!(control_free, c"MPI_T_cvar_handle_free", c"MPI_T_cvar_handle_free", (handle: *mut usize) -> c_int);

/// Returns the address and the length in bytes of this rank's memory in a window, if the program gave it or MPI allocated it
/// for this rank alone.
pub(crate) fn own_memory(win: Win) -> Option<(usize, usize)> {
    let attribute = |key: c_int| {
        let (mut value, mut flag): (*const i64, c_int) = (std::ptr::null(), 0);
        win_get_attr(win, key, (&raw mut value).cast(), &mut flag);
        (flag != 0).then_some(value)
    };
    // SAFETY: the library returns the place of a number of this type, which lives as long as the window.
    let flavor = unsafe { *attribute(WIN_CREATE_FLAVOR)?.cast::<c_int>() };
    let is_own = [WIN_FLAVOR_CREATE, WIN_FLAVOR_ALLOCATE].contains(&flavor);
    // SAFETY: as above.
    let bytes = unsafe { *attribute(WIN_SIZE)? };
    // The base is the value itself.
    let start = attribute(WIN_BASE)?.addr();
    is_own.then_some((start, usize::try_from(bytes).ok()?))
}

/// Makes standard sends wait for their receives, collectives for all members, and results for the calls that complete
/// their operations. Returns whether the library does so.
pub(crate) fn make_synchronous() -> bool {
    let (mut level, mut index, mut handle, mut count, on) = (0, 0, 0, 0, 1);
    let on: *const c_int = &on;
    tools_init(0, &mut level);
    let is_known = control_index(c"synchronous".as_ptr(), &mut index) == SUCCESS;
    let is_set = is_known && {
        control_handle(index, std::ptr::null_mut(), &mut handle, &mut count);
        let code = control_write(handle, on.cast());
        control_free(&mut handle);
        code == SUCCESS
    };
    tools_finalize();
    is_set
}
