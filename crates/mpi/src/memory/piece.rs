//! A program's memory as one piece.

use std::ops::Range;

use contract::{Readable, Writable};

use super::storage::Storage;
use super::view::Memory;

/// A program's memory as one piece: itself, or a packed copy.
///
/// Code that lends it to a fabric keeps it until the request has ended.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    memory: Memory,
    copy: PackedCopy,
}

/// The packed copy of a memory that does not lie in one piece, or is to change only when an operation is completed;
/// `None` if the memory itself is used.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackedCopy(Option<Storage>);

/// The functions must be called with the memory of which the copy was made.
impl PackedCopy {
    /// Creates the copy of memory that is read.
    #[inline(always)]
    pub(crate) fn filled(memory: &Memory) -> Self {
        PackedCopy(memory.in_one_piece().is_none().then(|| memory.packed().into()))
    }

    /// Creates the copy of memory that is only written.
    #[inline(always)]
    pub(crate) fn room(memory: &Memory) -> Self {
        PackedCopy(memory.in_one_piece().is_none().then(|| Storage::zeroed(memory.bytes())))
    }

    /// Lends the data to a fabric for reading.
    #[inline(always)]
    pub(crate) fn readable(&self, memory: &Memory) -> Readable {
        match &self.0 {
            Some(copy) => copy.readable(0..copy.bytes()),
            None => memory.readable().expect("in one piece, or else it was copied"),
        }
    }

    /// Lends the room to a fabric for writing.
    #[inline(always)]
    pub(crate) fn writable(&self, memory: &Memory) -> Writable {
        match &self.0 {
            Some(copy) => copy.writable(0..copy.bytes()),
            None => memory.writable().expect("in one piece, or else it was copied"),
        }
    }

    /// Copies at most `bytes` bytes from the copy to the program's memory.
    #[inline(always)]
    pub(crate) fn deliver(&self, memory: &Memory, bytes: usize) {
        if let Some(copy) = &self.0 {
            copy.with(0..bytes.min(copy.bytes()), |data| memory.unpack_from(data));
        }
    }
}

impl Piece {
    /// Creates the piece of memory that is read.
    #[inline]
    pub(crate) fn filled(memory: &Memory) -> Self {
        Piece { memory: memory.clone(), copy: PackedCopy::filled(memory) }
    }

    /// Creates the piece of memory that is only written.
    #[inline]
    pub(crate) fn room(memory: &Memory) -> Self {
        Piece { memory: memory.clone(), copy: PackedCopy::room(memory) }
    }

    /// Lets the program's memory as it is until the data are delivered.
    pub(crate) fn keep_separate(&mut self) {
        let memory = &self.memory;
        self.copy.0.get_or_insert_with(|| memory.packed().into());
    }

    /// Returns the program's memory.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the number of bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// Lends the data to a fabric for reading.
    #[inline]
    pub(crate) fn readable(&self) -> Readable {
        self.copy.readable(&self.memory)
    }

    /// Lends the room to a fabric for writing.
    #[inline]
    pub(crate) fn writable(&self) -> Writable {
        self.copy.writable(&self.memory)
    }

    /// Lends a part of the data to a fabric for reading.
    pub(crate) fn readable_part(&self, bytes: Range<usize>) -> Readable {
        match &self.copy.0 {
            Some(copy) => copy.readable(bytes),
            None => self.readable().part(bytes),
        }
    }

    /// Lends a part of the room to a fabric for writing.
    pub(crate) fn writable_part(&self, bytes: Range<usize>) -> Writable {
        match &self.copy.0 {
            Some(copy) => copy.writable(bytes),
            None => self.writable().part(bytes),
        }
    }

    /// Copies at most `bytes` bytes from the copy to the program's memory.
    #[inline]
    pub(crate) fn deliver(&self, bytes: usize) {
        self.copy.deliver(&self.memory, bytes);
    }
    /// Copies some elements from the copy to the program's memory.
    pub(crate) fn deliver_elements(&self, first: i64, count: i64) {
        if let Some(copy) = &self.copy.0 {
            let part = self.memory.part(first, count);
            let start = (first * part.of().size()) as usize;
            copy.with(start..start + part.bytes(), |data| part.unpack_from(data));
        }
    }
}
