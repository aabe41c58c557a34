//! Reduction operations: handles, and the C functions of users.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use call_stack::CallSite;
use mpi::{Memory, Operation, Predefined, Reduction, UserOperation};

use crate::abi::*;
use crate::datatype;
use crate::failure::{Result, ensure, error_of};
use crate::handle::{Objects, Table};
use crate::shared::Shared;

const PREDEFINED: [(Op, Predefined); 14] = [
    (SUM, Predefined::Sum),
    (MIN, Predefined::Minimum),
    (MAX, Predefined::Maximum),
    (PROD, Predefined::Product),
    (BAND, Predefined::BitAnd),
    (BOR, Predefined::BitOr),
    (BXOR, Predefined::BitXor),
    (LAND, Predefined::And),
    (LOR, Predefined::Or),
    (LXOR, Predefined::Xor),
    (MINLOC, Predefined::MinimumAt),
    (MAXLOC, Predefined::MaximumAt),
    (REPLACE, Predefined::Replace),
    (NO_OP, Predefined::Nothing),
];

/// The predefined operations by the number of the handle.
static BY_HANDLE: [Option<Predefined>; 0x40] = {
    let mut table = [None; 0x40];
    let mut index = 0;
    while index < PREDEFINED.len() {
        let (handle, operation) = PREDEFINED[index];
        table[handle.0] = Some(operation);
        index += 1;
    }
    table
};

/// All operations.
static OPERATIONS: Objects<Operation> = Shared::new(|| {
    let mut table = Table::new();
    for (handle, operation) in PREDEFINED {
        table.predefine(handle, Rc::new(operation.into()));
    }
    RefCell::new(table)
});

/// A user's function, with counts as `int` or as MPI_Count.
#[derive(Clone, Copy)]
pub(crate) struct UserFunction {
    pointer: *mut c_void,
    large: bool,
}

type Small = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut Datatype);
type Large = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut i64, *mut Datatype);

impl UserFunction {
    pub(crate) fn small(pointer: *mut c_void) -> Self {
        UserFunction { pointer, large: false }
    }

    pub(crate) fn large(pointer: *mut c_void) -> Self {
        UserFunction { pointer, large: true }
    }
}

impl UserOperation for UserFunction {
    fn apply(&self, input: &Memory, inout: &Memory) {
        let (from, to, mut count) = (input.start().cast(), inout.start().cast(), inout.count());
        datatype::with_handle(inout.of(), |mut handle| {
            // SAFETY: the program passed this function for this use, with these parameters.
            unsafe {
                if self.large {
                    let function = std::mem::transmute::<*mut c_void, Large>(self.pointer);
                    function(from, to, &mut count, &mut handle);
                } else {
                    let mut count = c_int::try_from(count).unwrap_or(c_int::MAX);
                    let function = std::mem::transmute::<*mut c_void, Small>(self.pointer);
                    function(from, to, &mut count, &mut handle);
                }
            }
        });
    }
}

/// Returns the calls that have made the operations of the program which are not freed.
pub(crate) fn makers() -> Vec<CallSite> {
    OPERATIONS.makers()
}

#[inline]
fn get(op: Op) -> Result<Rc<Operation>> {
    OPERATIONS.get(op).ok_or_else(|| error_of(ERR_OP, "not an operation"))
}

/// Returns the predefined operation of a handle, if it is one.
#[inline]
pub(crate) fn predefined(op: Op) -> Option<Predefined> {
    BY_HANDLE.get(op.0).copied().flatten()
}

/// Creates a checked reduction of an operation on a datatype.
#[inline]
pub(crate) fn reduction(op: Op, datatype: Datatype) -> Result<Reduction> {
    Reduction::new(get(op)?, datatype::get(datatype)?)
}

pub(crate) unsafe fn create(function: UserFunction, commutes: c_int, op: *mut Op) -> Result {
    ensure!(!function.pointer.is_null(), ERR_ARG, "the function is a null pointer");
    *op = OPERATIONS.add(Rc::new(Operation::user(commutes != 0, function)));
    Ok(())
}

pub(crate) unsafe fn free(op: *mut Op) -> Result {
    get(*op)?;
    let removed = OPERATIONS.remove(*op);
    ensure!(removed.is_some(), ERR_OP, "a predefined operation cannot be freed");
    *op = OP_NULL;
    Ok(())
}

pub(crate) unsafe fn commutative(op: Op, commute: *mut c_int) -> Result {
    *commute = c_int::from(get(op)?.commutes());
    Ok(())
}

pub(crate) unsafe fn reduce_local(
    input: *const c_void,
    inout: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
) -> Result {
    let reduction = reduction(op, datatype)?;
    let input = datatype::memory(input, count, datatype)?;
    let inout = datatype::memory(inout, count, datatype)?;
    ensure!(!input.overlaps(&inout), ERR_BUFFER, "the two buffers overlap");
    reduction.apply(&input, &inout);
    Ok(())
}
