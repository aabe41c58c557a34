//! The constructors of datatypes.

use std::ffi::c_int;
use std::rc::Rc;

use mpi::{Datatype as Type, Distribution, Order, Spread, Unit};

use super::table::{FortranKind, add, get, once};
use crate::abi::*;
use crate::arguments::IntOrCount;
use crate::failure::{Result, ensure, error_of};

fn check_count(count: i64) -> Result<usize> {
    ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    Ok(count as usize)
}

pub(crate) unsafe fn dup(old: Datatype, new: *mut Datatype) -> Result {
    *new = add(Type::duplicate(&get(old)?, old.number())?);
    Ok(())
}

pub(crate) unsafe fn contiguous(count: i64, old: Datatype, new: *mut Datatype) -> Result {
    *new = add(Type::contiguous(count, &get(old)?)?);
    Ok(())
}

pub(crate) unsafe fn vector(
    count: i64,
    length: i64,
    stride: i64,
    old: Datatype,
    new: *mut Datatype,
    unit: Unit,
) -> Result {
    *new = add(Type::vector(count, length, stride, unit, &get(old)?)?);
    Ok(())
}

pub(crate) unsafe fn indexed(
    count: i64,
    lengths: IntOrCount,
    places: IntOrCount,
    old: Datatype,
    new: *mut Datatype,
    unit: Unit,
) -> Result {
    let (count, part) = (check_count(count)?, get(old)?);
    *new = add(Type::indexed(lengths.read(count), places.read(count), unit, &part)?);
    Ok(())
}

/// Implements MPI_Type_create_hindexed, whose places are addresses in either variant.
pub(crate) unsafe fn hindexed(
    count: i64,
    lengths: IntOrCount,
    places: *const i64,
    old: Datatype,
    new: *mut Datatype,
) -> Result {
    indexed(count, lengths, places.into(), old, new, Unit::Bytes)
}

pub(crate) unsafe fn indexed_block(
    count: i64,
    length: i64,
    places: IntOrCount,
    old: Datatype,
    new: *mut Datatype,
) -> Result {
    let places = places.read(check_count(count)?);
    *new = add(Type::indexed_block(length, places, Unit::Elements, &get(old)?)?);
    Ok(())
}

pub(crate) unsafe fn hindexed_block(
    count: i64,
    length: i64,
    places: *const i64,
    old: Datatype,
    new: *mut Datatype,
) -> Result {
    let places = IntOrCount::from(places).read(check_count(count)?);
    *new = add(Type::indexed_block(length, places, Unit::Bytes, &get(old)?)?);
    Ok(())
}

pub(crate) unsafe fn structure(
    count: i64,
    lengths: IntOrCount,
    places: *const i64,
    types: *const Datatype,
    new: *mut Datatype,
) -> Result {
    let count = check_count(count)?;
    let (lengths, places) = (lengths.read(count), IntOrCount::from(places).read(count));
    let parts: Result<Vec<Rc<Type>>> = (0..count).map(|index| get(*types.add(index))).collect();
    *new = add(Type::structure(lengths, places, parts?)?);
    Ok(())
}

pub(crate) unsafe fn resized(old: Datatype, lower: i64, extent: i64, new: *mut Datatype) -> Result {
    *new = add(Type::resized(lower, extent, &get(old)?)?);
    Ok(())
}

fn order_of(order: c_int) -> Result<Order> {
    match order {
        ORDER_C => Ok(Order::RowMajor),
        ORDER_FORTRAN => Ok(Order::ColumnMajor),
        _ => Err(error_of(ERR_ARG, format!("order {order}"))),
    }
}

/// Checks the number of dimensions, which must be at least one.
fn check_dimensions(dimensions: c_int) -> Result<usize> {
    ensure!(dimensions > 0, ERR_ARG, "{dimensions} dimensions");
    Ok(dimensions as usize)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn subarray(
    dimensions: c_int,
    sizes: IntOrCount,
    subsizes: IntOrCount,
    starts: IntOrCount,
    order: c_int,
    old: Datatype,
    new: *mut Datatype,
) -> Result {
    let (part, order) = (get(old)?, order_of(order)?);
    let [sizes, subsizes, starts] = {
        let count = check_dimensions(dimensions)?;
        [sizes, subsizes, starts].map(|list| list.read(count))
    };
    *new = add(Type::subarray(sizes, subsizes, starts, order, &part)?);
    Ok(())
}

fn distribution(how: i64, argument: i64) -> Result<Distribution> {
    let argument = (argument != i64::from(DISTRIBUTE_DFLT_DARG)).then_some(argument);
    match how as c_int {
        DISTRIBUTE_NONE => Ok(Distribution::None(argument)),
        DISTRIBUTE_BLOCK => Ok(Distribution::Block(argument)),
        DISTRIBUTE_CYCLIC => Ok(Distribution::Cyclic(argument)),
        other => Err(error_of(ERR_ARG, format!("distribution {other}"))),
    }
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn darray(
    size: c_int,
    rank: c_int,
    dimensions: c_int,
    lengths: IntOrCount,
    distributions: *const c_int,
    arguments: *const c_int,
    processes: *const c_int,
    order: c_int,
    old: Datatype,
    new: *mut Datatype,
) -> Result {
    let (part, order) = (get(old)?, order_of(order)?);
    let count = check_dimensions(dimensions)?;
    let [distributions, arguments, processes] =
        [distributions, arguments, processes].map(|array| IntOrCount::from(array).read(count));
    let distributions = distributions.into_iter().zip(arguments);
    let distributions = distributions.map(|(how, argument)| distribution(how, argument));
    let spread = Spread {
        size: size.into(),
        rank: rank.into(),
        lengths: lengths.read(count),
        distributions: distributions.collect::<Result<_>>()?,
        processes,
        order,
    };
    *new = add(Type::distributed(spread, &part)?);
    Ok(())
}

/// Returns a number of digits, or `None` for MPI_UNDEFINED.
fn wanted(number: c_int) -> Option<c_int> {
    (number != UNDEFINED).then_some(number)
}

pub(crate) unsafe fn f90_real(digits: c_int, range: c_int, new: *mut Datatype) -> Result {
    let make = || Type::fortran_real(wanted(digits), wanted(range));
    *new = once(FortranKind::Real(digits, range), make)?;
    Ok(())
}

pub(crate) unsafe fn f90_complex(digits: c_int, range: c_int, new: *mut Datatype) -> Result {
    let make = || Type::fortran_complex(wanted(digits), wanted(range));
    *new = once(FortranKind::Complex(digits, range), make)?;
    Ok(())
}

pub(crate) unsafe fn f90_integer(range: c_int, new: *mut Datatype) -> Result {
    *new = once(FortranKind::Integer(range), || Type::fortran_integer(wanted(range)))?;
    Ok(())
}
