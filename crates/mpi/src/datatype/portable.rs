//! The portable form of data, "external32": numbers with their highest byte first, in lengths that are the same
//! on every machine (MPI 5, section 14.5.2).

use super::kind::Kind;
use super::layout::{Datatype, Run};
use crate::error::{Error, ErrorClass, Result, ensure};

/// The conversion of a number between the two forms.
#[derive(Clone, Copy)]
struct Number {
    /// Lengths here and in the portable form.
    here: usize,
    there: usize,
    meaning: Meaning,
}

#[derive(Clone, Copy, PartialEq)]
enum Meaning {
    /// Only the byte order differs, and the length of unsigned numbers.
    Plain,
    Signed,
    LongDouble,
}

impl Number {
    /// Returns the numbers that an element of a kind is made of.
    fn of(kind: Kind) -> Number {
        let plain = |bytes| Number { here: bytes, there: bytes, meaning: Meaning::Plain };
        match kind {
            Kind::Long => Number { here: 8, there: 4, meaning: Meaning::Signed },
            Kind::UnsignedLong => Number { here: 8, there: 4, meaning: Meaning::Plain },
            Kind::WideCharacter => Number { here: 4, there: 2, meaning: Meaning::Plain },
            Kind::LongDouble | Kind::ComplexLongDouble => {
                Number { here: 16, there: 16, meaning: Meaning::LongDouble }
            }
            Kind::Complex(width) => plain(usize::from(width)),
            kind => plain(kind.bytes() as usize),
        }
    }

    /// Appends the portable form of a number.
    fn write(self, number: &[u8], out: &mut Vec<u8>) -> Result {
        if self.meaning == Meaning::LongDouble {
            out.extend(to_quad(number));
            return Ok(());
        }
        let (kept, cut) = number.split_at(self.there);
        let negative = self.meaning == Meaning::Signed && kept[self.there - 1] >> 7 == 1;
        let filler = if negative { 0xff } else { 0 };
        let fits = cut.iter().all(|&byte| byte == filler);
        let (here, there) = (self.here, self.there);
        ensure!(
            fits,
            ErrorClass::Conversion,
            "a number of {here} bytes does not fit external32's {there} bytes"
        );
        out.extend(kept.iter().rev());
        Ok(())
    }

    /// Appends a number that is given in the portable form.
    fn read(self, portable: &[u8], out: &mut Vec<u8>) {
        if self.meaning == Meaning::LongDouble {
            out.extend(from_quad(portable));
            return;
        }
        let negative = self.meaning == Meaning::Signed && portable[0] >> 7 == 1;
        out.extend(portable.iter().rev());
        out.resize(out.len() + self.here - self.there, if negative { 0xff } else { 0 });
    }
}

/// Converts the ten bytes of the x87 to IEEE's sixteen: the exponents are the same, and the leading one of the mantissa
/// is dropped.
fn to_quad(number: &[u8]) -> [u8; 16] {
    let mantissa = u64::from_le_bytes(number[..8].try_into().expect("sixteen bytes"));
    let high = u16::from_le_bytes([number[8], number[9]]);
    (u128::from(high) << 112 | u128::from(mantissa << 1 >> 1) << 49).to_be_bytes()
}

/// Converts in the other direction. Bits that the shorter mantissa cannot hold are cut off.
fn from_quad(portable: &[u8]) -> [u8; 16] {
    let quad = u128::from_be_bytes(portable.try_into().expect("sixteen bytes"));
    let high = (quad >> 112) as u16;
    let leading = if high & 0x7fff == 0 { 0 } else { 1 << 63 };
    let mantissa = (((quad >> 49) as u64) << 1 >> 1) | leading;
    (u128::from(high) << 64 | u128::from(mantissa)).to_le_bytes()
}

/// Returns the numbers of a run: their kind and count.
fn numbers(run: &Run) -> (Number, usize) {
    let number = Number::of(run.kind);
    (number, run.bytes() as usize / number.here)
}

impl Datatype {
    /// Returns the length of `count` elements in the portable form.
    ///
    /// # Errors
    /// [`ErrorClass::Count`] if the length overflows.
    pub fn portable_bytes(&self, count: i64) -> Result<i64> {
        let of_run = |run: &Run| {
            let (number, numbers) = numbers(run);
            numbers as i64 * number.there as i64
        };
        let each: i64 = self.runs().iter().map(of_run).sum();
        let too_many = || Error::new(ErrorClass::Count, format!("{count} elements are too many"));
        count.checked_mul(each).ok_or_else(too_many)
    }

