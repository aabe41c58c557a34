//! Libraries of this project that are loaded into a program before its own.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::linked_program;

/// Variable that names the libraries that are loaded before all others.
const VARIABLE: &str = "LD_PRELOAD";

/// Finds a library, which the package `built_by` builds: beside this command, or in `lib` beside its folder.
pub(crate) fn find(name: &str, built_by: &str) -> Result<PathBuf, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::failed(format!("finding this command's own file: {error}")))?;
    let folder = own.parent().unwrap_or(&own);
    // `cargo test` puts libraries into `deps`. The library of an earlier `cargo build` may still exist then, so the
    // newest is taken.
    let places = ["", "deps", "../lib"].map(|place| folder.join(place).join(name));
    let built = |path: &PathBuf| path.metadata().and_then(|one| one.modified()).ok();
    let found = places.into_iter().filter(|path| path.is_file()).max_by_key(built);
    let found = found.ok_or_else(|| {
        let why = format!("{name} is neither in '{}' nor in lib beside it", folder.display());
        Failure::failed(why).hint(format!("`cargo build -p {built_by}` makes it"))
    })?;
    let is_bad = |byte: &u8| byte.is_ascii_whitespace() || *byte == b':';
    if found.as_os_str().as_encoded_bytes().iter().any(is_bad) {
        let why = format!("the system loads no library from '{}'", found.display());
        return Err(Failure::failed(why)
            .hint("install Cornerstone in a folder without blanks and colons in its path"));
    }
    Ok(found)
}

/// Returns the variable that loads a library before those that the environment of this process names already.
pub(crate) fn environment(library: PathBuf) -> (OsString, OsString) {
    let others = std::env::var_os(VARIABLE).filter(|others| !others.is_empty());
    (VARIABLE.into(), before(library, others.as_deref()))
}

/// Returns the value of the variable for a library before others.
fn before(library: PathBuf, others: Option<&OsStr>) -> OsString {
    let mut value = library.into_os_string();
    if let Some(others) = others {
        value.push(":");
        value.push(others);
    }
    value
}

/// Adds a library to the variables of a program's environment, before others that they name already.
pub(crate) fn add(environment: &mut Vec<(OsString, OsString)>, library: PathBuf) {
    match environment.iter_mut().find(|(name, _)| name == VARIABLE) {
        None => environment.push(self::environment(library)),
        Some((_, others)) => *others = before(library, Some(others)),
    }
}

/// Puts the library of a program's sanitizer before those that are preloaded, if there are any. Its library ends the program
/// if another one precedes it.
pub(crate) fn admit_sanitizer(environment: &mut [(OsString, OsString)], program: &Path) {
    let mut values = environment.iter_mut().filter(|(name, _)| name == VARIABLE);
    if let Some((_, value)) = values.next_back()
        && let Some(library) = linked_program::sanitizer(program)
    {
        *value = before(library.into(), Some(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_library_comes_before_the_first() {
        let mut environment = vec![(OsString::from(VARIABLE), OsString::from("/one.so"))];
        add(&mut environment, PathBuf::from("/two.so"));
        assert_eq!(environment, [(VARIABLE.into(), "/two.so:/one.so".into())]);
    }
}
