//! Places of calls in words: the file of code and the address in it, which a reader with debug information can name.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{LoadedFile, file_of, walk};

/// Maximum number of calls of the library between that of the program and this module.
const DEPTH_MAX: usize = 64;
/// Number of callers in a place: the innermost may be a binding or a wrapper without debug information.
const CALLERS_MAX: usize = 3;

/// Number of bytes of an ELF file's header up to the end of its type.
pub const ELF_HEAD_BYTES: usize = 18;

/// The return address of a call from the program; 0 if it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CallSite(usize);

/// That of the latest call. Threads are inside the library one at a time, and each call sets it when it enters. It is
/// relaxed, because it orders nothing: a call reads it before it waits.
static LATEST: AtomicUsize = AtomicUsize::new(0);

impl CallSite {
    /// Records the return address of a call that enters the library.
    #[inline(always)]
    pub fn begin(address: usize) {
        LATEST.store(address, Ordering::Relaxed);
    }

    /// Returns that of the latest call.
    #[inline(always)]
    pub fn latest() -> Self {
        CallSite(LATEST.load(Ordering::Relaxed))
    }
}

/// Writes ` (FILE+0xADDRESS)`, or nothing if the call is not known.
impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        in_words(&[self.0]).fmt(f)
    }
}

/// Returns the place of the program's active call of this library with its callers, as ` (FILE+0xADDRESS < ...)`. Empty if
/// the program has not called it.
pub fn place_of_call() -> String {
    let own = file_of(place_of_call as *const () as usize).map(|file| file.base);
    let mut callers = Vec::new();
    let mut depth = 0;
    walk(|address| {
        depth += 1;
        let base = file_of(address).map(|file| file.base);
        match base == own && base.is_some() {
            // A function of the program may have been called back by this library, which the program called before.
            true => callers.clear(),
            false => callers.push(address),
        }
        callers.len() < CALLERS_MAX && depth < DEPTH_MAX
    });
    in_words(&callers)
}

fn in_words(callers: &[usize]) -> String {
    let places: Vec<String> = callers.iter().filter_map(|&address| place(address)).collect();
    if places.is_empty() { String::new() } else { format!(" ({})", places.join(" < ")) }
}

/// Returns the file of a return address, and the address of the call in it.
fn place(address: usize) -> Option<String> {
    let LoadedFile { base, path, .. } = file_of(address)?;
    // SAFETY: the loader maps the header of a file of code at its base, and the file stays loaded while its code runs.
    let head = unsafe { &*(base as *const [u8; ELF_HEAD_BYTES]) };
    let inside = address - 1;
    let at = if is_fixed_program(head) { inside } else { inside - base };
    Some(format!("{path}+{at:#x}"))
}

/// Returns whether the ELF file with this head is a program that lies at the addresses in its file.
pub fn is_fixed_program(head: &[u8; ELF_HEAD_BYTES]) -> bool {
    const TYPE_AT: usize = 16;
    const FIXED_PROGRAM: u8 = 2;
    head[TYPE_AT] == FIXED_PROGRAM
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_names_a_file_and_an_address_in_it() {
        CallSite::begin(file_of as *const () as usize);
        let text = CallSite::latest().to_string();
        let (path, at) =
            text.trim_start_matches(" (").trim_end_matches(')').split_once("+0x").unwrap();
        assert!(std::path::Path::new(path).is_file(), "{text}");
        assert!(u64::from_str_radix(at, 16).is_ok(), "{text}");
        CallSite::begin(0);
        assert_eq!(CallSite::latest().to_string(), "");
    }
}
