//! Reductions in terms of an MPI.

use std::ffi::{c_int, c_void};

use contract::{Buffer, Element, Operation, Readable, Reduction, Result, Writable};

use super::call::{readable, readable_at, writable, writable_at};
use crate::library::{Handle, Library, UserFunction};

/// Operations that not every MPI implements as the contract requires: minimum and maximum of floating-point numbers
/// that may include a NaN, and sums of bytes, which saturate in Open MPI 5 instead of wrapping.
pub(super) struct Reductions {
    own: [(Reduction, Handle); OWN.len()],
}

/// Copies of vectors whose alignment is below that which an MPI may expect.
pub(super) struct Aligned {
    send: Option<Buffer>,
    receive: Option<Buffer>,
}

const OWN: [(Reduction, UserFunction); 5] = [
    (Reduction::new(Element::U8, Operation::Sum), sum_u8),
    (Reduction::new(Element::F32, Operation::Minimum), minimum_f32),
    (Reduction::new(Element::F32, Operation::Maximum), maximum_f32),
    (Reduction::new(Element::F64, Operation::Minimum), minimum_f64),
    (Reduction::new(Element::F64, Operation::Maximum), maximum_f64),
];

impl Reductions {
    pub(super) fn new(library: &Library) -> Result<Self> {
        let mut own = OWN.map(|(reduction, _)| (reduction, std::ptr::null_mut()));
        for ((_, handle), (_, function)) in own.iter_mut().zip(OWN) {
            const COMMUTATIVE: c_int = 1;
            // SAFETY: the function combines as MPI requires; the place is live.
            let status = unsafe { (library.general.op_create)(function, COMMUTATIVE, handle) };
            library.check("MPI_Op_create", status)?;
        }
        Ok(Reductions { own })
    }

    pub(super) fn free(&mut self, library: &Library) -> Result<()> {
        for (_, handle) in &mut self.own {
            // SAFETY: the operation was created by `new`, and no reduction is under way.
            let status = unsafe { (library.general.op_free)(handle) };
            library.check("MPI_Op_free", status)?;
        }
        Ok(())
    }

    /// Returns the MPI handle of a reduction.
    pub(super) fn operation(&self, library: &Library, reduction: Reduction) -> Handle {
        let own = self.own.iter().find(|(other, _)| *other == reduction);
        own.map_or_else(|| library.constants.operation(reduction.operation), |(_, handle)| *handle)
    }

    /// Copies each vector that is not aligned for its elements; `receive` only if it is used.
    pub(super) fn aligned(
        &self,
        reduction: Reduction,
        send: &Readable,
        receive: &Writable,
        receives: bool,
    ) -> Aligned {
        let is_odd = |address: *const u8| !address.addr().is_multiple_of(reduction.element.bytes());
        let receives_odd = receives && is_odd(receive.as_mut_ptr());
        Aligned {
            send: is_odd(send.as_ptr()).then(|| Buffer::from_bytes(send.as_slice())),
            receive: receives_odd.then(|| Buffer::zeroed(receive.bytes())),
        }
    }
}

impl Aligned {
    /// Returns the addresses for MPI to read from and to write to.
    pub(super) fn pointers(
        &mut self,
        send: &Readable,
        receive: &Writable,
    ) -> (*const c_void, *mut c_void) {
        let from = self.send.as_deref().map_or_else(|| readable_at(send), readable);
        let to = self.receive.as_deref_mut().map_or_else(|| writable_at(receive), writable);
        (from, to)
    }

    /// Copies the result to its destination.
    pub(super) fn deliver(self, receive: &mut Writable) {
        if let Some(copy) = self.receive {
            receive.write(0, &copy);
        }
    }
}

macro_rules! user_function {
    ($name:ident, $element:ident, $operation:ident) => {
        /// # Safety
        /// Must be called by MPI for vectors of its datatype.
        unsafe extern "C" fn $name(
            operand: *const c_void,
            accumulator: *mut c_void,
            length: *const c_int,
            _datatype: *const Handle,
        ) {
            const REDUCTION: Reduction = Reduction::new(Element::$element, Operation::$operation);
            // SAFETY: MPI passes two vectors of `length` elements, which do not overlap, and the length.
            unsafe {
                let bytes = *length as usize * REDUCTION.element.bytes();
                let operand = std::slice::from_raw_parts(operand.cast::<u8>(), bytes);
                let accumulator = std::slice::from_raw_parts_mut(accumulator.cast::<u8>(), bytes);
                // Lengths agree and are whole elements, so this cannot fail; a panic must not unwind through MPI.
                let _ = REDUCTION.combine(accumulator, operand);
            }
        }
    };
}
user_function!(sum_u8, U8, Sum);
user_function!(minimum_f32, F32, Minimum);
user_function!(maximum_f32, F32, Maximum);
user_function!(minimum_f64, F64, Minimum);
user_function!(maximum_f64, F64, Maximum);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_operations_prefer_numbers() {
        let operand = [f64::NAN, 1.0, -3.0];
        let mut accumulator = [2.0, f64::NAN, 5.0];
        let length = 3;
        // SAFETY: both are vectors of that many numbers.
        unsafe {
            minimum_f64(
                operand.as_ptr().cast(),
                accumulator.as_mut_ptr().cast(),
                &length,
                std::ptr::null(),
            );
        }
        assert_eq!(accumulator, [2.0, 1.0, -3.0]);
    }
}
