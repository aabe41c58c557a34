//! The call site of an MPI function in the program, determined only on request.
//!
//! The return addresses of the active calls are read from the stack by means of the unwind tables, which every program
//! of this system has for exceptions. Nothing is recorded when a function is called, so a call costs nothing.

use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;

use crate::segment::CALLERS_MAX;

/// Maximum number of calls of this library between that of the program and this room.
const DEPTH_MAX: usize = 64;

/// The active call of the program.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    /// Name of the function if it is one of MPI's; empty otherwise.
    pub(crate) call: String,
    /// Return addresses of the call, of its caller, and so on.
    pub(crate) addresses: Vec<u64>,
}

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

/// Returns the active function of the program's interface and its callers.
pub(crate) fn find() -> Callers {
    let stack = stack();
    let own = object_of(find as *const () as usize).map(|object| object.base);
    let is_own = |address: usize| object_of(address).map(|object| object.base) == own;
    let name = |address: usize| object_of(address).and_then(|object| object.symbol);
    // The last function of MPI in this library; a profiling name is the same function.
    let entry = stack.iter().rposition(|&address| {
        is_own(address) && name(address).is_some_and(|name| is_of_mpi(&name))
    });
    let Some(entry) = entry else { return Callers::default() };
    let call = name(stack[entry]).unwrap_or_default();
    let callers = stack[entry + 1..].iter().take(CALLERS_MAX);
    Callers {
        call: call.strip_prefix('P').unwrap_or(&call).into(),
        addresses: callers.map(|&address| address as u64).collect(),
    }
}

fn is_of_mpi(name: &str) -> bool {
    name.starts_with("MPI_") || name.starts_with("PMPI_")
}

/// Returns the return addresses of the active calls, the innermost first.
fn stack() -> Vec<usize> {
    let mut found: Vec<usize> = Vec::with_capacity(DEPTH_MAX);
    // SAFETY: `visit` gets the vector as its argument, which is live and not otherwise used during the call.
    unsafe { _Unwind_Backtrace(visit, (&raw mut found).cast()) };
    found
}

extern "C" fn visit(context: *mut Context, found: *mut c_void) -> c_int {
    // SAFETY: `stack` passes its vector, and the unwinder a context that is valid during this call.
    let (found, address) = unsafe { (&mut *found.cast::<Vec<usize>>(), _Unwind_GetIP(context)) };
    if address == 0 || found.len() == DEPTH_MAX {
        return END_OF_STACK;
    }
    found.push(address);
    NO_REASON
}

/// The file to which an address belongs.
struct Object {
    base: usize,
    symbol: Option<String>,
}

fn object_of(address: usize) -> Option<Object> {
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
    // SAFETY: the name is a C string of a file that stays loaded while its code is on the stack.
    let name = (!found.dli_sname.is_null()).then(|| unsafe { CStr::from_ptr(found.dli_sname) });
    Some(Object {
        base: found.dli_fbase as usize,
        symbol: name.map(|name| name.to_string_lossy().into_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn here() -> Vec<usize> {
        stack()
    }

    #[test]
    fn the_stack_has_the_calls_under_way_and_ends() {
        let found = here();
        assert!((3..=DEPTH_MAX).contains(&found.len()), "{}", found.len());
        let own = object_of(here as *const () as usize + 1).unwrap().base;
        assert_eq!(object_of(found[0]).unwrap().base, own);
    }

    #[test]
    fn a_program_that_calls_no_function_of_mpi_has_no_call_site() {
        let Callers { call, addresses } = find();
        assert_eq!((call.as_str(), addresses.len()), ("", 0));
    }
}
