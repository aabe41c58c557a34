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
    copy: PackedCopy,
}

/// The packed copy of a memory that does not lie in one piece; nothing of one that does.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackedCopy(Option<Storage>);

/// Each function is for the memory that the copy was made of.
impl PackedCopy {
    /// Of memory whose data are wanted.
    #[inline(always)]
    pub(crate) fn filled(memory: &Memory) -> Self {
        PackedCopy(memory.in_one_piece().is_none().then(|| memory.packed().into()))
    }

    /// Of memory that only gets data.
    #[inline(always)]
    pub(crate) fn room(memory: &Memory) -> Self {
        PackedCopy(memory.in_one_piece().is_none().then(|| Storage::zeroed(memory.bytes())))
    }

    /// Returns the data for a fabric to read.
    #[inline(always)]
    pub(crate) fn readable(&self, memory: &Memory) -> Readable {
        match &self.0 {
            Some(copy) => copy.readable(0..copy.bytes()),
            None => memory.readable().expect("in one piece, or else it was copied"),
        }
    }

    /// Returns the room for a fabric to write.
    #[inline(always)]
    pub(crate) fn writable(&self, memory: &Memory) -> Writable {
        match &self.0 {
            Some(copy) => copy.writable(0..copy.bytes()),
            None => memory.writable().expect("in one piece, or else it was copied"),
        }
    }

    /// Puts what the copy got into the program's memory, up to so many bytes.
    #[inline(always)]
    pub(crate) fn deliver(&self, memory: &Memory, bytes: usize) {
        if let Some(copy) = &self.0 {
            copy.with(0..bytes.min(copy.bytes()), |data| memory.unpack_from(data));
        }
    }
}

impl Piece {
    /// Of memory whose data are wanted.
    #[inline]
    pub(crate) fn filled(memory: &Memory) -> Self {
        Piece { memory: memory.clone(), copy: PackedCopy::filled(memory) }
    }

    /// Of memory that only gets data.
    #[inline]
    pub(crate) fn room(memory: &Memory) -> Self {
        Piece { memory: memory.clone(), copy: PackedCopy::room(memory) }
    }

    /// Returns how many bytes there are.
    pub(crate) fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// Returns the data for a fabric to read.
    #[inline]
    pub(crate) fn readable(&self) -> Readable {
        self.copy.readable(&self.memory)
    }

    /// Returns the room for a fabric to write.
    #[inline]
    pub(crate) fn writable(&self) -> Writable {
        self.copy.writable(&self.memory)
    }

    /// Some of the data for a fabric to read.
    pub(crate) fn readable_part(&self, bytes: Range<usize>) -> Readable {
        match &self.copy.0 {
            Some(copy) => copy.readable(bytes),
            None => self.readable().part(bytes),
        }
    }

    /// Some of the room for a fabric to write.
    pub(crate) fn writable_part(&self, bytes: Range<usize>) -> Writable {
        match &self.copy.0 {
            Some(copy) => copy.writable(bytes),
            None => self.writable().part(bytes),
        }
    }

    /// Puts what the copy got into the program's memory, up to so many bytes.
    #[inline]
    pub(crate) fn deliver(&self, bytes: usize) {
        self.copy.deliver(&self.memory, bytes);
    }
    /// Puts what the copy got of some elements into the program's memory.
    pub(crate) fn deliver_elements(&self, first: i64, count: i64) {
        if let Some(copy) = &self.copy.0 {
            let part = self.memory.part(first, count);
            let start = (first * part.of().size()) as usize;
            copy.with(start..start + part.bytes(), |data| part.unpack_from(data));
        }
    }
}
