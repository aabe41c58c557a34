//! Reductions: the combination of the elements of several ranks.

use std::fmt;

use collectives::ReductionId;

use crate::{Error, Result};

/// The type of the elements of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// Bytes.
    U8,
    /// 32-bit signed integers.
    I32,
    /// 64-bit signed integers.
    I64,
    /// 64-bit unsigned integers.
    U64,
    /// Single-precision numbers.
    F32,
    /// Double-precision numbers.
    F64,
}

/// The operation on two elements. All are commutative; sums and products of integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The smaller one; of a number and a NaN, the number.
    Minimum,
    /// The larger one; of a number and a NaN, the number.
    Maximum,
}

/// An operation on an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// The type of the elements.
    pub element: Element,
    /// The operation on two elements.
    pub operation: Operation,
}

impl Element {
    /// All element types, for tests over each.
    pub const ALL: [Element; 6] =
        [Element::U8, Element::I32, Element::I64, Element::U64, Element::F32, Element::F64];

    /// Returns the size of an element in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Element::U8 => 1,
            Element::I32 | Element::F32 => 4,
            Element::I64 | Element::U64 | Element::F64 => 8,
        }
    }
}

impl Operation {
    /// All operations, for tests over each.
    pub const ALL: [Operation; 4] =
        [Operation::Sum, Operation::Product, Operation::Minimum, Operation::Maximum];
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}

impl Reduction {
    /// The sum of double-precision numbers, which benchmarks reduce.
    pub const SUM_F64: Reduction = Reduction::new(Element::F64, Operation::Sum);
    /// The maximum of double-precision numbers: the slowest rank's time.
    pub const MAXIMUM_F64: Reduction = Reduction::new(Element::F64, Operation::Maximum);

    /// Creates the reduction by `operation` on elements of type `element`.
    pub const fn new(element: Element, operation: Operation) -> Self {
        Reduction { element, operation }
    }

    /// Returns the reduction as members of a collective compare it.
    #[inline(always)]
    pub const fn id(self) -> ReductionId {
        // The order of the enumerations is that of the ids, which begin with 1.
        ReductionId::new(1 + self.operation as usize, 1 + self.element as usize)
    }

    /// Returns the reduction with an id, if there is one.
    #[inline(always)]
    pub fn of_id(id: ReductionId) -> Option<Self> {
        let element = Element::ALL.get(id.element().checked_sub(1)?)?;
        let operation = Operation::ALL.get(id.operation().checked_sub(1)?)?;
        Some(Reduction::new(*element, *operation))
    }

    /// Combines `operand` into `accumulator`, element by element. Neither need be aligned.
    ///
    /// # Errors
    /// [`Error::UnequalCounts`] if the lengths differ or are not a whole number of elements.
    pub fn combine(self, accumulator: &mut [u8], operand: &[u8]) -> Result<()> {
        let unequal = |what: &str, expected_bytes, found_bytes| {
            Err(Error::UnequalCounts {
                collective: "reduction".into(),
                what: what.into(),
                expected_bytes,
                found_bytes,
            })
        };
        if operand.len() != accumulator.len() {
            return unequal("an operand", accumulator.len(), operand.len());
        }
        let broken = accumulator.len() % self.element.bytes();
        if broken != 0 {
            return unequal(
                "a whole number of elements",
                accumulator.len() - broken,
                accumulator.len(),
            );
        }
        match self.element {
            Element::U8 => integers::<u8, 1>(self.operation, accumulator, operand),
            Element::I32 => integers::<i32, 4>(self.operation, accumulator, operand),
            Element::I64 => integers::<i64, 8>(self.operation, accumulator, operand),
            Element::U64 => integers::<u64, 8>(self.operation, accumulator, operand),
            Element::F32 => floats::<f32, 4>(self.operation, accumulator, operand),
            Element::F64 => floats::<f64, 8>(self.operation, accumulator, operand),
        }
        Ok(())
    }
}

