//! Rust's own numbers as basic elements.

use std::rc::Rc;

use super::kind::Kind;
use super::layout::Datatype;

/// A number that messages can consist of.
pub trait Element: Copy + 'static + private::Plain {
    /// Its kind in MPI.
    const KIND: Kind;

    /// Returns a datatype of one such number.
    fn datatype() -> Rc<Datatype> {
        Datatype::basic(Self::KIND)
    }

    /// Returns the number in the first bytes of `bytes`.
    ///
    /// # Panics
    /// If there are too few, as for `to_bytes`.
    fn from_bytes(bytes: &[u8]) -> Self;

    /// Stores the number in the first bytes of `bytes`.
    ///
    /// # Panics
    /// If there are too few.
    fn to_bytes(self, bytes: &mut [u8]);
}

mod private {
    /// Numbers without padding of which every bit pattern is valid. Only this crate can declare that of a type.
    pub trait Plain {}
}

macro_rules! elements {
    ($($t:ty => $kind:expr),* $(,)?) => {$(
        impl private::Plain for $t {}
        impl Element for $t {
            const KIND: Kind = $kind;

            fn from_bytes(bytes: &[u8]) -> Self {
                let (first, _) = bytes.split_first_chunk().expect("as many bytes as the number");
                <$t>::from_ne_bytes(*first)
            }

            fn to_bytes(self, bytes: &mut [u8]) {
                bytes[..size_of::<$t>()].copy_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}

elements! {
    i8 => Kind::Signed(1),
    i16 => Kind::Signed(2),
    i32 => Kind::Signed(4),
    i64 => Kind::Signed(8),
    i128 => Kind::Signed(16),
    u8 => Kind::Unsigned(1),
    u16 => Kind::Unsigned(2),
    u32 => Kind::Unsigned(4),
    u64 => Kind::Unsigned(8),
    u128 => Kind::Unsigned(16),
    f32 => Kind::Float(4),
    f64 => Kind::Float(8),
}
