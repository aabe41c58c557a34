//! The predefined operations on the predefined types.

use super::extended;
use crate::bindings::*;
use crate::datatype::Type;
use crate::datatype::kind::{Kind, PAIRS};

const LOGIC: [Op; 3] = [LAND, LOR, LXOR];
const BITS: [Op; 3] = [BAND, BOR, BXOR];
const ORDER: [Op; 2] = [MIN, MAX];
const FIELD: [Op; 2] = [SUM, PROD];

/// Whether the standard defines `op` for elements of this type, and this library has it.
pub(super) fn applies(op: Op, datatype: Datatype, of: &Type) -> bool {
    if op == REPLACE || op == NO_OP {
        return true;
    }
    if op == MINLOC || op == MAXLOC {
        return PAIRS.iter().any(|(pair, ..)| *pair == datatype);
    }
    let Some(kind) = of.only_kind() else { return of.size == 0 };
    match kind.as_number() {
        // The standard has no arithmetic on MPI_CHAR, but every peer has, and programs count on it.
        Kind::Character(1) if datatype == CHAR => {
            [&LOGIC[..], &BITS, &ORDER, &FIELD].concat().contains(&op)
        }
        Kind::Signed(_) | Kind::Unsigned(_) => {
            [&LOGIC[..], &BITS, &ORDER, &FIELD].concat().contains(&op)
        }
        Kind::Float(4 | 8) => ORDER.contains(&op) || FIELD.contains(&op),
        Kind::LongDouble => extended::AVAILABLE && (ORDER.contains(&op) || FIELD.contains(&op)),
        Kind::Complex(4 | 8) => FIELD.contains(&op),
        Kind::ComplexLongDouble => extended::AVAILABLE && FIELD.contains(&op),
        Kind::Logical(_) => LOGIC.contains(&op),
        Kind::Byte => BITS.contains(&op) && datatype != PACKED,
        _ => false,
    }
}

/// Where the numbers of one call lie; the result may take the place of the right ones.
#[derive(Clone, Copy)]
struct Places {
    left: *const u8,
    right: *const u8,
    result: *mut u8,
    count: i64,
}

/// result = with(left, right), number by number.
#[inline(always)]
unsafe fn each_in<T: Copy>(at: Places, with: impl Fn(T, T) -> T) {
    let (left, right, result) = (at.left.cast::<T>(), at.right.cast::<T>(), at.result.cast::<T>());
    for index in 0..at.count as usize {
        // Buffers of users need not be aligned.
        let value = with(left.add(index).read_unaligned(), right.add(index).read_unaligned());
        result.add(index).write_unaligned(value);
    }
}

/// The same with vectors of twice the length that every machine has.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn each_wide<T: Copy>(at: Places, with: impl Fn(T, T) -> T) {
    each_in(at, with);
}

/// The same with the vectors of this machine.
unsafe fn each<T: Copy>(at: Places, with: impl Fn(T, T) -> T) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        return each_wide(at, with);
    }
    each_in(at, with);
}

macro_rules! integers {
    ($t:ty, $op:expr, $at:expr) => {{
        let at = $at;
        match $op {
            SUM => each::<$t>(at, |a, b| a.wrapping_add(b)),
            PROD => each::<$t>(at, |a, b| a.wrapping_mul(b)),
            MIN => each::<$t>(at, |a, b| a.min(b)),
            MAX => each::<$t>(at, |a, b| a.max(b)),
            BAND => each::<$t>(at, |a, b| a & b),
            BOR => each::<$t>(at, |a, b| a | b),
            BXOR => each::<$t>(at, |a, b| a ^ b),
            LAND => each::<$t>(at, |a, b| <$t>::from(a != 0 && b != 0)),
            LOR => each::<$t>(at, |a, b| <$t>::from(a != 0 || b != 0)),
            LXOR => each::<$t>(at, |a, b| <$t>::from((a != 0) != (b != 0))),
            _ => {}
        }
    }};
}

macro_rules! floats {
    ($t:ty, $op:expr, $at:expr) => {{
        let at = $at;
        match $op {
            SUM => each::<$t>(at, |a, b| a + b),
            PROD => each::<$t>(at, |a, b| a * b),
            MIN => each::<$t>(at, |a, b| a.min(b)),
            MAX => each::<$t>(at, |a, b| a.max(b)),
            _ => {}
        }
    }};
}

macro_rules! complex {
    ($t:ty, $op:expr, $at:expr) => {
        each::<[$t; 2]>($at, |[a, b], [c, d]| {
            if $op == SUM { [a + c, b + d] } else { [a * c - b * d, a * d + b * c] }
        })
    };
}

