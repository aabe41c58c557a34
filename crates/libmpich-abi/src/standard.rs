//! The functions of `libmpi_abi.so.1`, each found by its name at its first call.

use std::ffi::{CStr, CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

const LIBRARY: &str = "libmpi_abi.so.1";

/// A function of the standard ABI.
pub(crate) struct Entry {
    name: &'static CStr,
    place: AtomicPtr<c_void>,
}

impl Entry {
    /// Creates the function of that name, which ends with a zero byte.
    pub(crate) const fn new(name: &'static str) -> Entry {
        match CStr::from_bytes_with_nul(name.as_bytes()) {
            Ok(name) => Entry { name, place: AtomicPtr::new(null_mut()) },
            Err(_) => panic!("a name with a zero byte at its end"),
        }
    }

    /// Returns its address.
    #[inline(always)]
    pub(crate) fn get(&self) -> *mut c_void {
        // A thread that finds null looks the name up again and stores the same, so no order is needed.
        let place = self.place.load(Ordering::Relaxed);
        if place.is_null() { self.find() } else { place }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        // SAFETY: the library is never closed, and the name ends with a zero byte.
        let place = unsafe { libc::dlsym(library(), self.name.as_ptr()) };
        if place.is_null() {
            fail(&format!("{LIBRARY} has no {}", self.name.to_string_lossy()));
        }
        self.place.store(place, Ordering::Relaxed);
        place
    }
}

/// Returns a function of the standard ABI with its type, to be called.
macro_rules! standard {
    ($name:ident: fn($($type:ty),*) -> $result:ty) => {{
        static ENTRY: $crate::standard::Entry =
            $crate::standard::Entry::new(concat!(stringify!($name), "\0"));
        // SAFETY: the function of this name has this type in the ABI.
        unsafe {
            std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($type),*) -> $result>(
                ENTRY.get(),
            )
        }
    }};
}
pub(crate) use standard;

/// Returns the library, which is opened at its first use.
fn library() -> *mut c_void {
    static LIBRARY_HANDLE: OnceLock<usize> = OnceLock::new();
    *LIBRARY_HANDLE.get_or_init(|| open() as usize) as *mut c_void
}

/// Opens the library beside this one, or otherwise the one that the system finds. Its symbols are local, because this
/// library has the same names.
fn open() -> *mut c_void {
    let sibling = own_path().map(|path| path.with_file_name(LIBRARY));
    let places = sibling.iter().map(PathBuf::as_path).chain([Path::new(LIBRARY)]);
    for place in places {
        let Ok(name) = CString::new(place.as_os_str().as_bytes()) else { continue };
        let flags = libc::RTLD_NOW | libc::RTLD_LOCAL;
        // SAFETY: the name ends with a zero byte.
        let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
        if !handle.is_null() {
            return handle;
        }
    }
    // SAFETY: dlopen has just failed, so there is a message.
    let why = unsafe { CStr::from_ptr(libc::dlerror()) };
    fail(&why.to_string_lossy())
}

/// Returns the path by which this library was loaded.
fn own_path() -> Option<PathBuf> {
    // SAFETY: all zero is a valid value of this structure.
    let mut information: libc::Dl_info = unsafe { std::mem::zeroed() };
    let own = own_path as fn() -> Option<PathBuf> as *const c_void;
    // SAFETY: both pointers are valid.
    let found: c_int = unsafe { libc::dladdr(own, &mut information) };
    if found == 0 || information.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's own string.
    let path = unsafe { CStr::from_ptr(information.dli_fname) };
    Some(Path::new(std::ffi::OsStr::from_bytes(path.to_bytes())).to_path_buf())
}

/// Ends the process, because there is no function to call.
pub(crate) fn fail(why: &str) -> ! {
    eprintln!("libmpi.so.12 of Cornerstone: {why}");
    std::process::abort();
}
