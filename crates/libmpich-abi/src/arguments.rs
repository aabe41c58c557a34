//! Arguments: conversion for the call, and conversion of the results afterwards.

use std::ffi::{c_int, c_void};

use smallvec::SmallVec;

use crate::convert::Convert;
use crate::status::{StandardStatus, Status};
use crate::values;

/// An argument of a function of the standard ABI.
pub(crate) trait Argument {
    type Passed;

    /// Returns the value to pass. It may point into this value.
    fn passed(&mut self) -> Self::Passed;

    /// Stores the function's results in the caller's memory.
    fn give_back(self);
}

/// An argument that is only passed in.
pub(crate) struct Plain<T>(T);

impl<T: Copy> Argument for Plain<T> {
    type Passed = T;

    #[inline(always)]
    fn passed(&mut self) -> T {
        self.0
    }

    #[inline(always)]
    fn give_back(self) {}
}

/// Creates an argument that is the same in both ABIs.
#[inline(always)]
pub(crate) fn plain<T: Copy>(value: T) -> Plain<T> {
    Plain(value)
}

/// Creates an argument whose value differs between the ABIs.
#[inline(always)]
pub(crate) fn by_value<C: Convert>(foreign: C::Foreign) -> Plain<C::Standard> {
    Plain(C::inward(foreign))
}

/// Creates the argument for a buffer, which may be a special address.
#[inline(always)]
pub(crate) fn buffer_address(start: *const c_void) -> Plain<*const c_void> {
    let special = values::ADDRESSES.iter().find(|pair| pair.0 == start as isize);
    Plain(special.map_or(start, |pair| pair.1 as *const c_void))
}

/// Creates the argument for the beginning of a file's view, which may be MPI_DISPLACEMENT_CURRENT.
pub(crate) fn displacement(foreign: i64) -> Plain<i64> {
    const CURRENT: (i64, i64) = (-54_278_278, -1);
    Plain(if foreign == CURRENT.0 { CURRENT.1 } else { foreign })
}

/// A place for one value, which is read and written. It may be null.
pub(crate) struct At<C: Convert> {
    place: *mut C::Foreign,
    given: Option<C::Standard>,
    value: Option<C::Standard>,
}

/// Creates the argument for a place of the caller.
#[inline(always)]
pub(crate) unsafe fn at<C: Convert>(place: *mut C::Foreign) -> At<C> {
    // SAFETY: the caller's place is null or valid.
    let given = (!place.is_null()).then(|| C::inward(unsafe { *place }));
    At { place, given, value: given }
}

impl<C: Convert> Argument for At<C> {
    type Passed = *mut C::Standard;

    #[inline(always)]
    fn passed(&mut self) -> *mut C::Standard {
        self.value.as_mut().map_or(std::ptr::null_mut(), |value| &raw mut *value)
    }

    #[inline(always)]
    fn give_back(self) {
        // A value that was not written is not converted back, because several values here may be one there.
        if let Some(value) = self.value
            && self.value != self.given
        {
            // SAFETY: there is a value, so the place is not null.
            unsafe { *self.place = C::outward(value) };
        }
    }
}

/// An array, which is read, and written if that is permitted. It may be null.
pub(crate) struct Many<C: Convert> {
    /// Null if nothing is written.
    place: *mut C::Foreign,
    is_null: bool,
    given: SmallVec<[C::Standard; 16]>,
    values: SmallVec<[C::Standard; 16]>,
}

/// Creates the argument for an array that is written.
#[inline]
pub(crate) unsafe fn many<C: Convert>(
    place: *mut C::Foreign,
    length: impl TryInto<usize>,
) -> Many<C> {
    let mut array = many_in(place, length);
    array.place = place;
    array.given = array.values.clone();
    array
}

