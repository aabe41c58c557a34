//! Minima and maxima with their locations.

use super::extended;
use crate::datatype::{Construction, Datatype, Kind};
use crate::operation::predefined::Predefined;

/// Computes the pair with the smaller or larger value; of equal values the lower index wins.
///
/// # Safety
/// Both are `count` elements of the datatype.
pub(super) unsafe fn locate(
    op: Predefined,
    of: &Datatype,
    input: *const u8,
    inout: *mut u8,
    count: i64,
) {
    let Construction::Pair(value, index) = *of.made() else { return };
    let place = (value.bytes() + index.alignment() - 1) / index.alignment() * index.alignment();
    for element in 0..count {
        let offset = (element * of.extent()) as isize;
        let (input, inout) = (input.offset(offset), inout.offset(offset));
        let order = compare(value, input, inout);
        let wins = if op == Predefined::MinimumAt {
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

unsafe fn compare(kind: Kind, one: *const u8, other: *const u8) -> Option<std::cmp::Ordering> {
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
