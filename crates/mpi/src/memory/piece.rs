//! A program's memory as one piece.

use std::ops::Range;

use contract::{Readable, Writable};

use super::storage::Storage;
use super::view::Memory;

/// A program's memory as one piece: itself, or a packed copy.
///
/// Whoever gives it to a fabric keeps it until the request has ended.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    memory: Memory,
    copy: Option<Storage>,
}

impl Piece {
    /// Of memory whose data are wanted.
    #[inline]
    pub(crate) fn filled(memory: &Memory) -> Self {
        let copy = memory.in_one_piece().is_none().then(|| memory.packed().into());
        Piece { memory: memory.clone(), copy }
    }

    /// Of memory that only gets data.
    #[inline]
    pub(crate) fn room(memory: &Memory) -> Self {
        let copy = memory.in_one_piece().is_none().then(|| Storage::zeroed(memory.bytes()));
        Piece { memory: memory.clone(), copy }
    }

    /// How many bytes there are.
    pub(crate) fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// The data for a fabric to read.
    #[inline]
    pub(crate) fn readable(&self) -> Readable {
        match &self.copy {
            Some(copy) => copy.readable(0..copy.bytes()),
            None => self.memory.readable().expect("in one piece, or else it was copied"),
        }
    }

    /// The room for a fabric to write.
    #[inline]
    pub(crate) fn writable(&self) -> Writable {
        match &self.copy {
            Some(copy) => copy.writable(0..copy.bytes()),
            None => self.memory.writable().expect("in one piece, or else it was copied"),
        }
    }

    /// Some of the data for a fabric to read.
    pub(crate) fn readable_part(&self, bytes: Range<usize>) -> Readable {
        match &self.copy {
            Some(copy) => copy.readable(bytes),
            None => self.readable().part(bytes),
        }
    }

    /// Some of the room for a fabric to write.
    pub(crate) fn writable_part(&self, bytes: Range<usize>) -> Writable {
        match &self.copy {
            Some(copy) => copy.writable(bytes),
            None => self.writable().part(bytes),
        }
    }

    /// Puts what the copy got into the program's memory, up to so many bytes.
    #[inline]
    pub(crate) fn deliver(&self, bytes: usize) {
        if let Some(copy) = &self.copy {
            copy.with(0..bytes.min(copy.bytes()), |data| self.memory.unpack_from(data));
        }
    }
}
