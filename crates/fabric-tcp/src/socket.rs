//! Writes to connections.

use std::io::{self, IoSlice, Write};
use std::net::TcpStream;

use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};

/// Writes to a connection. A closed other end causes an error and not a signal, which would end a program that is not
/// written in Rust.
pub(crate) struct Socket<'a>(pub(crate) &'a TcpStream);

impl Write for Socket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut control = SendAncillaryBuffer::default();
        Ok(sendmsg(self.0, pieces, &mut control, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The content of one write: up to `N` pieces, of whose beginning some bytes may have been written before.
pub(crate) struct Pieces<'a, const N: usize> {
    all: [IoSlice<'a>; N],
    count: usize,
    bytes: usize,
    written: usize,
}

impl<'a, const N: usize> Pieces<'a, N> {
    /// Creates an empty write, of whose first bytes `written` were written before.
    pub(crate) fn behind(written: usize) -> Self {
        Pieces { all: [IoSlice::new(&[]); N], count: 0, bytes: 0, written }
    }

    /// Appends a piece. There is room for `N` non-empty ones.
    pub(crate) fn push(&mut self, piece: &'a [u8]) {
        let rest = &piece[self.written.min(piece.len())..];
        self.written -= piece.len() - rest.len();
        if !rest.is_empty() {
            self.all[self.count] = IoSlice::new(rest);
            self.count += 1;
            self.bytes += rest.len();
        }
    }

    /// Returns the number of bytes to write.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn as_slice(&self) -> &[IoSlice<'a>] {
        &self.all[..self.count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_are_written_or_empty_are_left_out_and_the_next_is_cut() {
        // Five of nine bytes are written: the first piece of three, and two of the one after the empty one.
        let mut pieces = Pieces::<4>::behind(5);
        [&b"abc"[..], b"", b"defg", b"hi"].into_iter().for_each(|piece| pieces.push(piece));
        let left: Vec<&[u8]> = pieces.as_slice().iter().map(|piece| &**piece).collect();
        assert_eq!((left, pieces.bytes()), (vec![&b"fg"[..], b"hi"], 4));
    }
}
