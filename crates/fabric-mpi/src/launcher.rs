//! Launchers of MPIs: the installed ones, the library of each, and the launcher of this process.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use crate::library::{ABI_NAME, OPEN_MPI_NAME};

/// File name of this project's library in the build directory, beside the command line.
const BUILT_NAME: &str = "libmpi_abi.so";

/// MPIs whose launchers are recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// MPICH.
    Mpich,
    /// Intel MPI.
    Intel,
    /// Open MPI.
    OpenMpi,
    /// This project: `cornerstone launch`.
    Cornerstone,
}

/// An `mpiexec`, and the library that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// MPI of the launcher.
    pub flavour: Flavour,
    /// Path of the command.
    pub mpiexec: PathBuf,
    /// Library in the same installation, if there is one.
    pub library: Option<PathBuf>,
}

/// Error if there is no launcher.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no mpiexec of {flavour} was found; found instead: {}", if .seen.is_empty() { "nothing, for there is no mpiexec in PATH".into() } else { .seen.join(", ") })]
pub struct LauncherError {
    flavour: Flavour,
    /// Each `mpiexec` that was found, with its MPI.
    seen: Vec<String>,
}

impl Flavour {
    /// All variants.
    pub const ALL: [Flavour; 4] =
        [Flavour::Mpich, Flavour::Intel, Flavour::OpenMpi, Flavour::Cornerstone];

    /// Returns the name for users.
    pub const fn name(self) -> &'static str {
        match self {
            Flavour::Mpich => "mpich",
            Flavour::Intel => "intel",
            Flavour::OpenMpi => "openmpi",
            Flavour::Cornerstone => "cornerstone",
        }
    }

    /// Returns the variant with this name.
    pub fn named(name: &str) -> Option<Flavour> {
        Flavour::ALL.into_iter().find(|flavour| flavour.name() == name)
    }

    /// Returns the MPI of a launcher from its version text.
    fn of_words(words: &str) -> Option<Flavour> {
        let marks = [
            ("Intel(R) MPI", Flavour::Intel),
            ("Open MPI", Flavour::OpenMpi),
            ("OpenRTE", Flavour::OpenMpi),
            ("HYDRA", Flavour::Mpich),
        ];
        marks.iter().find(|(mark, _)| words.contains(mark)).map(|(_, flavour)| *flavour)
    }
}

impl std::fmt::Display for Flavour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Flavour::Mpich => "MPICH",
            Flavour::Intel => "Intel MPI",
            Flavour::OpenMpi => "Open MPI",
            Flavour::Cornerstone => "Cornerstone",
        })
    }
}

impl Launcher {
    /// Returns the launcher of `flavour`: in the installation of `library` if that is given, else the first in PATH.
    ///
    /// # Errors
    /// [`LauncherError`] lists the launchers found instead.
    pub fn find(flavour: Flavour, library: Option<&Path>) -> Result<Launcher, LauncherError> {
        if flavour == Flavour::Cornerstone {
            return Launcher::own(library);
        }
        let root = library.and_then(Path::parent).and_then(Path::parent);
        let mut places: Vec<PathBuf> = root.map(|root| root.join("bin")).into_iter().collect();
        let path = std::env::var_os("PATH").unwrap_or_default();
        places.extend(std::env::split_paths(&path));
        let mut seen = Vec::new();
        for mpiexec in
            places.iter().map(|place| place.join("mpiexec")).filter(|file| file.is_file())
        {
            let found = version(&mpiexec).and_then(|words| Flavour::of_words(&words));
            if found == Some(flavour) {
                let library =
                    library.map(Path::to_path_buf).or_else(|| library_in_same_folder(&mpiexec));
                return Ok(Launcher { flavour, mpiexec, library });
            }
            let whose = found.map_or_else(|| "unknown".into(), |flavour| flavour.to_string());
            seen.push(format!("{} ({whose})", mpiexec.display()));
        }
        Err(LauncherError { flavour, seen })
    }

    /// Returns this program itself, which is also a launcher, with the library built or installed with it.
    fn own(library: Option<&Path>) -> Result<Launcher, LauncherError> {
        let flavour = Flavour::Cornerstone;
        let seen = |what: String| LauncherError { flavour, seen: vec![what] };
        let mpiexec = std::env::current_exe()
            .map_err(|error| seen(format!("this program's own file ({error})")))?;
        let library = library.map(Path::to_path_buf).or_else(|| library_in_same_folder(&mpiexec));
        Ok(Launcher { flavour, mpiexec, library })
    }

    /// Returns the command that starts `program` with `arguments` as `ranks` processes, on this host unless the
    /// environment selects others.
    pub fn command(&self, ranks: usize, program: &Path, arguments: &[String]) -> Command {
        let mut command = Command::new(&self.mpiexec);
        if self.flavour == Flavour::Cornerstone {
            command.arg("launch");
        }
        command.arg("-n").arg(ranks.to_string());
        if self.flavour == Flavour::OpenMpi {
            // Oversubscription is usual here, and root is often the only user of a container.
            command.arg("--oversubscribe");
            command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        }
        if self.flavour == Flavour::Intel && std::env::var_os("I_MPI_ROOT").is_none() {
            let root = self.mpiexec.parent().and_then(Path::parent);
            command.envs(root.map(|root| ("I_MPI_ROOT", root)));
        }
        if self.flavour == Flavour::Cornerstone {
            // All arguments that follow belong to the program, even those that look like options.
            command.arg("--");
        }
        command.arg(program).args(arguments);
        command
    }
}

