//! Stacks for very many coroutines, which a simulated machine needs for its ranks.
//!
//! A stack in a mapping of its own and the guard below it are two mappings, of which Linux allows 65 530 a process
//! (`vm.max_map_count`): some 32 700 stacks. Here all stacks are in one mapping, and their guards are markers in its
//! page tables (`MADV_GUARD_INSTALL`, Linux 6.13), which do not split the mapping. If the kernel has no such markers,
//! each stack is a separate mapping. `docs/decisions/0011` has the reasons.

use std::cell::{Cell, RefCell};
use std::io;
use std::num::NonZeroUsize;
use std::ptr::{self, NonNull};
use std::rc::Rc;

use corosensei::stack::{DefaultStack, MIN_STACK_SIZE, Stack, StackPointer};

/// `MADV_GUARD_INSTALL` of linux/mman.h, which the `libc` crate does not have yet.
const MADV_GUARD_INSTALL: libc::c_int = 102;

/// Room for a number of stacks of one size. Clones share it. It is released with the last of them and of its stacks.
#[derive(Clone, Debug)]
pub struct StackPool {
    place: Rc<Place>,
}

/// A stack of a pool, which returns to it when dropped. The page below it faults on any access.
#[derive(Debug)]
pub struct PooledStack(Inner);

/// The reason why there is no stack.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// The address space or the memory has no room for all.
    #[error("no room for {count} stacks of {stack_bytes} bytes: {reason}")]
    NoRoom {
        /// The requested number.
        count: usize,
        /// Size of each in bytes.
        stack_bytes: usize,
        /// The system's words.
        reason: io::Error,
    },
    /// All stacks of the pool are in use.
    #[error("all {count} stacks of the pool are in use")]
    Exhausted {
        /// Number of stacks.
        count: usize,
    },
    /// On this kernel each stack needs separate mappings, and the process may have no more.
    #[error(
        "no further stack of {stack_bytes} bytes: {reason}; before Linux 6.13 each takes two of the mappings that \
         `sysctl vm.max_map_count` allows a process: raise that above twice the number of stacks, or use a newer kernel"
    )]
    NoMapping {
        /// Size of a stack in bytes.
        stack_bytes: usize,
        /// The system's words.
        reason: io::Error,
    },
}

#[derive(Debug)]
enum Place {
    Region(Region),
    /// Each stack is a separate mapping.
    Separate {
        stack_bytes: usize,
    },
}

enum Inner {
    Carved { place: Rc<Place>, number: usize },
    Separate(DefaultStack),
}

/// One mapping, cut into stacks of `stride_bytes`, each with its guard page at the lower end.
#[derive(Debug)]
struct Region {
    start: NonNull<u8>,
    stride_bytes: usize,
    count: usize,
    /// Stacks below this number have been used and have their guard.
    used: Cell<usize>,
    free: RefCell<Vec<usize>>,
}

impl StackPool {
    /// Creates room for `count` stacks of `stack_bytes` bytes, rounded up to whole pages. Only pages that are touched
    /// use memory.
    ///
    /// # Errors
    /// [`StackError::NoRoom`] if the address space has no room for them.
    pub fn new(count: usize, stack_bytes: usize) -> Result<Self, StackError> {
        let no_room = |reason| StackError::NoRoom { count, stack_bytes, reason };
        let place = match Region::map(count, stack_bytes).map_err(no_room)? {
            Some(region) => Place::Region(region),
            None => Place::Separate { stack_bytes },
        };
        Ok(StackPool { place: Rc::new(place) })
    }

    /// As [`new`](Self::new), with each stack in a separate mapping, as on kernels without guard markers.
    #[cfg(test)]
    fn separate(stack_bytes: usize) -> Self {
        StackPool { place: Rc::new(Place::Separate { stack_bytes }) }
    }

    /// Returns whether all stacks are in one mapping, so that no limit of the system counts them.
    pub fn is_one_mapping(&self) -> bool {
        matches!(&*self.place, Place::Region(_))
    }

