//! The constructors of datatypes.
//!
//! Counts and lengths are in elements, bounds are in bytes, and places and strides have their [`Unit`]. Each
//! constructor fails with [`ErrorClass::Count`] for a negative count, and with [`ErrorClass::NoMemory`] for a type of
//! too many separate pieces.

use std::rc::Rc;

use super::builder::{Builder, MOST_RUNS, too_many_runs};
use super::kind::Kind;
use super::layout::{Construction, Datatype, Unit};
use crate::error::{ErrorClass, Result, ensure};

fn check_count(count: i64) -> Result {
    ensure!(count >= 0, ErrorClass::Count, "a count of {count}");
    Ok(())
}

fn check_same(one: usize, other: usize) -> Result {
    ensure!(one == other, ErrorClass::Argument, "{one} lengths and {other} places");
    Ok(())
}

impl Unit {
    fn bytes(self, of: &Datatype) -> i64 {
        if self == Unit::Elements { of.extent } else { 1 }
    }
}

/// Returns the data of `of` with other bounds.
pub(super) fn resize(
    of: &Datatype,
    lower: i64,
    extent: i64,
    made: Construction,
) -> Result<Datatype> {
    let mut builder = Builder::new();
    builder.add(0, 1, of)?;
    builder.set_bounds(lower, extent);
    Ok(builder.finish(made))
}

/// Returns blocks of some lengths at some places, all of one type.
fn blocks(lengths: &[i64], places: &[i64], unit: Unit, of: &Datatype) -> Result<Builder> {
    check_same(lengths.len(), places.len())?;
    let mut builder = Builder::new();
    for (&length, &place) in lengths.iter().zip(places) {
        check_count(length)?;
        builder.add(place * unit.bytes(of), length, of)?;
    }
    Ok(builder)
}

impl Datatype {
    /// Creates the type of one basic element. It is committed.
    pub fn basic(kind: Kind) -> Rc<Datatype> {
        let one = Builder::basic(kind).share(Construction::Basic(kind));
        one.commit();
        one
    }

    /// Creates the type of a structure of a value and an index, with C's layout. It is committed.
    pub fn pair(value: Kind, index: Kind) -> Rc<Datatype> {
        let place = (value.bytes() + index.alignment() - 1) / index.alignment() * index.alignment();
        let mut builder = Builder::new();
        for (place, kind) in [(0, value), (place, index)] {
            builder.add(place, 1, &Datatype::basic(kind)).expect("a single piece");
        }
        builder.pad();
        let both = builder.share(Construction::Pair(value, index));
        both.commit();
        both
    }

    /// Returns a copy, committed if `of` is, with the attributes that their functions return. `object` is the number by
    /// which these functions identify `of`.
    ///
    /// # Errors
    /// Errors of the functions of an attribute.
    pub fn duplicate(of: &Rc<Datatype>, object: usize) -> Result<Rc<Datatype>> {
        let attributes = of.attributes.copy(object)?;
        let mut copy = resize(of, of.lower, of.extent, Construction::Duplicate(of.clone()))?;
        (copy.alignment, copy.has_fixed_bounds) = (of.alignment, of.has_fixed_bounds);
        copy.is_committed.set(of.is_committed());
        copy.attributes = attributes;
        Ok(Rc::new(copy))
    }

    /// Creates the type of `count` consecutive elements.
    ///
    /// # Errors
    /// [`ErrorClass::Count`], [`ErrorClass::NoMemory`].
    pub fn contiguous(count: i64, of: &Rc<Datatype>) -> Result<Rc<Datatype>> {
        check_count(count)?;
        let mut builder = Builder::new();
        builder.add(0, count, of)?;
        Ok(builder.share(Construction::Contiguous { count, of: of.clone() }))
    }

    /// Creates the type of `count` blocks of `length` elements, with the distance `stride`.
    ///
    /// # Errors
    /// [`ErrorClass::Count`], [`ErrorClass::NoMemory`].
    pub fn vector(
        count: i64,
        length: i64,
        stride: i64,
        unit: Unit,
        of: &Rc<Datatype>,
    ) -> Result<Rc<Datatype>> {
        check_count(count)?;
        check_count(length)?;
        let stride_bytes = stride * unit.bytes(of);
        let is_joined = stride_bytes == length * of.extent;
        if !is_joined && count.saturating_mul(of.pieces(length)) > MOST_RUNS {
            return Err(too_many_runs());
        }
        let mut builder = Builder::new();
        for index in 0..count {
            builder.add(index * stride_bytes, length, of)?;
        }
        Ok(builder.share(Construction::Vector { count, length, stride, unit, of: of.clone() }))
    }

    /// Creates the type of blocks of `lengths` elements at `places`.
    ///
    /// # Errors
    /// [`ErrorClass::Count`], [`ErrorClass::NoMemory`].
    pub fn indexed(
        lengths: Vec<i64>,
        places: Vec<i64>,
        unit: Unit,
        of: &Rc<Datatype>,
    ) -> Result<Rc<Datatype>> {
        let builder = blocks(&lengths, &places, unit, of)?;
        Ok(builder.share(Construction::Indexed { lengths, places, unit, of: of.clone() }))
    }

    /// Creates the type of blocks of `length` elements each at `places`.
    ///
    /// # Errors
    /// [`ErrorClass::Count`], [`ErrorClass::NoMemory`].
    pub fn indexed_block(
        length: i64,
        places: Vec<i64>,
        unit: Unit,
        of: &Rc<Datatype>,
    ) -> Result<Rc<Datatype>> {
        let builder = blocks(&vec![length; places.len()], &places, unit, of)?;
        Ok(builder.share(Construction::IndexedBlock { length, places, unit, of: of.clone() }))
    }

    /// Creates the type of blocks of `lengths` elements at `places`, in bytes, each of a type of its own. Its extent is
    /// that of such a structure in C.
    ///
    /// # Errors
    /// [`ErrorClass::Count`], [`ErrorClass::NoMemory`].
    pub fn structure(
        lengths: Vec<i64>,
        places: Vec<i64>,
        of: Vec<Rc<Datatype>>,
    ) -> Result<Rc<Datatype>> {
        check_same(lengths.len(), places.len())?;
        check_same(lengths.len(), of.len())?;
        let mut builder = Builder::new();
        for ((&length, &place), part) in lengths.iter().zip(&places).zip(&of) {
            check_count(length)?;
            builder.add(place, length, part)?;
        }
        builder.pad();
        Ok(builder.share(Construction::Structure { lengths, places, of }))
    }

    /// Creates the type of the same data with other bounds.
    ///
    /// # Errors
    /// [`ErrorClass::Count`], [`ErrorClass::NoMemory`].
    pub fn resized(lower: i64, extent: i64, of: &Rc<Datatype>) -> Result<Rc<Datatype>> {
        let made = Construction::Resized { lower, extent, of: of.clone() };
        Ok(Rc::new(resize(of, lower, extent, made)?))
    }
}
