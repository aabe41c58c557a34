//! A program's memory, seen through a datatype.

use std::rc::Rc;

use contract::{Readable, Writable};

use crate::datatype::Datatype;
use crate::error::{ErrorClass, Result, ensure};

/// Maximum length of memory; larger addresses cannot be computed.
const MOST_BYTES: i64 = i64::MAX / 2;

/// Memory of a program, seen through a datatype: `count` elements from an address on.
///
/// Clones and parts are views of the same memory.
#[derive(Clone, Debug)]
pub struct Memory {
    start: *mut u8,
    count: i64,
    of: Rc<Datatype>,
}

impl Memory {
    /// Creates a view of `count` elements of `of` at `start`. A type whose data do not begin at its address, such as
    /// one of absolute addresses, permits a null address.
    ///
    /// # Errors
    /// [`ErrorClass::Count`] for a count that is negative or too large, [`ErrorClass::Type`] for a type that was not
    /// committed, and [`ErrorClass::Buffer`] for data without an address.
    ///
    /// # Safety
    /// The bytes that the type's runs describe, for each element, are initialised and may be read; if the view is used
    /// for writing, they may be written. That holds while this view, its clones and its parts are used, and until every
    /// request that uses one of them has ended. Meanwhile nobody else changes what is read, nor reads or changes what
    /// is written.
    #[inline(always)]
    pub unsafe fn new(start: *const u8, count: i64, of: Rc<Datatype>) -> Result<Memory> {
        ensure!(count >= 0, ErrorClass::Count, "a count of {count}");
        ensure!(of.is_committed(), ErrorClass::Type, "the datatype was not committed");
        let missing = start.is_null() && count > 0 && of.size() > 0 && of.true_lower() == 0;
        ensure!(!missing, ErrorClass::Buffer, "the buffer is a null pointer");
        let size = of.size();
        let fits = count.checked_mul(size).is_some_and(|bytes| bytes <= MOST_BYTES);
        ensure!(fits, ErrorClass::Count, "{count} elements of {size} bytes are too many");
        Ok(Memory { start: start.cast_mut(), count, of })
    }

    /// As [`new`](Memory::new), with arguments that were checked before.
    ///
    /// # Safety
    /// As for [`new`](Memory::new).
    #[inline]
    pub(crate) unsafe fn unchecked(start: *const u8, count: i64, of: Rc<Datatype>) -> Memory {
        Memory { start: start.cast_mut(), count, of }
    }

    /// Returns the address with which it was created. The first byte of data need not lie there.
    #[inline]
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// Returns the number of elements.
    #[inline]
    pub fn count(&self) -> i64 {
        self.count
    }

    /// Returns their datatype.
    #[inline]
    pub fn of(&self) -> &Rc<Datatype> {
        &self.of
    }

