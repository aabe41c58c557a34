//! Basic elements: what datatypes are made of in the end.

/// A basic element. Widths are in bytes; a complex number's is that of one of its two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer with a sign.
    Signed(u8),
    /// An integer without a sign.
    Unsigned(u8),
    /// C's long: as a number of 8 bytes, but of 4 in the portable form.
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
    /// C's char, with which programs also count.
    Char,
    /// A character that is no number.
    Character(u8),
    /// C's wchar_t.
    WideCharacter,
    /// A byte.
    Byte,
    /// A byte of data that were packed.
    Packed,
}

impl Kind {
    /// Its length in memory.
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

    /// Returns the kind that arithmetic sees.
    pub fn as_number(self) -> Kind {
        match self {
            Kind::Long => Kind::Signed(8),
            Kind::UnsignedLong => Kind::Unsigned(8),
            Kind::Char => Kind::Signed(1),
            other => other,
        }
    }

    /// Returns the multiple of bytes at which C puts it in a structure.
    pub fn alignment(self) -> i64 {
        match self {
            Kind::Complex(width) => i64::from(width),
            Kind::ComplexLongDouble => 16,
            other => other.bytes(),
        }
    }
}
