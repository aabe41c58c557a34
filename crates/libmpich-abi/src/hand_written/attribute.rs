//! Attributes. The values of some that MPI itself sets are numbers that differ between the ABIs.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

use super::export;
use crate::convert::Convert;
use crate::handles::{Comm, Win};
use crate::numbers::{ErrorCode, KeyValue, RankNumber, WindowFlavor, WindowModel};
use crate::standard::standard;
use crate::values::{self, keys};

export!(MPI_Comm_get_attr PMPI_Comm_get_attr
    (comm: c_int, key: c_int, value: *mut c_void, flag: *mut c_int) -> c_int,
{
    let get = standard!(MPI_Comm_get_attr: fn(usize, c_int, *mut c_void, *mut c_int) -> c_int);
    let code = get(Comm::inward(comm), KeyValue::inward(key), value, flag);
    finish(code, key, value, flag)
});

export!(MPI_Attr_get PMPI_Attr_get
    (comm: c_int, key: c_int, value: *mut c_void, flag: *mut c_int) -> c_int,
{
    let get = standard!(MPI_Comm_get_attr: fn(usize, c_int, *mut c_void, *mut c_int) -> c_int);
    let code = get(Comm::inward(comm), KeyValue::inward(key), value, flag);
    finish(code, key, value, flag)
});

export!(MPI_Win_get_attr PMPI_Win_get_attr
    (win: c_int, key: c_int, value: *mut c_void, flag: *mut c_int) -> c_int,
{
    let get = standard!(MPI_Win_get_attr: fn(usize, c_int, *mut c_void, *mut c_int) -> c_int);
    let code = get(Win::inward(win), KeyValue::inward(key), value, flag);
    finish(code, key, value, flag)
});

/// Replaces the found number by the one of this ABI, if the key has such a number.
unsafe fn finish(code: c_int, key: c_int, value: *mut c_void, flag: *mut c_int) -> c_int {
    static LAST_CODE: AtomicI32 = AtomicI32::new(0);
    if code != 0 {
        return ErrorCode::outward(code);
    }
    if *flag != 0 {
        // C programs may pass the address of memory for a pointer, which may be unaligned.
        let place = value.cast::<*const c_int>();
        let found = place.read_unaligned();
        let replaced = match key {
            keys::IO | keys::HOST => stable(values::RANK_NUMBER, RankNumber::outward(*found)),
            keys::WIN_CREATE_FLAVOR => stable(values::WINDOW_FLAVOR, WindowFlavor::outward(*found)),
            keys::WIN_MODEL => stable(values::WINDOW_MODEL, WindowModel::outward(*found)),
            keys::LASTUSEDCODE => {
                // Nothing else writes it, and each store writes the current value.
                LAST_CODE.store(ErrorCode::outward(*found), Ordering::Relaxed);
                LAST_CODE.as_ptr()
            }
            _ => found,
        };
        place.write_unaligned(replaced);
    }
    0
}

/// Returns a permanent address of a number of one of these `pairs`.
fn stable(pairs: &'static [(c_int, c_int)], number: c_int) -> *const c_int {
    static OTHER: c_int = 0;
    pairs.iter().find(|pair| pair.0 == number).map_or(&OTHER, |pair| &pair.0)
}
