//! The parts of this ABI for Fortran. Handles of both languages are the same integers, except for files; a status is
//! the same five words; and some addresses stand for a missing argument.

use std::ffi::c_int;
use std::sync::atomic::AtomicUsize;

use super::export;
use crate::status::Status;

/// Exports conversions of handles that change nothing.
macro_rules! same {
    ($($out:ident $pout:ident $into:ident $pinto:ident),*) => {
        $(
            export!($out $pout (handle: c_int) -> c_int, handle);
            export!($into $pinto (handle: c_int) -> c_int, handle);
        )*
    };
}

same!(
    MPI_Comm_c2f PMPI_Comm_c2f MPI_Comm_f2c PMPI_Comm_f2c,
    MPI_Errhandler_c2f PMPI_Errhandler_c2f MPI_Errhandler_f2c PMPI_Errhandler_f2c,
    MPI_Group_c2f PMPI_Group_c2f MPI_Group_f2c PMPI_Group_f2c,
    MPI_Info_c2f PMPI_Info_c2f MPI_Info_f2c PMPI_Info_f2c,
    MPI_Message_c2f PMPI_Message_c2f MPI_Message_f2c PMPI_Message_f2c,
    MPI_Op_c2f PMPI_Op_c2f MPI_Op_f2c PMPI_Op_f2c,
    MPI_Request_c2f PMPI_Request_c2f MPI_Request_f2c PMPI_Request_f2c,
    MPI_Session_c2f PMPI_Session_c2f MPI_Session_f2c PMPI_Session_f2c,
    MPI_Type_c2f PMPI_Type_c2f MPI_Type_f2c PMPI_Type_f2c,
    MPI_Win_c2f PMPI_Win_c2f MPI_Win_f2c PMPI_Win_f2c,
    MPI_Comm_toint PMPI_Comm_toint MPI_Comm_fromint PMPI_Comm_fromint,
    MPI_Errhandler_toint PMPI_Errhandler_toint MPI_Errhandler_fromint PMPI_Errhandler_fromint,
    MPI_Group_toint PMPI_Group_toint MPI_Group_fromint PMPI_Group_fromint,
    MPI_Info_toint PMPI_Info_toint MPI_Info_fromint PMPI_Info_fromint,
    MPI_Message_toint PMPI_Message_toint MPI_Message_fromint PMPI_Message_fromint,
    MPI_Op_toint PMPI_Op_toint MPI_Op_fromint PMPI_Op_fromint,
    MPI_Request_toint PMPI_Request_toint MPI_Request_fromint PMPI_Request_fromint,
    MPI_Session_toint PMPI_Session_toint MPI_Session_fromint PMPI_Session_fromint,
    MPI_Type_toint PMPI_Type_toint MPI_Type_fromint PMPI_Type_fromint,
    MPI_Win_toint PMPI_Win_toint MPI_Win_fromint PMPI_Win_fromint
);

// The handle of a file is a pointer with a small number.
export!(MPI_File_c2f PMPI_File_c2f (handle: usize) -> c_int, handle as c_int);
export!(MPI_File_f2c PMPI_File_f2c (handle: c_int) -> usize, handle as usize);
export!(MPI_File_toint PMPI_File_toint (handle: usize) -> c_int, handle as c_int);
export!(MPI_File_fromint PMPI_File_fromint (handle: c_int) -> usize, handle as usize);

/// Exports copies of a status, which has one form in all three languages.
macro_rules! copies {
    ($($name:ident $profiling:ident),*) => {
        $(export!($name $profiling (from: *const Status, to: *mut Status) -> c_int, {
            *to = *from;
            0
        });)*
    };
}

copies!(
    MPI_Status_c2f PMPI_Status_c2f,
    MPI_Status_f2c PMPI_Status_f2c,
    MPI_Status_c2f08 PMPI_Status_c2f08,
    MPI_Status_f082c PMPI_Status_f082c,
    MPI_Status_f082f PMPI_Status_f082f,
    MPI_Status_f2f08 PMPI_Status_f2f08
);

/// Exports addresses of numbers. They are writable, because MPICH's library for Fortran sets some of them.
macro_rules! addresses {
    ($($name:ident = $number:expr),*) => {
        $(
            #[unsafe(no_mangle)]
            pub(crate) static $name: AtomicUsize = AtomicUsize::new($number);
        )*
    };
}

// The first two are those of the standard ABI. The others are those of MPI_STATUS_IGNORE, because a Fortran status is a
// C status.
addresses!(
    MPI_UNWEIGHTED = 10,
    MPI_WEIGHTS_EMPTY = 11,
    MPI_F_STATUS_IGNORE = 1,
    MPI_F_STATUSES_IGNORE = 1,
    MPI_F08_STATUS_IGNORE = 1,
    MPI_F08_STATUSES_IGNORE = 1,
    MPI_T_PVAR_ALL_HANDLES = 1
);
