//! Functions of the program that receive no data of ours when they are called: operations and error handlers. Each is
//! represented by one of a fixed number of functions of ours.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::arguments::{Argument, at};
use crate::convert::Convert;
use crate::numbers::ErrorCode;

/// Maximum number of different functions of a program.
pub(super) const SLOTS: usize = 256;

/// The functions of a program for one use, each in its place.
pub(super) struct Slots([AtomicPtr<c_void>; SLOTS]);

impl Slots {
    pub(super) const fn new() -> Slots {
        Slots([const { AtomicPtr::new(std::ptr::null_mut()) }; SLOTS])
    }

    /// Returns the place of a function, which keeps it permanently, or `None` if all are taken by others.
    pub(super) fn place(&self, function: *mut c_void) -> Option<usize> {
        self.0.iter().position(|slot| {
            // A slot changes once, from null to a function, so no order is needed.
            let null = std::ptr::null_mut();
            let taken = slot.compare_exchange(null, function, Ordering::Relaxed, Ordering::Relaxed);
            taken.is_ok() || taken == Err(function)
        })
    }

    /// Returns the function in a place that was assigned.
    pub(super) fn function(&self, place: usize) -> *mut c_void {
        self.0[place].load(Ordering::Relaxed)
    }
}

/// Creates an array of `$function::<A, B>` for all A and B below 16. The function in place `16 * A + B` has these
/// numbers.
macro_rules! all_slots {
    ($function:ident) => {
        all_slots!(@rows $function 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@rows $function:ident $($row:literal)*) => {
        [$(all_slots!(@row $function $row 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)),*]
    };
    (@row $function:ident $row:literal $($column:literal)*) => {
        [$($function::<$row, $column> as *const std::ffi::c_void),*]
    };
}
pub(super) use all_slots;

/// Creates an object from a program's function, which gets a place in `slots`. `all` has the function that stands for
/// it in each place, and `create` passes that to the standard ABI. The handle is stored at `handle`.
pub(super) unsafe fn create<Object: Convert<Foreign = c_int, Standard = usize>>(
    slots: &Slots,
    all: [[*const c_void; 16]; 16],
    function: *mut c_void,
    create: impl FnOnce(*mut c_void, *mut usize) -> c_int,
    handle: *mut c_int,
) -> c_int {
    // The standard ABI refuses a null pointer.
    let place = if function.is_null() { None } else { slots.place(function) };
    let passed = place.map_or(std::ptr::null_mut(), |place| all[place / 16][place % 16].cast_mut());
    let mut handle = at::<Object>(handle);
    let code = create(passed, handle.passed());
    handle.give_back();
    ErrorCode::outward(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_has_one_place_and_too_many_have_none() {
        let slots = Box::new(Slots::new());
        let function = |number: usize| (number + 1) as *mut c_void;
        for number in 0..SLOTS {
            assert_eq!(slots.place(function(number)), Some(number));
            assert_eq!(slots.place(function(number)), Some(number));
        }
        assert_eq!(slots.place(function(SLOTS)), None);
        assert_eq!(slots.function(7), function(7));
    }
}
