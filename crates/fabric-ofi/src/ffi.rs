//! The structures, constants and tables of functions of libfabric 1.x that this crate uses.
//!
//! Structures that the library allocates may be longer than declared here. Structures that this crate allocates have
//! their full length. Functions that are not called are [`Unused`] in their tables. The test in `layout` compares all
//! of this with the C headers.

mod one_sided;

use std::ffi::{c_char, c_int, c_void};

pub(crate) use one_sided::{
    AtomicOps, CSWAP, Ioc, Iov, Mr, MrOps, MsgAtomic, MsgRma, RmaIoc, RmaIov, RmaOps, Valid,
};

/// The number of an endpoint's address in the address vector.
pub(crate) type Address = u64;
/// A function that is never called.
pub(crate) type Unused = Option<unsafe extern "C" fn()>;

/// The requested version of the interface: 1.9, the oldest with all parts that this crate uses.
pub(crate) const API_VERSION: u32 = 1 << 16 | 9;

pub(crate) const RMA: u64 = 1 << 2;
pub(crate) const TAGGED: u64 = 1 << 3;
pub(crate) const ATOMIC: u64 = 1 << 4;
pub(crate) const READ: u64 = 1 << 8;
pub(crate) const WRITE: u64 = 1 << 9;
pub(crate) const RECV: u64 = 1 << 10;
pub(crate) const SEND: u64 = 1 << 11;
pub(crate) const REMOTE_READ: u64 = 1 << 12;
pub(crate) const REMOTE_WRITE: u64 = 1 << 13;
/// An operation completes when its data are in the memory of the other rank.
pub(crate) const DELIVERY_COMPLETE: u64 = 1 << 28;
pub(crate) const DIRECTED_RECV: u64 = 1 << 59;
/// Modes in which each operation has memory for the provider.
pub(crate) const CONTEXT: u64 = 1 << 59;
pub(crate) const CONTEXT2: u64 = 1 << 52;
/// Messages are matched in the order in which they were sent.
pub(crate) const ORDER_SAS: u64 = 1 << 8;
/// The order of atomic operations of one rank on another: reads after reads, reads after writes, and so on.
pub(crate) const ORDER_ATOMIC_RAR: u64 = 1 << 36;
pub(crate) const ORDER_ATOMIC_RAW: u64 = 1 << 37;
pub(crate) const ORDER_ATOMIC_WAR: u64 = 1 << 38;
pub(crate) const ORDER_ATOMIC_WAW: u64 = 1 << 39;
/// Addresses of registered memory are those of its process, not offsets.
pub(crate) const MR_VIRT_ADDR: c_int = 1 << 4;
/// Memory exists when it is registered.
pub(crate) const MR_ALLOCATED: c_int = 1 << 5;
/// The provider chooses the keys.
pub(crate) const MR_PROV_KEY: c_int = 1 << 6;
/// Registered memory is bound to an endpoint.
pub(crate) const MR_ENDPOINT: c_int = 1 << 9;
/// The permitted requirements on registered memory. They do not include that the memory of the rank's own operations is
/// registered.
pub(crate) const MR_MODES: c_int = MR_VIRT_ADDR | MR_ALLOCATED | MR_PROV_KEY | MR_ENDPOINT;

pub(crate) const EP_RDM: c_int = 3;
pub(crate) const THREAD_DOMAIN: c_int = 3;
pub(crate) const PROGRESS_MANUAL: c_int = 2;
pub(crate) const RM_ENABLED: c_int = 2;
pub(crate) const AV_TABLE: c_int = 2;
pub(crate) const CQ_FORMAT_TAGGED: c_int = 4;
pub(crate) const WAIT_NONE: c_int = 0;
pub(crate) const WAIT_FD: c_int = 3;
pub(crate) const GETWAIT: c_int = 5;
pub(crate) const ENABLE: c_int = 6;
pub(crate) const ADDRESS_UNSPECIFIED: Address = Address::MAX;

pub(crate) const EAGAIN: isize = libc::EAGAIN as isize;
pub(crate) const EAVAIL: isize = 259;

#[repr(C)]
pub(crate) struct Info {
    pub(crate) next: *mut Info,
    pub(crate) caps: u64,
    pub(crate) mode: u64,
    pub(crate) addr_format: u32,
    pub(crate) src_addrlen: usize,
    pub(crate) dest_addrlen: usize,
    pub(crate) src_addr: *mut c_void,
    pub(crate) dest_addr: *mut c_void,
    pub(crate) handle: *mut Fid,
    pub(crate) tx_attr: *mut TxAttr,
    pub(crate) rx_attr: *mut RxAttr,
    pub(crate) ep_attr: *mut EpAttr,
    pub(crate) domain_attr: *mut DomainAttr,
    pub(crate) fabric_attr: *mut FabricAttr,
}

