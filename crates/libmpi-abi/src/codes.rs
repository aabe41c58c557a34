//! Error classes and codes: those of the ABI, those that programs add, and their texts.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int};

use crate::abi::*;
use crate::failure::{Result, ensure, error_of};
use crate::shared::Shared;
use crate::text;

/// The codes that programs have added, and the last failures.
struct Codes {
    first_free: Cell<c_int>,
    /// By code: its class, and its text if it has one.
    added: RefCell<BTreeMap<c_int, (c_int, String)>>,
    /// The value behind the attribute MPI_LASTUSEDCODE.
    last_used: Cell<c_int>,
    /// The last failure with each code, in words.
    latest: RefCell<BTreeMap<c_int, String>>,
}

static CODES: Shared<Codes> = Shared::new(|| Codes {
    first_free: Cell::new(ERR_LASTCODE + 1),
    added: RefCell::default(),
    last_used: Cell::new(ERR_LASTCODE),
    latest: RefCell::default(),
});

/// Returns the address of the last added code.
pub(crate) fn last_used() -> *const c_int {
    CODES.last_used.as_ptr()
}

/// Keeps the description of a failure, for queries of the code's text.
pub(crate) fn note(code: c_int, words: String) {
    CODES.latest.borrow_mut().insert(code, words);
}

/// Returns the name of a code's class.
pub(crate) fn name(code: c_int) -> String {
    let class = class_of(code);
    let found = ERROR_CLASSES.iter().find(|(its_class, _)| *its_class == class);
    found.map_or_else(|| format!("error code {code}"), |(_, name)| (*name).into())
}

fn class_of(code: c_int) -> c_int {
    CODES.added.borrow().get(&code).map_or(code, |(class, _)| *class)
}

fn is_known(code: c_int) -> bool {
    let added = CODES.added.borrow().contains_key(&code);
    added || ERROR_CLASSES.iter().any(|(its_class, _)| *its_class == code)
}

fn check_known(code: c_int) -> Result {
    ensure!(is_known(code) || code == ERR_LASTCODE, ERR_ARG, "{code} is not an error code");
    Ok(())
}

pub(crate) unsafe fn error_class(code: c_int, class: *mut c_int) -> Result {
    check_known(code)?;
    *class = class_of(code);
    Ok(())
}

pub(crate) unsafe fn error_string(code: c_int, string: *mut c_char, length: *mut c_int) -> Result {
    check_known(code)?;
    let words = match CODES.added.borrow().get(&code) {
        Some((_, text)) => text.clone(),
        None if code == SUCCESS => "MPI_SUCCESS: no error".into(),
        None => match CODES.latest.borrow().get(&code) {
            Some(latest) => format!("{} (latest: {latest})", name(code)),
            None => name(code),
        },
    };
    text::write(&words, string, MAX_ERROR_STRING, length);
    Ok(())
}

fn add(class: Option<c_int>) -> c_int {
    let code = CODES.first_free.get();
    CODES.first_free.set(code + 1);
    CODES.last_used.set(code);
    CODES.added.borrow_mut().insert(code, (class.unwrap_or(code), String::new()));
    code
}

pub(crate) unsafe fn add_error_class(class: *mut c_int) -> Result {
    *class = add(None);
    Ok(())
}

pub(crate) unsafe fn add_error_code(class: c_int, code: *mut c_int) -> Result {
    ensure!(is_known(class), ERR_ARG, "{class} is not an error class");
    *code = add(Some(class));
    Ok(())
}

fn set_text(code: c_int, words: String) -> Result {
    let mut added = CODES.added.borrow_mut();
    let entry = added.get_mut(&code);
    entry.ok_or_else(|| error_of(ERR_ARG, format!("{code} was not added")))?.1 = words;
    Ok(())
}

pub(crate) unsafe fn add_error_string(code: c_int, string: *const c_char) -> Result {
    set_text(code, text::read(string)?)
}

pub(crate) unsafe fn remove_error_string(code: c_int) -> Result {
    set_text(code, String::new())
}

/// Removes a code or class, which are the same here. The number is reused only if it is the newest.
pub(crate) unsafe fn remove_error(code: c_int) -> Result {
    let mut added = CODES.added.borrow_mut();
    let is_class = added.iter().any(|(other, (class, _))| *class == code && *other != code);
    ensure!(!is_class, ERR_ARG, "{code} still has error codes");
    let has_text = added.get(&code).is_some_and(|(_, text)| !text.is_empty());
    ensure!(!has_text, ERR_ARG, "{code} still has an error string");
    ensure!(added.remove(&code).is_some(), ERR_ARG, "{code} was not added");
    let last = added.keys().last().copied().unwrap_or(ERR_LASTCODE);
    CODES.last_used.set(last);
    CODES.first_free.set(last + 1);
    Ok(())
}
