//! Memory as message buffers have it. A vector that crosses cache lines would be half as fast, for every contender.

/// Room for `count` elements that begins on a page, as message buffers do, and whose every page was written to.
pub(crate) struct Aligned<T>(Vec<T>, usize);

impl<T: Copy> Aligned<T> {
    pub(crate) fn new(count: usize, zero: T) -> Self {
        let mut room = vec![zero; count + 4096 / size_of::<T>()];
        // A zeroed vector is one page of zeros, mapped often, until it is written.
        room.fill(std::hint::black_box(zero));
        let start = room.as_ptr().align_offset(4096);
        room.truncate(start + count);
        Aligned(room, start)
    }

    pub(crate) fn all(&mut self) -> &mut [T] {
        &mut self.0[self.1..]
    }
}
