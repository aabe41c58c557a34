//! Opening, closing and deleting of files, and their length.

use std::cell::RefCell;
use std::ffi::{c_char, c_int};
use std::rc::Rc;

use mpi::{Access, AccessMode};

use super::{DEFAULT_HANDLER, FILES, Object, OpenFile, get};
use crate::abi::*;
use crate::failure::{Result, ensure, error_of};
use crate::{communicator, info, text};

/// Converts C's access mode.
fn access_mode(bits: c_int) -> Result<AccessMode> {
    let access = match bits & (MODE_RDONLY | MODE_WRONLY | MODE_RDWR) {
        MODE_RDONLY => Access::ReadOnly,
        MODE_WRONLY => Access::WriteOnly,
        MODE_RDWR => Access::ReadWrite,
        _ => return Err(error_of(ERR_AMODE, "not one of reading, writing and both")),
    };
    let modes = [
        MODE_RDONLY,
        MODE_WRONLY,
        MODE_RDWR,
        MODE_CREATE,
        MODE_EXCL,
        MODE_DELETE_ON_CLOSE,
        MODE_UNIQUE_OPEN,
        MODE_SEQUENTIAL,
        MODE_APPEND,
    ];
    let other = modes.iter().fold(bits, |left, one| left & !one);
    ensure!(other == 0, ERR_AMODE, "{other:#x} is no mode of files");
    let has = |bit: c_int| bits & bit != 0;
    Ok(AccessMode {
        create: has(MODE_CREATE),
        exclusive: has(MODE_EXCL),
        delete_on_close: has(MODE_DELETE_ON_CLOSE),
        unique: has(MODE_UNIQUE_OPEN),
        sequential: has(MODE_SEQUENTIAL),
        append: has(MODE_APPEND),
        ..AccessMode::new(access)
    })
}

pub(crate) unsafe fn open(
    comm: Comm,
    name: *const c_char,
    bits: c_int,
    info: Info,
    fh: *mut File,
) -> Result {
    *fh = FILE_NULL;
    let (comm, info) = (communicator::get(comm)?, info::copy_or_none(info)?);
    let mode = access_mode(bits)?;
    let file = OpenFile::open(&comm, &text::read_path(name)?, mode, info)?;
    let handler = Rc::new(RefCell::new(DEFAULT_HANDLER.borrow().clone()));
    *fh = FILES.borrow_mut().add(Object { file: Rc::new(file), handler, mode: bits });
    Ok(())
}

pub(crate) unsafe fn close(fh: *mut File) -> Result {
    get(*fh)?.close()?;
    FILES.borrow_mut().remove(*fh);
    *fh = FILE_NULL;
    Ok(())
}

pub(crate) unsafe fn delete(name: *const c_char, _info: Info) -> Result {
    mpi::delete_file(&text::read_path(name)?)
}

pub(crate) unsafe fn set_size(fh: File, bytes: i64) -> Result {
    get(fh)?.set_size(bytes)
}

pub(crate) unsafe fn preallocate(fh: File, bytes: i64) -> Result {
    get(fh)?.preallocate(bytes)
}

pub(crate) unsafe fn get_size(fh: File, bytes: *mut i64) -> Result {
    *bytes = get(fh)?.size()?;
    Ok(())
}

pub(crate) unsafe fn set_atomicity(fh: File, flag: c_int) -> Result {
    get(fh)?.set_atomicity(flag != 0)
}

pub(crate) unsafe fn get_atomicity(fh: File, flag: *mut c_int) -> Result {
    *flag = c_int::from(get(fh)?.is_atomic());
    Ok(())
}

pub(crate) unsafe fn sync(fh: File) -> Result {
    get(fh)?.sync()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::code_of;

    #[test]
    fn modes_of_c_are_understood_and_others_are_refused() {
        let mode = access_mode(MODE_CREATE | MODE_RDWR | MODE_APPEND).unwrap();
        assert!(mode.create && mode.append && mode.access == Access::ReadWrite);
        assert!(!mode.exclusive && !mode.delete_on_close && !mode.sequential && !mode.unique);
        for wrong in [0, MODE_CREATE, MODE_RDONLY | MODE_WRONLY, MODE_RDWR | MODE_NOCHECK] {
            assert_eq!(code_of(access_mode(wrong).unwrap_err().class), ERR_AMODE);
        }
    }
}
