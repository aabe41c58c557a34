//! Keys of attributes, and their C functions.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use mpi::{Attributes, Key, KeyFunctions};

use crate::abi::*;
use crate::arguments::store;
use crate::failure::{Result, ensure, error_of};
use crate::shared::Shared;

type CopyFunction =
    unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
type DeleteFunction = unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void) -> c_int;

/// The kind of object of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    Communicator,
    Datatype,
    Window,
}

/// All keys that were ever created: values may outlive the freeing of their key.
#[derive(Default)]
struct Keys {
    of_program: BTreeMap<c_int, (For, Rc<Key>)>,
    made: c_int,
}

static KEYS: Shared<RefCell<Keys>> = Shared::new(RefCell::default);

/// First key of programs; those of the ABI are below.
const FIRST_KEY: c_int = 0x1000;

/// The C functions of a key. Their handle parameter is a number, because all handles are pointers.
struct Functions {
    key: c_int,
    copy: *mut c_void,
    delete: *mut c_void,
    extra: *mut c_void,
}

impl KeyFunctions for Functions {
    fn copy(&self, object: usize, value: usize) -> Result<Option<usize>> {
        // MPI_NULL_COPY_FN and MPI_DUP_FN of the ABI.
        match self.copy as usize {
            0 => return Ok(None),
            1 => return Ok(Some(value)),
            _ => {}
        }
        let (mut copied, mut flag) = (0_usize, 0);
        let value = value as *mut c_void;
        // SAFETY: the program passed this function for this use, with these parameters.
        let code = unsafe {
            let function = std::mem::transmute::<*mut c_void, CopyFunction>(self.copy);
            function(object, self.key, self.extra, value, (&raw mut copied).cast(), &mut flag)
        };
        ensure!(code == SUCCESS, code, "the copy function of key {} failed", self.key);
        Ok((flag != 0).then_some(copied))
    }

    fn delete(&self, object: usize, value: usize) -> Result {
        if self.delete.is_null() {
            return Ok(());
        }
        // SAFETY: as above.
        let code = unsafe {
            let function = std::mem::transmute::<*mut c_void, DeleteFunction>(self.delete);
            function(object, self.key, value as *mut c_void, self.extra)
        };
        ensure!(code == SUCCESS, code, "the delete function of key {} failed", self.key);
        Ok(())
    }
}

/// Returns the key of a number.
fn get(of: For, key: c_int) -> Result<Rc<Key>> {
    let keys = KEYS.borrow();
    let found = keys.of_program.get(&key).filter(|(kind, _)| *kind == of);
    let wrong = || error_of(ERR_KEYVAL, format!("{key} is not a key for such an object"));
    found.map(|(_, key)| key.clone()).ok_or_else(wrong)
}

/// Returns the value of an object for a key.
pub(crate) fn find(attributes: &Attributes, of: For, key: c_int) -> Result<Option<usize>> {
    Ok(attributes.get(&get(of, key)?))
}

/// Attaches a value to an object with a handle.
pub(crate) fn set(
    attributes: &Attributes,
    of: For,
    object: impl Handle,
    key: c_int,
    value: *mut c_void,
) -> Result {
    attributes.set(object.number(), &get(of, key)?, value as usize)
}

/// Removes a value from an object with a handle.
pub(crate) fn delete(attributes: &Attributes, of: For, object: impl Handle, key: c_int) -> Result {
    attributes.delete(object.number(), &get(of, key)?)
}

/// Writes a result for C.
pub(crate) unsafe fn give(found: Option<usize>, value: *mut c_void, flag: *mut c_int) {
    *flag = c_int::from(found.is_some());
    if let Some(found) = found {
        store(value, found);
    }
}

pub(crate) unsafe fn create_keyval(
    copy: *mut c_void,
    delete: *mut c_void,
    place: *mut c_int,
    extra: *mut c_void,
    of: For,
) -> Result {
    let mut keys = KEYS.borrow_mut();
    let key = FIRST_KEY + keys.made;
    keys.made += 1;
    keys.of_program.insert(key, (of, Key::new(Functions { key, copy, delete, extra })));
    *place = key;
    Ok(())
}

/// Frees a key. A copy of a freed key may be freed again, as delete functions do with their key.
pub(crate) unsafe fn free_keyval(key: *mut c_int, of: For) -> Result {
    get(of, *key)?.free();
    *key = KEYVAL_INVALID;
    Ok(())
}
