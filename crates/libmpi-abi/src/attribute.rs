//! Attributes: values that programs and libraries hang on communicators and datatypes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use crate::abi::Handle;
use crate::abi::*;
use crate::communicator;
use crate::datatype;
use crate::failure::{Result, ensure, error_of};
use crate::process::process;

type CopyFunction =
    unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
type DeleteFunction = unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void) -> c_int;

/// What kind of object a key is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    Communicator,
    Datatype,
}

#[derive(Clone, Copy)]
struct Keyval {
    of: For,
    copy: *mut c_void,
    delete: *mut c_void,
    extra: *mut c_void,
    freed: bool,
}

/// All keys that were ever made: values may outlive their key's freedom.
#[derive(Default)]
pub(crate) struct Keyvals {
    known: RefCell<BTreeMap<c_int, Keyval>>,
    made: Cell<c_int>,
}

/// User keys begin above those of the ABI.
const FIRST_KEY: c_int = 0x1000;

/// The values on one object, in the order in which they were set.
#[derive(Default)]
pub(crate) struct Attributes(RefCell<Vec<(c_int, *mut c_void)>>);

fn keyval(key: c_int, of: For) -> Result<Keyval> {
    let known = process().keyvals.known.borrow().get(&key).copied();
    known
        .filter(|one| one.of == of)
        .ok_or_else(|| error_of(ERR_KEYVAL, format!("{key} is not a key for such an object")))
}

impl Attributes {
    /// The values that a copy of the object gets.
    pub(crate) fn copy(&self, of: For, object: usize) -> Result<Attributes> {
        let values = self.0.borrow().clone();
        let copied = Attributes::default();
        for (key, value) in values {
            let keyval = keyval(key, of)?;
            let taken = match keyval.copy as usize {
                0 => None,
                1 => Some(value),
                _ => call_copy(&keyval, object, key, value)?,
            };
            if let Some(value) = taken {
                copied.0.borrow_mut().push((key, value));
            }
        }
        Ok(copied)
    }

    /// Takes all values away, the newest first, as the object ends.
    pub(crate) fn clear(&self, of: For, object: usize) -> Result {
        loop {
            let newest = self.0.borrow().last().copied();
            let Some((key, value)) = newest else { return Ok(()) };
            call_delete(&keyval(key, of)?, object, key, value)?;
            self.0.borrow_mut().retain(|(other, _)| *other != key);
        }
    }

    fn find(&self, key: c_int) -> Option<*mut c_void> {
        self.0.borrow().iter().find(|(known, _)| *known == key).map(|(_, value)| *value)
    }

    fn set(&self, of: For, object: usize, key: c_int, value: *mut c_void) -> Result {
        let keyval = keyval(key, of)?;
        if let Some(before) = self.find(key) {
            call_delete(&keyval, object, key, before)?;
            let mut values = self.0.borrow_mut();
            values.iter_mut().filter(|(known, _)| *known == key).for_each(|one| one.1 = value);
            return Ok(());
        }
        ensure!(!keyval.freed, ERR_KEYVAL, "key {key} was freed");
        self.0.borrow_mut().push((key, value));
        Ok(())
    }

    fn delete(&self, of: For, object: usize, key: c_int) -> Result {
        let keyval = keyval(key, of)?;
        if let Some(value) = self.find(key) {
            call_delete(&keyval, object, key, value)?;
            self.0.borrow_mut().retain(|(known, _)| *known != key);
        }
        Ok(())
    }
}

fn call_copy(
    keyval: &Keyval,
    object: usize,
    key: c_int,
    value: *mut c_void,
) -> Result<Option<*mut c_void>> {
    let mut copied = std::ptr::null_mut::<c_void>();
    let mut flag = 0;
    // SAFETY: the user gave this function for this use, with these parameters.
    let code = unsafe {
        let function = std::mem::transmute::<*mut c_void, CopyFunction>(keyval.copy);
        function(object, key, keyval.extra, value, (&raw mut copied).cast(), &mut flag)
    };
    ensure!(code == SUCCESS, code, "the copy function of key {key} failed");
    Ok((flag != 0).then_some(copied))
}

fn call_delete(keyval: &Keyval, object: usize, key: c_int, value: *mut c_void) -> Result {
    if keyval.delete.is_null() {
        return Ok(());
    }
    // SAFETY: as above.
    let code = unsafe {
        let function = std::mem::transmute::<*mut c_void, DeleteFunction>(keyval.delete);
        function(object, key, value, keyval.extra)
    };
    ensure!(code == SUCCESS, code, "the delete function of key {key} failed");
    Ok(())
}

