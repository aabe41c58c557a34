//! Sleeping until another rank sends to a descriptor.

use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::atomic::{AtomicU32, Ordering};

use contract::TimeSpan;
use rustix::event::epoll;
use rustix::fd::OwnedFd;
use rustix::io::Errno;

use crate::sleep::{timespec, wait};

/// A datagram socket and its epoll instance. Processes need no common parent to use a socket. Its name is abstract: it
/// is in no file system and disappears with the process.
pub(crate) struct WakeUp {
    name: Vec<u8>,
    socket: UnixDatagram,
    poll: OwnedFd,
}

/// Distinguishes several of one process.
static OPENED: AtomicU32 = AtomicU32::new(0);

impl WakeUp {
    pub(crate) fn open() -> Result<WakeUp, String> {
        // Relaxed: the numbers must differ, and nothing else depends on them.
        let count = OPENED.fetch_add(1, Ordering::Relaxed);
        let name = format!("cornerstone-wake-up-{}-{count}", std::process::id()).into_bytes();
        let explain = |error: std::io::Error| format!("a socket to be woken at: {error}");
        let address = SocketAddr::from_abstract_name(&name).map_err(explain)?;
        let socket = UnixDatagram::bind_addr(&address).map_err(explain)?;
        socket.set_nonblocking(true).map_err(explain)?;
        let poll = poll_of(&socket).map_err(|error| format!("epoll_create: {error}"))?;
        Ok(WakeUp { name, socket, poll })
    }

    pub(crate) fn address(&self) -> Vec<u8> {
        self.name.clone()
    }

    /// Sleeps until another rank has sent something. Receives all that was sent.
    pub(crate) fn sleep(&mut self, longest: TimeSpan) -> Result<bool, String> {
        match wait(&self.poll, Some(&timespec(longest))) {
            Ok(false) | Err(Errno::INTR) => return Ok(false),
            Ok(true) => {}
            Err(error) => return Err(format!("epoll_wait: {error}")),
        }
        let mut is_woken = false;
        loop {
            match self.socket.recv(&mut [0]) {
                Ok(_) => is_woken = true,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(is_woken),
                Err(error) => {
                    return Err(format!("reading from the socket that woke the rank: {error}"));
                }
            }
        }
    }
}

fn poll_of(socket: &UnixDatagram) -> rustix::io::Result<OwnedFd> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&poll, socket, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
    Ok(poll)
}

/// Returns a socket to wake other ranks from.
pub(crate) fn caller() -> Result<UnixDatagram, String> {
    UnixDatagram::unbound().map_err(|error| format!("a socket to wake others from: {error}"))
}

/// Wakes the rank whose socket has this name.
pub(crate) fn wake(caller: &UnixDatagram, name: &[u8]) -> Result<(), String> {
    let explain = |error: std::io::Error| {
        format!("waking another rank by a socket: {error}; both ranks must be on one host")
    };
    let address = SocketAddr::from_abstract_name(name).map_err(explain)?;
    caller.send_to_addr(&[1], &address).map(drop).map_err(explain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_up_is_reported_once_and_a_wait_has_an_end() {
        let mut one = WakeUp::open().unwrap();
        let mut other = WakeUp::open().unwrap();
        let short = TimeSpan::from_us(1000);
        assert_eq!(one.sleep(short), Ok(false));
        let caller = caller().unwrap();
        wake(&caller, &one.address()).unwrap();
        wake(&caller, &one.address()).unwrap();
        assert_eq!((one.sleep(short), other.sleep(short)), (Ok(true), Ok(false)));
        assert_eq!(one.sleep(short), Ok(false));
        let gone = one.address();
        drop(one);
        assert!(wake(&caller, &gone).unwrap_err().contains("on one host"));
    }
}
