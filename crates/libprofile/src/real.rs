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
        // SAFETY: the names and the handles are valid.
        let find = |of, name: &CStr| unsafe { libc::dlsym(of, name.as_ptr()) };
        let next = find(libc::RTLD_NEXT, self.own);
        let found = match library() {
            // A tool of the user's comes between, and calls the library by the function's profiling name.
            Some(library) if !next.is_null() && next != find(library, self.own) => next,
            Some(library) => find(library, self.of_library),
            None if next.is_null() => find(loaded(OTHER_ABI).unwrap_or(null_mut()), self.own),
            None => next,
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
    if loaded(OTHER_ABI).is_some() { None } else { loaded(LIBRARY) }
}

/// Returns a library that is loaded already, perhaps for one module of an interpreter alone.
fn loaded(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name is valid; nothing is loaded that was not loaded before.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    (!handle.is_null()).then_some(handle)
}
