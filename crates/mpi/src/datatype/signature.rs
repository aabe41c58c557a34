//! Signatures: the sequence of basic elements in some data, as both sides of a communication compare it (MPI 5.0, 3.3.1).

use super::kind::Kind;

/// The sequence of basic elements of some data, in one word. Sequences of one class of elements have words that tell
/// class and number; others are told apart by a hash.
///
/// Elements of a class have the same width and are all integers, or all floating-point numbers, and so on: data whose two
/// sides differ only in sign, or in C's name for a type, are right on every machine that has this library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature(u64);

/// Modulus of the hash, a prime, and its base.
const MODULUS: u128 = (1 << 61) - 1;
const BASE: u64 = 0x1d8a_3b7c_55e1_9f43;

const CLASS_SHIFT: u32 = 56;
/// The class of sequences of several classes.
const MIXED: u64 = 0x7f;

/// A sequence as a polynomial: its value, and the power of the base by its length.
#[derive(Clone, Copy, Debug)]
struct Sequence {
    value: u64,
    power: u64,
}

fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % MODULUS) as u64
}

impl Sequence {
    const EMPTY: Sequence = Sequence { value: 0, power: 1 };

    fn then(self, next: Sequence) -> Sequence {
        let value = u128::from(times(self.value, next.power)) + u128::from(next.value);
        Sequence { value: (value % MODULUS) as u64, power: times(self.power, next.power) }
    }

    fn repeated(self, mut count: i64) -> Sequence {
        let (mut all, mut doubled) = (Sequence::EMPTY, self);
        while count > 0 {
            if count & 1 == 1 {
                all = all.then(doubled);
            }
            doubled = doubled.then(doubled);
            count >>= 1;
        }
        all
    }
}

/// Returns the class of a kind of elements; 0 for bytes, which match everything.
fn class(kind: Kind) -> u64 {
    let (base, width) = match kind {
        Kind::Byte | Kind::Packed => return 0,
        Kind::Signed(width) | Kind::Unsigned(width) => (0, width),
        Kind::Long | Kind::UnsignedLong => (0, 8),
        Kind::Char => (0, 1),
        // A C program may use its characters as Fortran's, and as small integers.
        Kind::Character(width) => (0, width),
        Kind::WideCharacter => (0, 4),
        Kind::Float(width) => (1, width),
        Kind::LongDouble => (2, 16),
        Kind::Complex(width) => (3, width),
        Kind::ComplexLongDouble => (4, 16),
        Kind::Logical(width) => (5, width),
    };
    8 * base + u64::from(width.trailing_zeros()) + 1
}

/// Returns the binary logarithm of the length of an element. A complex number has two parts.
#[inline]
fn shift(class: u64) -> u32 {
    let (base, width) = ((class - 1) / 8, ((class - 1) % 8) as u32);
    width + u32::from(base == 3 || base == 4)
}

impl Signature {
    /// That of bytes and of packed data, which match everything.
    pub(crate) const ANY: Signature = Signature(0);
    /// That of no data.
    pub(crate) const EMPTY: Signature = Signature(MIXED << CLASS_SHIFT);

    #[inline]
    fn of_class(class: u64, count: i64) -> Self {
        Signature(class << CLASS_SHIFT | count as u64 & ((1 << CLASS_SHIFT) - 1))
    }

    /// Returns that of so many bytes of elements of a [class](super::Datatype::class); that of bytes if there are several classes.
    #[inline]
    pub fn of_received(class: u8, bytes: usize) -> Self {
        match u64::from(class) {
            0 | MIXED => Signature::ANY,
            _ if bytes == 0 => Signature::EMPTY,
            class => Signature::of_class(class, (bytes >> shift(class)) as i64),
        }
    }

    /// Returns the word.
    #[inline]
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    /// Returns the signature with this word.
    pub(crate) fn from_bits(bits: u64) -> Self {
        Signature(bits)
    }

    /// Returns that of a sequence of blocks, from a hash of theirs.
    pub(crate) fn of_sequence(hash: u64) -> Self {
        Signature(MIXED << CLASS_SHIFT | (hash >> 8).max(1))
    }

    /// Returns whether it matches everything.
    pub(crate) fn is_any(self) -> bool {
        self == Signature::ANY
    }

    /// Returns words for it, such as "6 integers of 4 bytes".
    pub(crate) fn in_words(self) -> String {
        let (class, count) = (self.0 >> CLASS_SHIFT, self.0 & ((1 << CLASS_SHIFT) - 1));
        if self == Signature::EMPTY {
            return "no data".into();
        }
        if self.is_any() {
            return "bytes".into();
        }
        if class == MIXED {
            return "elements of several types or blocks".into();
        }
        if class > MIXED {
            return "other data to send than to receive".into();
        }
        let (base, width) = ((class - 1) / 8, 1 << ((class - 1) % 8));
        let names = [
            "integer",
            "floating-point number",
            "long double",
            "complex number",
            "complex long double",
            "truth value",
        ];
        let name = names.get(base as usize).copied().unwrap_or("element");
        let bytes = if width == 1 { "1 byte".into() } else { format!("{width} bytes") };
        format!("{count} {name}{} of {bytes}", if count == 1 { "" } else { "s" })
    }
}

