//! The stream of frames to another rank: one connection, or a link of several.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use rustix::net::sockopt;

use crate::link::Link;
use crate::socket::Socket;

/// Length of a socket's buffers between two ranks of one host, each way. The system would allow some MiB in flight,
/// which leave the caches before they are read. Between hosts the system knows best how much fills the line.
const SAME_HOST_BYTES: usize = 128 << 10;

pub(crate) enum Stream {
    One(TcpStream),
    Several(Box<Link>),
}

impl Stream {
    /// Prepares one connection for non-blocking reads and writes.
    pub(crate) fn one(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        if is_of_this_host(&stream)? {
            sockopt::set_socket_send_buffer_size(&stream, SAME_HOST_BYTES)?;
            sockopt::set_socket_recv_buffer_size(&stream, SAME_HOST_BYTES)?;
        }
        Ok(Stream::One(stream))
    }

    pub(super) fn link(&self) -> Option<&Link> {
        match self {
            Stream::One(_) => None,
            Stream::Several(link) => Some(link),
        }
    }

    pub(super) fn link_mut(&mut self) -> Option<&mut Link> {
        match self {
            Stream::One(_) => None,
            Stream::Several(link) => Some(link),
        }
    }

    /// Returns its connections, and whether something waits to be written to each. For a single connection
    /// `has_outgoing` says so.
    pub(super) fn sockets(&self, has_outgoing: bool) -> impl Iterator<Item = (&TcpStream, bool)> {
        let (one, link) = match self {
            Stream::One(stream) => (Some((stream, has_outgoing)), None),
            Stream::Several(link) => (None, Some(link.streams())),
        };
        one.into_iter().chain(link.into_iter().flatten())
    }

    pub(super) fn write(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Stream::One(stream) => Socket(stream).write_vectored(pieces),
            Stream::Several(link) => link.write(pieces, Instant::now()),
        }
    }

    pub(super) fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::One(stream) => stream.read(room),
            Stream::Several(link) => link.read(room, Instant::now()),
        }
    }
}

/// Returns whether both ends are known to be on one host. The other end may be gone: the engine finds that, and the launcher
/// knows why.
fn is_of_this_host(stream: &TcpStream) -> io::Result<bool> {
    let here = stream.local_addr()?.ip();
    match stream.peer_addr() {
        Ok(there) => Ok(there.ip().is_loopback() || here == there.ip()),
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A rank that is killed while connections are made must not make another one fail, which would be blamed for it.
    #[test]
    fn a_connection_whose_other_end_is_gone_is_prepared_all_the_same() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (there, _) = listener.accept().unwrap();
        // Data that nobody reads make the system reset the connection.
        here.write_all(b"hello").unwrap();
        there.peek(&mut [0]).unwrap();
        drop(there);
        let reset = here.read(&mut [0]).unwrap_err();
        assert_eq!(reset.kind(), io::ErrorKind::ConnectionReset);
        assert_eq!(here.peer_addr().unwrap_err().kind(), io::ErrorKind::NotConnected);
        assert!(Stream::one(here).is_ok());
    }
}
