//! A program over bare sockets.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use contract::{Error, Rank, Result, Source, Tag};

const PORT: Tag = Tag::new(77);

/// A plain connection between the two ranks.
pub(crate) struct Bare(TcpStream);

pub(crate) fn failed(error: io::Error) -> Error {
    Error::System { what: "a bare socket".into(), reason: error.to_string() }
}

impl Bare {
    pub(crate) fn connect(rank: &mut dyn Rank, blocking: bool) -> Result<Bare> {
        let stream = if rank.rank() == 0 {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
            let port = listener.local_addr().map_err(failed)?.port();
            rank.send(1, PORT, &port.to_le_bytes())?;
            listener.accept().map_err(failed)?.0
        } else {
            let mut port = [0; 2];
            rank.receive(Source::Rank(0), PORT.into(), &mut port)?;
            let address = (Ipv4Addr::LOCALHOST, u16::from_le_bytes(port));
            TcpStream::connect(address).map_err(failed)?
        };
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_nonblocking(!blocking).map_err(failed)?;
        Ok(Bare(stream))
    }

    pub(crate) fn send(&mut self, mut data: &[u8]) -> io::Result<()> {
        while !data.is_empty() {
            match self.0.write(data) {
                Ok(bytes) => data = &data[bytes..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::hint::spin_loop(),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(crate) fn receive(&mut self, mut room: &mut [u8]) -> io::Result<()> {
        while !room.is_empty() {
            match self.0.read(room) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => room = &mut room[bytes..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::hint::spin_loop(),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