/// Applies `f` to each pair. Byte arrays result in unaligned loads and stores, which the compiler still vectorises.
fn pairwise<T, const N: usize>(accumulator: &mut [u8], operand: &[u8], f: impl Fn(T, T) -> T)
where
    T: bytemuck::Pod,
{
    let (accumulator, _) = accumulator.as_chunks_mut::<N>();
    let (operand, _) = operand.as_chunks::<N>();
    for (a, b) in accumulator.iter_mut().zip(operand) {
        let combined = f(bytemuck::pod_read_unaligned(a), bytemuck::pod_read_unaligned(b));
        a.copy_from_slice(bytemuck::bytes_of(&combined));
    }
}

fn integers<T: Integer, const N: usize>(operation: Operation, a: &mut [u8], b: &[u8]) {
    match operation {
        Operation::Sum => pairwise::<T, N>(a, b, T::sum),
        Operation::Product => pairwise::<T, N>(a, b, T::product),
        Operation::Minimum => pairwise::<T, N>(a, b, Ord::min),
        Operation::Maximum => pairwise::<T, N>(a, b, Ord::max),
    }
}

fn floats<T: Float, const N: usize>(operation: Operation, a: &mut [u8], b: &[u8]) {
    match operation {
        Operation::Sum => pairwise::<T, N>(a, b, |x, y| x + y),
        Operation::Product => pairwise::<T, N>(a, b, |x, y| x * y),
        Operation::Minimum => pairwise::<T, N>(a, b, T::minimum),
        Operation::Maximum => pairwise::<T, N>(a, b, T::maximum),
    }
}

trait Integer: bytemuck::Pod + Ord {
    fn sum(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
}

trait Float: bytemuck::Pod + std::ops::Add<Output = Self> + std::ops::Mul<Output = Self> {
    fn minimum(self, other: Self) -> Self;
    fn maximum(self, other: Self) -> Self;
}

macro_rules! integer {
    ($($t:ty),*) => {$(
        impl Integer for $t {
            fn sum(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn product(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )*};
}
integer!(u8, i32, i64, u64);

macro_rules! float {
    ($($t:ty),*) => {$(
        impl Float for $t {
            fn minimum(self, other: Self) -> Self {
                self.min(other)
            }
            fn maximum(self, other: Self) -> Self {
                self.max(other)
            }
        }
    )*};
}
float!(f32, f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_on_unaligned_elements() {
        let mut room = [0u8; 9];
        for (operation, expected) in [
            (Operation::Sum, 1.5f64),
            (Operation::Product, -7.0),
            (Operation::Minimum, -2.0),
            (Operation::Maximum, 3.5),
        ] {
            room[1..].copy_from_slice(&3.5f64.to_ne_bytes());
            let reduction = Reduction::new(Element::F64, operation);
            reduction.combine(&mut room[1..], &(-2.0f64).to_ne_bytes()).unwrap();
            assert_eq!(room[1..], expected.to_ne_bytes());
        }
    }

    #[test]
    fn words_name_the_operation_and_the_elements() {
        let words = Element::ALL.map(|element| Reduction::new(element, Operation::Sum).to_string());
        let elements = words.each_ref().map(|words| words.strip_prefix("sum of ").unwrap());
        assert_eq!(elements[..3], ["bytes", "32-bit integers", "64-bit integers"]);
        let real = ["single-precision numbers", "double-precision numbers"];
        assert_eq!((elements[3], &elements[4..]), ("unsigned 64-bit integers", &real[..]));
        for (operation, word) in
            Operation::ALL.into_iter().zip(["sum", "product", "minimum", "maximum"])
        {
            let reduction = Reduction::new(Element::U8, operation);
            assert_eq!(reduction.to_string(), format!("{word} of bytes"));
            assert_eq!(Reduction::of_id(reduction.id()), Some(reduction));
        }
    }

    #[test]
    fn integers_wrap() {
        let mut sum = [200u8];
        Reduction::new(Element::U8, Operation::Sum).combine(&mut sum, &[100]).unwrap();
        assert_eq!(sum, [44]);
    }

    #[test]
    fn unequal_or_broken_lengths_are_refused() {
        assert!(Reduction::SUM_F64.combine(&mut [0; 8], &[0; 16]).is_err());
        assert!(Reduction::SUM_F64.combine(&mut [0; 9], &[0; 9]).is_err());
    }
}
