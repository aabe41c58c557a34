//! Basic elements, of which all datatypes consist.

/// A basic element. Widths are in bytes; that of a complex number is the width of one of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer with a sign.
    Signed(u8),
    /// An integer without a sign.
    Unsigned(u8),
    /// C's long: a number of 8 bytes, but of 4 in the portable form.
    Long,
    /// C's unsigned long, likewise.
    UnsignedLong,
    /// An IEEE number of 2, 4, 8 or 16 bytes.
    Float(u8),
    /// C's long double.
    LongDouble,
    /// Two IEEE numbers.
    Complex(u8),
    /// Two of C's long double.
    ComplexLongDouble,
    /// A truth value.
    Logical(u8),
    /// C's char, which programs also use as a number.
    Char,
    /// A character that is not a number.
    Character(u8),
    /// C's wchar_t.
    WideCharacter,
    /// A byte.
    Byte,
    /// A byte of packed data.
    Packed,
}

impl Kind {
    /// Returns its length in memory.
    pub fn bytes(self) -> i64 {
        use Kind::{Character, Complex, Float, Logical, Signed, Unsigned};
        i64::from(match self {
            Signed(width) | Unsigned(width) | Float(width) | Logical(width) | Character(width) => {
                width
            }
            Complex(width) => 2 * width,
            Kind::Long | Kind::UnsignedLong => 8,
            Kind::WideCharacter => 4,
            Kind::LongDouble => 16,
            Kind::ComplexLongDouble => 32,
            Kind::Byte | Kind::Char | Kind::Packed => 1,
        })
    }

    /// Returns the kind with which arithmetic treats it.
    pub fn as_number(self) -> Kind {
        match self {
            Kind::Long => Kind::Signed(8),
            Kind::UnsignedLong => Kind::Unsigned(8),
            Kind::Char => Kind::Signed(1),
            other => other,
        }
    }

    /// Returns its alignment in structures of C.
    pub fn alignment(self) -> i64 {
        match self {
            Kind::Complex(width) => i64::from(width),
            Kind::ComplexLongDouble => 16,
            other => other.bytes(),
        }
    }
}
