//! Memory for the rooms that still work with pointers.

use std::ffi::c_void;
use std::rc::Rc;

use mpi::Datatype as Type;

use crate::abi::*;
use crate::failure::Result;

/// Some memory of the user, seen through a datatype.
#[derive(Clone)]
pub(crate) struct Memory {
    pub(crate) start: *mut u8,
    pub(crate) count: i64,
    pub(crate) of: Rc<Type>,
}

impl Memory {
    /// Checks a buffer argument.
    #[inline]
    pub(crate) fn new(start: *const c_void, count: i64, datatype: Datatype) -> Result<Memory> {
        // SAFETY: only the checks are wanted; what is done with the memory later is unsafe.
        let checked = unsafe { super::memory(start, count, datatype) }?;
        Ok(Memory { start: checked.start(), count, of: checked.of().clone() })
    }

    /// The same memory as crate `mpi` has it.
    ///
    /// # Safety
    /// As of [`mpi::Memory::new`].
    pub(crate) unsafe fn promised(&self) -> mpi::Memory {
        mpi::Memory::new(self.start, self.count, self.of.clone()).expect("checked before")
    }

    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        (self.count * self.of.size()) as usize
    }

    /// Where the data lies, if it lies in one piece. Of no data that is a place that is never null, as slices want it.
    #[inline]
    pub(crate) fn in_one_piece(&self) -> Option<*mut u8> {
        if self.bytes() == 0 {
            return Some(std::ptr::dangling_mut());
        }
        if self.of.is_dense() {
            return Some(self.start);
        }
        let single = self.count == 1 && self.of.runs().len() == 1;
        single.then(|| self.start.wrapping_offset(self.of.runs()[0].offset as isize))
    }

    /// Whether it and another have bytes in common, as far as can be told without looking at every element: for data in one
    /// piece, and for the same buffer of the same type.
    pub(crate) fn overlaps(&self, other: &Memory) -> bool {
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

    /// A part of it: `count` elements from element `first` on.
    pub(crate) fn part(&self, first: i64, count: i64) -> Memory {
        let start = self.start.wrapping_offset((first * self.of.extent()) as isize);
        Memory { start, count, of: self.of.clone() }
    }

    /// Calls `with` for each piece of the data in its order, until that says no.
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

    /// Copies the data out.
    ///
    /// # Safety
    /// The memory is what the datatype says, and `to` has room for its bytes.
    pub(crate) unsafe fn pack(&self, to: *mut u8) {
        let mut done = 0;
        self.pieces(|piece, bytes| {
            // SAFETY: our caller's promise.
            unsafe { std::ptr::copy(piece, to.add(done), bytes) };
            done += bytes;
            true
        });
    }

    /// Copies the data out, into a buffer of its own.
    ///
    /// # Safety
    /// The memory is what the datatype says.
    pub(crate) unsafe fn packed(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes()];
        self.pack(bytes.as_mut_ptr());
        bytes
    }

    /// Copies data in, as much as there is.
    ///
    /// # Safety
    /// The memory is what the datatype says, and `from` has `bytes` bytes.
    pub(crate) unsafe fn unpack(&self, from: *const u8, bytes: usize) {
        let mut done = 0;
        self.pieces(|piece, room| {
            let here = room.min(bytes - done);
            // SAFETY: our caller's promise.
            unsafe { std::ptr::copy(from.add(done), piece, here) };
            done += here;
            done < bytes
        });
    }

    /// Copies from memory of another shape but the same data, as far as both go.
    ///
    /// # Safety
    /// Both are what their datatypes say.
    pub(crate) unsafe fn copy_from(&self, from: &Memory) {
        match (from.in_one_piece(), self.in_one_piece()) {
            (Some(start), _) => self.unpack(start, from.bytes().min(self.bytes())),
            (None, Some(start)) if from.bytes() <= self.bytes() => from.pack(start),
            _ => {
                let packed = from.packed();
                self.unpack(packed.as_ptr(), packed.len().min(self.bytes()));
            }
        }
    }
}
