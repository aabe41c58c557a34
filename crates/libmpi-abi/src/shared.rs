//! Values of the whole process.

use std::cell::OnceCell;
use std::ops::Deref;

/// A value of the whole process, created at its first use, which may be before MPI_Init.
pub(crate) struct Shared<T> {
    value: OnceCell<T>,
    make: fn() -> T,
}

// SAFETY: at most one thread is in the library at a time. Up to MPI_THREAD_SERIALIZED the program promises that, and
// its own synchronisation orders the accesses of its threads; with MPI_THREAD_MULTIPLE the module `threads` does it.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub(crate) const fn new(make: fn() -> T) -> Self {
        Shared { value: OnceCell::new(), make }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        self.value.get_or_init(self.make)
    }
}
