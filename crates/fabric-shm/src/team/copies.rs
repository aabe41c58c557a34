//! Copies to and from slots.

use std::ops::RangeInclusive;

use crate::board::SHORT_BYTES;
use crate::primitive::{note_read, note_write};
use crate::ring::{TAKEN_BYTES, copy_short, take_lines};

/// Consecutive slots, where the first follows the last: memory that continues at its beginning.
#[derive(Clone, Copy)]
pub(super) struct Span {
    /// Start and length of the memory.
    pub(super) start: *mut u8,
    pub(super) bytes: usize,
    /// Start of the span in the memory.
    pub(super) first: *mut u8,
}

impl Span {
    /// Returns the location of byte `offset` of the span, and the number of bytes that follow it there.
    #[inline]
    pub(super) fn at(self, offset: usize) -> (*mut u8, usize) {
        let offset = self.first.addr() - self.start.addr() + offset;
        let offset = if offset < self.bytes { offset } else { offset - self.bytes };
        (self.start.wrapping_add(offset), self.bytes - offset)
    }

    /// Copies `bytes` bytes into the span, from `offset` on.
    ///
    /// # Safety
    /// `from` holds them, and the span, which this rank owns, has room.
    #[inline]
    pub(super) unsafe fn put(self, offset: usize, from: *const u8, bytes: usize) {
        let (to, room) = self.at(offset);
        // SAFETY: the caller promises it; both copies lie within the span's memory.
        unsafe {
            copy(from, to, bytes.min(room));
            if bytes > room {
                note_write(self.start, bytes - room);
                std::ptr::copy_nonoverlapping(from.add(room), self.start, bytes - room);
            }
        }
    }

    /// Copies `bytes` bytes out of the span, from `offset` on.
    ///
    /// # Safety
    /// `to` has room for them, and nobody writes to them.
    #[inline]
    pub(super) unsafe fn take(self, offset: usize, to: *mut u8, bytes: usize) {
        let (from, there) = self.at(offset);
        // SAFETY: the caller promises it; both copies lie within the span's memory.
        unsafe {
            copy(from, to, bytes.min(there));
            if bytes > there {
                note_read(self.start, bytes - there);
                std::ptr::copy_nonoverlapping(self.start, to.add(there), bytes - there);
            }
        }
    }
}

/// Lengths that are copied by one instruction (`rep movsb`), although the C library would use vectors. The instruction
/// takes lines from the other processor without reading them first, while stores wait for each line in turn. See
/// docs/measurements.md#fewer-and-faster-copies.
const STRING_INSTRUCTION_BYTES: RangeInclusive<usize> = 1025..=4096;

/// Copies `bytes` bytes that do not overlap; short ones without a call.
///
/// # Safety
/// Both places hold them.
#[inline]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    note_read(from, bytes);
    note_write(to, bytes);
    // SAFETY: the caller promises it.
    unsafe {
        if bytes <= SHORT_BYTES {
            copy_short(from, to, bytes);
        } else if STRING_INSTRUCTION_BYTES.contains(&bytes) {
            copy_by_string_instruction(from, to, bytes);
        } else {
            std::ptr::copy_nonoverlapping(from, to, bytes);
        }
    }
}

/// Copies `bytes` bytes out of a slot of which this rank is the only reader, and takes ownership of their cache lines
/// ([`take_lines`]). Not needed if members swap places, because the lines change owners then anyway.
///
/// # Safety
/// Both places hold them, and nobody else uses those of the slot before this step has ended.
#[inline]
pub(super) unsafe fn take(from: *const u8, to: *mut u8, bytes: usize) {
    note_read(from, bytes);
    if bytes <= SHORT_BYTES {
        // SAFETY: the caller promises it.
        unsafe { copy_short(from, to, bytes) };
        return;
    }
    for start in (0..bytes).step_by(TAKEN_BYTES) {
        let here = TAKEN_BYTES.min(bytes - start);
        // SAFETY: the caller promises it.
        unsafe {
            take_lines(from.add(start), here);
            std::ptr::copy_nonoverlapping(from.add(start), to.add(start), here);
        }
    }
}

/// Copies by one instruction, on processors that have one.
///
/// # Safety
/// As for [`copy`].
#[inline]
unsafe fn copy_by_string_instruction(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the caller promises it; the direction flag is clear outside of code that sets it.
    unsafe {
        std::arch::asm!(
            "rep movsb",
            inout("rcx") bytes => _,
            inout("rsi") from => _,
            inout("rdi") to => _,
            options(nostack, preserves_flags)
        );
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    // SAFETY: the caller promises it.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_wraps_around_to_the_beginning_of_its_memory() {
        let mut memory = vec![0_u8; 100];
        let start = memory.as_mut_ptr();
        let span = Span { start, bytes: 100, first: start.wrapping_add(90) };
        let data: Vec<u8> = (1..=20).collect();
        let mut back = [0_u8; 20];
        // SAFETY: the span has room for 25 bytes of the hundred, and `back` for 20.
        unsafe {
            span.put(5, data.as_ptr(), 20);
            span.take(5, back.as_mut_ptr(), 20);
        }
        assert_eq!(back[..], data[..]);
        assert_eq!((&memory[95..], &memory[..15]), (&data[..5], &data[5..]));
        assert!(memory[15..95].iter().all(|&byte| byte == 0));
        // SAFETY: as above.
        unsafe { span.put(10, data.as_ptr(), 3) };
        assert_eq!(memory[..3], [1, 2, 3], "a part that begins behind the end");
    }

    #[test]
    fn copies_of_every_way_move_all_bytes_and_no_more() {
        let data: Vec<u8> = (0..5000).map(|index| (index % 251) as u8 + 1).collect();
        for bytes in [0, 1, 48, 49, 1024, 1025, 2048, 4096, 4097] {
            let mut to = vec![0; 5000];
            // SAFETY: both have 5000 bytes, and the copy ends at most at 4100.
            unsafe { copy(data[2..].as_ptr(), to[3..].as_mut_ptr(), bytes) };
            assert_eq!(to[3..3 + bytes], data[2..2 + bytes], "{bytes} bytes");
            assert!(to[..3].iter().chain(&to[3 + bytes..]).all(|&byte| byte == 0));
        }
    }
}