/// What the signature of any number of elements of a datatype needs, computed once.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypedElement {
    /// 0 for bytes, and the number of several classes for a sequence of them.
    class: u8,
    /// Number of basic elements in one.
    count: i64,
    sequence: Sequence,
}

impl TypedElement {
    /// Returns that of an element with these runs of basic elements.
    pub(super) fn of(runs: impl Iterator<Item = (Kind, i64)> + Clone) -> Self {
        let count = runs.clone().map(|(_, count)| count).sum();
        let classes = || runs.clone().filter(|run| run.1 > 0).map(|(kind, _)| class(kind));
        let first = classes().next().unwrap_or(0);
        let class_of_all = match () {
            () if classes().any(|class| class == 0) => 0,
            () if classes().all(|class| class == first) => first,
            () => MIXED,
        };
        let sequence = |all: Sequence, (kind, count)| {
            all.then(Sequence { value: class(kind), power: BASE }.repeated(count))
        };
        let sequence = match class_of_all {
            MIXED => runs.fold(Sequence::EMPTY, sequence),
            _ => Sequence::EMPTY,
        };
        TypedElement { class: class_of_all as u8, count, sequence }
    }
}

impl TypedElement {
    /// Returns the signature of `count` such elements.
    #[inline]
    pub(super) fn signature(&self, count: i64) -> Signature {
        if count <= 0 || self.count == 0 {
            return Signature::EMPTY;
        }
        match u64::from(self.class) {
            0 => Signature::ANY,
            MIXED => self.mixed_signature(count),
            class => Signature::of_class(class, self.count.wrapping_mul(count)),
        }
    }

    #[cold]
    fn mixed_signature(&self, count: i64) -> Signature {
        let hash = self.sequence.repeated(count).value & ((1 << CLASS_SHIFT) - 1);
        Signature(MIXED << CLASS_SHIFT | hash.max(1))
    }

    pub(super) fn class(&self) -> u8 {
        self.class
    }

    /// Returns the signature of the beginning of an array of elements of `size` bytes, of so many bytes. It is that of bytes
    /// if it ends within one element of several classes.
    #[inline]
    pub(super) fn signature_of_bytes(&self, size: usize, bytes: usize) -> Signature {
        if u64::from(self.class) != MIXED {
            return Signature::of_received(self.class, bytes);
        }
        match bytes % size {
            0 => self.signature((bytes / size) as i64),
            _ => Signature::ANY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::{Datatype, Unit};

    #[test]
    fn a_signature_depends_on_the_elements_and_not_on_how_they_are_combined() {
        let int = Datatype::basic(Kind::Signed(4));
        let six = Datatype::contiguous(6, &int).unwrap();
        let gaps = Datatype::vector(3, 2, 5, Unit::Elements, &int).unwrap();
        assert_eq!(six.signature(1), int.signature(6));
        assert_eq!(gaps.signature(2), int.signature(12));
        assert_ne!(int.signature(6), int.signature(5));
        assert_ne!(int.signature(6), Datatype::basic(Kind::Float(4)).signature(6));
        assert_eq!(int.signature(6).in_words(), "6 integers of 4 bytes");
    }

    #[test]
    fn names_and_signs_of_integers_make_no_difference_and_bytes_match_everything() {
        let of = |kind| Datatype::basic(kind).signature(3);
        assert_eq!(of(Kind::Long), of(Kind::Unsigned(8)));
        assert_eq!(of(Kind::Char), of(Kind::Signed(1)));
        assert!(of(Kind::Byte).is_any() && of(Kind::Packed).is_any());
        assert_eq!(Datatype::basic(Kind::Byte).signature(0), Signature::EMPTY);
    }

    #[test]
    fn structures_are_compared_by_the_sequence_of_their_elements() {
        let (int, double) = (Datatype::basic(Kind::Signed(4)), Datatype::basic(Kind::Float(8)));
        let structure = |of: [&std::rc::Rc<Datatype>; 2]| {
            let of = of.map(Clone::clone).to_vec();
            Datatype::structure(vec![1, 1], vec![0, 8], of).unwrap()
        };
        let (first, second) = (structure([&int, &double]), structure([&double, &int]));
        assert_ne!(first.signature(1), second.signature(1));
        let two = Datatype::contiguous(2, &first).unwrap();
        assert_eq!(two.signature(3), first.signature(6));
        assert_ne!(first.signature(6), first.signature(5));
    }
}
