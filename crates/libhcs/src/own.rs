//! Functions that are not in the tables.

use std::ffi::{c_char, c_int, c_long, c_uint};

use crate::codes::{keeping_words, last_words};
use crate::hcs::take_kept;
use crate::running::{bytes, place_for, room, with_node, with_sci};

#[unsafe(no_mangle)]
extern "C" fn hcs_last_error() -> *const c_char {
    last_words()
}

#[unsafe(no_mangle)]
extern "C" fn hcs_node() -> c_int {
    keeping_words(|| with_sci(|sci, _| Ok(sci.sci_lib_info().node as c_long))) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn hcs_nodes() -> c_int {
    keeping_words(|| with_sci(|sci, _| Ok(sci.sci_lib_info().nodes as c_long))) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn hcs_segment_bytes(segment: c_int) -> c_long {
    with_sci(|_, open| Ok(open.segment(segment)?.bytes() as c_long))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hcs_write_shm(
    segment: c_int,
    offset: usize,
    data: *const u8,
    length: usize,
) -> c_int {
    with_sci(|sci, open| {
        // SAFETY: the caller passes memory of this length, as the header requires.
        let data = unsafe { bytes(data, length)? };
        Ok(sci.write_shm(open.segment(segment)?, offset, data).map(|()| 0)?)
    }) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hcs_read_shm(
    segment: c_int,
    offset: usize,
    buffer: *mut u8,
    length: usize,
) -> c_int {
    with_sci(|sci, open| {
        // SAFETY: the caller passes memory of this length, as the header requires.
        let room = unsafe { room(buffer, length)? };
        Ok(sci.read_shm(open.segment(segment)?, offset, room).map(|()| 0)?)
    }) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hcs_take_signal(from: *mut c_int, signal: *mut c_uint) -> c_int {
    with_node(|node, _| {
        // SAFETY: the caller passes places for the results, as the header requires.
        let (from, signal) = unsafe { (place_for(from)?, place_for(signal)?) };
        let kept = take_kept();
        let kept = kept.or_else(|| node.take_signal().map(|one| (one.from as c_int, one.number)));
        let Some(kept) = kept else { return Ok(0) };
        (*from, *signal) = kept;
        Ok(1)
    }) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn hcs_p(semaphore: c_uint) -> c_int {
    with_node(|node, _| Ok(node.p(semaphore).map(|()| 0)?)) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn hcs_v(semaphore: c_uint) -> c_int {
    with_node(|node, _| Ok(node.v(semaphore).map(|()| 0)?)) as c_int
}
