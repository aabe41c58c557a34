//! Datatypes: which bytes of memory a message is made of.
//!
//! A type is kept flat, as runs of equal elements in the order of its type map; runs that follow each other are one.

mod create;
pub(crate) mod kind;
mod pack;
mod portable;
mod query;
mod select;

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int, c_void};
use std::rc::Rc;

pub(crate) use create::*;
pub(crate) use kind::Kind;
pub(crate) use pack::{Memory, pack, pack_size, unpack};
pub(crate) use portable::*;
pub(crate) use query::*;
pub(crate) use select::*;

use crate::abi::*;
use crate::attribute::Attributes;
use crate::failure::{Result, ensure, error_of};
use crate::handle::Table;
use crate::process::process;

/// Equal elements, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// From the address that a call is given, in bytes.
    pub(crate) offset: i64,
    pub(crate) kind: Kind,
    pub(crate) count: i64,
}

impl Run {
    pub(crate) fn bytes(&self) -> i64 {
        self.count * self.kind.bytes()
    }
}

/// The most runs that a type may have: more, and the list alone takes gigabytes.
const MOST_RUNS: i64 = 1 << 26;

/// A datatype. All lengths are in bytes.
pub(crate) struct Type {
    pub(crate) runs: Vec<Run>,
    /// Of the data in one.
    pub(crate) size: i64,
    pub(crate) lower: i64,
    /// From one to the next in an array.
    pub(crate) extent: i64,
    /// Where the data begins and how far it goes.
    pub(crate) true_lower: i64,
    pub(crate) true_extent: i64,
    alignment: i64,
    /// Whether its bounds were set by hand, so that nothing pads them.
    fixed_bounds: bool,
    /// Whether it has more runs than were kept, so that it is of no use.
    pub(crate) too_many_runs: bool,
    /// Whether an array of them is nothing but data without a gap, from the address on.
    pub(crate) dense: bool,
    made: Making,
    committed: Cell<bool>,
    name: RefCell<String>,
    pub(crate) attributes: Attributes,
}

/// How a type was made, for programs that ask.
#[derive(Clone)]
pub(crate) struct Making {
    combiner: c_int,
    integers: Vec<i64>,
    addresses: Vec<i64>,
    types: Vec<(Datatype, Rc<Type>)>,
}

impl Making {
    pub(crate) fn new(combiner: c_int) -> Self {
        Making { combiner, integers: vec![], addresses: vec![], types: vec![] }
    }
}

/// Collects the runs and bounds of a type under construction.
pub(crate) struct Builder {
    runs: Vec<Run>,
    lower: i64,
    upper: i64,
    any: bool,
    alignment: i64,
    fixed_bounds: bool,
    too_many_runs: bool,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Builder {
            runs: vec![],
            lower: 0,
            upper: 0,
            any: false,
            alignment: 1,
            fixed_bounds: false,
            too_many_runs: false,
        }
    }

    fn push(&mut self, run: Run) {
        if run.count == 0 {
            return;
        }
        if let Some(last) = self.runs.last_mut()
            && last.kind == run.kind
            && last.offset + last.bytes() == run.offset
        {
            last.count += run.count;
            return;
        }
        self.runs.push(run);
    }

    /// Adds `count` copies of `part`, the first at `offset`.
    pub(crate) fn add(&mut self, offset: i64, count: i64, part: &Type) {
        if count == 0 {
            return;
        }
        let as_one = part.is_one_run();
        let more = part.pieces(count);
        let room = MOST_RUNS - self.runs.len() as i64;
        self.too_many_runs |= part.too_many_runs || more > room;
        if self.too_many_runs {
            // What is made of it is refused, so nothing need be kept.
        } else if as_one {
            self.push(Run { offset, count: count * part.runs[0].count, ..part.runs[0] });
        } else {
            for index in 0..count {
                for run in &part.runs {
                    self.push(Run { offset: offset + index * part.extent + run.offset, ..*run });
                }
            }
        }
        let far = (count - 1) * part.extent;
        let lower = offset + part.lower + far.min(0);
        let upper = offset + part.lower + part.extent + far.max(0);
        self.lower = if self.any { self.lower.min(lower) } else { lower };
        self.upper = if self.any { self.upper.max(upper) } else { upper };
        self.any = true;
        self.alignment = self.alignment.max(part.alignment);
        self.fixed_bounds |= part.fixed_bounds;
    }

    /// Lengthens the extent to where C would put the next structure.
    pub(crate) fn pad(&mut self) {
        if !self.fixed_bounds {
            let extent = self.upper - self.lower;
            self.upper =
                self.lower + (extent + self.alignment - 1) / self.alignment * self.alignment;
        }
    }

    pub(crate) fn set_bounds(&mut self, lower: i64, extent: i64) {
        (self.lower, self.upper, self.fixed_bounds) = (lower, lower + extent, true);
    }

    pub(crate) fn finish(self, made: Making) -> Type {
        let size = self.runs.iter().map(Run::bytes).sum();
        let first = self.runs.iter().map(|run| run.offset).min().unwrap_or(0);
        let last = self.runs.iter().map(|run| run.offset + run.bytes()).max().unwrap_or(0);
        let extent = self.upper - self.lower;
        Type {
            dense: self.runs.len() <= 1 && first == 0 && size == extent,
            runs: self.runs,
            size,
            lower: self.lower,
            extent,
            true_lower: first,
            true_extent: last - first,
            alignment: self.alignment,
            fixed_bounds: self.fixed_bounds,
            too_many_runs: self.too_many_runs,
            made,
            committed: Cell::new(false),
            name: RefCell::default(),
            attributes: Attributes::default(),
        }
    }
}

