//! The predefined operations on the predefined types.

use super::extended;
use crate::abi::*;
use crate::datatype::Type;
use crate::datatype::kind::{Kind, PAIRS};

const LOGIC: [Op; 3] = [LAND, LOR, LXOR];
const BITS: [Op; 3] = [BAND, BOR, BXOR];
const ORDER: [Op; 2] = [MIN, MAX];
const FIELD: [Op; 2] = [SUM, PROD];

/// Whether an operation is one of integers.
fn is_of_integers(op: Op) -> bool {
    LOGIC.contains(&op) || BITS.contains(&op) || ORDER.contains(&op) || FIELD.contains(&op)
}

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
        Kind::Character(1) if datatype == CHAR => is_of_integers(op),
        Kind::Signed(_) | Kind::Unsigned(_) => is_of_integers(op),
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

/// What is combined before the next numbers are asked for, and how far ahead that is. One side lies in another processor's
/// cache: asked for early, it comes twice as fast.
#[cfg(target_arch = "x86_64")]
const BLOCK_BYTES: usize = 512;
#[cfg(target_arch = "x86_64")]
const AHEAD_BYTES: usize = 2048;

/// What the vectors of one turn hold, aligned for them.
#[cfg(target_arch = "x86_64")]
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Turn([u8; TURN_BYTES]);
#[cfg(target_arch = "x86_64")]
const TURN_BYTES: usize = 256;

/// One block, turn by turn: all of a turn is read before any of it is written. The compiler must know that to use vectors, since
/// the result may take the place of one side; it combines number by number else, 30 times as slowly for bytes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn block<T: Copy>(
    left: *const u8,
    right: *const u8,
    result: *mut u8,
    with: impl Fn(T, T) -> T,
) {
    for offset in (0..BLOCK_BYTES).step_by(TURN_BYTES) {
        let one = left.add(offset).cast::<Turn>().read_unaligned();
        let mut other = right.add(offset).cast::<Turn>().read_unaligned();
        let (from, to) = (one.0.as_ptr().cast::<T>(), other.0.as_mut_ptr().cast::<T>());
        for index in 0..TURN_BYTES / size_of::<T>() {
            let value = with(from.add(index).read_unaligned(), to.add(index).read_unaligned());
            to.add(index).write_unaligned(value);
        }
        result.add(offset).cast::<Turn>().write_unaligned(other);
    }
}

/// The same in blocks, with what comes later asked for early.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn each_ahead<T: Copy>(at: Places, with: impl Fn(T, T) -> T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let in_block = (BLOCK_BYTES / size_of::<T>()) as i64;
    let mut first = 0;
    while first + in_block <= at.count {
        let offset = first as usize * size_of::<T>();
        for line in (0..BLOCK_BYTES).step_by(64) {
            // Asking for what is not there does no harm.
            _mm_prefetch::<_MM_HINT_T0>(at.left.wrapping_add(offset + AHEAD_BYTES + line).cast());
            _mm_prefetch::<_MM_HINT_T0>(at.right.wrapping_add(offset + AHEAD_BYTES + line).cast());
        }
        block(at.left.add(offset), at.right.add(offset), at.result.add(offset), &with);
        first += in_block;
    }
    let offset = first as usize * size_of::<T>();
    let (left, right) = (at.left.add(offset), at.right.add(offset));
    each_in(Places { left, right, result: at.result.add(offset), count: at.count - first }, &with);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
unsafe fn each_widest<T: Copy>(at: Places, with: impl Fn(T, T) -> T) {
    each_ahead(at, with);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn each_wide<T: Copy>(at: Places, with: impl Fn(T, T) -> T) {
    each_ahead(at, with);
}

/// The same with the vectors of this machine.
#[inline]
unsafe fn each<T: Copy>(at: Places, with: impl Fn(T, T) -> T) {
    #[cfg(target_arch = "x86_64")]
    if at.count as usize * size_of::<T>() > BLOCK_BYTES {
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
        {
            return each_widest(at, with);
        }
        if is_x86_feature_detected!("avx2") {
            return each_wide(at, with);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the length, and wherever the result goes, it is what number after number gives.
    #[test]
    fn long_arrays_are_combined_as_their_numbers_are() {
        let numbers = |seed: u32, count: usize| -> Vec<u8> {
            let next = |state: &mut u32| {
                *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (*state >> 24) as u8
            };
            (0..count).scan(seed, |state, _| Some(next(state))).collect()
        };
        for count in (0..40).chain([511, 512, 513, 1024, 1535, 4099]) {
            // One more than needed, so that nothing is aligned.
            let (left, right) = (numbers(1, 8 * count + 1), numbers(2, 8 * count + 1));
            let mut apart = vec![0; right.len()];
            let mut in_place = right.clone();
            let at = |to: &mut Vec<u8>, right: *const u8| Places {
                left: left[1..].as_ptr(),
                right,
                result: to[1..].as_mut_ptr(),
                count: count as i64,
            };
            let own = in_place[1..].as_ptr();
            // SAFETY: every place holds `count` numbers of eight bytes behind its first.
            unsafe {
                each::<u64>(at(&mut apart, right[1..].as_ptr()), |a, b| a.wrapping_mul(b));
                each::<u64>(at(&mut in_place, own), |a, b| a.wrapping_mul(b));
            }
            let (left, right) = (left[1..].as_chunks::<8>().0, right[1..].as_chunks::<8>().0);
            let product = |(a, b): (&[u8; 8], &[u8; 8])| {
                u64::from_ne_bytes(*a).wrapping_mul(u64::from_ne_bytes(*b)).to_ne_bytes()
            };
            let expected: Vec<u8> = left.iter().zip(right).flat_map(product).collect();
            assert_eq!(apart[1..], expected, "{count} numbers");
            assert_eq!(in_place[1..], expected, "{count} numbers in place");
        }
    }

    #[test]
    fn bytes_are_summed_in_place_to_the_last() {
        for count in [1, 255, 256, 257, 512, 513, 2000] {
            let left: Vec<u8> = (0..count).map(|index| index as u8).collect();
            let mut right = vec![7_u8; count];
            let places = Places {
                left: left.as_ptr(),
                right: right.as_ptr(),
                result: right.as_mut_ptr(),
                count: count as i64,
            };
            // SAFETY: both hold `count` bytes.
            unsafe { each::<u8>(places, |a, b| a.wrapping_add(b)) };
            assert!((0..count).all(|index| right[index] == (index as u8).wrapping_add(7)));
        }
    }
}
