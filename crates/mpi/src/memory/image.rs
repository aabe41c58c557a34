//! Elements in memory of the library.

use std::ops::Range;
use std::rc::Rc;

use contract::{Readable, Writable};

use super::storage::Storage;
use super::view::Memory;
use crate::datatype::Datatype;

/// Elements in memory of the library, laid out as a program's, including gaps. Clones and parts share the elements.
///
/// The whole span is transferred, so that elements arrive with their layout.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    storage: Storage,
    memory: Memory,
}

/// Returns the bytes from the first to the last of `count` elements, including gaps, from the address of the elements.
pub(super) fn span(of: &Datatype, count: i64) -> Range<i64> {
    if count == 0 {
        return 0..0;
    }
    // With a negative extent the last element lies first.
    let far = (count - 1) * of.extent();
    let first = of.true_lower() + far.min(0);
    first..first + of.true_extent() + far.abs()
}

impl Image {
    /// Allocates room for `count` elements.
    pub(crate) fn of(count: i64, of: Rc<Datatype>) -> Self {
        let span = span(&of, count);
        let storage = Storage::zeroed((span.end - span.start) as usize);
        let start = storage.start().wrapping_offset(-span.start as isize);
        // SAFETY: the storage holds the whole span, and lasts as long as the image, which nobody takes the view
        // out of.
        let memory = unsafe { Memory::unchecked(start, count, of) };
        Image { storage, memory }
    }

    /// Returns a copy of these elements, as elements of `of`.
    pub(crate) fn copy(memory: &Memory, of: &Rc<Datatype>) -> Self {
        let image = Image::of(memory.count(), of.clone());
        image.memory.copy_from(memory);
        image
    }

    /// Returns the elements.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns `count` elements from element `first` on.
    pub(crate) fn part(&self, first: i64, count: i64) -> Image {
        Image { storage: self.storage.clone(), memory: self.memory.part(first, count) }
    }

    /// Returns the location of the whole span in the storage.
    fn span(&self) -> Range<usize> {
        let before = self.memory.start() as i64 - self.storage.start() as i64;
        let span = span(self.memory.of(), self.memory.count());
        if span.is_empty() {
            return 0..0;
        }
        (before + span.start) as usize..(before + span.end) as usize
    }

    /// Lends the whole span to a fabric for reading.
    pub(crate) fn readable(&self) -> Readable {
        self.storage.readable(self.span())
    }

    /// Lends the whole span to a fabric for writing.
    pub(crate) fn writable(&self) -> Writable {
        self.storage.writable(self.span())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::{Datatype, Kind, Unit};

    /// Creates a type of bytes 1 and 3, with this extent.
    fn gapped(extent: i64) -> Rc<Datatype> {
        let byte = Datatype::basic(Kind::Byte);
        let two = Datatype::indexed(vec![1, 1], vec![1, 3], Unit::Bytes, &byte).unwrap();
        let of = Datatype::resized(0, extent, &two).unwrap();
        of.commit();
        of
    }

    #[test]
    fn a_span_goes_from_the_first_byte_to_the_last() {
        // Three elements: 1 and 3, 4 and 6, 7 and 9; or 1 and 3, -2 and 0, -5 and -3.
        assert_eq!(span(&gapped(3), 3), 1..10);
        assert_eq!(span(&gapped(-3), 3), -5..4);
        assert_eq!(span(&gapped(3), 0), 0..0);
    }

    #[test]
    fn an_image_lies_as_the_original_does() {
        let bytes: Vec<u8> = (0..12).collect();
        for (extent, address, parts) in [(3, 0, [1, 3, 4, 6, 7, 9]), (-3, 6, [7, 9, 4, 6, 1, 3])] {
            // SAFETY: the bytes are only read, and outlive the view; three elements lie within bytes 1 to 10.
            let original =
                unsafe { Memory::new(bytes[address..].as_ptr(), 3, gapped(extent)) }.unwrap();
            let image = Image::copy(&original, original.of());
            assert_eq!((image.memory().packed(), image.readable().bytes()), (parts.to_vec(), 9));
            let span = image.readable();
            assert_eq!(span.as_slice()[..3], [bytes[1], 0, bytes[3]]);
            // The last two elements: two parts of five or six bytes.
            let part = image.part(1, 2);
            assert_eq!((part.memory().packed(), part.readable().bytes()), (parts[2..].to_vec(), 6));
        }
    }
}
