//! One-sided operations that a network executes by itself, on memory that was registered for them.

use crate::{Readable, Request, Result, Writable};

/// The identity of registered memory for accesses of other ranks through the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemotePlace {
    /// Key of the memory.
    pub key: u64,
    /// Address of its first byte, in the network's addresses of this memory.
    pub start: u64,
}

/// An element that a network may update atomically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicElement {
    /// A signed integer of 8 bits.
    I8,
    /// An unsigned integer of 8 bits.
    U8,
    /// A signed integer of 16 bits.
    I16,
    /// An unsigned integer of 16 bits.
    U16,
    /// A signed integer of 32 bits.
    I32,
    /// An unsigned integer of 32 bits.
    U32,
    /// A signed integer of 64 bits.
    I64,
    /// An unsigned integer of 64 bits.
    U64,
    /// A single-precision number.
    F32,
    /// A double-precision number.
    F64,
}

impl AtomicElement {
    /// All of them, in the order of their numbers.
    pub const ALL: [AtomicElement; 10] = {
        use AtomicElement::{F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        [I8, U8, I16, U16, I32, U32, I64, U64, F32, F64]
    };

    /// Returns the length in bytes.
    pub fn bytes(self) -> usize {
        match self {
            AtomicElement::I8 | AtomicElement::U8 => 1,
            AtomicElement::I16 | AtomicElement::U16 => 2,
            AtomicElement::I32 | AtomicElement::U32 | AtomicElement::F32 => 4,
            AtomicElement::I64 | AtomicElement::U64 | AtomicElement::F64 => 8,
        }
    }

    /// Returns whether it is an integer.
    pub fn is_integer(self) -> bool {
        !matches!(self, AtomicElement::F32 | AtomicElement::F64)
    }
}

/// A set of elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomicElements(u16);

impl AtomicElements {
    /// Returns the set as bits.
    pub fn to_bits(self) -> u16 {
        self.0
    }

    /// Returns the set of bits that [`to_bits`](AtomicElements::to_bits) returned.
    pub fn from_bits(bits: u16) -> Self {
        AtomicElements(bits)
    }

    /// Adds an element.
    pub fn insert(&mut self, element: AtomicElement) {
        self.0 |= 1 << element as u16;
    }

    /// Returns whether an element is in it.
    pub fn contains(self, element: AtomicElement) -> bool {
        self.0 & 1 << element as u16 != 0
    }

    /// Returns the elements in both sets.
    #[must_use]
    pub fn and(self, other: AtomicElements) -> AtomicElements {
        AtomicElements(self.0 & other.0)
    }
}

/// An atomic operation on elements: old and operand are combined to the new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOperation {
    /// The smaller one.
    Minimum,
    /// The larger one.
    Maximum,
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// Logical or, of integers.
    LogicalOr,
    /// Logical and, of integers.
    LogicalAnd,
    /// Bitwise or, of integers.
    BitOr,
    /// Bitwise and, of integers.
    BitAnd,
    /// Logical exclusive or, of integers.
    LogicalXor,
    /// Bitwise exclusive or, of integers.
    BitXor,
    /// The old value. Only an operation that fetches it has an effect.
    Read,
    /// The operand.
    Write,
}

impl AtomicOperation {
    /// All of them, in the order of their numbers.
    pub const ALL: [AtomicOperation; 12] = {
        use AtomicOperation::{
            BitAnd, BitOr, BitXor, LogicalAnd, LogicalOr, LogicalXor, Maximum, Minimum, Product,
            Read, Sum, Write,
        };
        let logical = [LogicalOr, LogicalAnd, BitOr, BitAnd, LogicalXor, BitXor];
        let [or, and, bit_or, bit_and, xor, bit_xor] = logical;
        [Minimum, Maximum, Sum, Product, or, and, bit_or, bit_and, xor, bit_xor, Read, Write]
    };

