//! Names of services, published on this host for programs of the same user.
//!
//! A service lives no longer than the process that publishes it. It is a socket in the kernel's abstract name space, by
//! which it is found, and a file in memory behind a descriptor of the process, which contains the port. A process that
//! may not open that descriptor may not call the port.

use std::cell::RefCell;
use std::ffi::c_char;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{ErrorKind, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

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
    _sockets: [UnixListener; 2],
    _file: File,
}

static PUBLISHED: Shared<RefCell<Vec<Published>>> = Shared::new(RefCell::default);

fn failed(error: std::io::Error) -> Error {
    error_of(ERR_INTERN, format!("publishing a name: {error}"))
}

/// Returns the prefix of a service's sockets. Names may have any length and any characters; the content of the file
/// distinguishes names with the same number.
fn prefix(service: &str) -> String {
    let mut hasher = DefaultHasher::new();
    service.hash(&mut hasher);
    // SAFETY: no memory is involved.
    let user = unsafe { libc::geteuid() };
    format!("cornerstone-{user}-{:016x}", hasher.finish())
}

fn socket(name: &str) -> std::io::Result<UnixListener> {
    UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)
}

/// Returns the content of a service's file.
fn content(service: &str, port: &str) -> String {
    format!("{port}\n{service}")
}

/// Implements MPI_Publish_name.
pub(crate) unsafe fn publish(service: *const c_char, _: Info, port: *const c_char) -> Result {
    check_running()?;
    let (service, port) = (text::read(service)?, text::read(port)?);
    let prefix = prefix(&service);
    // The owner of this socket has the service.
    let first = socket(&prefix).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => {
            error_of(ERR_SERVICE, format!("the service {service:?} is published already"))
        }
        _ => failed(error),
    })?;
    let mut file = memory_file().map_err(failed)?;
    file.write_all(content(&service, &port).as_bytes()).map_err(failed)?;
    let place = format!("{prefix}-{}-{}", std::process::id(), file.as_raw_fd());
    let second = socket(&place).map_err(failed)?;
    let one = Published { service, port, _sockets: [first, second], _file: file };
    PUBLISHED.borrow_mut().push(one);
    Ok(())
}

fn memory_file() -> std::io::Result<File> {
    // SAFETY: the name is a C string, and a descriptor that was just returned has no other owner.
    unsafe {
        let descriptor = libc::memfd_create(c"cornerstone service".as_ptr(), libc::MFD_CLOEXEC);
        match descriptor {
            -1 => Err(std::io::Error::last_os_error()),
            _ => Ok(File::from_raw_fd(descriptor)),
        }
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
    let sockets = std::fs::read_to_string("/proc/net/unix").ok()?;
    let wanted = format!("@{}-", prefix(service));
    let places = sockets.lines().filter_map(|line| line.rsplit_once(' ')?.1.strip_prefix(&wanted));
    places.filter_map(read).find_map(|content| {
        let (port, name) = content.split_once('\n')?;
        (name == service && port.len() < MAX_PORT_NAME as usize).then(|| port.to_owned())
    })
}

/// Returns the content of the file of the process and descriptor that a socket names.
fn read(place: &str) -> Option<String> {
    let (process, descriptor) = place.split_once('-')?;
    let (process, descriptor): (u32, u32) = (process.parse().ok()?, descriptor.parse().ok()?);
    std::fs::read_to_string(format!("/proc/{process}/fd/{descriptor}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_found_while_it_is_published_whatever_its_name() {
        let name = format!("a service\nof process {} \u{e9}", std::process::id());
        assert_eq!(find(&name), None);
        let (mut file, prefix) = (memory_file().unwrap(), prefix(&name));
        file.write_all(content(&name, "port 1").as_bytes()).unwrap();
        let place = format!("{prefix}-{}-{}", std::process::id(), file.as_raw_fd());
        let published = socket(&place).unwrap();
        assert_eq!(find(&name).as_deref(), Some("port 1"));
        assert_eq!(find(&name[1..]), None);
        // A socket without a target is not a service.
        let astray = socket(&format!("{prefix}-x-1")).unwrap();
        drop((published, file));
        assert_eq!(find(&name), None);
        drop(astray);
    }
}
