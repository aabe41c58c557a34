//! The fastest path for operations on plain data. The general path serves all other cases, including wrong arguments:
//! for these the functions here have no effect.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use mpi::{Datatype as Type, Predefined};

use super::{Object, WINDOWS, Window};
use crate::abi::*;
use crate::arguments::{Data, Target};
use crate::failure::Result;
use crate::handle::Table;
use crate::{datatype, operation};

/// Maximum length in bytes of elements that are fetched and compared.
const LONGEST: usize = 32;

/// Returns the location of plain data at a member, if it has as many bytes as the data here.
#[inline(always)]
fn reach(
    origin: Data,
    target: Target,
    windows: &Table<Object>,
    win: Win,
) -> Option<(&Window, NonNull<u8>, usize)> {
    let bytes = datatype::plain_bytes(origin.start, origin.count, origin.of)?;
    if (target.count, target.of) != (origin.count, origin.of) {
        let somewhere = NonNull::dangling().as_ptr();
        let theirs = datatype::plain_bytes(somewhere, target.count, target.of)?;
        if theirs != bytes {
            return None;
        }
    }
    let window = &windows.get(win)?.window;
    let rank = usize::try_from(target.rank).ok()?;
    let place = window.reach_plainly(rank, target.displacement, bytes)?;
    Some((window, place, bytes))
}

#[inline(always)]
unsafe fn copy(window: &Window, from: *const u8, to: *mut u8, bytes: usize) {
    if bytes >= contract::LONG_COPY_BYTES && window.is_of_long_run(to, bytes) {
        contract::copy_past_caches(from, to, bytes);
    } else {
        std::ptr::copy(from, to, bytes);
    }
}

#[inline(always)]
pub(super) unsafe fn put(origin: Data, target: Target, win: Win) -> bool {
    let windows = WINDOWS.borrow();
    let Some((window, there, bytes)) = reach(origin, target, &windows, win) else { return false };
    copy(window, origin.start.cast(), there.as_ptr(), bytes);
    true
}

#[inline(always)]
pub(super) unsafe fn get(origin: Data, target: Target, win: Win) -> bool {
    let windows = WINDOWS.borrow();
    let Some((window, there, bytes)) = reach(origin, target, &windows, win) else { return false };
    copy(window, there.as_ptr(), origin.start.cast_mut().cast(), bytes);
    true
}

/// Accumulates, and fetches the previous values if there is room for them.
#[inline(always)]
pub(super) unsafe fn accumulate(
    origin: *const c_void,
    result: Option<*mut c_void>,
    Target { rank, displacement, count, of }: Target,
    op: Op,
    win: Win,
) -> bool {
    let accumulate = |of: &Type, bytes: usize| {
        let fits = result.is_none_or(|result| !result.is_null() && bytes <= LONGEST);
        let rank = usize::try_from(rank).ok().filter(|_| fits && bytes > 0)?;
        let op = operation::predefined(op).filter(|&op| op != Predefined::Nothing)?;
        let operand = std::slice::from_raw_parts(origin.cast(), bytes);
        let mut room = [0; LONGEST];
        let fetched = result.is_some().then_some(&mut room[..bytes.min(LONGEST)]);
        let windows = WINDOWS.borrow();
        let window = &windows.get(win)?.window;
        let done = window.accumulate_plainly((op, of), (rank, displacement), operand, fetched);
        if let Some(result) = result.filter(|_| done) {
            std::ptr::copy_nonoverlapping(room.as_ptr(), result.cast(), bytes);
        }
        Some(done)
    };
    datatype::with_plain(origin, count, of, accumulate).flatten().unwrap_or(false)
}

#[inline(always)]
pub(super) unsafe fn compare_and_swap(
    (new, compare, result): (*const c_void, *const c_void, *mut c_void),
    Target { rank, displacement, of, .. }: Target,
    win: Win,
) -> bool {
    let swap = |of: &Type, bytes: usize| {
        let rank = usize::try_from(rank).ok().filter(|_| (1..=8).contains(&bytes))?;
        if compare.is_null() || result.is_null() {
            return None;
        }
        let (mut both, mut room) = ([0; 16], [0; 8]);
        std::ptr::copy_nonoverlapping(compare.cast(), both.as_mut_ptr(), bytes);
        std::ptr::copy_nonoverlapping(new.cast(), both[bytes..].as_mut_ptr(), bytes);
        let windows = WINDOWS.borrow();
        let window = &windows.get(win)?.window;
        let (place, both) = ((rank, displacement), &both[..2 * bytes]);
        let done = window.compare_and_swap_plainly(of, place, both, &mut room[..bytes]);
        if done {
            std::ptr::copy_nonoverlapping(room.as_ptr(), result.cast(), bytes);
        }
        Some(done)
    };
    datatype::with_plain(new, 1, of, swap).flatten().unwrap_or(false)
}

/// Flushes operations on a member.
#[inline]
pub(super) fn flush(rank: c_int, win: Win) -> Option<Result> {
    let rank = usize::try_from(rank).ok()?;
    let windows = WINDOWS.borrow();
    Some(windows.get(win)?.window.flush(Some(rank)))
}
