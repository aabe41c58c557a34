//! The call site of an MPI function in the program, determined only on request.

use std::fmt;

use call_stack::{file_of, python_line, walk};

use crate::page::{CALLERS_MAX, place_mark};

/// Maximum number of calls of this library between that of the program and this room.
const DEPTH_MAX: usize = 64;
/// The same for a call that is recorded while the program makes progress.
const REMEMBERED_DEPTH: usize = 24;
/// Maximum number of the callers of such a call that a report contains: the room of an answer is limited.
const REMEMBERED_CALLERS: usize = 4;

/// Beginning of the names of the bodies of MPI's functions, before the function's own name.
const BODY: &str = "cornerstone_";

/// The active call of the program.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    /// Name of the function if it is one of MPI's, with the line of Python that called it if one did; empty otherwise.
    pub(crate) call: String,
    /// Return addresses of the call, of its caller, and so on.
    pub(crate) addresses: Vec<u64>,
}

/// The calls that were active at some moment, which are examined only on request. Its words are the name of MPI's
/// function, and a mark by which the launcher finds the line of the program; none outside of MPI's functions.
pub(crate) struct Remembered(Box<[usize]>);

impl fmt::Display for Remembered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Callers { call, mut addresses } = callers_in(&self.0);
        addresses.truncate(REMEMBERED_CALLERS);
        f.write_str(&call)?;
        f.write_str(&place_mark(&addresses))
    }
}

/// Records the calls that are active now.
pub(crate) fn remember() -> Remembered {
    Remembered(stack(REMEMBERED_DEPTH).into())
}

/// Returns the active function of the program's interface and its callers. In a program that an interpreter runs, the
/// callers are the same places of the binding for every call, so the line of the script takes their place.
pub(crate) fn find() -> Callers {
    let callers = callers_in(&stack(DEPTH_MAX));
    match (!callers.call.is_empty()).then(python_line).flatten() {
        Some(line) => Callers { call: format!("{} ({line})", callers.call), addresses: Vec::new() },
        None => callers,
    }
}

fn callers_in(stack: &[usize]) -> Callers {
    let own = file_of(find as *const () as usize).map(|file| file.base);
    let is_own = |address: usize| file_of(address).map(|file| file.base) == own;
    let name = |address: usize| file_of(address).and_then(|file| file.symbol);
    // The last function of MPI in this library.
    let entry = stack.iter().enumerate().rev().find_map(|(at, &address)| {
        let name = name(address).filter(|_| is_own(address))?;
        Some((at, name.strip_prefix(BODY)?.to_owned()))
    });
    let Some((entry, call)) = entry else { return Callers::default() };
    let callers = stack[entry + 1..].iter().take(CALLERS_MAX);
    Callers { call, addresses: callers.map(|&address| address as u64).collect() }
}

/// Returns the return addresses of the active calls, the innermost first.
fn stack(depth: usize) -> Vec<usize> {
    let mut found = Vec::with_capacity(depth);
    walk(|address| {
        found.push(address);
        found.len() < depth
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_calls_no_function_of_mpi_has_no_call_site() {
        let Callers { call, addresses } = find();
        assert_eq!((call.as_str(), addresses.len()), ("", 0));
        assert_eq!(remember().to_string(), "");
    }
}
