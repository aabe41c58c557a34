//! Reduction operations: the predefined ones and those of users.

mod arithmetic;
mod extended;

use std::ffi::{c_int, c_void};
use std::rc::Rc;

use crate::abi::*;
use crate::datatype::{self, Memory, Type};
use crate::failure::{Result, ensure, error_of};
use crate::handle::Table;
use crate::process::process;

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

    /// # Safety
    /// Both buffers are what the datatype and the count say.
    unsafe fn call(self, input: *mut u8, inout: *mut u8, count: i64, datatype: Datatype) {
        let (input, inout, mut datatype) = (input.cast(), inout.cast(), datatype);
        if self.large {
            let mut count = count;
            let function = std::mem::transmute::<*mut c_void, Large>(self.pointer);
            function(input, inout, &mut count, &mut datatype);
        } else {
            let mut count = c_int::try_from(count).unwrap_or(c_int::MAX);
            let function = std::mem::transmute::<*mut c_void, Small>(self.pointer);
            function(input, inout, &mut count, &mut datatype);
        }
    }
}

/// What a reduction does with two elements.
pub(crate) enum Operation {
    Predefined(Op),
    User { function: UserFunction, commutes: bool },
}

pub(crate) fn predefine(table: &mut Table<Rc<Operation>>) {
    const ALL: [Op; 14] =
        [SUM, MIN, MAX, PROD, BAND, BOR, BXOR, LAND, LOR, LXOR, MINLOC, MAXLOC, REPLACE, NO_OP];
    for op in ALL {
        table.predefine(op, Rc::new(Operation::Predefined(op)));
    }
}

pub(crate) fn get(op: Op) -> Result<Rc<Operation>> {
    let found = process().operations.borrow().get(op).cloned();
    found.ok_or_else(|| error_of(ERR_OP, "not an operation"))
}

/// An operation on a datatype, checked to fit.
#[derive(Clone)]
pub(crate) struct Reduction {
    operation: Rc<Operation>,
    datatype: Datatype,
    of: Rc<Type>,
}

impl Reduction {
    pub(crate) fn new(op: Op, datatype: Datatype) -> Result<Self> {
        let (operation, of) = (get(op)?, datatype::get_committed(datatype)?);
        if let Operation::Predefined(op) = *operation {
            let applies = arithmetic::applies(op, datatype, &of);
            ensure!(applies, ERR_OP, "the operation is not defined for this datatype");
        }
        Ok(Reduction { operation, datatype, of })
    }

    pub(crate) fn commutes(&self) -> bool {
        match *self.operation {
            Operation::Predefined(op) => op != REPLACE && op != NO_OP,
            Operation::User { commutes, .. } => commutes,
        }
    }

    /// inout = input op inout, element by element.
    ///
    /// # Safety
    /// Both are `count` elements of the datatype.
    pub(crate) unsafe fn apply(&self, input: *mut u8, inout: *mut u8, count: i64) {
        match *self.operation {
            Operation::Predefined(op) => {
                arithmetic::apply(op, self.datatype, &self.of, input, inout, count);
            }
            Operation::User { function, .. } => {
                function.call(input, inout, count, self.datatype);
            }
        }
    }
}

impl Reduction {
    /// result = left op right for elements without gaps; the result may take the place of the right ones.
    ///
    /// # Safety
    /// All are `count` elements of the datatype.
    pub(crate) unsafe fn apply_to(
        &self,
        left: *const u8,
        right: *const u8,
        result: *mut u8,
        count: i64,
    ) {
        match *self.operation {
            Operation::Predefined(op) if ![NO_OP, MINLOC, MAXLOC].contains(&op) => {
                arithmetic::apply_to_dense(op, &self.of, left, right, result, count);
            }
            _ => {
                if right != result.cast_const() {
                    std::ptr::copy(right, result, (count * self.of.size) as usize);
                }
                self.apply(left.cast_mut(), result, count);
            }
        }
    }
}

pub(crate) unsafe fn create(function: UserFunction, commutes: c_int, op: *mut Op) -> Result {
    ensure!(!function.pointer.is_null(), ERR_ARG, "the function is a null pointer");
    let operation = Operation::User { function, commutes: commutes != 0 };
    *op = process().operations.borrow_mut().add(Rc::new(operation));
    Ok(())
}

pub(crate) unsafe fn free(op: *mut Op) -> Result {
    get(*op)?;
    let removed = process().operations.borrow_mut().remove(*op);
    ensure!(removed.is_some(), ERR_OP, "a predefined operation cannot be freed");
    *op = OP_NULL;
    Ok(())
}

pub(crate) unsafe fn commutative(op: Op, commute: *mut c_int) -> Result {
    *commute = c_int::from(match *get(op)? {
        Operation::Predefined(op) => op != REPLACE && op != NO_OP,
        Operation::User { commutes, .. } => commutes,
    });
    Ok(())
}

pub(crate) unsafe fn reduce_local(
    input: *const c_void,
    inout: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
) -> Result {
    let reduction = Reduction::new(op, datatype)?;
    let (input, inout) =
        (Memory::new(input, count, datatype)?, Memory::new(inout, count, datatype)?);
    ensure!(!input.overlaps(&inout), ERR_BUFFER, "the two buffers overlap");
    reduction.apply(input.start, inout.start, count);
    Ok(())
}
