//! The constructors of datatypes.

use std::ffi::c_int;
use std::rc::Rc;

use super::{Builder, MOST_RUNS, Making, Type, get};
use crate::abi::*;
use crate::failure::{Result, ensure};
use crate::numbers::Numbers;
use crate::process::process;

/// Gives a new type its handle.
pub(super) fn register(made: Type) -> Result<Datatype> {
    ensure!(!made.too_many_runs, ERR_NO_MEM, "a datatype of more than {MOST_RUNS} separate pieces");
    Ok(process().types.borrow_mut().add(Rc::new(made)))
}

fn check_count(count: i64) -> Result<usize> {
    ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    Ok(count as usize)
}

impl Making {
    /// With one type, as most have it.
    pub(super) fn of(combiner: c_int, old: Datatype, part: &Rc<Type>) -> Making {
        Making { types: vec![(old, part.clone())], ..Making::new(combiner) }
    }
}

pub(crate) unsafe fn dup(old: Datatype, new: *mut Datatype) -> Result {
    let part = get(old)?;
    let attributes = part.attributes.copy(crate::attribute::For::Datatype, old.0)?;
    let mut copy =
        resized_type(&part, part.lower, part.extent, Making::of(COMBINER_DUP, old, &part));
    (copy.alignment, copy.fixed_bounds) = (part.alignment, part.fixed_bounds);
    copy.committed.set(part.committed.get());
    copy.attributes = attributes;
    *new = register(copy)?;
    Ok(())
}

fn resized_type(part: &Type, lower: i64, extent: i64, made: Making) -> Type {
    let mut builder = Builder::new();
    builder.add(0, 1, part);
    builder.set_bounds(lower, extent);
    builder.finish(made)
}

/// A copy with other bounds.
pub(super) fn resize(part: &Type, lower: i64, extent: i64) -> Type {
    resized_type(part, lower, extent, Making::new(COMBINER_RESIZED))
}

pub(crate) unsafe fn contiguous(count: i64, old: Datatype, new: *mut Datatype) -> Result {
    let part = get(old)?;
    check_count(count)?;
    let mut builder = Builder::new();
    builder.add(0, count, &part);
    let mut made = Making::of(COMBINER_CONTIGUOUS, old, &part);
    made.integers = vec![count];
    *new = register(builder.finish(made))?;
    Ok(())
}

/// Whether a stride is in elements or in bytes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Unit {
    Elements,
    Bytes,
}

impl Unit {
    fn bytes(self, part: &Type) -> i64 {
        if self == Unit::Elements { part.extent } else { 1 }
    }
}

pub(crate) unsafe fn vector(
    count: i64,
    length: i64,
    stride: i64,
    old: Datatype,
    new: *mut Datatype,
    unit: Unit,
) -> Result {
    let part = get(old)?;
    check_count(count)?;
    check_count(length)?;
    let mut builder = Builder::new();
    let joined = stride * unit.bytes(&part) == length * part.extent;
    // Refused before a list of gigabytes is made.
    builder.too_many_runs = !joined && count.saturating_mul(part.pieces(length)) > MOST_RUNS;
    for index in 0..count {
        if builder.too_many_runs {
            break;
        }
        builder.add(index * stride * unit.bytes(&part), length, &part);
    }
    let mut made;
    if unit == Unit::Elements {
        made = Making::of(COMBINER_VECTOR, old, &part);
        made.integers = vec![count, length, stride];
    } else {
        made = Making::of(COMBINER_HVECTOR, old, &part);
        (made.integers, made.addresses) = (vec![count, length], vec![stride]);
    }
    *new = register(builder.finish(made))?;
    Ok(())
}

/// Blocks at any places, all of one type.
unsafe fn blocks(
    combiner: c_int,
    lengths: &[i64],
    places: Vec<i64>,
    old: Datatype,
    unit: Unit,
) -> Result<(Builder, Making)> {
    let part = get(old)?;
    let mut builder = Builder::new();
    for (&length, &place) in lengths.iter().zip(&places) {
        check_count(length)?;
        builder.add(place * unit.bytes(&part), length, &part);
    }
    let mut made = Making::of(combiner, old, &part);
    made.integers = vec![lengths.len() as i64];
    match combiner {
        COMBINER_INDEXED_BLOCK | COMBINER_HINDEXED_BLOCK => {
            made.integers.extend(lengths.first().or(Some(&0)));
        }
        _ => made.integers.extend(lengths),
    }
    if unit == Unit::Elements {
        made.integers.extend(places)
    } else {
        made.addresses = places
    }
    Ok((builder, made))
}

pub(crate) unsafe fn indexed(
    count: i64,
    lengths: Numbers,
    places: Numbers,
    old: Datatype,
    new: *mut Datatype,
    unit: Unit,
) -> Result {
    let count = check_count(count)?;
    let combiner = if unit == Unit::Elements { COMBINER_INDEXED } else { COMBINER_HINDEXED };
    let (builder, made) = blocks(combiner, &lengths.read(count), places.read(count), old, unit)?;
    *new = register(builder.finish(made))?;
    Ok(())
}