impl Type {
    /// One basic element.
    fn basic(kind: Kind) -> Type {
        let mut builder = Builder::new();
        builder.push(Run { offset: 0, kind, count: 1 });
        builder.alignment = kind.alignment();
        builder.upper = kind.bytes();
        let one = builder.finish(Making::new(COMBINER_NAMED));
        one.committed.set(true);
        one
    }

    /// A structure of two basic elements, as C lays it out.
    fn pair(value: Kind, index: Kind) -> Type {
        let place = (value.bytes() + index.alignment() - 1) / index.alignment() * index.alignment();
        let mut builder = Builder::new();
        builder.add(0, 1, &Type::basic(value));
        builder.add(place, 1, &Type::basic(index));
        builder.pad();
        let both = builder.finish(Making::new(COMBINER_NAMED));
        both.committed.set(true);
        both
    }

    /// Whether an array of them is one run.
    fn is_one_run(&self) -> bool {
        self.dense && self.runs.len() == 1
    }

    /// How many runs `count` of them are.
    fn pieces(&self, count: i64) -> i64 {
        if self.is_one_run() { 1 } else { count.saturating_mul(self.runs.len() as i64) }
    }

    /// The only kind of element, if there is but one.
    pub(crate) fn only_kind(&self) -> Option<Kind> {
        let first = self.runs.first()?.kind;
        self.runs.iter().all(|run| run.kind == first).then_some(first)
    }

    #[inline]
    pub(crate) fn is_committed(&self) -> bool {
        self.committed.get()
    }

    fn elements_in_one(&self) -> i64 {
        self.runs.iter().map(|run| run.count).sum()
    }

    /// How many basic elements `bytes` bytes of such data hold; none if they end inside of one.
    pub(crate) fn elements_in(&self, bytes: i64) -> Option<i64> {
        if self.size == 0 {
            return (bytes == 0).then_some(0);
        }
        let mut elements = bytes / self.size * self.elements_in_one();
        let mut left = bytes % self.size;
        for run in &self.runs {
            let here = left.min(run.bytes());
            if here % run.kind.bytes() != 0 {
                return None;
            }
            elements += here / run.kind.bytes();
            left -= here;
        }
        Some(elements)
    }

    pub(crate) fn bytes_of_elements(&self, elements: i64) -> i64 {
        let each = self.elements_in_one();
        if each == 0 {
            return 0;
        }
        let mut bytes = elements / each * self.size;
        let mut left = elements % each;
        for run in &self.runs {
            let here = left.min(run.count);
            bytes += here * run.kind.bytes();
            left -= here;
        }
        bytes
    }
}

pub(crate) fn predefine(table: &mut Table<Rc<Type>>) {
    let types = kind::BASIC.iter().map(|&(handle, kind)| (handle, Type::basic(kind)));
    let pairs = kind::PAIRS.iter().map(|&(handle, one, two)| (handle, Type::pair(one, two)));
    for (handle, made) in types.chain(pairs) {
        let name = TYPE_NAMES.iter().find(|(known, _)| *known == handle);
        *made.name.borrow_mut() = name.map_or_else(String::new, |(_, name)| (*name).into());
        table.predefine(handle, Rc::new(made));
    }
}

/// The type behind a handle.
#[inline]
pub(crate) fn get(datatype: Datatype) -> Result<Rc<Type>> {
    let found = process().types.borrow().get(datatype).cloned();
    found.ok_or_else(|| error_of(ERR_TYPE, "not a datatype"))
}

/// The type behind a handle, if messages may be made of it.
#[inline]
pub(crate) fn get_committed(datatype: Datatype) -> Result<Rc<Type>> {
    let found = get(datatype)?;
    ensure!(found.committed.get(), ERR_TYPE, "the datatype was not committed");
    Ok(found)
}

pub(crate) unsafe fn commit(datatype: *mut Datatype) -> Result {
    get(*datatype)?.committed.set(true);
    Ok(())
}

pub(crate) unsafe fn free(datatype: *mut Datatype) -> Result {
    let object = get(*datatype)?;
    let predefined = Table::<()>::is_predefined(*datatype);
    ensure!(!predefined, ERR_TYPE, "a predefined datatype cannot be freed");
    object.attributes.clear(crate::attribute::For::Datatype, datatype.read().0)?;
    process().types.borrow_mut().remove(*datatype);
    *datatype = DATATYPE_NULL;
    Ok(())
}

pub(crate) unsafe fn set_name(datatype: Datatype, name: *const c_char) -> Result {
    let object = get(datatype)?;
    *object.name.borrow_mut() = crate::text::read(name)?;
    Ok(())
}

pub(crate) unsafe fn get_name(datatype: Datatype, name: *mut c_char, length: *mut c_int) -> Result {
    if datatype == DATATYPE_NULL {
        crate::text::write("MPI_DATATYPE_NULL", name, MAX_OBJECT_NAME, length);
        return Ok(());
    }
    let object = get(datatype)?;
    crate::text::write(&object.name.borrow(), name, MAX_OBJECT_NAME, length);
    Ok(())
}

/// MPI_Get_address.
pub(crate) unsafe fn get_address(location: *const c_void, address: *mut i64) -> Result {
    *address = location as i64;
    Ok(())
}

/// MPI_Aint_add.
pub(crate) fn address_add(base: i64, displacement: i64) -> i64 {
    base.wrapping_add(displacement)
}

/// MPI_Aint_diff.
pub(crate) fn address_difference(one: i64, other: i64) -> i64 {
    one.wrapping_sub(other)
}
