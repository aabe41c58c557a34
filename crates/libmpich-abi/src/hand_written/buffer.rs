//! Buffers for sends. A program of this ABI adds MPICH's overhead for each message, which is less than ours. Our
//! library writes nothing into the buffer, and only uses its length. So a longer length is passed to it.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::Mutex;

use super::export;
use crate::arguments::{Argument, buffer_address};
use crate::convert::Convert;
use crate::handles::{Comm, Session};
use crate::numbers::ErrorCode;
use crate::standard::standard;
use crate::values;

/// Factor of the length. A message of one byte takes 97 bytes of a buffer in MPICH, and 513 in our library.
const LONGER: i64 = 6;

/// Lengths that the program passed, by address.
static LENGTHS: Mutex<BTreeMap<usize, i64>> = Mutex::new(BTreeMap::new());

unsafe fn attach(
    buffer: *mut c_void,
    size: i64,
    attach: impl FnOnce(*const c_void, i64) -> c_int,
) -> c_int {
    let passed = buffer_address(buffer).passed();
    let code = attach(passed, if size < 0 { size } else { size.saturating_mul(LONGER) });
    if code == 0 {
        LENGTHS.lock().expect("nobody panics with it").insert(passed as usize, size);
    }
    ErrorCode::outward(code)
}

/// Returns the address and the length that the program gave.
unsafe fn detach(
    place: *mut c_void,
    size: &mut i64,
    detach: impl FnOnce(*mut c_void, &mut i64) -> c_int,
) -> c_int {
    let code = detach(place, size);
    if code == 0 && !place.is_null() {
        // C programs pass the address of any pointer, or of less aligned memory: MPICH's own tests pass that of an
        // `int` array.
        let place = place.cast::<usize>();
        let address = place.read_unaligned();
        if let Some(given) = LENGTHS.lock().expect("nobody panics with it").remove(&address) {
            *size = given;
        }
        let special = values::ADDRESSES.iter().find(|pair| pair.1 as usize == address);
        if let Some(pair) = special {
            place.write_unaligned(pair.0 as usize);
        }
    }
    ErrorCode::outward(code)
}

/// Exports the functions of one kind of buffer. `$p` are the parameters before the others, with their conversions.
macro_rules! buffers {
    ($attach:ident $pattach:ident $attach_c:ident $pattach_c:ident, $detach:ident $pdetach:ident $detach_c:ident $pdetach_c:ident,
     ($($p:ident: $object:ident),*)) => {
        export!($attach_c $pattach_c ($($p: c_int,)* buffer: *mut c_void, size: i64) -> c_int, {
            attach(buffer, size, |buffer, size| {
                standard!($attach_c: fn($(buffers!(@there $p),)* *const c_void, i64) -> c_int)(
                    $($object::inward($p),)* buffer, size)
            })
        });
        export!($attach $pattach ($($p: c_int,)* buffer: *mut c_void, size: c_int) -> c_int, {
            $attach_c($($p,)* buffer, size.into())
        });
        export!($detach_c $pdetach_c ($($p: c_int,)* place: *mut c_void, size: *mut i64) -> c_int, {
            let mut found = 0;
            let code = detach(place, &mut found, |place, size| {
                standard!($detach_c: fn($(buffers!(@there $p),)* *mut c_void, *mut i64) -> c_int)(
                    $($object::inward($p),)* place, size)
            });
            if !size.is_null() {
                *size = found;
            }
            code
        });
        export!($detach $pdetach ($($p: c_int,)* place: *mut c_void, size: *mut c_int) -> c_int, {
            let mut found = 0;
            let code = $detach_c($($p,)* place, &mut found);
            if !size.is_null() {
                *size = found as c_int;
            }
            code
        });
    };
    (@there $p:ident) => { usize };
}

buffers!(MPI_Buffer_attach PMPI_Buffer_attach MPI_Buffer_attach_c PMPI_Buffer_attach_c,
    MPI_Buffer_detach PMPI_Buffer_detach MPI_Buffer_detach_c PMPI_Buffer_detach_c, ());
buffers!(MPI_Comm_attach_buffer PMPI_Comm_attach_buffer MPI_Comm_attach_buffer_c PMPI_Comm_attach_buffer_c,
    MPI_Comm_detach_buffer PMPI_Comm_detach_buffer MPI_Comm_detach_buffer_c PMPI_Comm_detach_buffer_c, (comm: Comm));
buffers!(MPI_Session_attach_buffer PMPI_Session_attach_buffer MPI_Session_attach_buffer_c PMPI_Session_attach_buffer_c,
    MPI_Session_detach_buffer PMPI_Session_detach_buffer MPI_Session_detach_buffer_c PMPI_Session_detach_buffer_c,
    (session: Session));