    /// Returns the length of the data.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        (self.count * self.of.size()) as usize
    }

    /// Returns the address of the data, if they lie in one piece. Without data it is some non-null address, as slices
    /// require.
    #[inline(always)]
    pub fn in_one_piece(&self) -> Option<*mut u8> {
        if self.bytes() == 0 {
            return Some(std::ptr::dangling_mut());
        }
        if self.of.is_dense() {
            return Some(self.start);
        }
        match self.of.runs() {
            [run] if self.count == 1 => Some(self.start.wrapping_offset(run.offset as isize)),
            _ => None,
        }
    }

    /// Lends the data to a fabric for reading, if they lie in one piece.
    #[inline(always)]
    pub fn readable(&self) -> Option<Readable> {
        let start = self.in_one_piece()?;
        // SAFETY: the promise of `new`.
        Some(unsafe { Readable::new(start, self.bytes()) })
    }

    /// Lends the data to a fabric for writing, if they lie in one piece.
    #[inline(always)]
    pub fn writable(&self) -> Option<Writable> {
        let start = self.in_one_piece()?;
        // SAFETY: the promise of `new`.
        Some(unsafe { Writable::new(start, self.bytes()) })
    }

    /// Returns whether it and another are the same elements at the same place. One address may stand for two places:
    /// with absolute types the datatypes distinguish them.
    pub fn is_same_as(&self, other: &Memory) -> bool {
        self.start == other.start && self.count == other.count && Rc::ptr_eq(&self.of, &other.of)
    }

    /// Returns whether it and another overlap, as far as that is known without checking every element: for data in one
    /// piece, and for the same buffer of the same type.
    #[inline]
    pub fn overlaps(&self, other: &Memory) -> bool {
        let (bytes, others) = (self.bytes(), other.bytes());
        if bytes == 0 || others == 0 {
            return false;
        }
        match (self.in_one_piece(), other.in_one_piece()) {
            (Some(one), Some(two)) => {
                let (one, two) = (one as usize, two as usize);
                one < two.wrapping_add(others) && two < one.wrapping_add(bytes)
            }
            _ => self.start == other.start && Rc::ptr_eq(&self.of, &other.of),
        }
    }

    /// Returns a part of it: `count` elements from element `first` on.
    pub fn part(&self, first: i64, count: i64) -> Memory {
        debug_assert!(first >= 0 && count >= 0 && first + count <= self.count);
        let start = self.start.wrapping_offset((first * self.of.extent()) as isize);
        Memory { start, count, of: self.of.clone() }
    }

    /// Calls `with` for each piece of the data in order, until it returns false.
    fn pieces(&self, mut with: impl FnMut(*mut u8, usize) -> bool) {
        if let Some(start) = self.in_one_piece() {
            with(start, self.bytes());
            return;
        }
        for index in 0..self.count {
            for run in self.of.runs() {
                let offset = index * self.of.extent() + run.offset;
                if !with(self.start.wrapping_offset(offset as isize), run.bytes() as usize) {
                    return;
                }
            }
        }
    }

    /// # Safety
    /// `to` has room for the data.
    unsafe fn pack(&self, to: *mut u8) {
        let mut done = 0;
        self.pieces(|piece, bytes| {
            // SAFETY: the promise of `new`, and our caller's.
            unsafe { std::ptr::copy(piece, to.add(done), bytes) };
            done += bytes;
            true
        });
    }

    /// # Safety
    /// `from` has `bytes` bytes.
    unsafe fn unpack(&self, from: *const u8, bytes: usize) {
        let mut done = 0;
        self.pieces(|piece, room| {
            let here = room.min(bytes - done);
            // SAFETY: the promise of `new`, and our caller's.
            unsafe { std::ptr::copy(from.add(done), piece, here) };
            done += here;
            done < bytes
        });
    }

    /// Copies the data to `to`.
    ///
    /// # Panics
    /// If `to` is shorter than the data.
    pub fn pack_into(&self, to: &mut [u8]) {
        assert!(to.len() >= self.bytes());
        // SAFETY: just checked.
        unsafe { self.pack(to.as_mut_ptr()) };
    }

    /// Returns a copy of the data.
    pub fn packed(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes()];
        self.pack_into(&mut bytes);
        bytes
    }

    /// Copies data from `from`, as much as there is, or as there is room for.
    pub fn unpack_from(&self, from: &[u8]) {
        let bytes = from.len().min(self.bytes());
        // SAFETY: `from` has these bytes.
        unsafe { self.unpack(from.as_ptr(), bytes) };
    }

    /// Calls `read` with the data in one piece: themselves, or a packed copy.
    pub(crate) fn with_data<R>(&self, read: impl FnOnce(&[u8]) -> R) -> R {
        match self.readable() {
            Some(data) => read(data.as_slice()),
            None => read(&self.packed()),
        }
    }

    /// Lets `write` fill the beginning of the data and return the filled length.
    pub(crate) fn fill(&self, write: impl FnOnce(&mut [u8]) -> Result<usize>) -> Result<usize> {
        if let Some(mut room) = self.writable() {
            return write(room.part_mut(0..self.bytes()));
        }
        let mut room = vec![0; self.bytes()];
        let written = write(&mut room)?;
        self.unpack_from(&room[..written]);
        Ok(written)
    }

    /// Copies from memory of another layout but the same data, up to the shorter length.
    pub fn copy_from(&self, from: &Memory) {
        match (from.in_one_piece(), self.in_one_piece()) {
            // SAFETY: no more is read than there is.
            (Some(start), _) => unsafe { self.unpack(start, from.bytes().min(self.bytes())) },
            // SAFETY: there is room for all of it.
            (None, Some(start)) if from.bytes() <= self.bytes() => unsafe { from.pack(start) },
            _ => self.unpack_from(&from.packed()),
        }
    }
}
