//! The structures and tables of functions for registered memory, writes, reads and atomic operations.

use std::ffi::{c_int, c_void};

use super::{Address, Ep, Fid, Unused};

/// Compare-and-swap. The numbers of the other operations and of the elements are those of the contract.
pub(crate) const CSWAP: c_int = 12;

/// Registered memory.
#[repr(C)]
pub(crate) struct Mr {
    pub(crate) fid: Fid,
    pub(crate) mem_desc: *mut c_void,
    pub(crate) key: u64,
}

#[repr(C)]
pub(crate) struct MrOps {
    pub(crate) size: usize,
    pub(crate) reg: unsafe extern "C" fn(
        *mut Fid,
        *const c_void,
        usize,
        u64,
        u64,
        u64,
        u64,
        *mut *mut Mr,
        *mut c_void,
    ) -> c_int,
}

/// A part of this rank's memory, in bytes.
#[repr(C)]
pub(crate) struct Iov {
    pub(crate) base: *const c_void,
    pub(crate) len: usize,
}

/// A part of another rank's memory, in bytes.
#[repr(C)]
pub(crate) struct RmaIov {
    pub(crate) addr: u64,
    pub(crate) len: usize,
    pub(crate) key: u64,
}

/// A part of this rank's memory, in elements.
#[repr(C)]
pub(crate) struct Ioc {
    pub(crate) addr: *const c_void,
    pub(crate) count: usize,
}

/// A part of another rank's memory, in elements.
#[repr(C)]
pub(crate) struct RmaIoc {
    pub(crate) addr: u64,
    pub(crate) count: usize,
    pub(crate) key: u64,
}

#[repr(C)]
pub(crate) struct MsgRma {
    pub(crate) msg_iov: *const Iov,
    pub(crate) desc: *mut *mut c_void,
    pub(crate) iov_count: usize,
    pub(crate) addr: Address,
    pub(crate) rma_iov: *const RmaIov,
    pub(crate) rma_iov_count: usize,
    pub(crate) context: *mut c_void,
    pub(crate) data: u64,
}

#[repr(C)]
pub(crate) struct MsgAtomic {
    pub(crate) msg_iov: *const Ioc,
    pub(crate) desc: *mut *mut c_void,
    pub(crate) iov_count: usize,
    pub(crate) addr: Address,
    pub(crate) rma_iov: *const RmaIoc,
    pub(crate) rma_iov_count: usize,
    pub(crate) datatype: c_int,
    pub(crate) op: c_int,
    pub(crate) context: *mut c_void,
    pub(crate) data: u64,
}

#[repr(C)]
pub(crate) struct RmaOps {
    pub(crate) size: usize,
    pub(crate) read: unsafe extern "C" fn(
        *mut Ep,
        *mut c_void,
        usize,
        *mut c_void,
        Address,
        u64,
        u64,
        *mut c_void,
    ) -> isize,
    pub(crate) readv: Unused,
    pub(crate) readmsg: Unused,
    pub(crate) write: Unused,
    pub(crate) writev: Unused,
    pub(crate) writemsg: unsafe extern "C" fn(*mut Ep, *const MsgRma, u64) -> isize,
}

/// A function that returns whether an endpoint has an operation, and on how many elements.
pub(crate) type Valid = unsafe extern "C" fn(*mut Ep, c_int, c_int, *mut usize) -> c_int;

#[repr(C)]
pub(crate) struct AtomicOps {
    pub(crate) size: usize,
    pub(crate) write: Unused,
    pub(crate) writev: Unused,
    pub(crate) writemsg: unsafe extern "C" fn(*mut Ep, *const MsgAtomic, u64) -> isize,
    pub(crate) inject: Unused,
    pub(crate) readwrite: unsafe extern "C" fn(
        *mut Ep,
        *const c_void,
        usize,
        *mut c_void,
        *mut c_void,
        *mut c_void,
        Address,
        u64,
        u64,
        c_int,
        c_int,
        *mut c_void,
    ) -> isize,
    pub(crate) readwritev: Unused,
    pub(crate) readwritemsg: Unused,
    pub(crate) compwrite: unsafe extern "C" fn(
        *mut Ep,
        *const c_void,
        usize,
        *mut c_void,
        *const c_void,
        *mut c_void,
        *mut c_void,
        *mut c_void,
        Address,
        u64,
        u64,
        c_int,
        c_int,
        *mut c_void,
    ) -> isize,
    pub(crate) compwritev: Unused,
    pub(crate) compwritemsg: Unused,
    pub(crate) writevalid: Valid,
    pub(crate) readwritevalid: Valid,
    pub(crate) compwritevalid: Valid,
}
