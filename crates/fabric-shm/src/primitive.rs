//! The primitives of the lock-free parts, in one place so that loom can replace them (`RUSTFLAGS="--cfg loom"`): those
//! of the launcher, and memory beside atomics.

#[cfg(loom)]
pub(crate) use launcher::fresh;
pub(crate) use launcher::primitive::*;

pub(crate) use chosen::*;

#[cfg(not(loom))]
mod chosen {
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

    /// Declares a read of memory that other ranks write. Models check that the two cannot meet, and unit tests record
    /// it; elsewhere nothing is done.
    #[inline(always)]
    pub(crate) fn note_read(_start: *const u8, _bytes: usize) {
        #[cfg(test)]
        super::recorded::note(super::recorded::Access {
            is_write: false,
            start: _start,
            bytes: _bytes,
        });
    }

    /// Declares that the lines of some memory are taken from their writer, unchanged.
    #[inline(always)]
    pub(crate) fn note_taken(_: *const u8, _: usize) {}

    /// As [`note_read`], for a write.
    #[inline(always)]
    pub(crate) fn note_write(_start: *const u8, _bytes: usize) {
        #[cfg(test)]
        super::recorded::note(super::recorded::Access {
            is_write: true,
            start: _start,
            bytes: _bytes,
        });
    }
}

/// The accesses that a thread declares.
#[cfg(all(test, not(loom)))]
pub(crate) mod recorded {
    use std::cell::RefCell;

    #[derive(Clone, Copy)]
    pub(crate) struct Access {
        pub(crate) is_write: bool,
        pub(crate) start: *const u8,
        pub(crate) bytes: usize,
    }

    thread_local! {
        static ACCESSES: RefCell<Option<Vec<Access>>> = const { RefCell::new(None) };
    }

    pub(super) fn note(access: Access) {
        ACCESSES.with_borrow_mut(|accesses| {
            if let Some(accesses) = accesses {
                accesses.push(access);
            }
        });
    }

    /// Returns the accesses that `act` declares in this thread.
    pub(crate) fn accesses_of(act: impl FnOnce()) -> Vec<Access> {
        ACCESSES.set(Some(Vec::new()));
        act();
        ACCESSES.take().unwrap_or_default()
    }
}

#[cfg(loom)]
mod chosen {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    pub(crate) use loom::cell::UnsafeCell;

    /// Length of the memory whose accesses one cell of loom follows.
    const WATCHED_BYTES: usize = 64;

    thread_local! {
        /// The cells of watched memory, by its address.
        static WATCHED: RefCell<BTreeMap<usize, Vec<UnsafeCell<()>>>> = RefCell::default();
    }

    /// Begins an execution of a model, in which nothing is watched yet.
    pub(crate) fn watch_nothing() {
        WATCHED.with_borrow_mut(BTreeMap::clear);
    }

    /// Makes loom report accesses to some memory that are not ordered ([`note_read`], [`note_write`]). The caller's own
    /// earlier ones need not be noted.
    pub(crate) fn watch(start: *const u8, bytes: usize) {
        let cells = (0..bytes.div_ceil(WATCHED_BYTES)).map(|_| UnsafeCell::new(())).collect();
        WATCHED.with_borrow_mut(|watched| watched.insert(start.addr(), cells));
    }

    /// Calls `access` with the cells of the memory that is watched.
    fn for_each_watched(start: *const u8, bytes: usize, access: impl Fn(&UnsafeCell<()>)) {
        WATCHED.with_borrow(|watched| {
            let Some((begin, cells)) = watched.range(..=start.addr()).next_back() else { return };
            let first = (start.addr() - begin) / WATCHED_BYTES;
            let end = (start.addr() - begin + bytes).div_ceil(WATCHED_BYTES).min(cells.len());
            cells.iter().take(end).skip(first).for_each(access);
        });
    }

    /// Declares a read of memory that other ranks write.
    pub(crate) fn note_read(start: *const u8, bytes: usize) {
        for_each_watched(start, bytes, |cell| cell.with(|_| ()));
    }

    /// Declares that the lines of some memory are taken from their writer, unchanged. The instruction is a write.
    pub(crate) fn note_taken(start: *const u8, bytes: usize) {
        note_write(start, bytes);
    }

    /// As [`note_read`], for a write.
    pub(crate) fn note_write(start: *const u8, bytes: usize) {
        for_each_watched(start, bytes, |cell| cell.with_mut(|_| ()));
    }
}
