//! HCS_LIB: the eighteen functions of table 5.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::{c_int, c_long, c_uint};

use services::hcs::{self, SignalHandler};

use crate::codes::{BAD_ARGUMENT, Failure};
use crate::running::{Options, Port, begin, bytes, end, node, room, time, with_node};

/// A signal's handler in C.
type Handler = extern "C" fn(from: c_int, signal: c_uint) -> c_uint;

/// Maximum number of kept signals that handlers of C have passed on to the default handler. Beyond it the oldest are
/// lost.
const KEPT_MAX: usize = 1024;

thread_local! {
    /// The kept signals.
    static KEPT: RefCell<VecDeque<(c_int, c_uint)>> = const { RefCell::new(VecDeque::new()) };
}

/// Takes the oldest kept signal.
pub(crate) fn take_kept() -> Option<(c_int, c_uint)> {
    KEPT.with_borrow_mut(VecDeque::pop_front)
}

#[unsafe(no_mangle)]
extern "C" fn safe_shared_memory_make(key: c_uint, length: usize) -> c_int {
    with_node(|node, open| Ok(open.add_segment(node.safe_shared_memory_make(key, length)?)))
        as c_int
}

#[unsafe(no_mangle)]
extern "C" fn safe_shared_memory_map(of: c_int, key: c_uint, timeout_ms: c_long) -> c_int {
    with_node(|cluster, open| {
        let timeout = time(timeout_ms)?;
        Ok(open.add_segment(cluster.safe_shared_memory_map(node(of), key, timeout)?))
    }) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn safe_create_receive_port(name: c_uint) -> c_int {
    with_node(|node, open| Ok(open.add_port(Port::Receive(node.safe_create_receive_port(name)?))))
        as c_int
}

#[unsafe(no_mangle)]
extern "C" fn safe_connect_transmit_port(to: c_int, name: c_uint, timeout_ms: c_long) -> c_int {
    with_node(|cluster, open| {
        let port = cluster.safe_connect_transmit_port(node(to), name, time(timeout_ms)?)?;
        Ok(open.add_port(Port::Transmit(port)))
    }) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn safe_wait_for_connection(port: c_int, timeout_ms: c_long) -> c_int {
    with_node(|node, open| {
        let timeout = time(timeout_ms)?;
        Ok(node.safe_wait_for_connection(open.receive_port(port)?, timeout)? as c_long)
    }) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn send_block(to: c_int, data: *const u8, length: usize) -> c_int {
    with_node(|cluster, _| {
        // SAFETY: the caller passes memory of this length, as the header requires.
        let data = unsafe { bytes(data, length)? };
        Ok(cluster.send_block(node(to), data).map(|()| 0)?)
    }) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn get_block(from: c_int, buffer: *mut u8, length: usize) -> c_long {
    with_node(|cluster, _| {
        // SAFETY: the caller passes memory of this length, as the header requires.
        let room = unsafe { room(buffer, length)? };
        Ok(cluster.get_block(node(from), room)? as c_long)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn send_broadcast(data: *const u8, length: usize) -> c_int {
    with_node(|node, _| {
        // SAFETY: the caller passes memory of this length, as the header requires.
        let data = unsafe { bytes(data, length)? };
        Ok(node.send_broadcast(data).map(|()| 0)?)
    }) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn get_broadcast(from: c_int, buffer: *mut u8, length: usize) -> c_long {
    with_node(|cluster, _| {
        // SAFETY: the caller passes memory of this length, as the header requires.
        let room = unsafe { room(buffer, length)? };
        Ok(cluster.get_broadcast(node(from), room)? as c_long)
    })
}

#[unsafe(no_mangle)]
extern "C" fn service_signals(timeout_ms: c_long) -> c_int {
    with_node(|node, _| Ok(node.service_signals(time(timeout_ms)?)? as c_long)) as c_int
}

/// Keeps the signal for the program. A handler may pass a signal on to it.
#[unsafe(no_mangle)]
extern "C" fn default_signal_handler(from: c_int, signal: c_uint) -> c_uint {
    KEPT.with_borrow_mut(|kept| {
        if kept.len() == KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back((from, signal));
    });
    0
}

#[unsafe(no_mangle)]
extern "C" fn ignore_signal_handler(_from: c_int, _signal: c_uint) -> c_uint {
    0
}

#[unsafe(no_mangle)]
extern "C" fn send_signal(to: c_int, signal: c_uint) -> c_int {
    with_node(|cluster, _| Ok(cluster.send_signal(node(to), signal).map(|()| 0)?)) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn send_signal_and_wait(to: c_int, signal: c_uint, answer: *mut c_uint) -> c_int {
    with_node(|cluster, _| {
        let found = cluster.send_signal_and_wait(node(to), signal)?;
        // SAFETY: the caller passes a place for the answer, or null.
        if let Some(place) = unsafe { answer.as_mut() } {
            *place = found;
        }
        Ok(0)
    }) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn set_signal_handler(signal: c_uint, handler: Option<Handler>) -> c_int {
    with_node(|node, _| {
        let handler = handler.ok_or_else(|| Failure::new(BAD_ARGUMENT, "the handler is null"))?;
        // If a program's linker gives this function another address, it is called like one of the program's own.
        let handler = match std::ptr::fn_addr_eq(handler, default_signal_handler as Handler) {
            true => hcs::default_signal_handler(),
            false => SignalHandler::own(move |signal| handler(signal.from as c_int, signal.number)),
        };
        Ok(node.set_signal_handler(signal, handler).map(|()| 0)?)
    }) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn barrier_sync() -> c_int {
    with_node(|node, _| Ok(node.barrier_sync().map(|()| 0)?)) as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cluster_init(options: *const Options) -> c_int {
    // SAFETY: the caller passes options or null, as the header requires.
    unsafe { begin(options, true) as c_int }
}

#[unsafe(no_mangle)]
extern "C" fn safe_exit() -> c_int {
    end(true) as c_int
}
