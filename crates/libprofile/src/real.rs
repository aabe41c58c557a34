//! The functions of the MPI library that the program uses.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The library of the standard ABI.
const LIBRARY: &CStr = c"libmpi_abi.so.1";
/// A library whose functions have the same names and other arguments.
const OTHER_ABI: &CStr = c"libmpi.so.12";

/// A function, which is looked up at its first use because the library may be loaded after this one.
pub(crate) struct Real {
    own: &'static CStr,
    /// Its name in our library.
    of_library: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Real {
    pub(crate) const fn new(own: &'static CStr, of_library: &'static CStr) -> Self {
        Real { own, of_library, found: AtomicPtr::new(null_mut()) }
    }

    /// Returns its address.
    #[inline(always)]
    pub(crate) fn get(&self) -> *mut c_void {
        // Relaxed: all threads find the same address, and code needs no ordering.
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.find() } else { found }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        let found = match library() {
            // SAFETY: the handle and the name are valid.
            Some(library) => unsafe { libc::dlsym(library, self.of_library.as_ptr()) },
            // SAFETY: as above.
            None => unsafe { libc::dlsym(libc::RTLD_NEXT, self.own.as_ptr()) },
        };
        if found.is_null() {
            eprintln!("cornerstone: error: no library of this program has {:?}", self.own);
            std::process::abort();
        }
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

/// Returns the library, if the program uses it and no other.
pub(crate) fn library() -> Option<*mut c_void> {
    let loaded = |name: &CStr| {
        // SAFETY: the name is valid; nothing is loaded that was not loaded before.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        (!handle.is_null()).then_some(handle)
    };
    if loaded(OTHER_ABI).is_some() { None } else { loaded(LIBRARY) }
}
