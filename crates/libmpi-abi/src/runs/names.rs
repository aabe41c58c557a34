//! Names of services, published on this host for programs of the same user.
//!
//! A service is a sealed file in memory, and lives no longer than the descriptor of the process that publishes it. Other
//! processes find it among the descriptors that /proc shows. Nobody is asked and nothing is sent, so nobody can answer
//! falsely, keep the one that asks waiting, or learn anything from it. The kernel vouches for the publisher: it opens
//! descriptors to processes of the same user only, and a file belongs to the user who created it.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fs::{DirEntry, File, Metadata, OpenOptions, read_dir};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::abi::*;
use crate::failure::{Error, Result, ensure, error_of};
use crate::process::check_running;
use crate::shared::Shared;
use crate::text;

/// A service that this process has published.
struct Published {
    service: String,
    port: String,
    // Closed with this, which frees the name.
    file: File,
}

static PUBLISHED: Shared<RefCell<Vec<Published>>> = Shared::new(RefCell::default);

/// A file with all of these neither changes nor grows.
const SEALS: i32 = libc::F_SEAL_SEAL | libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_WRITE;

/// A service in the process of any program of this user.
struct Found {
    port: String,
    /// Device and number of its file, which distinguish it from others.
    file: (u64, u64),
}

fn failed(error: std::io::Error) -> Error {
    error_of(ERR_INTERN, format!("publishing a name: {error}"))
}

/// Returns the name of a service's file. Names of services may have any length and any characters; the content of the
/// file distinguishes those with the same number. A child that has inherited the descriptor has not published it.
fn file_name(process: u32, service: &str) -> String {
    let mut hasher = DefaultHasher::new();
    service.hash(&mut hasher);
    format!("cornerstone-service-{process}-{:016x}", hasher.finish())
}

/// Returns the content of a service's file.
fn content(service: &str, port: &str) -> String {
    format!("{port}\n{service}")
}

fn user() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { libc::geteuid() }
}

/// Implements MPI_Publish_name.
pub(crate) unsafe fn publish(service: *const c_char, _: Info, port: *const c_char) -> Result {
    check_running()?;
    let one = announce(text::read(service)?, text::read(port)?)?;
    PUBLISHED.borrow_mut().push(one);
    Ok(())
}

/// Makes a service visible. Refuses a name that another service of this user has. Of two that are published at the same
/// moment at least one sees the other, because each looks after it has become visible; both may be refused.
fn announce(service: String, port: String) -> Result<Published> {
    let name = file_name(std::process::id(), &service);
    let file = sealed(&name, content(&service, &port).as_bytes()).map_err(failed)?;
    let one = Published { service, port, file };
    let own = identity(&one.file.metadata().map_err(failed)?);
    let is_taken = services(&one.service).any(|found| found.file != own);
    ensure!(!is_taken, ERR_SERVICE, "the service {:?} is published already", one.service);
    Ok(one)
}

/// Creates a file in memory that nobody changes any more.
fn sealed(name: &str, content: &[u8]) -> std::io::Result<File> {
    let name = CString::new(name)?;
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is a C string that outlives the call, and a descriptor that was just returned has no other owner.
    let mut file = unsafe {
        match libc::memfd_create(name.as_ptr(), flags) {
            -1 => return Err(std::io::Error::last_os_error()),
            descriptor => File::from_raw_fd(descriptor),
        }
    };
    file.write_all(content)?;
    // SAFETY: the descriptor is open, and no memory is involved.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, SEALS) } {
        0 => Ok(file),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Implements MPI_Unpublish_name.
pub(crate) unsafe fn unpublish(service: *const c_char, _: Info, port: *const c_char) -> Result {
    check_running()?;
    let (service, port) = (text::read(service)?, text::read(port)?);
    let mut published = PUBLISHED.borrow_mut();
    let place = published.iter().position(|one| one.service == service && one.port == port);
    let missing = || {
        error_of(ERR_SERVICE, format!("this process has not published {service:?} with this port"))
    };
    published.swap_remove(place.ok_or_else(missing)?);
    Ok(())
}

/// Implements MPI_Lookup_name.
pub(crate) unsafe fn lookup(service: *const c_char, _: Info, port: *mut c_char) -> Result {
    check_running()?;
    ensure!(!port.is_null(), ERR_ARG, "port_name is a null pointer");
    let service = text::read(service)?;
    let found = find(&service)
        .ok_or_else(|| error_of(ERR_NAME, format!("no service {service:?} is published")))?;
    text::write(&found, port, found.len() as i32 + 1, std::ptr::null_mut());
    Ok(())
}

/// Returns the port of a service.
fn find(service: &str) -> Option<String> {
    services(service).next().map(|found| found.port)
}

/// Returns the services of this user with a name.
fn services(service: &str) -> impl Iterator<Item = Found> {
    let is_mine = |entry: &DirEntry| entry.metadata().is_ok_and(|one| one.uid() == user());
    let processes = read_dir("/proc").into_iter().flatten().flatten().filter(is_mine);
    processes.flat_map(move |process| services_of(&process, service))
}

/// Returns the services with a name that one process has published. A directory that is not a process has none.
fn services_of(process: &DirEntry, service: &str) -> Vec<Found> {
    let Some(number) = process.file_name().to_str().and_then(|name| name.parse().ok()) else {
        return Vec::new();
    };
    let wanted = format!("/memfd:{} (deleted)", file_name(number, service));
    let descriptors = read_dir(process.path().join("fd")).into_iter().flatten().flatten();
    let is_wanted = |path: &Path| path.read_link().is_ok_and(|link| link.as_os_str() == &*wanted);
    let paths = descriptors.map(|descriptor| descriptor.path()).filter(|path| is_wanted(path));
    paths.filter_map(|path| read(&path, service)).collect()
}

/// Reads the file of a service. Reads nothing of a file that another user has created (which a program that runs as
/// this user may have inherited), that can still change, or that is longer than a port can make it.
fn read(path: &Path, service: &str) -> Option<Found> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    // SAFETY: the descriptor is open, and no memory is involved.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    let length = usize::try_from(metadata.len()).ok()?;
    let port_length = length.checked_sub(content(service, "").len())?;
    if metadata.uid() != user() || seals != SEALS || port_length >= MAX_PORT_NAME as usize {
        return None;
    }
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let port = text.strip_suffix(service)?.strip_suffix('\n')?.to_owned();
    Some(Found { port, file: identity(&metadata) })
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

#[cfg(test)]
mod tests;