/// Terminates a launcher and the ranks that it has started: by SIGTERM, and after two seconds by SIGKILL.
pub fn end(child: &mut Child) {
    // SAFETY: the process is a child of ours that has not been waited for, so its number is still its own.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGTERM) };
    for _ in 0..200 {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn version(mpiexec: &Path) -> Option<String> {
    let output = Command::new(mpiexec).arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the library of the installation whose `bin` contains an executable.
fn library_in_same_folder(executable: &Path) -> Option<PathBuf> {
    let root = executable.canonicalize().ok()?;
    let root = root.parent()?.parent()?;
    let folders = ["lib", "lib64", "lib/release", "lib/x86_64-linux-gnu"];
    let files = [ABI_NAME, OPEN_MPI_NAME];
    let installed =
        files.iter().flat_map(|file| folders.map(|folder| root.join(folder).join(file)));
    // Library in this project's build directory.
    let built = executable.canonicalize().ok()?.with_file_name(BUILT_NAME);
    installed.chain([built]).find(|file| file.is_file())
}

/// Returns whether an MPI launcher has started this process as one of several.
pub fn has_started_this_process() -> bool {
    let marks = ["PMI_RANK", "PMIX_RANK", "PMI_FD", "OMPI_COMM_WORLD_RANK", "CORNERSTONE_MPI_RANK"];
    marks.iter().any(|mark| std::env::var_os(mark).is_some())
}

/// Returns the number of processes that the launcher claims to have started, including this one; `None` if it claims
/// none.
pub fn processes_started() -> Option<usize> {
    let marks =
        ["PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "CORNERSTONE_MPI_SIZE", "SLURM_STEP_NUM_TASKS"];
    // Nested launchers leave several values. The largest is the number of processes that a process without peers should
    // have found.
    marks.iter().filter_map(|mark| std::env::var(mark).ok()?.parse().ok()).max()
}

/// Returns the launcher from which this process descends, if it can be determined.
pub(crate) fn ancestor() -> Option<PathBuf> {
    let is_launcher = |program: &PathBuf| {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        ["mpiexec", "mpirun", "prte", "prun", "srun", "cornerstone"]
            .iter()
            .any(|launcher| name.starts_with(launcher))
    };
    ancestors().into_iter().find(is_launcher)
}

/// Returns possible MPI libraries if none is named: the name for the loader's search path; the library in the
/// installation of the launcher that started this process; the library in that of the first `mpiexec` in PATH.
pub(crate) fn candidates() -> Vec<PathBuf> {
    let mut files = vec![PathBuf::from(ABI_NAME)];
    files.extend(ancestors().iter().filter_map(|launcher| library_in_same_folder(launcher)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).map(|place| place.join("mpiexec"));
    files.extend(
        in_path.filter(|file| file.is_file()).find_map(|file| library_in_same_folder(&file)),
    );
    files.dedup();
    files
}

/// Returns the programs of this process's ancestors, the nearest first, as far as permissions allow.
fn ancestors() -> Vec<PathBuf> {
    let mut programs = Vec::new();
    let mut process = std::process::id();
    // There may be a proxy and a shell between a launcher and its ranks.
    for _ in 0..4 {
        let Some(parent) = parent(process).filter(|parent| *parent > 1) else { break };
        programs.extend(std::fs::read_link(format!("/proc/{parent}/exe")));
        process = parent;
    }
    programs
}

fn parent(process: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("PPid:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_recognized_by_their_version_text() {
        let flavour = Flavour::of_words;
        assert_eq!(flavour("HYDRA build details:\n Version: 5.0.2"), Some(Flavour::Mpich));
        assert_eq!(flavour("Intel(R) MPI Library for Linux* OS"), Some(Flavour::Intel));
        assert_eq!(flavour("mpiexec (Open MPI) 5.0.11"), Some(Flavour::OpenMpi));
        assert_eq!(flavour("srun 23.02"), None);
        for flavour in Flavour::ALL {
            assert_eq!(Flavour::named(flavour.name()), Some(flavour));
        }
    }

    #[test]
    fn a_missing_launcher_error_lists_the_launchers_found() {
        let seen = vec!["/usr/bin/mpiexec (Open MPI)".to_string()];
        let error = LauncherError { flavour: Flavour::Mpich, seen };
        let words = error.to_string();
        assert!(
            words.contains("MPICH") && words.contains("/usr/bin/mpiexec (Open MPI)"),
            "{words}"
        );
    }

    #[test]
    fn the_parent_of_this_process_is_found() {
        assert_eq!(parent(std::process::id()), Some(std::os::unix::process::parent_id()));
    }
}
