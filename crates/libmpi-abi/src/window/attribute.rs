//! Attributes of windows.

use std::ffi::{c_int, c_void};

use mpi::Flavor;

use super::{Window, get, get_object};
use crate::abi::*;
use crate::attribute::{self, For};
use crate::failure::{Result, ensure};

/// The values of predefined keys, which live as long as the window.
pub(super) struct Numbers {
    size: i64,
    unit: c_int,
    flavor: c_int,
    model: c_int,
}

impl Numbers {
    pub(super) fn of(window: &Window) -> Self {
        let flavor = match window.flavor() {
            Flavor::Create => WIN_FLAVOR_CREATE,
            Flavor::Allocate => WIN_FLAVOR_ALLOCATE,
            Flavor::Shared => WIN_FLAVOR_SHARED,
            Flavor::Dynamic => WIN_FLAVOR_DYNAMIC,
        };
        let unit = c_int::try_from(window.unit(window.rank())).unwrap_or(c_int::MAX);
        Numbers { size: window.bytes() as i64, unit, flavor, model: WIN_UNIFIED }
    }
}

fn is_predefined(key: c_int) -> bool {
    [WIN_BASE, WIN_SIZE, WIN_DISP_UNIT, WIN_CREATE_FLAVOR, WIN_MODEL].contains(&key)
}

pub(crate) unsafe fn get_attribute(
    win: Win,
    key: c_int,
    value: *mut c_void,
    flag: *mut c_int,
) -> Result {
    let object = get_object(win)?;
    let numbers = &object.of_c.numbers;
    let found = match key {
        WIN_BASE => Some(object.window.base() as usize),
        WIN_SIZE => Some(&raw const numbers.size as usize),
        WIN_DISP_UNIT => Some(&raw const numbers.unit as usize),
        WIN_CREATE_FLAVOR => Some(&raw const numbers.flavor as usize),
        WIN_MODEL => Some(&raw const numbers.model as usize),
        _ => attribute::find(object.window.attributes(), For::Window, key)?,
    };
    attribute::give(found, value, flag);
    Ok(())
}

pub(crate) unsafe fn set_attribute(win: Win, key: c_int, value: *mut c_void) -> Result {
    let window = get(win)?;
    ensure!(!is_predefined(key), ERR_KEYVAL, "attribute {key} cannot be changed");
    attribute::set(window.attributes(), For::Window, win, key, value)
}

pub(crate) unsafe fn delete_attribute(win: Win, key: c_int) -> Result {
    let window = get(win)?;
    ensure!(!is_predefined(key), ERR_KEYVAL, "attribute {key} cannot be deleted");
    attribute::delete(window.attributes(), For::Window, win, key)
}
