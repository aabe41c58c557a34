//! The arguments of calls, as far as they matter here.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::abi::*;
use crate::mpi;

/// Which function was called, and where it returns to.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) function: u16,
    pub(crate) address: u64,
}

/// Data in the program's memory.
#[derive(Clone, Copy)]
pub(crate) struct Data {
    pub(crate) start: *const c_void,
    pub(crate) count: i64,
    pub(crate) datatype: Datatype,
    counts: Counts,
    is_each: bool,
}

/// Counts of a collective whose parts differ.
#[derive(Clone, Copy)]
pub(crate) enum Counts {
    /// There is one count.
    None,
    Small(*const c_int),
    Large(*const i64),
}

impl From<*const c_int> for Counts {
    fn from(counts: *const c_int) -> Self {
        Counts::Small(counts)
    }
}

impl From<*const i64> for Counts {
    fn from(counts: *const i64) -> Self {
        Counts::Large(counts)
    }
}

/// The other side of a message, from the program's arguments.
#[derive(Clone, Copy)]
pub(crate) struct To {
    pub(crate) rank: c_int,
    pub(crate) tag: c_int,
    pub(crate) comm: Comm,
}

impl To {
    #[inline(always)]
    pub(crate) fn new(rank: c_int, tag: c_int, comm: Comm) -> Self {
        To { rank, tag, comm }
    }
}

/// The root of a collective, and whether it alone gives data.
#[derive(Clone, Copy)]
pub(crate) struct Root {
    pub(crate) rank: Option<c_int>,
    pub(crate) gives: bool,
}

impl Root {
    pub(crate) fn none() -> Self {
        Root { rank: None, gives: false }
    }

    pub(crate) fn gives(rank: c_int) -> Self {
        Root { rank: Some(rank), gives: true }
    }

    pub(crate) fn takes(rank: c_int) -> Self {
        Root { rank: Some(rank), gives: false }
    }
}

impl Data {
    #[inline(always)]
    pub(crate) fn new<T>(start: *const T, count: impl Into<i64>, datatype: Datatype) -> Self {
        let (start, count, counts) = (start.cast(), count.into(), Counts::None);
        Data { start, count, datatype, counts, is_each: false }
    }

    pub(crate) fn none() -> Self {
        Data::new(std::ptr::null::<c_void>(), 0, DATATYPE_NULL)
    }

    /// Parts for all, whose counts differ.
    pub(crate) fn of_all(
        start: *const c_void,
        counts: impl Into<Counts>,
        datatype: Datatype,
    ) -> Self {
        let data = Data { counts: counts.into(), ..Data::new(start, 0, datatype) };
        if data.is_in_place() { Data::none() } else { data }
    }

    fn is_in_place(&self) -> bool {
        self.start as usize == IN_PLACE
    }

    /// The other count and type, if these say nothing.
    pub(crate) fn or(self, count: impl Into<i64>, datatype: Datatype) -> Self {
        if self.is_in_place() { Data::new(self.start, count, datatype) } else { self }
    }

    /// Nothing, if these say nothing.
    pub(crate) fn or_none(self) -> Self {
        if self.is_in_place() { Data::none() } else { self }
    }

    /// So much for each member.
    pub(crate) fn each(self) -> Self {
        Data { is_each: true, ..self }
    }

    /// The number of bytes, in a communicator with this number of members.
    ///
    /// # Safety
    /// The arrays of counts hold a count for each.
    #[inline]
    pub(crate) unsafe fn bytes(&self, members: u32) -> u64 {
        let count = match self.counts {
            Counts::None if self.is_each => self.count * i64::from(members),
            Counts::None => self.count,
            Counts::Small(counts) => {
                (0..members as usize).map(|one| i64::from(counts.add(one).read())).sum()
            }
            Counts::Large(counts) => (0..members as usize).map(|one| counts.add(one).read()).sum(),
        };
        count.max(0) as u64 * size_of(self.datatype)
    }
}

/// Sizes of predefined datatypes and one more; 0 if not known yet.
static SIZES: [AtomicU32; DATATYPES_END - DATATYPES] =
    [const { AtomicU32::new(0) }; DATATYPES_END - DATATYPES];

/// The bytes of data in an element.
#[inline]
pub(crate) fn size_of(datatype: Datatype) -> u64 {
    let slot = datatype.checked_sub(DATATYPES).and_then(|index| SIZES.get(index));
    let Some(slot) = slot else { return asked(datatype) };
    // Relaxed: a thread that finds no size asks for it.
    match slot.load(Ordering::Relaxed) {
        0 if datatype == DATATYPE_NULL => 0,
        0 => {
            let size = asked(datatype);
            slot.store(size as u32 + 1, Ordering::Relaxed);
            size
        }
        known => u64::from(known) - 1,
    }
}

#[cold]
fn asked(datatype: Datatype) -> u64 {
    if datatype == 0 {
        return 0;
    }
    let mut size = 0;
    mpi::type_size(datatype, &mut size);
    size.max(0) as u64
}