/// MPI_Type_create_hindexed, whose places are addresses in either variant.
pub(crate) unsafe fn hindexed(
    count: i64,
    lengths: Numbers,
    places: *const i64,
    old: Datatype,
    new: *mut Datatype,
) -> Result {
    indexed(count, lengths, places.into(), old, new, Unit::Bytes)
}

pub(crate) unsafe fn indexed_block(
    count: i64,
    length: i64,
    places: Numbers,
    old: Datatype,
    new: *mut Datatype,
) -> Result {
    let places = places.read(check_count(count)?);
    equal_blocks(COMBINER_INDEXED_BLOCK, length, places, old, new, Unit::Elements)
}

pub(crate) unsafe fn hindexed_block(
    count: i64,
    length: i64,
    places: *const i64,
    old: Datatype,
    new: *mut Datatype,
) -> Result {
    let places = Numbers::from(places).read(check_count(count)?);
    equal_blocks(COMBINER_HINDEXED_BLOCK, length, places, old, new, Unit::Bytes)
}

unsafe fn equal_blocks(
    combiner: c_int,
    length: i64,
    places: Vec<i64>,
    old: Datatype,
    new: *mut Datatype,
    unit: Unit,
) -> Result {
    let lengths = vec![length; places.len()];
    let (builder, mut made) = blocks(combiner, &lengths, places, old, unit)?;
    if lengths.is_empty() {
        made.integers = vec![0, length];
    }
    *new = register(builder.finish(made))?;
    Ok(())
}

pub(crate) unsafe fn structure(
    count: i64,
    lengths: Numbers,
    places: *const i64,
    types: *const Datatype,
    new: *mut Datatype,
) -> Result {
    let count = check_count(count)?;
    let (lengths, places) = (lengths.read(count), Numbers::from(places).read(count));
    let mut made = Making::new(COMBINER_STRUCT);
    made.integers = vec![count as i64];
    let mut builder = Builder::new();
    for index in 0..count {
        let old = *types.add(index);
        let part = get(old)?;
        check_count(lengths[index])?;
        builder.add(places[index], lengths[index], &part);
        made.types.push((old, part));
    }
    builder.pad();
    made.integers.extend(lengths);
    made.addresses = places;
    *new = register(builder.finish(made))?;
    Ok(())
}

pub(crate) unsafe fn resized(old: Datatype, lower: i64, extent: i64, new: *mut Datatype) -> Result {
    let part = get(old)?;
    let mut made = Making::of(COMBINER_RESIZED, old, &part);
    made.addresses = vec![lower, extent];
    *new = register(resized_type(&part, lower, extent, made))?;
    Ok(())
}

/// MPI_Type_create_f90_*: the smallest of `choices` that has the digits and the range asked for.
unsafe fn fortran(
    combiner: c_int,
    wanted: [c_int; 2],
    choices: &[(c_int, c_int, Datatype)],
    new: *mut Datatype,
) -> Result {
    let [digits, range] = wanted;
    let fits = |have: c_int, want: c_int| want == UNDEFINED || want <= have;
    let found = choices.iter().find(|(have, reach, _)| fits(*have, digits) && fits(*reach, range));
    let base = found.map(|(.., base)| *base).ok_or_else(|| {
        let what = format!("no Fortran type with {digits} digits and a range of {range}");
        crate::failure::error_of(ERR_ARG, what)
    })?;
    let mut made = Making::new(combiner);
    made.integers = wanted.iter().map(|&number| i64::from(number)).collect();
    if combiner == COMBINER_F90_INTEGER {
        made.integers.remove(0);
    }
    let part = get(base)?;
    let mut copy = resized_type(&part, part.lower, part.extent, made);
    // Nobody has set its bounds: in a structure it is padded as its base is.
    copy.fixed_bounds = part.fixed_bounds;
    copy.committed.set(true);
    *new = register(copy)?;
    Ok(())
}

pub(crate) unsafe fn f90_real(digits: c_int, range: c_int, new: *mut Datatype) -> Result {
    let choices = [(6, 37, REAL4), (15, 307, REAL8)];
    fortran(COMBINER_F90_REAL, [digits, range], &choices, new)
}

pub(crate) unsafe fn f90_complex(digits: c_int, range: c_int, new: *mut Datatype) -> Result {
    let choices = [(6, 37, COMPLEX8), (15, 307, COMPLEX16)];
    fortran(COMBINER_F90_COMPLEX, [digits, range], &choices, new)
}

pub(crate) unsafe fn f90_integer(range: c_int, new: *mut Datatype) -> Result {
    let all = c_int::MAX;
    let choices = [(all, 2, INTEGER1), (all, 4, INTEGER2), (all, 9, INTEGER4), (all, 18, INTEGER8)];
    fortran(COMBINER_F90_INTEGER, [UNDEFINED, range], &choices, new)
}
