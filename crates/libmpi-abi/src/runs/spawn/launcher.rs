//! The launcher of a new run.

use std::ffi::{CStr, CString, OsString};
use std::io::{ErrorKind, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::not_started;
use super::program::Program;
use crate::failure::{Error, Result};

/// Environment variable with the command that has launched a rank.
const VARIABLE: &str = "CORNERSTONE_LAUNCHER";

/// Starts a command and detaches it: the launcher of this run becomes its parent. It reads its task from its standard
/// input.
const SCRIPT: &str = r#"exec 3<&0; "$0" spawned <&3 3<&- &"#;

/// Sent to the launcher when its ranks have called.
const MET: &[u8] = b"m";

/// A launcher whose ranks have not called yet.
pub(super) struct Launcher {
    /// The launcher closes this when it ends. Before, it writes the reason why it could not start the programs,
    /// followed by a zero.
    stream: UnixStream,
    said: Vec<u8>,
}

fn failed(error: std::io::Error) -> Error {
    not_started(format!("starting a launcher: {error}"))
}

impl Launcher {
    /// Starts the programs as one run, over the same kind of fabric as this one's. They call `port`.
    pub(super) fn start(fabric: &str, port: &mpi::Port, programs: &[Program]) -> Result<Self> {
        let (mut stream, theirs) = UnixStream::pair().map_err(failed)?;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT]).arg(launcher()).stdin(Stdio::from(OwnedFd::from(theirs)));
        let status = command.status().map_err(failed)?;
        // The other end now belongs to the launcher only.
        drop(command);
        if !status.success() {
            return Err(not_started(format!("starting a launcher: /bin/sh ended with {status}")));
        }
        let request = request(fabric, port, programs);
        let length = (request.len() as u64).to_le_bytes();
        stream.write_all(&[&length[..], &request].concat()).map_err(failed)?;
        stream.set_nonblocking(true).map_err(failed)?;
        Ok(Launcher { stream, said: Vec::new() })
    }

    /// Informs the launcher that its ranks have connected: from now on it reports their failures itself.
    pub(super) fn let_go(mut self) {
        // A launcher that has ended does not need it.
        let _ = self.stream.write_all(MET);
    }

    /// Fails once it has ended.
    pub(super) fn check(&mut self) -> Result {
        let mut room = [0; 512];
        loop {
            match self.stream.read(&mut room) {
                Ok(0) => break,
                Ok(bytes) => {
                    self.said.extend_from_slice(&room[..bytes]);
                    if self.said.ends_with(&[0]) {
                        break;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let said = String::from_utf8_lossy(&self.said);
        let silent = "the new processes ended before they had called MPI_Init, or `cornerstone` was not found";
        Err(not_started(if said.is_empty() { silent } else { said.trim_end_matches('\0') }))
    }
}

/// Returns the task of the launcher, after its length: words, each with a zero at its end. The fabric, the port, and
/// for each program its ranks, its folder or nothing, the number of its arguments, itself and these.
fn request(fabric: &str, port: &mpi::Port, programs: &[Program]) -> Vec<u8> {
    let mut words: Vec<OsString> = vec![fabric.into(), port.to_string().into()];
    for one in programs {
        words.push(one.ranks.to_string().into());
        words.push(one.directory.as_ref().map_or_else(OsString::new, OsString::from));
        words.push(one.arguments.len().to_string().into());
        words.push(OsString::from(&one.command));
        words.extend(one.arguments.iter().cloned());
    }
    words.iter().flat_map(|word| word.as_bytes().iter().copied().chain([0])).collect()
}

/// Returns the command that has launched this run; otherwise the one of this installation, or the one that a shell
/// finds.
fn launcher() -> OsString {
    let installed = || Some(own_path()?.parent()?.parent()?.join("bin/cornerstone"));
    let path = std::env::var_os(VARIABLE).map(PathBuf::from).or_else(installed);
    path.filter(|path| path.exists()).map_or_else(|| "cornerstone".into(), OsString::from)
}

/// Returns the path of this library.
fn own_path() -> Option<PathBuf> {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: an address of this library, and room for the result, whose name lasts as long as the library.
    let name = unsafe {
        let address = own_path as *const () as *const libc::c_void;
        if libc::dladdr(address, found.as_mut_ptr()) == 0 {
            return None;
        }
        CStr::from_ptr(found.assume_init().dli_fname)
    };
    Some(Path::new(std::ffi::OsStr::from_bytes(CString::from(name).as_bytes())).to_owned())
}
