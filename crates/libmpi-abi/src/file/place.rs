//! Views and pointers of files.

use std::ffi::{c_char, c_int};

use mpi::Whence;

use super::{get, representation};
use crate::abi::*;
use crate::failure::{Result, error_of};
use crate::{datatype, info, text};

/// MPI_DISPLACEMENT_CURRENT.
const DISPLACEMENT_CURRENT: i64 = -1;

pub(crate) unsafe fn set_view(
    fh: File,
    displacement: i64,
    etype: Datatype,
    filetype: Datatype,
    representation: *const c_char,
    given: Info,
) -> Result {
    let file = get(fh)?;
    let (etype, filetype) = (datatype::get(etype)?, datatype::get(filetype)?);
    let representation = representation::named(&text::read(representation)?)?;
    let hints = info::copy_or_none(given)?;
    let is_current = displacement == DISPLACEMENT_CURRENT;
    let displacement = (!is_current).then_some(displacement);
    file.set_view(displacement, etype, filetype, representation)?;
    file.set_info(&hints);
    Ok(())
}

pub(crate) unsafe fn get_view(
    fh: File,
    displacement: *mut i64,
    etype: *mut Datatype,
    filetype: *mut Datatype,
    representation: *mut c_char,
) -> Result {
    let view = get(fh)?.view();
    *displacement = view.displacement();
    *etype = datatype::own_handle(view.etype());
    *filetype = datatype::own_handle(view.filetype());
    let name = view.representation().name();
    text::write(name, representation, MAX_DATAREP_STRING, std::ptr::null_mut());
    Ok(())
}

fn whence(from: c_int) -> Result<Whence> {
    match from {
        SEEK_SET => Ok(Whence::Start),
        SEEK_CUR => Ok(Whence::Current),
        SEEK_END => Ok(Whence::End),
        other => Err(error_of(ERR_ARG, format!("{other} is no place to count from"))),
    }
}

pub(crate) unsafe fn seek(fh: File, offset: i64, from: c_int) -> Result {
    get(fh)?.seek(offset, whence(from)?)
}

pub(crate) unsafe fn seek_shared(fh: File, offset: i64, from: c_int) -> Result {
    get(fh)?.seek_shared(offset, whence(from)?)
}

pub(crate) unsafe fn get_position(fh: File, offset: *mut i64) -> Result {
    *offset = get(fh)?.position()?;
    Ok(())
}

pub(crate) unsafe fn get_position_shared(fh: File, offset: *mut i64) -> Result {
    *offset = get(fh)?.shared_position()?;
    Ok(())
}

pub(crate) unsafe fn get_byte_offset(fh: File, offset: i64, byte: *mut i64) -> Result {
    *byte = get(fh)?.byte_offset(offset)?;
    Ok(())
}

pub(crate) unsafe fn type_extent(fh: File, of: Datatype, extent: *mut i64) -> Result {
    *extent = get(fh)?.type_extent(&datatype::get(of)?)?;
    Ok(())
}
