//! A program to start, from the arguments of MPI_Comm_spawn.

use std::ffi::{CStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::not_started;
use crate::abi::*;
use crate::failure::{Result, error_of};
use crate::{info, text};

/// A program, the number of its ranks, and its folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) command: PathBuf,
    pub(super) arguments: Vec<OsString>,
    /// Requested and actual number of ranks.
    pub(super) wanted: usize,
    pub(super) ranks: usize,
    pub(super) directory: Option<PathBuf>,
}

impl Program {
    /// Reads a program from these arguments.
    ///
    /// # Errors
    /// MPI_ERR_ARG, MPI_ERR_INFO_VALUE, and MPI_ERR_SPAWN if there is no such program.
    ///
    /// # Safety
    /// `command` is null or a C string, and `argv` null or an array of them that ends with a null pointer.
    pub(super) unsafe fn read(
        command: *const c_char,
        argv: *mut *mut c_char,
        ranks: c_int,
        hints: Info,
    ) -> Result<Self> {
        let command = text::read_path(command)?;
        let hints = info::copy_or_none(hints)?;
        let wanted = usize::try_from(ranks).ok().filter(|&ranks| ranks > 0);
        let wanted = wanted.ok_or_else(|| error_of(ERR_ARG, format!("maxprocs is {ranks}")))?;
        let ranks = hints.get("soft").map_or(Ok(wanted), |soft| most(&soft, wanted))?;
        if let Some(host) = hints.get("host") {
            check_host(&host)?;
        }
        let directory = hints.get("wdir").map(PathBuf::from);
        if let Some(missing) = directory.as_ref().filter(|one| !one.is_dir()) {
            return Err(not_started(format!("'{}' is no folder", missing.display())));
        }
        let command = find(&command, hints.get("path").as_deref(), directory.as_deref())?;
        let mut arguments = Vec::new();
        let mut place = argv;
        // SAFETY: the caller promises the same.
        while !place.is_null() && !(*place).is_null() {
            arguments.push(OsString::from_vec(CStr::from_ptr(*place).to_bytes().to_vec()));
            place = place.add(1);
        }
        Ok(Program { command, arguments, wanted, ranks, directory })
    }
}

/// Fails unless the host is this one, which is the only one.
fn check_host(host: &str) -> Result {
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let is_this_host = ["localhost", "127.0.0.1", own.trim()].contains(&host);
    match is_this_host {
        true => Ok(()),
        false => {
            Err(not_started(format!("programs are started on this host alone, not on {host}")))
        }
    }
}

/// Returns the largest number in a list such as `2,4:10:2` (4, 6, 8, 10) that is not above `limit`.
fn most(soft: &str, limit: usize) -> Result<usize> {
    let wrong = || error_of(ERR_INFO_VALUE, format!("soft is {soft:?}"));
    let mut most = None;
    for part in soft.split(',') {
        let numbers = part.split(':').map(|word| word.trim().parse::<i64>());
        let numbers = numbers.collect::<std::result::Result<Vec<_>, _>>().map_err(|_| wrong())?;
        let (first, last, step) = match numbers[..] {
            [one] => (one, one, 1),
            [first, last] => (first, last, 1),
            [first, last, step] if step != 0 => (first, last, step),
            _ => return Err(wrong()),
        };
        let (low, high) = if step > 0 { (first, last) } else { (last, first) };
        let fits = |&number: &i64| {
            (1..=limit as i64).contains(&number) && (number - first) % step == 0 && number >= low
        };
        most = most.max((low..=high.min(limit as i64)).rev().find(fits));
    }
    let none = || not_started(format!("soft {soft:?} allows no number of ranks up to {limit}"));
    most.map(|most| most as usize).ok_or_else(none)
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Finds a command in the folders of the hint, then as a shell would, then in the program's folder.
fn find(command: &Path, hint: Option<&str>, directory: Option<&Path>) -> Result<PathBuf> {
    let has_folder = command.components().count() > 1 || command.starts_with(".");
    let path = std::env::var("PATH").unwrap_or_default();
    let listed = hint.into_iter().chain((!has_folder).then_some(&*path));
    let listed = listed.flat_map(|list| list.split(':')).map(Path::new);
    let own = [Some(Path::new("")), directory].into_iter().flatten();
    let folders = listed.chain(own);
    let found = folders.map(|folder| folder.join(command)).find(|one| is_program(one));
    let missing = || not_started(format!("there is no program '{}'", command.display()));
    let found = found.ok_or_else(missing)?;
    std::path::absolute(&found).map_err(|error| not_started(format!("{error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_allows_the_largest_number_that_is_not_above_the_limit() {
        for (soft, limit, wanted) in
            [("3", 4, 3), ("2,4:10:2", 9, 8), ("1:5", 3, 3), ("10:4:-3", 8, 7), ("1,9", 4, 1)]
        {
            assert_eq!(most(soft, limit).unwrap(), wanted, "{soft} up to {limit}");
        }
        for (soft, class) in [("5", ERR_SPAWN), ("x", ERR_INFO_VALUE), ("1:2:0", ERR_INFO_VALUE)] {
            let error = most(soft, 4).unwrap_err();
            assert_eq!(crate::failure::code_of(error.class), class, "{soft}");
        }
    }

    #[test]
    fn commands_are_found_as_a_shell_finds_them_or_not_at_all() {
        assert!(find(Path::new("sh"), None, None).unwrap().is_absolute());
        assert_eq!(find(Path::new("/bin/sh"), None, None), Ok(PathBuf::from("/bin/sh")));
        assert_eq!(
            find(Path::new("./sh"), None, Some(Path::new("/bin"))).unwrap(),
            Path::new("/bin/./sh").components().collect::<PathBuf>()
        );
        assert!(find(Path::new("sh"), Some("/nowhere:/bin"), None).unwrap().starts_with("/bin"));
        for missing in ["no such program", "/etc", "/etc/passwd"] {
            let error = find(Path::new(missing), None, None).unwrap_err();
            assert_eq!(crate::failure::code_of(error.class), ERR_SPAWN, "{missing}");
        }
    }
}
