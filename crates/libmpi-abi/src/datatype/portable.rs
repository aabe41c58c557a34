//! The portable form of data, "external32": numbers with their highest byte first, in lengths that are the same on every
//! machine (MPI 5, section 14.5.2).

use std::ffi::{c_char, c_void};

use super::pack::{pack_at, unpack_at};
use super::{Kind, Memory, Type};
use crate::abi::*;
use crate::failure::{Result, ensure, error_of};
use crate::numbers::NumberOut;
use crate::text;

/// A number on its way between the two forms.
#[derive(Clone, Copy)]
struct Number {
    /// The lengths here and in the portable form.
    here: usize,
    there: usize,
    meaning: Meaning,
}

#[derive(Clone, Copy, PartialEq)]
enum Meaning {
    /// Only the order of the bytes differs, and for unsigned numbers the length.
    Plain,
    Signed,
    LongDouble,
}

impl Number {
    /// The numbers that an element of a kind is made of.
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
            ERR_CONVERSION,
            "a number of {here} bytes does not fit external32's {there} bytes"
        );
        out.extend(kept.iter().rev());
        Ok(())
    }

    /// Appends a number that comes in the portable form.
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

impl Type {
    /// The length of one in the portable form.
    fn portable_bytes(&self) -> i64 {
        let of_run = |run: &super::Run| {
            let number = Number::of(run.kind);
            run.bytes() / number.here as i64 * number.there as i64
        };
        self.runs.iter().map(of_run).sum()
    }

    /// Calls `with` for the runs of `count` elements in their order: the kind of number, and how many.
    fn each_run(&self, count: i64, mut with: impl FnMut(Number, usize) -> Result) -> Result {
        for _ in 0..count {
            for run in &self.runs {
                let number = Number::of(run.kind);
                with(number, run.bytes() as usize / number.here)?;
            }
        }
        Ok(())
    }
}

/// From the ten bytes of the x87 to IEEE's sixteen: the exponents are the same, and the leading one of the mantissa goes.
fn to_quad(number: &[u8]) -> [u8; 16] {
    let mantissa = u64::from_le_bytes(number[..8].try_into().expect("sixteen bytes"));
    let high = u16::from_le_bytes([number[8], number[9]]);
    (u128::from(high) << 112 | u128::from(mantissa << 1 >> 1) << 49).to_be_bytes()
}

/// The way back. What the shorter mantissa cannot hold is cut off.
fn from_quad(portable: &[u8]) -> [u8; 16] {
    let quad = u128::from_be_bytes(portable.try_into().expect("sixteen bytes"));
    let high = (quad >> 112) as u16;
    let leading = if high & 0x7fff == 0 { 0 } else { 1 << 63 };
    let mantissa = (((quad >> 49) as u64) << 1 >> 1) | leading;
    (u128::from(high) << 64 | u128::from(mantissa)).to_le_bytes()
}

unsafe fn check(form: *const c_char) -> Result {
    let form = text::read(form)?;
    ensure!(form == "external32", ERR_ARG, "no data representation {form:?}");
    Ok(())
}

/// The length of `count` elements in the portable form.
fn length(of: &Type, count: i64) -> Result<i64> {
    count
        .checked_mul(of.portable_bytes())
        .ok_or_else(|| error_of(ERR_COUNT, format!("{count} elements are too many")))
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn pack_external(
    form: *const c_char,
    from: *const c_void,
    count: i64,
    datatype: Datatype,
    to: *mut c_void,
    room: i64,
    position: NumberOut,
) -> Result {
    check(form)?;
    let memory = Memory::new(from, count, datatype)?;
    let packed = memory.packed();
    let mut portable = Vec::with_capacity(length(&memory.of, count)? as usize);
    let mut rest = &packed[..];
    memory.of.each_run(count, |number, numbers| {
        let (run, after) = rest.split_at(numbers * number.here);
        rest = after;
        run.chunks(number.here).try_for_each(|one| number.write(one, &mut portable))
    })?;
    let bytes = Memory::new(portable.as_ptr().cast(), portable.len() as i64, BYTE)?;
    pack_at(bytes, to, room, position)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn unpack_external(
    form: *const c_char,
    from: *const c_void,
    size: i64,
    position: NumberOut,
    to: *mut c_void,
    count: i64,
    datatype: Datatype,
) -> Result {
    check(form)?;
    let memory = Memory::new(to, count, datatype)?;
    let mut portable = vec![0_u8; length(&memory.of, count)? as usize];
    let bytes = Memory::new(portable.as_mut_ptr().cast(), portable.len() as i64, BYTE)?;
    unpack_at(from, size, position, bytes)?;
    let mut packed = Vec::with_capacity(memory.bytes());
    let mut rest = &portable[..];
    memory.of.each_run(count, |number, numbers| {
        let (run, after) = rest.split_at(numbers * number.there);
        rest = after;
        run.chunks(number.there).for_each(|one| number.read(one, &mut packed));
        Ok(())
    })?;
    memory.unpack(packed.as_ptr(), packed.len());
    Ok(())
}

pub(crate) unsafe fn pack_external_size(
    form: *const c_char,
    count: i64,
    datatype: Datatype,
    size: NumberOut,
) -> Result {
    check(form)?;
    ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    size.write(length(&*super::get(datatype)?, count)?);
    Ok(())
}