    /// Takes a stack.
    ///
    /// # Errors
    /// [`StackError::Exhausted`] if all are in use, [`StackError::NoMapping`] if this kernel limits them.
    pub fn take(&self) -> Result<PooledStack, StackError> {
        match &*self.place {
            Place::Region(region) => {
                let number = region.take()?;
                Ok(PooledStack(Inner::Carved { place: Rc::clone(&self.place), number }))
            }
            &Place::Separate { stack_bytes } => DefaultStack::new(stack_bytes)
                .map(|stack| PooledStack(Inner::Separate(stack)))
                .map_err(|reason| StackError::NoMapping { stack_bytes, reason }),
        }
    }
}

impl Region {
    /// Maps room for the stacks. Returns `None` if the kernel has no guard markers.
    fn map(count: usize, stack_bytes: usize) -> io::Result<Option<Self>> {
        let page = page_bytes();
        let stride_bytes = stack_bytes.max(MIN_STACK_SIZE).div_ceil(page) * page + page;
        let bytes = stride_bytes
            .checked_mul(count.max(1))
            .ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory that is in use.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast::<u8>()).expect("the kernel maps nothing at zero");
        // From here on dropping the region unmaps it.
        let (used, free) = (Cell::new(0), RefCell::default());
        let region = Region { start, stride_bytes, count, used, free };
        // SAFETY: the range is the mapping that was just made. Without this advice a stack's first page could take 2
        // MiB. A kernel without huge pages refuses the advice and does not need it.
        unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_NOHUGEPAGE) };
        match region.guard(0) {
            Ok(()) => Ok(Some(region)),
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn take(&self) -> Result<usize, StackError> {
        if let Some(number) = self.free.borrow_mut().pop() {
            return Ok(number);
        }
        let number = self.used.get();
        if number == self.count {
            return Err(StackError::Exhausted { count: self.count });
        }
        self.guard(number).map_err(|reason| StackError::NoRoom {
            count: self.count,
            stack_bytes: self.stride_bytes - page_bytes(),
            reason,
        })?;
        self.used.set(number + 1);
        Ok(number)
    }

    /// Makes the lowest page of a stack fault on any access.
    fn guard(&self, number: usize) -> io::Result<()> {
        let lowest = self.start.as_ptr().wrapping_add(number * self.stride_bytes);
        // SAFETY: the page is in this mapping (number < count or the mapping's first), and it is not in use: it is
        // below the part that the stack of this number may use, and no stack of this number has been handed out.
        let returned = unsafe { libc::madvise(lowest.cast(), page_bytes(), MADV_GUARD_INSTALL) };
        if returned == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Returns the lowest address of a stack, including its guard page.
    fn limit(&self, number: usize) -> usize {
        self.start.as_ptr().addr() + number * self.stride_bytes
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let bytes = self.stride_bytes * self.count.max(1);
        // SAFETY: the mapping is this region's, and no stack of it is left, because each holds the region.
        unsafe { libc::munmap(self.start.as_ptr().cast(), bytes) };
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Inner::Carved { place, number } = self
            && let Place::Region(region) = &**place
        {
            region.free.borrow_mut().push(*number);
        }
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Inner::Carved { number, .. } => write!(f, "stack {number} of its pool"),
            Inner::Separate(_) => write!(f, "a stack in a mapping of its own"),
        }
    }
}

impl PooledStack {
    /// Returns the lowest address, including the guard page, and the address above the highest.
    fn bounds(&self) -> (usize, usize) {
        match &self.0 {
            Inner::Carved { place, number } => match &**place {
                Place::Region(region) => (region.limit(*number), region.limit(*number + 1)),
                Place::Separate { .. } => unreachable!("only a region is carved"),
            },
            Inner::Separate(stack) => (stack.limit().get(), stack.base().get()),
        }
    }
}

/// Returns the length of a page in bytes.
fn page_bytes() -> usize {
    // SAFETY: no memory is involved.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

fn pointer(address: usize) -> StackPointer {
    NonZeroUsize::new(address).expect("nothing is mapped at zero")
}

// SAFETY: the bounds are whole pages of a mapping that lives as long as the stack, which is handed out once at a time.
// `Region::take` has put the guard into its lowest page, and above it there are at least MIN_STACK_SIZE bytes.
unsafe impl Stack for PooledStack {
    fn base(&self) -> StackPointer {
        pointer(self.bounds().1)
    }

    fn limit(&self) -> StackPointer {
        pointer(self.bounds().0)
    }
}

#[cfg(test)]
mod tests;
