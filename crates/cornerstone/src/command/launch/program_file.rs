//! Properties of a program's file: whether it can run in virtual time, and whether its calls can be recorded.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use launcher::OtherProgram;

use super::other_mpi;
use crate::failure::Failure;
use crate::linked::{Linked, find};

const SET_USER_OR_GROUP: u32 = 0o6000;
/// Beginnings of the names of other MPIs' libraries: Open MPI's, and those of older MPICHs.
const OTHER_MPIS: [&str; 2] = ["libmpi.so", "libmpich.so"];
/// Library of MPICH and Intel MPI. The library of this project for programs that were built against theirs has the same
/// name.
const OF_MPICHS_ABI: &str = "libmpi.so.12";

/// Purpose of a preloaded library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    VirtualTime,
    /// The library records the program's calls.
    Records,
}

impl Purpose {
    /// Returns the service of the library, in words.
    fn service(self) -> &'static str {
        match self {
            Purpose::VirtualTime => "tells it virtual time",
            Purpose::Records => "records its calls",
        }
    }
}

/// Checks the first program of a run, and the others. `environment` are the variables of their ranks.
pub(super) fn check_all(
    first: &OsStr,
    others: &[OtherProgram],
    purpose: Purpose,
    environment: &[(OsString, OsString)],
) -> Result<(), Failure> {
    let mut programs =
        [first.as_ref()].into_iter().chain(others.iter().map(|other| &*other.program));
    programs.try_for_each(|program| check(program, purpose, environment))
}

/// Refuses a program that no preloaded library reaches, or that brings another MPI. A file that is no program file,
/// such as a script, is accepted. So is a file that cannot be found or read, because its start reports the error.
fn check(
    program: &Path,
    purpose: Purpose,
    environment: &[(OsString, OsString)],
) -> Result<(), Failure> {
    let Some(path) = find(program) else { return Ok(()) };
    let (Ok(metadata), Ok(_)) = (fs::metadata(&path), File::open(&path)) else { return Ok(()) };
    let (name, service) = (path.display(), purpose.service());
    if metadata.permissions().mode() & SET_USER_OR_GROUP != 0 {
        return Err(Failure::usage(format!(
            "'{name}' runs as its owner or group (set-user-id), and so takes no library that {service}"
        ))
        .hint("copy it, which drops that, or clear it with `chmod ug-s`"));
    }
    let Some(file) = Linked::read(&path) else { return Ok(()) };
    if file.loader.is_none() {
        return Err(Failure::usage(format!(
            "'{name}' is linked statically, and so takes no library that {service}"
        ))
        .hint("link it without -static, against libmpi_abi.so.1"));
    }
    // A name of MPICH's library may be a link to ours.
    let is_ours = || purpose == Purpose::VirtualTime && other_mpi::brings_ours(&path, environment);
    match file.needed.iter().find_map(|library| refused(library, purpose)).filter(|_| !is_ours()) {
        Some((why, hint)) => Err(Failure::usage(format!("'{name}' needs {why}")).hint(hint)),
        None => Ok(()),
    }
}

/// Returns the reason why a program that needs a library is refused, and a hint.
fn refused(library: &str, purpose: Purpose) -> Option<(String, &'static str)> {
    if !OTHER_MPIS.iter().any(|start| library.starts_with(start)) {
        return None;
    }
    match (purpose, library == OF_MPICHS_ABI) {
        (Purpose::VirtualTime, true) => None,
        (Purpose::Records, true) => Some((
            format!(
                "{library}: the calls of programs for the binary interface of MPICH are not recorded"
            ),
            "compile it with Cornerstone's mpicc, or leave --report, --trace and --check out",
        )),
        (Purpose::VirtualTime, false) => Some((
            format!("{library}, another MPI's library, which knows nothing of simulated machines"),
            "build it against Cornerstone's libmpi_abi.so.1",
        )),
        (Purpose::Records, false) => Some((
            format!("{library}, another MPI's library, whose calls are not recorded"),
            "build it against Cornerstone's libmpi_abi.so.1",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_has_a_loader_and_needs_the_c_library() {
        let file = Linked::read(Path::new("/proc/self/exe")).unwrap();
        assert!(file.loader.is_some_and(|loader| loader.is_file()));
        assert!(file.needed.iter().any(|name| name.starts_with("libc.so")), "{:?}", file.needed);
        for purpose in [Purpose::VirtualTime, Purpose::Records] {
            assert!(check(Path::new("/proc/self/exe"), purpose, &[]).is_ok());
        }
    }

    #[test]
    fn another_mpis_library_is_refused_and_mpichs_only_for_records() {
        let of = |library, purpose| refused(library, purpose).map(|(why, _)| why);
        for purpose in [Purpose::VirtualTime, Purpose::Records] {
            assert_eq!(of("libmpi_abi.so.1", purpose), None);
            assert_eq!(of("libc.so.6", purpose), None);
            assert!(of("libmpi.so.40", purpose).unwrap().contains("another MPI's library"));
        }
        assert_eq!(of("libmpi.so.12", Purpose::VirtualTime), None);
        assert!(of("libmpi.so.12", Purpose::Records).unwrap().contains("MPICH are not recorded"));
    }

    #[test]
    fn what_is_no_program_file_is_let_through_and_what_runs_as_its_owner_is_not() {
        let lab = tempfile::tempdir().unwrap();
        let script = lab.path().join("script");
        let check = |path: &Path| check(path, Purpose::Records, &[]);
        assert!(check(&script).is_ok());
        fs::write(&script, "#!/bin/sh\n").unwrap();
        assert!(check(&script).is_ok());
        fs::set_permissions(&script, fs::Permissions::from_mode(0o4755)).unwrap();
        assert!(format!("{:?}", check(&script).unwrap_err()).contains("set-user-id"));
        assert!(check(Path::new("no-program-has-this-name")).is_ok());
    }
}
