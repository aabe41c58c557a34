//! Programs of other MPIs: each of their processes would take itself for a run of one rank, without a word.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use launcher::OtherProgram;
use rustix::process::Pid;

use crate::linked::loaded;
use crate::progress::note;
use crate::{orphans, preloaded};

/// Beginnings of the names of MPI libraries.
const MPI_LIBRARIES: [&str; 4] = ["libmpi.so", "libmpi_abi.so", "libmpich.so", "libmpi_cray.so"];
/// What each library of this project contains, and no other: the beginning of names of functions.
const OUR_MARK: &[u8] = b"cornerstone_MPI_";

/// Times between the checks of what a program has loaded that loads its MPI itself, from the start on.
const CHECKS: [Duration; 3] =
    [Duration::from_millis(300), Duration::from_millis(700), Duration::from_secs(2)];

/// Warns of programs that are linked with another MPI's library. `environment` are the variables of the ranks. Returns
/// a look-out for programs of which the files do not tell, such as scripts, if there is one.
pub(super) fn warn(
    first: &OsStr,
    others: &[OtherProgram],
    ranks: usize,
    environment: &[(OsString, OsString)],
) -> Option<Lookout> {
    if ranks < 2 {
        return None;
    }
    let all = [first.as_ref()].into_iter().chain(others.iter().map(|other| &*other.program));
    let mut programs: Vec<&Path> = all.collect();
    programs.sort_unstable();
    programs.dedup();
    let mut is_known = false;
    for program in programs {
        let linked = loaded(program, environment, is_mpi);
        is_known |= !linked.is_empty();
        if let Some(library) = foreign(&linked) {
            warn_of(&format!("'{}'", program.display()), library);
        }
    }
    if is_known { None } else { Lookout::start() }
}

fn warn_of(program: &str, library: &Path) {
    note(&format!(
        "cornerstone: warning: {program} uses {}, another MPI's library: each of its ranks is a run of its own\n  \
         hint: build it with this mpicc, or start it by the mpiexec of that MPI",
        library.display()
    ));
}

/// Returns the library of another MPI among libraries. That a library of the program brings a second MPI matters less
/// than that ours is there.
fn foreign(libraries: &[PathBuf]) -> Option<&PathBuf> {
    libraries.first().filter(|_| !libraries.iter().any(|path| is_ours(path)))
}

/// Returns whether the loader would give a program a library of this project.
pub(super) fn brings_ours(program: &Path, environment: &[(OsString, OsString)]) -> bool {
    let linked = loaded(program, environment, is_mpi);
    !linked.is_empty() && foreign(&linked).is_none()
}

/// A thread that looks at what a rank has loaded, until this is dropped.
pub(super) struct Lookout {
    _until: Sender<()>,
}

impl Lookout {
    fn start() -> Option<Self> {
        let (until, ended) = channel();
        let check = move || {
            for time in CHECKS {
                if ended.recv_timeout(time) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                let loaded = orphans::children().first().map(|&rank| mapped(rank));
                let loaded = loaded.unwrap_or_default();
                if let Some(library) = foreign(&loaded) {
                    warn_of("the program", library);
                }
                if !loaded.is_empty() {
                    return;
                }
            }
        };
        // Without the thread, there is no warning.
        thread::Builder::new().spawn(check).ok().map(|_| Lookout { _until: until })
    }
}

/// Returns the MPI libraries that a process has loaded.
fn mapped(process: Pid) -> Vec<PathBuf> {
    let maps = fs::read_to_string(format!("/proc/{}/maps", process.as_raw_nonzero()));
    let path = |line: &str| {
        let path = PathBuf::from(line.get(line.find('/')?..)?);
        path.file_name()?.to_str().is_some_and(is_mpi).then_some(path)
    };
    let mut paths: Vec<PathBuf> = maps.unwrap_or_default().lines().filter_map(path).collect();
    paths.dedup();
    paths
}

/// Returns whether a library has a name of MPI libraries.
fn is_mpi(name: &str) -> bool {
    MPI_LIBRARIES.iter().any(|start| name.starts_with(start))
}

/// Returns whether a library is of this project, perhaps of another installation.
fn is_ours(library: &Path) -> bool {
    let own = ["libmpi_abi.so.1", "libmpi_abi.so"].map(|name| preloaded::find(name, "libmpi-abi"));
    let folder = |path: &Path| Some(path.canonicalize().ok()?.parent()?.to_path_buf());
    let is_same_folder = |own: &PathBuf| folder(own).is_some() && folder(own) == folder(library);
    let contains_mark =
        |bytes: Vec<u8>| bytes.windows(OUR_MARK.len()).any(|piece| piece == OUR_MARK);
    own.iter().flatten().any(is_same_folder) || fs::read(library).is_ok_and(contains_mark)
}
