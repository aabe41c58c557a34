//! The arguments of calls, as far as this library needs them.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use profile::AccessKind;

use crate::abi::*;
use crate::mpi;

/// The called function, and its return address.
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
    many: Option<Many>,
    is_each: bool,
    /// True if the parts are for the members of this rank's group, even if messages go to another group.
    pub(crate) is_of_group: bool,
    /// True if they are those of all ranks but the root, or but the first if there is no root.
    pub(crate) is_of_others: bool,
}

/// The parts of a collective with different parts.
#[derive(Clone, Copy)]
struct Many {
    counts: Numbers,
    displacements: Displacements,
    /// The datatype of each; null if all have the same.
    types: *const Datatype,
}

/// The beginning of each part.
#[derive(Clone, Copy)]
enum Displacements {
    /// Parts follow each other.
    None,
    Elements(Numbers),
    Bytes(Numbers),
    /// Only the part of this rank exists, and is at the beginning.
    Own(c_int),
}

/// Elements of one datatype.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) start: *const c_void,
    pub(crate) count: i64,
    pub(crate) datatype: Datatype,
    pub(crate) displacement: i64,
    /// True if the displacement counts elements, not bytes.
    pub(crate) in_elements: bool,
}

/// Counts or displacements, one for each part.
#[derive(Clone, Copy)]
pub(crate) enum Numbers {
    Small(*const c_int),
    Large(*const i64),
}

impl Numbers {
    /// Returns a number.
    ///
    /// # Safety
    /// There is a number with this index.
    #[inline]
    unsafe fn get(self, index: usize) -> i64 {
        match self {
            Numbers::Small(numbers) => i64::from(numbers.add(index).read()),
            Numbers::Large(numbers) => numbers.add(index).read(),
        }
    }
}

impl From<*const c_int> for Numbers {
    fn from(numbers: *const c_int) -> Self {
        Numbers::Small(numbers)
    }
}

impl From<*const i64> for Numbers {
    fn from(numbers: *const i64) -> Self {
        Numbers::Large(numbers)
    }
}

/// The other end of a message, from the program's arguments.
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

/// Memory of a rank of a window, as a call names it, and what the call does with it.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(crate) rank: c_int,
    pub(crate) displacement: i64,
    pub(crate) count: i64,
    pub(crate) datatype: Datatype,
    pub(crate) kind: AccessKind,
}

impl At {
    #[inline(always)]
    pub(crate) fn put(
        rank: c_int,
        displacement: i64,
        count: impl Into<i64>,
        datatype: Datatype,
    ) -> Self {
        At { rank, displacement, count: count.into(), datatype, kind: AccessKind::Put }
    }

    #[inline(always)]
    pub(crate) fn get(
        rank: c_int,
        displacement: i64,
        count: impl Into<i64>,
        datatype: Datatype,
    ) -> Self {
        At { kind: AccessKind::Get, ..At::put(rank, displacement, count, datatype) }
    }

    /// Creates the place of an operation on elements. A compare-and-swap, without an operation, may be concurrent with all.
    #[inline(always)]
    pub(crate) fn combine(
        op: Op,
        rank: c_int,
        displacement: i64,
        count: impl Into<i64>,
        datatype: Datatype,
    ) -> Self {
        let of = if datatype < DATATYPES_END { datatype as u16 } else { 0 };
        let operation = if op == OP_NULL { 0 } else { op as u8 };
        let kind = AccessKind::Combine(operation, of);
        At { kind, ..At::put(rank, displacement, count, datatype) }
    }
}

