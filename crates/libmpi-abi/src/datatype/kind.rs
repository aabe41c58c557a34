//! The predefined datatypes: what kind of thing each element is.

use crate::abi::*;

/// A basic element. Widths are in bytes; a complex number's is that of one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Signed(u8),
    Unsigned(u8),
    /// C's long and unsigned long: as numbers of 8 bytes, but of 4 in the portable form.
    Long,
    UnsignedLong,
    /// IEEE numbers of 2, 4, 8 or 16 bytes.
    Float(u8),
    /// C's long double.
    LongDouble,
    Complex(u8),
    ComplexLongDouble,
    Logical(u8),
    Character(u8),
    /// C's wchar_t.
    WideCharacter,
    Byte,
}

use Kind::{
    Byte, Character, Complex, ComplexLongDouble, Float, Logical, Long, LongDouble, Signed,
    Unsigned, UnsignedLong, WideCharacter,
};

impl Kind {
    pub(crate) fn bytes(self) -> i64 {
        i64::from(match self {
            Signed(width) | Unsigned(width) | Float(width) | Logical(width) | Character(width) => {
                width
            }
            Complex(width) => 2 * width,
            Long | UnsignedLong => 8,
            WideCharacter => 4,
            LongDouble => 16,
            ComplexLongDouble => 32,
            Byte => 1,
        })
    }

    /// The kind that arithmetic sees.
    pub(crate) fn as_number(self) -> Kind {
        match self {
            Long => Signed(8),
            UnsignedLong => Unsigned(8),
            other => other,
        }
    }

    /// Where C puts it in a structure.
    pub(crate) fn alignment(self) -> i64 {
        match self {
            Complex(width) => i64::from(width),
            ComplexLongDouble => 16,
            other => other.bytes(),
        }
    }
}

/// The predefined types of one element each.
pub(crate) const BASIC: &[(Datatype, Kind)] = &[
    (AINT, Signed(8)),
    (COUNT, Signed(8)),
    (OFFSET, Signed(8)),
    (PACKED, Byte),
    (SHORT, Signed(2)),
    (INT, Signed(4)),
    (LONG, Long),
    (LONG_LONG, Signed(8)),
    (UNSIGNED_SHORT, Unsigned(2)),
    (UNSIGNED, Unsigned(4)),
    (UNSIGNED_LONG, UnsignedLong),
    (UNSIGNED_LONG_LONG, Unsigned(8)),
    (FLOAT, Float(4)),
    (C_FLOAT_COMPLEX, Complex(4)),
    (CXX_FLOAT_COMPLEX, Complex(4)),
    (DOUBLE, Float(8)),
    (C_DOUBLE_COMPLEX, Complex(8)),
    (CXX_DOUBLE_COMPLEX, Complex(8)),
    (LOGICAL, Logical(4)),
    (INTEGER, Signed(4)),
    (REAL, Float(4)),
    (COMPLEX, Complex(4)),
    (DOUBLE_PRECISION, Float(8)),
    (DOUBLE_COMPLEX, Complex(8)),
    (CHARACTER, Character(1)),
    (LONG_DOUBLE, LongDouble),
    (C_LONG_DOUBLE_COMPLEX, ComplexLongDouble),
    (CXX_LONG_DOUBLE_COMPLEX, ComplexLongDouble),
    (C_BOOL, Logical(1)),
    (CXX_BOOL, Logical(1)),
    (WCHAR, WideCharacter),
    (INT8_T, Signed(1)),
    (UINT8_T, Unsigned(1)),
    (CHAR, Character(1)),
    (SIGNED_CHAR, Signed(1)),
    (UNSIGNED_CHAR, Unsigned(1)),
    (BYTE, Byte),
    (INT16_T, Signed(2)),
    (UINT16_T, Unsigned(2)),
    (INT32_T, Signed(4)),
    (UINT32_T, Unsigned(4)),
    (INT64_T, Signed(8)),
    (UINT64_T, Unsigned(8)),
    (LOGICAL1, Logical(1)),
    (INTEGER1, Signed(1)),
    (LOGICAL2, Logical(2)),
    (INTEGER2, Signed(2)),
    (REAL2, Float(2)),
    (LOGICAL4, Logical(4)),
    (INTEGER4, Signed(4)),
    (REAL4, Float(4)),
    (COMPLEX4, Complex(2)),
    (LOGICAL8, Logical(8)),
    (INTEGER8, Signed(8)),
    (REAL8, Float(8)),
    (COMPLEX8, Complex(4)),
    (LOGICAL16, Logical(16)),
    (INTEGER16, Signed(16)),
    (REAL16, Float(16)),
    (COMPLEX16, Complex(8)),
    (COMPLEX32, Complex(16)),
];

/// The predefined types of a value and an index.
pub(crate) const PAIRS: &[(Datatype, Kind, Kind)] = &[
    (FLOAT_INT, Float(4), Signed(4)),
    (DOUBLE_INT, Float(8), Signed(4)),
    (LONG_INT, Long, Signed(4)),
    (TWO_INT, Signed(4), Signed(4)),
    (SHORT_INT, Signed(2), Signed(4)),
    (LONG_DOUBLE_INT, LongDouble, Signed(4)),
    (TWO_REAL, Float(4), Float(4)),
    (TWO_DOUBLE_PRECISION, Float(8), Float(8)),
    (TWO_INTEGER, Signed(4), Signed(4)),
];
