//! Values that bindings for Fortran set, so that others can query them. The ABI requires it; the library itself needs
//! none of them.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};

use crate::abi::*;
use crate::failure::{Result, ensure};
use crate::info;
use crate::shared::Shared;

/// Length in bytes of the longest LOGICAL.
const LONGEST_LOGICAL: usize = 16;

/// The two values of a LOGICAL.
#[derive(Clone, Copy)]
struct Booleans {
    bytes: usize,
    yes: [u8; LONGEST_LOGICAL],
    no: [u8; LONGEST_LOGICAL],
}

/// The values that were set.
#[derive(Default)]
struct FortranSettings {
    info: RefCell<Option<mpi::Info>>,
    booleans: RefCell<Option<Booleans>>,
}

static SETTINGS: Shared<FortranSettings> = Shared::new(FortranSettings::default);

/// Returns MPI_INFO_NULL before the values were set.
pub(crate) unsafe fn get_info(place: *mut Info) -> Result {
    let set = SETTINGS.info.borrow();
    *place = match &*set {
        Some(set) => info::make(mpi::Info::from_pairs(set.pairs())),
        None => INFO_NULL,
    };
    Ok(())
}

pub(crate) unsafe fn set_info(set: Info) -> Result {
    let copy = info::copy_or_none(set)?;
    let mut place = SETTINGS.info.borrow_mut();
    ensure!(place.is_none(), ERR_ABI, "Fortran's sizes have already been set");
    *place = Some(copy);
    Ok(())
}

fn check_size(bytes: c_int) -> Result<usize> {
    let length = usize::try_from(bytes).ok().filter(|bytes| (1..=LONGEST_LOGICAL).contains(bytes));
    length.ok_or_else(|| crate::failure::error_of(ERR_ARG, format!("a LOGICAL of {bytes} bytes")))
}

pub(crate) unsafe fn set_booleans(bytes: c_int, yes: *const c_void, no: *const c_void) -> Result {
    let bytes = check_size(bytes)?;
    ensure!(!yes.is_null() && !no.is_null(), ERR_ARG, "a value of a LOGICAL is a null pointer");
    let read = |from: *const c_void| {
        let mut value = [0; LONGEST_LOGICAL];
        std::ptr::copy_nonoverlapping(from.cast(), value.as_mut_ptr(), bytes);
        value
    };
    let mut place = SETTINGS.booleans.borrow_mut();
    ensure!(place.is_none(), ERR_ABI, "Fortran's LOGICAL values have already been set");
    *place = Some(Booleans { bytes, yes: read(yes), no: read(no) });
    Ok(())
}

pub(crate) unsafe fn get_booleans(
    bytes: c_int,
    yes: *mut c_void,
    no: *mut c_void,
    is_set: *mut c_int,
) -> Result {
    let bytes = check_size(bytes)?;
    let set = *SETTINGS.booleans.borrow();
    *is_set = c_int::from(set.is_some());
    let Some(set) = set else { return Ok(()) };
    ensure!(bytes == set.bytes, ERR_ARG, "a LOGICAL of {bytes} bytes, which has {}", set.bytes);
    ensure!(!yes.is_null() && !no.is_null(), ERR_ARG, "a value of a LOGICAL is a null pointer");
    std::ptr::copy_nonoverlapping(set.yes.as_ptr(), yes.cast(), bytes);
    std::ptr::copy_nonoverlapping(set.no.as_ptr(), no.cast(), bytes);
    Ok(())
}