#[repr(C)]
pub(crate) struct TxAttr {
    pub(crate) caps: u64,
    pub(crate) mode: u64,
    pub(crate) op_flags: u64,
    pub(crate) msg_order: u64,
    pub(crate) comp_order: u64,
    pub(crate) inject_size: usize,
    pub(crate) size: usize,
}

#[repr(C)]
pub(crate) struct RxAttr {
    pub(crate) caps: u64,
    pub(crate) mode: u64,
    pub(crate) op_flags: u64,
    pub(crate) msg_order: u64,
    pub(crate) comp_order: u64,
    pub(crate) total_buffered_recv: usize,
    pub(crate) size: usize,
}

#[repr(C)]
pub(crate) struct EpAttr {
    pub(crate) kind: c_int,
    pub(crate) protocol: u32,
    pub(crate) protocol_version: u32,
    pub(crate) max_msg_size: usize,
    pub(crate) msg_prefix_size: usize,
    pub(crate) max_order_raw_size: usize,
    pub(crate) max_order_war_size: usize,
    pub(crate) max_order_waw_size: usize,
    pub(crate) mem_tag_format: u64,
}

#[repr(C)]
pub(crate) struct DomainAttr {
    pub(crate) domain: *mut c_void,
    pub(crate) name: *mut c_char,
    pub(crate) threading: c_int,
    pub(crate) control_progress: c_int,
    pub(crate) data_progress: c_int,
    pub(crate) resource_mgmt: c_int,
    pub(crate) av_type: c_int,
    pub(crate) mr_mode: c_int,
    pub(crate) mr_key_size: usize,
    pub(crate) cq_data_size: usize,
}

#[repr(C)]
pub(crate) struct FabricAttr {
    pub(crate) fabric: *mut c_void,
    pub(crate) name: *mut c_char,
    pub(crate) prov_name: *mut c_char,
    pub(crate) prov_version: u32,
    pub(crate) api_version: u32,
}

/// The beginning of every object of libfabric.
#[repr(C)]
pub(crate) struct Fid {
    pub(crate) class: usize,
    pub(crate) context: *mut c_void,
    pub(crate) ops: *const FidOps,
}

#[repr(C)]
pub(crate) struct FidOps {
    pub(crate) size: usize,
    pub(crate) close: unsafe extern "C" fn(*mut Fid) -> c_int,
    pub(crate) bind: unsafe extern "C" fn(*mut Fid, *mut Fid, u64) -> c_int,
    pub(crate) control: unsafe extern "C" fn(*mut Fid, c_int, *mut c_void) -> c_int,
}

#[repr(C)]
pub(crate) struct Fabric {
    pub(crate) fid: Fid,
    pub(crate) ops: *const FabricOps,
}

#[repr(C)]
pub(crate) struct FabricOps {
    pub(crate) size: usize,
    pub(crate) domain:
        unsafe extern "C" fn(*mut Fabric, *mut Info, *mut *mut Domain, *mut c_void) -> c_int,
    pub(crate) passive_ep: Unused,
    pub(crate) eq_open: Unused,
    pub(crate) wait_open: Unused,
    pub(crate) trywait: unsafe extern "C" fn(*mut Fabric, *mut *mut Fid, c_int) -> c_int,
}

#[repr(C)]
pub(crate) struct Domain {
    pub(crate) fid: Fid,
    pub(crate) ops: *const DomainOps,
    pub(crate) mr: *const MrOps,
}

#[repr(C)]
pub(crate) struct DomainOps {
    pub(crate) size: usize,
    pub(crate) av_open:
        unsafe extern "C" fn(*mut Domain, *mut AvAttr, *mut *mut Av, *mut c_void) -> c_int,
    pub(crate) cq_open:
        unsafe extern "C" fn(*mut Domain, *mut CqAttr, *mut *mut Cq, *mut c_void) -> c_int,
    pub(crate) endpoint:
        unsafe extern "C" fn(*mut Domain, *mut Info, *mut *mut Ep, *mut c_void) -> c_int,
}

#[repr(C)]
pub(crate) struct AvAttr {
    pub(crate) kind: c_int,
    pub(crate) rx_ctx_bits: c_int,
    pub(crate) count: usize,
    pub(crate) ep_per_node: usize,
    pub(crate) name: *const c_char,
    pub(crate) map_addr: *mut c_void,
    pub(crate) flags: u64,
}

