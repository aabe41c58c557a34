//! Categories of variables.

use std::ffi::{c_char, c_int};

use super::control::VARIABLES;
use super::performance::counted;
use super::{at, check, no_name, write_string, write_value};
use crate::failure::Result;
use crate::text;

/// A category: its name, its description, and whether it contains the control or the performance variables.
struct Category {
    name: &'static str,
    words: &'static str,
    has_controls: bool,
}

const CATEGORIES: [Category; 2] = [
    Category { name: "settings", words: "how the library works here", has_controls: true },
    Category { name: "use", words: "what the program has made and met", has_controls: false },
];

impl Category {
    fn controls(&self) -> usize {
        if self.has_controls { VARIABLES.len() } else { 0 }
    }

    fn counted(&self) -> usize {
        if self.has_controls { 0 } else { counted().len() }
    }
}

pub(crate) unsafe fn number_of_categories(count: *mut c_int) -> Result {
    check()?;
    write_value(count, CATEGORIES.len() as c_int);
    Ok(())
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn category_info(
    index: c_int,
    name: *mut c_char,
    name_length: *mut c_int,
    words: *mut c_char,
    words_length: *mut c_int,
    controls: *mut c_int,
    counted: *mut c_int,
    categories: *mut c_int,
) -> Result {
    check()?;
    let category = at(&CATEGORIES, index)?;
    write_string(category.name, name, name_length);
    write_string(category.words, words, words_length);
    write_value(controls, category.controls() as c_int);
    write_value(counted, category.counted() as c_int);
    write_value(categories, 0);
    Ok(())
}

pub(crate) unsafe fn category_index(name: *const c_char, index: *mut c_int) -> Result {
    check()?;
    let name = text::read(name)?;
    let found = CATEGORIES.iter().position(|one| one.name == name);
    write_value(index, found.ok_or_else(|| no_name(&name))? as c_int);
    Ok(())
}

/// Writes the indices 0 to `count` - 1, as far as there is room.
unsafe fn all(count: usize, room: c_int, indices: *mut c_int) {
    for index in 0..count.min(room.max(0) as usize) {
        *indices.add(index) = index as c_int;
    }
}

pub(crate) unsafe fn category_controls(index: c_int, room: c_int, indices: *mut c_int) -> Result {
    check()?;
    all(at(&CATEGORIES, index)?.controls(), room, indices);
    Ok(())
}

pub(crate) unsafe fn category_counted(index: c_int, room: c_int, indices: *mut c_int) -> Result {
    check()?;
    all(at(&CATEGORIES, index)?.counted(), room, indices);
    Ok(())
}

/// Writes nothing: no category contains others, and none contains events.
pub(crate) unsafe fn category_others(index: c_int, _room: c_int, _indices: *mut c_int) -> Result {
    check()?;
    at(&CATEGORIES, index).map(drop)
}

pub(crate) unsafe fn category_events(index: c_int, count: *mut c_int) -> Result {
    check()?;
    at(&CATEGORIES, index)?;
    write_value(count, 0);
    Ok(())
}

/// Stores 0: categories never change.
pub(crate) unsafe fn categories_changed(stamp: *mut c_int) -> Result {
    check()?;
    write_value(stamp, 0);
    Ok(())
}
