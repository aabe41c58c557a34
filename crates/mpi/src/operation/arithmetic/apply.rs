//! Predefined operations on elements of a datatype.

use super::each::Places;
use super::locate::locate;
use super::run::apply_to_run;
use crate::datatype::Datatype;
use crate::memory::Memory;
use crate::operation::predefined::Predefined::{self, MaximumAt, MinimumAt, Nothing};

/// Computes `inout` = `input` op `inout`, element by element: as many of one datatype, for which the operation is
/// defined.
pub(in crate::operation) fn apply(op: Predefined, input: &Memory, inout: &Memory) {
    let (of, count) = (input.of(), inout.count());
    // SAFETY: whoever made the two views promised as many elements of this datatype.
    unsafe { apply_at(op, of, input.start(), inout.start(), count) }
}

/// # Safety
/// Both are `count` elements of the datatype.
pub(super) unsafe fn apply_at(
    op: Predefined,
    of: &Datatype,
    input: *const u8,
    inout: *mut u8,
    count: i64,
) {
    match op {
        Nothing => {}
        MinimumAt | MaximumAt => locate(op, of, input, inout, count),
        _ if of.is_dense() => apply_to_dense(op, of, input, inout, inout, count),
        _ => {
            for index in 0..count {
                for run in of.runs() {
                    let offset = (index * of.extent() + run.offset) as isize;
                    let (left, right) = (input.offset(offset), inout.offset(offset));
                    let at = Places { left, right, result: right, count: run.count };
                    apply_to_run(op, run.kind, at);
                }
            }
        }
    }
}

/// Computes result = left op right for elements without gaps; the result may replace the right operand. Not for
/// `Nothing`, `MinimumAt` and `MaximumAt`.
///
/// # Safety
/// All are `count` elements of the datatype.
pub(super) unsafe fn apply_to_dense(
    op: Predefined,
    of: &Datatype,
    left: *const u8,
    right: *const u8,
    result: *mut u8,
    count: i64,
) {
    if let [run] = of.runs() {
        let at = Places { left, right, result, count: count * run.count };
        apply_to_run(op, run.kind, at);
    }
}