    /// Returns the portable form of packed elements, as many as there are.
    ///
    /// # Errors
    /// [`ErrorClass::Conversion`] for a number that the portable form cannot hold.
    pub fn to_portable(&self, packed: &[u8]) -> Result<Vec<u8>> {
        let mut portable = Vec::with_capacity(packed.len());
        for element in packed.chunks(self.size().max(1) as usize) {
            let mut rest = element;
            for run in self.runs() {
                let (number, numbers) = numbers(run);
                let (here, after) = rest.split_at(numbers * number.here);
                rest = after;
                here.chunks(number.here).try_for_each(|one| number.write(one, &mut portable))?;
            }
        }
        Ok(portable)
    }

    /// Returns the packed length of the whole numbers in the first `portable` bytes of the portable form.
    pub(crate) fn packed_bytes_of(&self, portable: i64) -> i64 {
        let each = self.portable_bytes(1).unwrap_or(0);
        if each == 0 {
            return 0;
        }
        let (mut packed, mut left) = (portable / each * self.size(), portable % each);
        for run in self.runs() {
            let (number, numbers) = numbers(run);
            let whole = (left / number.there as i64).min(numbers as i64);
            packed += whole * number.here as i64;
            left -= whole * number.there as i64;
            if whole < numbers as i64 {
                break;
            }
        }
        packed
    }

    /// Returns the packed form of `count` elements that are given in the portable form.
    ///
    /// # Panics
    /// If `portable` is shorter than [`portable_bytes`](Datatype::portable_bytes) returns.
    pub fn from_portable(&self, portable: &[u8], count: i64) -> Vec<u8> {
        let mut packed = Vec::with_capacity((self.size() * count) as usize);
        let mut rest = portable;
        for _ in 0..count {
            for run in self.runs() {
                let (number, numbers) = numbers(run);
                let (here, after) = rest.split_at(numbers * number.there);
                rest = after;
                here.chunks(number.there).for_each(|one| number.read(one, &mut packed));
            }
        }
        packed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_travel_with_their_highest_byte_first() {
        let parts = vec![Datatype::basic(Kind::Signed(2)), Datatype::basic(Kind::Long)];
        let of = Datatype::structure(vec![1, 1], vec![0, 8], parts).unwrap();
        // Two structures of a short and a long: 2 + 4 bytes each.
        assert_eq!(of.portable_bytes(2), Ok(12));
        let packed = [&0x0102_i16.to_le_bytes()[..], &(-2_i64).to_le_bytes()].concat();
        let both = [&packed[..], &packed].concat();
        let portable = of.to_portable(&both).unwrap();
        assert_eq!(portable, [1, 2, 255, 255, 255, 254, 1, 2, 255, 255, 255, 254]);
        assert_eq!(of.from_portable(&portable, 2), both);
        // One whole of 10 bytes; with 3 more the short, and with 6 more the long as well.
        assert_eq!([6, 9, 11, 12].map(|bytes| of.packed_bytes_of(bytes)), [10, 12, 12, 20]);
    }

    #[test]
    fn values_outside_the_portable_format_are_refused() {
        let long = Datatype::basic(Kind::Long);
        let refused = long.to_portable(&(1_i64 << 31).to_le_bytes()).unwrap_err();
        assert_eq!(refused.class, ErrorClass::Conversion);
        assert!(long.to_portable(&(-1_i64 << 31).to_le_bytes()).is_ok());
        // 2^62 times 4 bytes.
        assert_eq!(long.portable_bytes(1 << 62).unwrap_err().class, ErrorClass::Count);
    }

    #[test]
    fn long_doubles_have_the_exponent_of_quads() {
        let of = Datatype::basic(Kind::LongDouble);
        // 1.5: sign 0, exponent 16383, mantissa 1.1 in binary; the quad leaves the leading one out.
        let mut extended = [0; 16];
        extended[7] = 0xc0;
        extended[8..10].copy_from_slice(&0x3fff_u16.to_le_bytes());
        let portable = of.to_portable(&extended).unwrap();
        assert_eq!(portable[..3], [0x3f, 0xff, 0x80]);
        assert_eq!(of.from_portable(&portable, 1), extended);
    }
}
