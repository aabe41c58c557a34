//! Programs of other MPIs: each of their processes would take itself for a run of one rank, without a word.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use launcher::OtherProgram;

use super::program_file::{Linked, find};
use crate::preloaded;
use crate::progress::note;

/// Beginnings of the names of MPI libraries.
const MPI_LIBRARIES: [&str; 4] = ["libmpi.so", "libmpi_abi.so", "libmpich.so", "libmpi_cray.so"];
/// What each library of this project contains, and no other: the beginning of names of functions.
const OUR_MARK: &[u8] = b"cornerstone_MPI_";

/// Warns of programs that use another MPI's library. `environment` are the variables of the ranks.
pub(super) fn warn(
    first: &OsStr,
    others: &[OtherProgram],
    ranks: usize,
    environment: &[(OsString, OsString)],
) {
    if ranks < 2 {
        return;
    }
    let all = [first.as_ref()].into_iter().chain(others.iter().map(|other| &*other.program));
    let mut known: Vec<&Path> = Vec::new();
    for program in all {
        if known.contains(&program) {
            continue;
        }
        known.push(program);
        if let Some(library) = library_of(program, environment) {
            note(&format!(
                "cornerstone: warning: '{}' uses {}, another MPI's library: each of its ranks is a run of its own\n  \
                 hint: build it with this mpicc, or start it by the mpiexec of that MPI",
                program.display(),
                library.display()
            ));
        }
    }
}

/// Returns the library of another MPI that the loader would give a program. `None` if it gives none or ours, and for
/// scripts and whatever cannot be found out.
fn library_of(program: &Path, environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let path = find(program)?;
    let file = Linked::read(&fs::read(&path).ok()?)?;
    let is_mpi = |name: &str| MPI_LIBRARIES.iter().any(|start| name.starts_with(start));
    if !file.needed.iter().any(|name| is_mpi(name)) {
        return None;
    }
    // The loader lists what it would load, and starts nothing.
    let listed = Command::new(file.loader?)
        .arg("--list")
        .arg(path)
        .envs(environment.iter().cloned())
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let places = text.lines().filter_map(|line| {
        let (name, place) = line.trim().split_once(" => ")?;
        is_mpi(name).then(|| PathBuf::from(place.split(" (0x").next().unwrap_or(place)))
    });
    let places: Vec<PathBuf> = places.filter(|place| place.is_file()).collect();
    // A library of the program may bring a second MPI, which matters less than that ours is there.
    match places.iter().any(is_ours) {
        true => None,
        false => places.into_iter().next(),
    }
}

/// Returns whether a library is of this project, perhaps of another installation.
fn is_ours(library: &PathBuf) -> bool {
    let own = ["libmpi_abi.so.1", "libmpi_abi.so"].map(|name| preloaded::find(name, "libmpi-abi"));
    let folder = |path: &Path| Some(path.canonicalize().ok()?.parent()?.to_path_buf());
    let is_beside = |own: &PathBuf| folder(own).is_some() && folder(own) == folder(library);
    let contains_mark =
        |bytes: Vec<u8>| bytes.windows(OUR_MARK.len()).any(|piece| piece == OUR_MARK);
    own.iter().flatten().any(is_beside) || fs::read(library).is_ok_and(contains_mark)
}
