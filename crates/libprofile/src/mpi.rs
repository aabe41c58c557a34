//! The functions of MPI that are called here, none of which is noted.

use std::ffi::c_int;

use crate::abi::*;
use crate::real::Real;

/// Declares a function that calls the library's.
macro_rules! function {
    ($(#[$doc:meta])* $name:ident, $own:literal, $profiling:literal, ($($p:ident: $t:ty),*) -> $r:ty) => {
        $(#[$doc])*
        pub(crate) fn $name($($p: $t),*) -> $r {
            static REAL: Real = Real::new($own, $profiling);
            let real: unsafe extern "C" fn($($t),*) -> $r = {
                // SAFETY: that is the type that the ABI gives the function.
                unsafe { std::mem::transmute(REAL.get()) }
            };
            // SAFETY: every caller in this crate passes handles that the program was given, and places that are live.
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
function!(group_size, c"MPI_Group_size", c"PMPI_Group_size", (group: Group, size: *mut c_int) -> c_int);
function!(group_free, c"MPI_Group_free", c"PMPI_Group_free", (group: *mut Group) -> c_int);
function!(group_translate_ranks, c"MPI_Group_translate_ranks", c"PMPI_Group_translate_ranks",
    (from: Group, count: c_int, ranks: *const c_int, to: Group, found: *mut c_int) -> c_int);
function!(type_size, c"MPI_Type_size_c", c"PMPI_Type_size_c", (datatype: Datatype, size: *mut i64) -> c_int);
function!(type_true_extent, c"MPI_Type_get_true_extent_c", c"PMPI_Type_get_true_extent_c",
    (datatype: Datatype, low: *mut i64, extent: *mut i64) -> c_int);
function!(query_thread, c"MPI_Query_thread", c"PMPI_Query_thread", (provided: *mut c_int) -> c_int);
function!(wtime, c"MPI_Wtime", c"PMPI_Wtime", () -> f64);
