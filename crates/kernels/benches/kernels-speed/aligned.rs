//! Memory aligned as message buffers are. Vectors that cross cache lines would halve the speed of every contender.

/// Room for `count` elements that begins on a page, as message buffers do, with every page written.
pub(crate) struct Aligned<T>(Vec<T>, usize);

impl<T: Copy> Aligned<T> {
    pub(crate) fn new(count: usize, zero: T) -> Self {
        let mut room = vec![zero; count + 4096 / size_of::<T>()];
        // The pages of a zeroed vector are all mapped to one page of zeros until they are written.
        room.fill(std::hint::black_box(zero));
        let start = room.as_ptr().align_offset(4096);
        room.truncate(start + count);
        Aligned(room, start)
    }

    pub(crate) fn all(&mut self) -> &mut [T] {
        &mut self.0[self.1..]
    }
}