/// Creates the argument for an array that is only read.
#[inline]
pub(crate) unsafe fn many_in<C: Convert>(
    place: *const C::Foreign,
    length: impl TryInto<usize>,
) -> Many<C> {
    let length = if place.is_null() { 0 } else { length.try_into().unwrap_or(0) };
    // SAFETY: the caller's array is null or has this length.
    let values = (0..length).map(|index| C::inward(unsafe { *place.add(index) })).collect();
    Many { place: std::ptr::null_mut(), is_null: place.is_null(), given: SmallVec::new(), values }
}

impl<C: Convert> Argument for Many<C> {
    type Passed = *mut C::Standard;

    #[inline]
    fn passed(&mut self) -> *mut C::Standard {
        if self.is_null { std::ptr::null_mut() } else { self.values.as_mut_ptr() }
    }

    #[inline]
    fn give_back(self) {
        // `given` is empty for an array that is only read.
        for (index, (value, given)) in self.values.iter().zip(&self.given).enumerate() {
            if value != given {
                // SAFETY: the array has this length.
                unsafe { *self.place.add(index) = C::outward(*value) };
            }
        }
    }
}

/// The addresses MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE of this ABI.
const STATUS_IGNORE: usize = 1;

/// Statuses, which may be ignored: MPI_STATUS_IGNORE is an address here, and null there.
pub(crate) struct Statuses {
    place: *mut Status,
    values: SmallVec<[StandardStatus; 4]>,
}

/// Creates the argument for one status that is written.
#[inline(always)]
pub(crate) unsafe fn one_status(place: *mut Status) -> Statuses {
    many_statuses(place, 1)
}

/// Creates the argument for one status that is only read.
#[inline(always)]
pub(crate) unsafe fn one_status_in(place: *const Status) -> Many<Status> {
    many_in(place, 1)
}

/// Creates the argument for `length` statuses.
#[inline]
pub(crate) unsafe fn many_statuses(place: *mut Status, length: c_int) -> Statuses {
    let length = match place as usize {
        0 | STATUS_IGNORE => 0,
        _ => usize::try_from(length).unwrap_or(0),
    };
    // SAFETY: the caller's array has this length.
    let values = (0..length).map(|index| Status::inward(unsafe { *place.add(index) })).collect();
    Statuses { place, values }
}

impl Argument for Statuses {
    type Passed = *mut StandardStatus;

    #[inline]
    fn passed(&mut self) -> *mut StandardStatus {
        if self.values.is_empty() { std::ptr::null_mut() } else { self.values.as_mut_ptr() }
    }

    #[inline]
    fn give_back(self) {
        for (index, value) in self.values.iter().enumerate() {
            // SAFETY: the array has this length.
            unsafe { *self.place.add(index) = Status::outward(*value) };
        }
    }
}

/// The arguments of a call.
pub(crate) trait Arguments<R> {
    /// Calls the body of a function at `entry` with them and the return address of the program's call, and stores its
    /// results in the caller's memory.
    unsafe fn call(self, entry: *mut c_void, site: f64) -> R;
}

macro_rules! arguments {
    ($($name:ident $place:tt),*) => {
        impl<R, $($name: Argument),*> Arguments<R> for ($($name,)*) {
            #[inline(always)]
            #[allow(unused_mut)]
            unsafe fn call(mut self, entry: *mut c_void, site: f64) -> R {
                // SAFETY: the generated caller has created these arguments for this function.
                let function = unsafe {
                    std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($name::Passed,)* f64) -> R>(entry)
                };
                // SAFETY: as above.
                let result = unsafe { function($(self.$place.passed(),)* site) };
                $(self.$place.give_back();)*
                result
            }
        }
    };
}

arguments!();
arguments!(A 0);
arguments!(A 0, B 1);
arguments!(A 0, B 1, C 2);
arguments!(A 0, B 1, C 2, D 3);
arguments!(A 0, B 1, C 2, D 3, E 4);
arguments!(A 0, B 1, C 2, D 3, E 4, F 5);
arguments!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
arguments!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
arguments!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
arguments!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
arguments!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
arguments!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
arguments!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12);
arguments!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13);
