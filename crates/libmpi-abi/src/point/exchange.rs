//! A send and a receive in one call.

use std::ffi::{c_int, c_void};
use std::rc::Rc;

use super::transfer::{Letter, Mode, Slot, go_on, slot};
use crate::abi::*;
use crate::collective::How;
use crate::datatype::Memory;
use crate::failure::{Result, code_of, ensure};
use crate::request::{self, Action};
use crate::status::Status;

/// What is sent: always as a standard send.
unsafe fn letter(
    from: *const c_void,
    count: i64,
    datatype: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
) -> Result<Letter> {
    Letter::new(Memory::new(from, count, datatype)?, to, tag, comm, Mode::Standard)
}

/// Both at once, and both to their end.
unsafe fn exchange(letter: &Letter, slot: &Slot, status: *mut Status) -> Result {
    let mut both = [request::register(slot.start()?), request::register(letter.start()?)];
    let mut statuses = [Status::empty(); 2];
    let outcome = request::wait_all(2, both.as_mut_ptr(), statuses.as_mut_ptr());
    statuses[0].give(status);
    match outcome {
        Err(failure) if code_of(failure.class) == ERR_IN_STATUS => {
            let code = statuses[0].error;
            ensure!(code == SUCCESS, code, "the message is too long for the buffer");
            Ok(())
        }
        other => other,
    }
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn send_receive(
    from: *const c_void,
    send_count: i64,
    send_type: Datatype,
    to: c_int,
    send_tag: c_int,
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
    status: *mut Status,
) -> Result {
    let letter = letter(from, send_count, send_type, to, send_tag, comm)?;
    exchange(&letter, &slot(buffer, count, datatype, source, tag, comm)?, status)
}

/// The data that is sent, in a buffer of its own, since what is received takes its place.
struct Replaced {
    letter: Letter,
    slot: Slot,
    copy: Rc<Vec<u8>>,
}

#[allow(clippy::too_many_arguments)] // The standard's.
unsafe fn replaced(
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    to: c_int,
    send_tag: c_int,
    source: c_int,
    tag: c_int,
    comm: Comm,
) -> Result<Replaced> {
    let copy = Rc::new(Memory::new(buffer, count, datatype)?.packed());
    let letter = letter(copy.as_ptr().cast(), copy.len() as i64, BYTE, to, send_tag, comm)?;
    let slot = slot(buffer, count, datatype, source, tag, comm)?;
    Ok(Replaced { letter, slot, copy })
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn send_receive_replace(
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    to: c_int,
    send_tag: c_int,
    source: c_int,
    tag: c_int,
    comm: Comm,
    status: *mut Status,
) -> Result {
    let both = replaced(buffer, count, datatype, to, send_tag, source, tag, comm)?;
    let outcome = exchange(&both.letter, &both.slot, status);
    drop(both.copy);
    outcome
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn send_receive_later(
    from: *const c_void,
    send_count: i64,
    send_type: Datatype,
    to: c_int,
    send_tag: c_int,
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let letter = letter(from, send_count, send_type, to, send_tag, comm)?;
    let slot = slot(buffer, count, datatype, source, tag, comm)?;
    let start = move || Ok(Action::Exchange(Box::new([slot.start()?, letter.start()?])));
    go_on(how, start).map(drop)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn send_receive_replace_later(
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    to: c_int,
    send_tag: c_int,
    source: c_int,
    tag: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let Replaced { letter, slot, copy } =
        replaced(buffer, count, datatype, to, send_tag, source, tag, comm)?;
    let start = move || {
        let mut send = letter.start()?;
        if let Action::Transfer(transfer) = &mut send {
            transfer.keep = Some(copy.clone());
        }
        Ok(Action::Exchange(Box::new([slot.start()?, send])))
    };
    go_on(how, start).map(drop)
}
