//! The check of a result, which every program calls.

use crate::error::{Error, Result};

/// Returns `Ok` if `found` is `expected`.
pub(super) fn check<T: PartialEq + std::fmt::Display>(
    benchmark: &'static str,
    what: &str,
    expected: T,
    found: T,
) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let explanation = format!("{what} is {found}, but must be {expected}");
    Err(Error::WrongResult { benchmark, explanation })
}