/// The root of a collective, and whether only the root contributes data.
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
        let (start, count) = (start.cast(), count.into());
        Data {
            start,
            count,
            datatype,
            many: None,
            is_each: false,
            is_of_group: false,
            is_of_others: false,
        }
    }

    pub(crate) fn none() -> Self {
        Data::new(std::ptr::null::<c_void>(), 0, DATATYPE_NULL)
    }

    fn with(self, counts: impl Into<Numbers>, displacements: Displacements) -> Self {
        let counts = counts.into();
        let many = Many { counts, displacements, types: std::ptr::null() };
        Data { many: Some(many), ..self }
    }

    /// Creates parts for all ranks with different counts, at displacements in elements.
    pub(crate) fn of_all(
        start: *const c_void,
        counts: impl Into<Numbers>,
        displacements: impl Into<Numbers>,
        datatype: Datatype,
    ) -> Self {
        let displacements = Displacements::Elements(displacements.into());
        Data::new(start, 0, datatype).with(counts, displacements).or_none()
    }

    /// Creates parts for all ranks with different counts, one after the other.
    pub(crate) fn in_turn(
        start: *const c_void,
        counts: impl Into<Numbers>,
        datatype: Datatype,
    ) -> Self {
        Data::new(start, 0, datatype).with(counts, Displacements::None).of_group()
    }

    /// Creates this rank's part, from counts for all. The rank is set later: see [`Data::with_own`].
    pub(crate) fn own_of(
        start: *const c_void,
        counts: impl Into<Numbers>,
        datatype: Datatype,
    ) -> Self {
        Data::new(start, 0, datatype).with(counts, Displacements::Own(0)).of_group()
    }

    /// Creates parts for all ranks with different counts and datatypes, at displacements in bytes.
    pub(crate) fn of_types(
        start: *const c_void,
        counts: impl Into<Numbers>,
        displacements: impl Into<Numbers>,
        types: *const Datatype,
    ) -> Self {
        let displacements = Displacements::Bytes(displacements.into());
        let many = Many { counts: counts.into(), displacements, types };
        Data { many: Some(many), ..Data::new(start, 0, DATATYPE_NULL) }.or_none()
    }

    fn is_in_place(&self) -> bool {
        self.start as usize == IN_PLACE
    }

    /// Replaces count and type by the given ones, if the data are MPI_IN_PLACE.
    pub(crate) fn or(self, count: impl Into<i64>, datatype: Datatype) -> Self {
        if self.is_in_place() { Data::new(self.start, count, datatype) } else { self }
    }

    /// Returns no data, if the data are MPI_IN_PLACE.
    pub(crate) fn or_none(self) -> Self {
        if self.is_in_place() { Data::none() } else { self }
    }

    /// Marks the count as that for each member.
    pub(crate) fn each(self) -> Self {
        Data { is_each: true, ..self }
    }

    /// Marks the parts as those for the members of this rank's group.
    pub(crate) fn of_group(self) -> Self {
        Data { is_of_group: true, ..self }
    }

    /// Marks the data as those of all ranks but the root, or but the first if there is no root.
    pub(crate) fn of_others(self) -> Self {
        Data { is_of_others: true, ..self }
    }

    /// Sets the rank of this rank, which [`Data::own_of`] needs.
    pub(crate) fn with_own(mut self, rank: c_int) -> Self {
        if let Some(Many { displacements: Displacements::Own(own), .. }) = &mut self.many {
            *own = rank;
        }
        self
    }

    /// Passes on the parts. There are `members` of them if they differ.
    ///
    /// # Safety
    /// The arrays have a number for each.
    pub(crate) unsafe fn each_part(&self, members: u32, mut each: impl FnMut(Part)) {
        let Data { start, count, datatype, .. } = *self;
        let part = Part { start, count, datatype, displacement: 0, in_elements: true };
        let Some(Many { counts, displacements, types }) = self.many else {
            let times = if self.is_each { i64::from(members) } else { 1 };
            return each(Part { count: count.saturating_mul(times), ..part });
        };
        let mut before = 0;
        for member in 0..members as usize {
            let mut part = Part { count: counts.get(member), ..part };
            if !types.is_null() {
                part.datatype = types.add(member).read();
            }
            match displacements {
                Displacements::None => part.displacement = before,
                Displacements::Elements(all) => part.displacement = all.get(member),
                Displacements::Bytes(all) => {
                    (part.displacement, part.in_elements) = (all.get(member), false);
                }
                Displacements::Own(own) if own as usize == member => {}
                Displacements::Own(_) => continue,
            }
            before += part.count;
            each(part);
        }
    }

    /// Returns the number of bytes for one member.
    ///
    /// # Safety
    /// The arrays have a number for it.
    pub(crate) unsafe fn bytes_of(&self, member: usize) -> u64 {
        let (count, datatype) = match self.many {
            None => (self.count, self.datatype),
            Some(Many { counts, types, .. }) if types.is_null() => {
                (counts.get(member), self.datatype)
            }
            Some(Many { counts, types, .. }) => (counts.get(member), types.add(member).read()),
        };
        count.max(0) as u64 * size_of(datatype)
    }

    /// Returns the number of bytes, in a communicator with `members` members.
    ///
    /// # Safety
    /// The arrays have a number for each.
    #[inline]
    pub(crate) unsafe fn bytes(&self, members: u32) -> u64 {
        if self.many.is_none() {
            let times = if self.is_each { i64::from(members) } else { 1 };
            return (self.count * times).max(0) as u64 * size_of(self.datatype);
        }
        let mut bytes = 0;
        self.each_part(members, |part| bytes += part.count.max(0) as u64 * size_of(part.datatype));
        bytes
    }
}

/// Sizes of predefined datatypes plus one; 0 if unknown.
static SIZES: [AtomicU32; DATATYPES_END - DATATYPES] =
    [const { AtomicU32::new(0) }; DATATYPES_END - DATATYPES];

/// Returns the bytes of data in an element.
#[inline]
pub(crate) fn size_of(datatype: Datatype) -> u64 {
    let slot = datatype.checked_sub(DATATYPES).and_then(|index| SIZES.get(index));
    let Some(slot) = slot else { return queried_bytes(datatype) };
    // Relaxed: a thread that finds no size gets it from the library.
    match slot.load(Ordering::Relaxed) {
        0 if datatype == DATATYPE_NULL => 0,
        0 => {
            let size = queried_bytes(datatype);
            slot.store(size as u32 + 1, Ordering::Relaxed);
            size
        }
        stored => u64::from(stored) - 1,
    }
}

#[cold]
fn queried_bytes(datatype: Datatype) -> u64 {
    if datatype == 0 {
        return 0;
    }
    let mut size = 0;
    mpi::type_size(datatype, &mut size);
    size.max(0) as u64
}