    /// Returns whether it is defined for an element.
    pub fn applies(self, element: AtomicElement) -> bool {
        use AtomicOperation::{BitAnd, BitOr, BitXor, LogicalAnd, LogicalOr, LogicalXor};
        let of_integers =
            matches!(self, LogicalOr | LogicalAnd | LogicalXor | BitOr | BitAnd | BitXor);
        !of_integers || element.is_integer()
    }
}

/// An operation of this rank on memory of another rank, or on its own registered memory.
#[derive(Debug)]
pub enum OneSidedOperation {
    /// Writes the data to the memory.
    Write(Readable),
    /// Reads as many bytes as there is room for.
    Read(Writable),
    /// Updates each element atomically with respect to all other atomic operations of the network on it. The operand
    /// has as many elements.
    Atomic {
        /// The type of the elements.
        element: AtomicElement,
        /// The operation.
        operation: AtomicOperation,
        /// The operand.
        operand: Readable,
        /// Room for the old values, if they are fetched.
        fetched: Option<Writable>,
    },
    /// Replaces each element that equals that of `compare` by that of `new`, atomically as above.
    CompareAndSwap {
        /// The type of the elements.
        element: AtomicElement,
        /// The expected elements.
        compare: Readable,
        /// The new elements.
        new: Readable,
        /// Room for the old values.
        fetched: Writable,
    },
}

/// The one-sided operations of a network.
///
/// Operations are under way as requests of the endpoint. A request is done when the operation is complete at both
/// ranks. Atomic operations of one rank on another are executed in their order; all other operations in any order.
#[allow(unsafe_code)]
pub trait OneSided {
    /// Registers the `bytes` bytes at `start`, at least one, so that all ranks may access them. Returns `None` if the
    /// network refuses.
    ///
    /// # Safety
    /// The memory may be read and written by any rank until [`unregister`](OneSided::unregister), and is initialised.
    unsafe fn register(&mut self, start: *mut u8, bytes: usize) -> Option<RemotePlace>;

    /// Ends a registration. No operation on the memory may be under way.
    fn unregister(&mut self, place: RemotePlace);

    /// Returns the elements on which the network executes all operations: all of [`AtomicOperation`] that apply to it,
    /// with and without the old values, and compare-and-swap.
    fn atomic_elements(&self) -> AtomicElements;

    /// Returns the maximum number of bytes of one atomic operation on such elements, or of a write or read for `None`.
    fn longest_bytes(&self, element: Option<AtomicElement>) -> usize;

    /// Starts an operation on the memory `offset` bytes behind the beginning of `place` of rank `to`. The operation is
    /// not longer than [`longest_bytes`](OneSided::longest_bytes), and addresses of atomic operations are multiples of
    /// the length of an element.
    ///
    /// # Errors
    /// Errors that end the run.
    ///
    /// # Safety
    /// `place` is registered at rank `to` and has this memory.
    unsafe fn start(
        &mut self,
        to: usize,
        place: RemotePlace,
        offset: u64,
        operation: OneSidedOperation,
    ) -> Result<Request>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_and_operations_are_numbered_in_the_order_of_their_lists() {
        for (number, element) in AtomicElement::ALL.into_iter().enumerate() {
            assert_eq!(element as usize, number);
        }
        for (number, operation) in AtomicOperation::ALL.into_iter().enumerate() {
            assert_eq!(operation as usize, number);
        }
        let of_floats =
            AtomicOperation::ALL.iter().filter(|one| one.applies(AtomicElement::F64)).count();
        assert_eq!(of_floats, 6);
    }

    #[test]
    fn a_set_has_the_elements_that_were_inserted() {
        let (mut one, mut other) = (AtomicElements::default(), AtomicElements::default());
        for (set, element) in [(&mut one, AtomicElement::I8), (&mut other, AtomicElement::U32)] {
            set.insert(element);
            set.insert(AtomicElement::F64);
        }
        let both = AtomicElements::from_bits(one.and(other).to_bits());
        let found = AtomicElement::ALL.into_iter().filter(|&element| both.contains(element));
        assert_eq!(found.collect::<Vec<_>>(), [AtomicElement::F64]);
    }
}
