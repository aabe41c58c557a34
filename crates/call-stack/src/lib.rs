//! The active calls of this thread, and their places in the program.
//!
//! Return addresses are read from the stack by means of the unwind tables, which every program of this system has for
//! exceptions. This takes microseconds and is done only on request. The place of the latest call from the program alone is
//! recorded by each call ([`CallSite`]).

mod entry;
mod place;
mod python;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;

pub use place::{CallSite, ELF_HEAD_BYTES, is_fixed_program, place_of_call};
pub use python::python_line;

/// The unwinder's opaque state.
#[repr(C)]
struct Context {
    _opaque: [u8; 0],
}

const NO_REASON: c_int = 0;
const END_OF_STACK: c_int = 5;

// The unwinder that the standard library links to as well.
unsafe extern "C" {
    fn _Unwind_Backtrace(
        visit: extern "C" fn(*mut Context, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
}

/// The visitor of a walk: whether it wants the next address.
type Visitor<'a> = &'a mut dyn FnMut(usize) -> bool;

/// Passes the return addresses of the active calls on, the innermost first, until `each` returns false.
pub fn walk(mut each: impl FnMut(usize) -> bool) {
    let mut visitor: Visitor = &mut each;
    // SAFETY: `visit` gets the visitor as its argument, which is live and not otherwise used during the call.
    unsafe { _Unwind_Backtrace(visit, (&raw mut visitor).cast()) };
}

extern "C" fn visit(context: *mut Context, visitor: *mut c_void) -> c_int {
    // SAFETY: `walk` passes its visitor, and the unwinder a context that is valid during this call.
    let (visitor, address) = unsafe { (&mut *visitor.cast::<Visitor>(), _Unwind_GetIP(context)) };
    if address != 0 && visitor(address) { NO_REASON } else { END_OF_STACK }
}

/// The file of code in which an address lies.
pub struct LoadedFile {
    /// The address where it begins.
    pub base: usize,
    /// Its absolute path, as far as the loader knows it.
    pub path: String,
    /// The name of the exported function, if the address is in one.
    pub symbol: Option<String>,
}

/// Finds the file of a return address.
pub fn file_of(address: usize) -> Option<LoadedFile> {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // A call may be the last instruction of its function; the address before it is always inside.
    let inside = address.wrapping_sub(1) as *const c_void;
    // SAFETY: the place is live. If nothing is found it stays zero, which is a valid value.
    let found = unsafe {
        if libc::dladdr(inside, found.as_mut_ptr()) == 0 {
            return None;
        }
        found.assume_init()
    };
    let text = |name: *const c_char| -> Option<String> {
        // SAFETY: both are C strings of a file that stays loaded while its code is on the stack.
        (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    };
    let path = text(found.dli_fname).filter(|path| path.starts_with('/'));
    Some(LoadedFile {
        base: found.dli_fbase as usize,
        path: path.unwrap_or_else(own_program),
        symbol: text(found.dli_sname),
    })
}

/// Returns the path of the program, which the loader knows only as the user has written it.
fn own_program() -> String {
    std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default()
}