pub(super) unsafe fn apply(
    op: Op,
    datatype: Datatype,
    of: &Type,
    input: *mut u8,
    inout: *mut u8,
    count: i64,
) {
    if op == NO_OP {
        return;
    }
    if op == MINLOC || op == MAXLOC {
        return locate(op, datatype, of, input, inout, count);
    }
    if of.dense {
        return apply_to_dense(op, of, input, inout, inout, count);
    }
    for index in 0..count {
        for run in &of.runs {
            let offset = (index * of.extent + run.offset) as isize;
            let (left, right) = (input.offset(offset), inout.offset(offset));
            let at = Places { left, right, result: right, count: run.count };
            apply_to_run(op, Some(run.kind), at);
        }
    }
}

/// result = left op right for elements without gaps; the result may take the place of the right ones. Not for MPI_NO_OP,
/// MPI_MINLOC and MPI_MAXLOC.
pub(super) unsafe fn apply_to_dense(
    op: Op,
    of: &Type,
    left: *const u8,
    right: *const u8,
    result: *mut u8,
    count: i64,
) {
    let elements = of.runs.first().map_or(0, |run| run.count);
    let at = Places { left, right, result, count: count * elements };
    apply_to_run(op, of.only_kind(), at);
}

unsafe fn apply_to_run(op: Op, kind: Option<Kind>, at: Places) {
    let Some(kind) = kind else { return };
    if op == REPLACE {
        std::ptr::copy(at.left, at.result, (at.count * kind.bytes()) as usize);
        return;
    }
    match kind.as_number() {
        Kind::Signed(1) | Kind::Character(1) => integers!(i8, op, at),
        Kind::Signed(2) => integers!(i16, op, at),
        Kind::Signed(4) => integers!(i32, op, at),
        Kind::Signed(8) => integers!(i64, op, at),
        Kind::Signed(16) => integers!(i128, op, at),
        Kind::Unsigned(1) | Kind::Byte | Kind::Logical(1) => integers!(u8, op, at),
        Kind::Unsigned(2) | Kind::Logical(2) => integers!(u16, op, at),
        Kind::Unsigned(4) | Kind::Logical(4) => integers!(u32, op, at),
        Kind::Unsigned(8) | Kind::Logical(8) => integers!(u64, op, at),
        Kind::Unsigned(16) | Kind::Logical(16) => integers!(u128, op, at),
        Kind::Float(4) => floats!(f32, op, at),
        Kind::Float(8) => floats!(f64, op, at),
        Kind::Complex(4) => complex!(f32, op, at),
        Kind::Complex(8) => complex!(f64, op, at),
        Kind::LongDouble | Kind::ComplexLongDouble => {
            // These are combined in place.
            if at.right != at.result.cast_const() {
                std::ptr::copy(at.right, at.result, (at.count * kind.bytes()) as usize);
            }
            let left = at.left.cast_mut();
            if kind == Kind::LongDouble {
                extended::apply(op, left, at.result, at.count);
            } else {
                extended::apply_complex(op, left, at.result, at.count);
            }
        }
        // `applies` lets nothing else through.
        _ => {}
    }
}

/// MPI_MINLOC and MPI_MAXLOC: of equal values the lower index wins.
unsafe fn locate(
    op: Op,
    datatype: Datatype,
    of: &Type,
    input: *mut u8,
    inout: *mut u8,
    count: i64,
) {
    let Some(&(_, value, index)) = PAIRS.iter().find(|(pair, ..)| *pair == datatype) else {
        return;
    };
    let place = (value.bytes() + index.alignment() - 1) / index.alignment() * index.alignment();
    for element in 0..count {
        let offset = (element * of.extent) as isize;
        let (input, inout) = (input.offset(offset), inout.offset(offset));
        let order = compare(value, input, inout);
        let wins = if op == MINLOC {
            order == Some(std::cmp::Ordering::Less)
        } else {
            order == Some(std::cmp::Ordering::Greater)
        };
        let lower = compare(index, input.offset(place as isize), inout.offset(place as isize));
        let tie =
            order == Some(std::cmp::Ordering::Equal) && lower == Some(std::cmp::Ordering::Less);
        if wins || tie {
            std::ptr::copy(input, inout, value.bytes() as usize);
            let index_bytes = index.bytes() as usize;
            std::ptr::copy(input.offset(place as isize), inout.offset(place as isize), index_bytes);
        }
    }
}

unsafe fn compare(kind: Kind, one: *mut u8, other: *mut u8) -> Option<std::cmp::Ordering> {
    macro_rules! read {
        ($t:ty) => {
            one.cast::<$t>().read_unaligned().partial_cmp(&other.cast::<$t>().read_unaligned())
        };
    }
    match kind.as_number() {
        Kind::Signed(2) => read!(i16),
        Kind::Signed(4) => read!(i32),
        Kind::Signed(8) => read!(i64),
        Kind::Float(4) => read!(f32),
        Kind::Float(8) => read!(f64),
        Kind::LongDouble => extended::compare(one, other),
        _ => None,
    }
}
