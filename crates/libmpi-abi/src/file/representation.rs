//! Data representations that programs define.

use std::cell::RefCell;
use std::ffi::{c_char, c_void};

use mpi::Representation;

use crate::abi::*;
use crate::failure::{Result, ensure};
use crate::shared::Shared;
use crate::text;

/// The names of these representations.
static NAMED: Shared<RefCell<Vec<String>>> = Shared::new(RefCell::default);

/// Returns the representation of a name.
pub(super) fn named(name: &str) -> Result<Representation> {
    Representation::from_name(name, |name| {
        NAMED.borrow().iter().any(|registered| registered == name)
    })
}

/// Defines a representation. Without conversion functions, data have the same form in the file as in memory. This
/// library does not call such functions.
pub(crate) unsafe fn register_datarep(
    name: *const c_char,
    read: *mut c_void,
    write: *mut c_void,
    extent: *mut c_void,
    _extra: *mut c_void,
) -> Result {
    let name = text::read(name)?;
    let fits = !name.is_empty() && name.len() < MAX_DATAREP_STRING as usize;
    ensure!(fits, ERR_ARG, "a name of {} bytes", name.len());
    ensure!(named(&name).is_err(), ERR_DUP_DATAREP, "{name:?} exists already");
    let converts = !read.is_null() || !write.is_null();
    let what = "this library calls no functions that convert data of files";
    ensure!(!converts, ERR_UNSUPPORTED_OPERATION, "{what}");
    ensure!(!extent.is_null(), ERR_ARG, "the function for extents is a null pointer");
    NAMED.borrow_mut().push(name);
    Ok(())
}