fn create(of: For, copy: *mut c_void, delete: *mut c_void, extra: *mut c_void) -> c_int {
    let keyvals = &process().keyvals;
    let key = FIRST_KEY + keyvals.made.get();
    keyvals.made.set(keyvals.made.get() + 1);
    keyvals.known.borrow_mut().insert(key, Keyval { of, copy, delete, extra, freed: false });
    key
}

/// A copy of a key that was freed may be freed again, as delete functions do with their key.
unsafe fn free(of: For, key: *mut c_int) -> Result {
    keyval(*key, of)?;
    if let Some(known) = process().keyvals.known.borrow_mut().get_mut(&*key) {
        known.freed = true;
    }
    *key = KEYVAL_INVALID;
    Ok(())
}

pub(crate) unsafe fn comm_create_keyval(
    copy: *mut c_void,
    delete: *mut c_void,
    key: *mut c_int,
    extra: *mut c_void,
) -> Result {
    *key = create(For::Communicator, copy, delete, extra);
    Ok(())
}

pub(crate) unsafe fn type_create_keyval(
    copy: *mut c_void,
    delete: *mut c_void,
    key: *mut c_int,
    extra: *mut c_void,
) -> Result {
    *key = create(For::Datatype, copy, delete, extra);
    Ok(())
}

pub(crate) unsafe fn comm_free_keyval(key: *mut c_int) -> Result {
    free(For::Communicator, key)
}

pub(crate) unsafe fn type_free_keyval(key: *mut c_int) -> Result {
    free(For::Datatype, key)
}

/// The value behind a predefined key: the address of a number that lives as long as the process.
fn predefined(key: c_int) -> Option<Option<*mut c_void>> {
    static TAG_BOUND: c_int = c_int::MAX;
    static NUMBERS: [c_int; 2] = [1, PROC_NULL];
    static UNIVERSE: std::sync::OnceLock<c_int> = std::sync::OnceLock::new();
    let place: *const c_int = match key {
        TAG_UB => &TAG_BOUND,
        IO => &crate::abi::ANY_SOURCE,
        HOST => &NUMBERS[1],
        WTIME_IS_GLOBAL => &NUMBERS[0],
        LASTUSEDCODE => process().errors.last_used_code.as_ptr(),
        UNIVERSE_SIZE => UNIVERSE.get_or_init(|| process().size.get() as c_int),
        APPNUM => return Some(None),
        _ => return None,
    };
    Some(Some(place.cast_mut().cast()))
}

pub(crate) unsafe fn comm_get(
    comm: Comm,
    key: c_int,
    value: *mut c_void,
    flag: *mut c_int,
) -> Result {
    let communicator = communicator::get(comm)?;
    let found = match predefined(key) {
        Some(found) => found,
        None => {
            keyval(key, For::Communicator)?;
            communicator.attributes.find(key)
        }
    };
    *flag = c_int::from(found.is_some());
    if let Some(found) = found {
        *value.cast() = found;
    }
    Ok(())
}

pub(crate) unsafe fn comm_set(comm: Comm, key: c_int, value: *mut c_void) -> Result {
    let communicator = communicator::get(comm)?;
    ensure!(predefined(key).is_none(), ERR_KEYVAL, "attribute {key} cannot be changed");
    communicator.attributes.set(For::Communicator, comm.number(), key, value)
}

pub(crate) unsafe fn comm_delete(comm: Comm, key: c_int) -> Result {
    let communicator = communicator::get(comm)?;
    ensure!(predefined(key).is_none(), ERR_KEYVAL, "attribute {key} cannot be deleted");
    communicator.attributes.delete(For::Communicator, comm.number(), key)
}

pub(crate) unsafe fn type_get(
    datatype: Datatype,
    key: c_int,
    value: *mut c_void,
    flag: *mut c_int,
) -> Result {
    let object: Rc<_> = datatype::get(datatype)?;
    keyval(key, For::Datatype)?;
    let found = object.attributes.find(key);
    *flag = c_int::from(found.is_some());
    if let Some(found) = found {
        *value.cast() = found;
    }
    Ok(())
}

pub(crate) unsafe fn type_set(datatype: Datatype, key: c_int, value: *mut c_void) -> Result {
    let object = datatype::get(datatype)?;
    object.attributes.set(For::Datatype, datatype.number(), key, value)
}

pub(crate) unsafe fn type_delete(datatype: Datatype, key: c_int) -> Result {
    datatype::get(datatype)?.attributes.delete(For::Datatype, datatype.number(), key)
}
