//! The library, which is opened at run time, once in a process.

use std::ffi::CStr;
use std::sync::OnceLock;

use contract::{Error, Result};
use libloading::Library as Object;

use crate::ffi::Functions;

/// The file name of libfabric 1.x and 2.x, whose interface is the same.
const NAME: &str = "libfabric.so.1";

/// libfabric. It stays loaded until the process ends, because providers may leave threads and handlers behind.
pub(crate) struct Library {
    pub(crate) functions: Functions,
}

/// Returns the library. The first call opens it.
///
/// # Errors
/// The error of the loader, with the package that contains the library.
pub(crate) fn library() -> Result<&'static Library> {
    static LIBRARY: OnceLock<std::result::Result<Library, String>> = OnceLock::new();
    LIBRARY.get_or_init(load).as_ref().map_err(|reason| Error::System {
        what: format!("opening {NAME} for the fabric 'ofi'"),
        reason: format!(
            "{reason}; Debian and Ubuntu have it in the package libfabric1, others in libfabric \
             (LD_LIBRARY_PATH may name its folder)"
        ),
    })
}

fn load() -> std::result::Result<Library, String> {
    // SAFETY: the initialisers of libfabric have no preconditions.
    let object = unsafe { Object::new(NAME) }.map_err(describe)?;
    // SAFETY: the headers of libfabric declare these functions with these types.
    let functions = unsafe {
        Functions {
            getinfo: find(&object, "fi_getinfo")?,
            freeinfo: find(&object, "fi_freeinfo")?,
            dupinfo: find(&object, "fi_dupinfo")?,
            fabric: find(&object, "fi_fabric")?,
            strerror: find(&object, "fi_strerror")?,
            version: find(&object, "fi_version")?,
        }
    };
    std::mem::forget(object);
    Ok(Library { functions })
}

/// Returns a function of the library.
///
/// # Safety
/// `F` is the type of that function.
unsafe fn find<F: Copy>(object: &Object, name: &str) -> std::result::Result<F, String> {
    // SAFETY: the caller's promise.
    unsafe { object.get::<F>(name) }.map(|symbol| *symbol).map_err(describe)
}

/// Returns the text of the system's loader, which is the source of the error.
fn describe(error: libloading::Error) -> String {
    std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string)
}

impl Library {
    /// Returns the library's text for an error number of either sign.
    pub(crate) fn describe(&self, error: i64) -> String {
        let number = i32::try_from(error.unsigned_abs()).unwrap_or(i32::MAX);
        // SAFETY: the function accepts any number and returns a string that is never freed.
        let words = unsafe { CStr::from_ptr((self.functions.strerror)(number)) };
        words.to_string_lossy().into_owned()
    }

    /// Returns the version of the library, as `1.17`.
    pub(crate) fn version(&self) -> String {
        // SAFETY: the function has no preconditions.
        let version = unsafe { (self.functions.version)() };
        format!("{}.{}", version >> 16, version & 0xffff)
    }
}
