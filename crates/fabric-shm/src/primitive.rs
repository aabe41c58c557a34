//! The primitives of the lock-free parts, in one place so that loom can replace them (`RUSTFLAGS="--cfg loom"`).

#[cfg(not(loom))]
mod chosen {
    pub(crate) use std::hint::spin_loop;
    pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

    pub(crate) use crate::system::{futex_wait, futex_wake, yield_processor};

    /// Memory that one side writes and the other reads, in turns that an atomic beside it governs.
    #[repr(transparent)]
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        #[cfg(test)]
        pub(crate) fn new(value: T) -> Self {
            UnsafeCell(std::cell::UnsafeCell::new(value))
        }

        #[inline]
        pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }

        #[inline]
        pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}

#[cfg(loom)]
mod chosen {
    use std::time::Duration;

    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::hint::spin_loop;
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
    pub(crate) use loom::thread::yield_now as yield_processor;

    /// A sleep that only a changed word ends: a lost wake-up shows as a thread that never continues.
    pub(crate) fn futex_wait(word: &AtomicU32, value: u32, _: Duration) -> bool {
        while word.load(Ordering::Relaxed) == value {
            yield_processor();
        }
        false
    }

    pub(crate) fn futex_wake(_: &AtomicU32, _: i32) {}
}

pub(crate) use chosen::*;
