//! Control variables.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void};

use contract::Endpoint;

use super::{at, check, no_handle, no_name, write_string, write_value};
use crate::abi::*;
use crate::arguments::store;
use crate::failure::{Result, ensure, error_of};
use crate::process::engine_if_any;
use crate::shared::Shared;
use crate::{leaks, text};

/// A control variable.
pub(super) struct Variable {
    pub(super) name: &'static str,
    words: &'static str,
    of: Value,
}

/// The variable's value.
#[derive(Clone, Copy)]
enum Value {
    /// Nonzero if leaks are reported at the end. A tool may change it.
    CheckLeaks,
    /// Nonzero if sends and collectives wait although they need not. A tool may change it after MPI_Init.
    Synchronous,
    /// Nonzero if all ranks can run at the same time.
    HasProcessors,
    /// Name of the fabric.
    Fabric,
}

pub(super) const VARIABLES: [Variable; 4] = [
    Variable {
        name: "check_leaks",
        words: "whether MPI_Finalize reports objects that the program has not freed",
        of: Value::CheckLeaks,
    },
    Variable {
        name: "synchronous",
        words: "whether standard sends wait for their receives, and collectives for all members",
        of: Value::Synchronous,
    },
    Variable {
        name: "every_rank_has_a_processor",
        words: "whether all ranks can run at the same time, as far as this rank knows",
        of: Value::HasProcessors,
    },
    Variable {
        name: "fabric",
        words: "what carries the messages; nothing before MPI_Init",
        of: Value::Fabric,
    },
];

/// Room of a string variable, including the zero at its end.
const MOST_LETTERS: c_int = 32;

/// Handles, each with the index of its variable.
#[derive(Default)]
struct Handles {
    indices: BTreeMap<usize, usize>,
    made: usize,
}

static HANDLES: Shared<RefCell<Handles>> = Shared::new(RefCell::default);

impl Value {
    fn datatype(self) -> Datatype {
        if matches!(self, Value::Fabric) { CHAR } else { INT }
    }

    fn scope(self) -> c_int {
        match self {
            Value::CheckLeaks => T_SCOPE_LOCAL,
            Value::Synchronous => T_SCOPE_ALL,
            Value::HasProcessors | Value::Fabric => T_SCOPE_CONSTANT,
        }
    }

    fn count(self) -> c_int {
        if matches!(self, Value::Fabric) { MOST_LETTERS } else { 1 }
    }
}

pub(crate) unsafe fn number_of_controls(count: *mut c_int) -> Result {
    check()?;
    write_value(count, VARIABLES.len() as c_int);
    Ok(())
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn control_info(
    index: c_int,
    name: *mut c_char,
    name_length: *mut c_int,
    verbosity: *mut c_int,
    datatype: *mut Datatype,
    enumeration: *mut usize,
    words: *mut c_char,
    words_length: *mut c_int,
    bound_to: *mut c_int,
    scope: *mut c_int,
) -> Result {
    check()?;
    let variable = at(&VARIABLES, index)?;
    write_string(variable.name, name, name_length);
    write_string(variable.words, words, words_length);
    write_value(verbosity, T_VERBOSITY_USER_BASIC);
    write_value(datatype, variable.of.datatype());
    write_value(enumeration, T_ENUM_NULL);
    write_value(bound_to, T_BIND_NO_OBJECT);
    write_value(scope, variable.of.scope());
    Ok(())
}

pub(crate) unsafe fn control_index(name: *const c_char, index: *mut c_int) -> Result {
    check()?;
    let name = text::read(name)?;
    let found = VARIABLES.iter().position(|one| one.name == name);
    write_value(index, found.ok_or_else(|| no_name(&name))? as c_int);
    Ok(())
}

pub(crate) unsafe fn make_control(
    index: c_int,
    _object: *mut c_void,
    handle: *mut usize,
    count: *mut c_int,
) -> Result {
    check()?;
    let variable = at(&VARIABLES, index)?;
    let mut handles = HANDLES.borrow_mut();
    handles.made += 1;
    let made = handles.made;
    handles.indices.insert(made, index as usize);
    write_value(handle, made);
    write_value(count, variable.of.count());
    Ok(())
}

pub(crate) unsafe fn free_control(handle: *mut usize) -> Result {
    check()?;
    ensure!(!handle.is_null(), T_ERR_INVALID_HANDLE, "no place of a handle");
    HANDLES.borrow_mut().indices.remove(&*handle).ok_or_else(no_handle)?;
    *handle = T_CVAR_HANDLE_NULL;
    Ok(())
}

fn value(handle: usize) -> Result<Value> {
    check()?;
    let index = HANDLES.borrow().indices.get(&handle).copied();
    Ok(VARIABLES[index.ok_or_else(no_handle)?].of)
}

pub(crate) unsafe fn read_control(handle: usize, place: *mut c_void) -> Result {
    let value = value(handle)?;
    ensure!(!place.is_null(), T_ERR_INVALID, "no place for the value");
    let endpoint = engine_if_any().and_then(|engine| engine.endpoint().ok());
    match value {
        Value::CheckLeaks => store(place, leaks::setting()),
        Value::Synchronous => {
            let is_synchronous = engine_if_any().is_some_and(|engine| engine.is_synchronous());
            store(place, c_int::from(is_synchronous));
        }
        Value::HasProcessors => {
            let all =
                endpoint.is_none_or(|endpoint| endpoint.computer().every_rank_has_a_processor);
            store(place, c_int::from(all));
        }
        Value::Fabric => {
            let name = endpoint.map(|endpoint| endpoint.describe().name).unwrap_or_default();
            text::write(&name, place.cast(), MOST_LETTERS, std::ptr::null_mut());
        }
    }
    Ok(())
}

pub(crate) unsafe fn write_control(handle: usize, place: *const c_void) -> Result {
    let value = value(handle)?;
    ensure!(!place.is_null(), T_ERR_INVALID, "no value");
    match value {
        Value::CheckLeaks => leaks::set(place.cast::<c_int>().read_unaligned()),
        Value::Synchronous => match engine_if_any() {
            Some(engine) => engine.set_synchronous(place.cast::<c_int>().read_unaligned() != 0),
            None => return Err(error_of(T_ERR_CVAR_SET_NOT_NOW, "MPI_Init has not been called")),
        },
        _ => return Err(error_of(T_ERR_CVAR_SET_NEVER, "the variable cannot be set")),
    }
    Ok(())
}
