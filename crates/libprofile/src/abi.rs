//! The parts of the standard ABI that this library needs.

use std::ffi::c_int;

pub(crate) type Comm = usize;
pub(crate) type Datatype = usize;
pub(crate) type Errhandler = usize;
pub(crate) type File = usize;
pub(crate) type Group = usize;
pub(crate) type Info = usize;
pub(crate) type Message = usize;
pub(crate) type Op = usize;
pub(crate) type Request = usize;
pub(crate) type Session = usize;
pub(crate) type Win = usize;

pub(crate) const SUCCESS: c_int = 0;
pub(crate) const UNDEFINED: c_int = -32766;
pub(crate) const PROC_NULL: c_int = -3;
pub(crate) const ROOT: c_int = -4;
pub(crate) const CART: c_int = 211;
pub(crate) const GRAPH: c_int = 212;
pub(crate) const DIST_GRAPH: c_int = 213;
pub(crate) const THREAD_MULTIPLE: c_int = 4096;
pub(crate) const OP_NULL: Op = 0x20;
pub(crate) const LOCK_EXCLUSIVE: c_int = 301;
pub(crate) const WIN_FLAVOR_CREATE: c_int = 311;
pub(crate) const WIN_FLAVOR_ALLOCATE: c_int = 312;
pub(crate) const WIN_BASE: c_int = 601;
pub(crate) const WIN_SIZE: c_int = 603;
pub(crate) const WIN_CREATE_FLAVOR: c_int = 604;

/// MPI_IN_PLACE, as an address.
pub(crate) const IN_PLACE: usize = 1;
pub(crate) const COMM_NULL: Comm = 0x100;
pub(crate) const COMM_WORLD: Comm = 0x101;
pub(crate) const COMM_SELF: Comm = 0x102;
pub(crate) const WIN_NULL: Win = 0x110;
pub(crate) const MESSAGE_NULL: Message = 0x128;
pub(crate) const REQUEST_NULL: Request = 0x180;
pub(crate) const DATATYPE_NULL: Datatype = 0x200;
/// First of the predefined datatypes, and the end of their range.
pub(crate) const DATATYPES: Datatype = 0x200;
pub(crate) const DATATYPES_END: Datatype = 0x400;

/// MPI_Status of C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    pub(crate) source: c_int,
    pub(crate) tag: c_int,
    pub(crate) error: c_int,
    internal: [c_int; 5],
}

impl Status {
    /// Creates an empty one.
    pub(crate) const fn empty() -> Self {
        Status { source: PROC_NULL, tag: 0, error: SUCCESS, internal: [0; 5] }
    }
}