#[repr(C)]
pub(crate) struct Av {
    pub(crate) fid: Fid,
    pub(crate) ops: *const AvOps,
}

#[repr(C)]
pub(crate) struct AvOps {
    pub(crate) size: usize,
    pub(crate) insert: unsafe extern "C" fn(
        *mut Av,
        *const c_void,
        usize,
        *mut Address,
        u64,
        *mut c_void,
    ) -> c_int,
}

#[repr(C)]
pub(crate) struct CqAttr {
    pub(crate) size: usize,
    pub(crate) flags: u64,
    pub(crate) format: c_int,
    pub(crate) wait_obj: c_int,
    pub(crate) signaling_vector: c_int,
    pub(crate) wait_cond: c_int,
    pub(crate) wait_set: *mut c_void,
}

#[repr(C)]
pub(crate) struct Cq {
    pub(crate) fid: Fid,
    pub(crate) ops: *const CqOps,
}

#[repr(C)]
pub(crate) struct CqOps {
    pub(crate) size: usize,
    pub(crate) read: unsafe extern "C" fn(*mut Cq, *mut CqTaggedEntry, usize) -> isize,
    pub(crate) readfrom: Unused,
    pub(crate) readerr: unsafe extern "C" fn(*mut Cq, *mut CqErrEntry, u64) -> isize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CqTaggedEntry {
    pub(crate) op_context: *mut c_void,
    pub(crate) flags: u64,
    pub(crate) len: usize,
    pub(crate) buf: *mut c_void,
    pub(crate) data: u64,
    pub(crate) tag: u64,
}

#[repr(C)]
pub(crate) struct CqErrEntry {
    pub(crate) op_context: *mut c_void,
    pub(crate) flags: u64,
    pub(crate) len: usize,
    pub(crate) buf: *mut c_void,
    pub(crate) data: u64,
    pub(crate) tag: u64,
    pub(crate) olen: usize,
    pub(crate) err: c_int,
    pub(crate) prov_errno: c_int,
    pub(crate) err_data: *mut c_void,
    pub(crate) err_data_size: usize,
    /// Newer versions of the library have a longer entry, and may write to these fields of it.
    pub(crate) later: [u64; 4],
}

#[repr(C)]
pub(crate) struct Ep {
    pub(crate) fid: Fid,
    pub(crate) ops: *const EpOps,
    pub(crate) cm: *const CmOps,
    pub(crate) msg: *const c_void,
    pub(crate) rma: *const RmaOps,
    pub(crate) tagged: *const TaggedOps,
    pub(crate) atomic: *const AtomicOps,
}

#[repr(C)]
pub(crate) struct EpOps {
    pub(crate) size: usize,
    pub(crate) cancel: unsafe extern "C" fn(*mut Fid, *mut c_void) -> isize,
}

#[repr(C)]
pub(crate) struct CmOps {
    pub(crate) size: usize,
    pub(crate) setname: Unused,
    pub(crate) getname: unsafe extern "C" fn(*mut Fid, *mut c_void, *mut usize) -> c_int,
}

#[repr(C)]
pub(crate) struct TaggedOps {
    pub(crate) size: usize,
    pub(crate) recv: unsafe extern "C" fn(
        *mut Ep,
        *mut c_void,
        usize,
        *mut c_void,
        Address,
        u64,
        u64,
        *mut c_void,
    ) -> isize,
    pub(crate) recvv: Unused,
    pub(crate) recvmsg: Unused,
    pub(crate) send: Unused,
    pub(crate) sendv: Unused,
    pub(crate) sendmsg: Unused,
    pub(crate) inject: Unused,
    pub(crate) senddata: unsafe extern "C" fn(
        *mut Ep,
        *const c_void,
        usize,
        *mut c_void,
        u64,
        Address,
        u64,
        *mut c_void,
    ) -> isize,
}

/// The functions that the library exports. All others are in the tables of its objects.
pub(crate) struct Functions {
    pub(crate) getinfo: unsafe extern "C" fn(
        u32,
        *const c_char,
        *const c_char,
        u64,
        *const Info,
        *mut *mut Info,
    ) -> c_int,
    pub(crate) freeinfo: unsafe extern "C" fn(*mut Info),
    pub(crate) dupinfo: unsafe extern "C" fn(*const Info) -> *mut Info,
    pub(crate) fabric:
        unsafe extern "C" fn(*mut FabricAttr, *mut *mut Fabric, *mut c_void) -> c_int,
    pub(crate) strerror: unsafe extern "C" fn(c_int) -> *const c_char,
    pub(crate) version: unsafe extern "C" fn() -> u32,
}

#[cfg(test)]
mod layout;
