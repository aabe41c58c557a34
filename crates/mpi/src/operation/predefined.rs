//! The operations that MPI defines.

use crate::datatype::{Construction, Datatype, Kind};

/// An operation that MPI defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Predefined {
    /// The sum. That of integers wraps.
    Sum,
    /// The product, likewise.
    Product,
    /// The smaller one; of a number and a NaN, the number.
    Minimum,
    /// The larger, likewise.
    Maximum,
    /// Bitwise and.
    BitAnd,
    /// Bitwise or.
    BitOr,
    /// Bitwise exclusive or.
    BitXor,
    /// Both are true, that is, not zero.
    And,
    /// Either is true.
    Or,
    /// Exactly one is true.
    Xor,
    /// The pair with the smaller value; of equal values, that with the smaller index.
    MinimumAt,
    /// The pair with the larger value; of equal values, that with the smaller index.
    MaximumAt,
    /// The left one.
    Replace,
    /// The right one.
    Nothing,
}

use Predefined::{
    And, BitAnd, BitOr, BitXor, Maximum, MaximumAt, Minimum, MinimumAt, Nothing, Or, Product,
    Replace, Sum, Xor,
};

impl Predefined {
    /// All of them.
    pub const ALL: [Predefined; 14] = [
        Sum, Product, Minimum, Maximum, BitAnd, BitOr, BitXor, And, Or, Xor, MinimumAt, MaximumAt,
        Replace, Nothing,
    ];

    /// Returns whether it is commutative.
    pub fn commutes(self) -> bool {
        !matches!(self, Replace | Nothing)
    }

    fn is_logical(self) -> bool {
        matches!(self, And | Or | Xor)
    }

    fn is_of_bits(self) -> bool {
        matches!(self, BitAnd | BitOr | BitXor)
    }

    fn is_of_numbers(self) -> bool {
        matches!(self, Minimum | Maximum) || self.is_of_fields()
    }

    fn is_of_fields(self) -> bool {
        matches!(self, Sum | Product)
    }

    /// Returns whether MPI defines it for such elements, and this library supports it. `has_long_double` is whether
    /// this machine has arithmetic on C's long double.
    #[inline]
    pub(crate) fn applies(self, of: &Datatype, has_long_double: bool) -> bool {
        if matches!(self, Replace | Nothing) {
            return true;
        }
        if matches!(self, MinimumAt | MaximumAt) {
            return matches!(of.made(), Construction::Pair(..));
        }
        let Some(kind) = of.only_kind() else { return of.size() == 0 };
        match kind.as_number() {
            // MPI has no arithmetic on C's char, but every other library does, and programs rely on it.
            Kind::Signed(_) | Kind::Unsigned(_) => true,
            Kind::Float(2 | 4 | 8) => self.is_of_numbers(),
            Kind::LongDouble => has_long_double && self.is_of_numbers(),
            Kind::Complex(4 | 8) => self.is_of_fields(),
            Kind::ComplexLongDouble => has_long_double && self.is_of_fields(),
            Kind::Logical(_) => self.is_logical(),
            Kind::Byte => self.is_of_bits(),
            _ => false,
        }
    }
}
