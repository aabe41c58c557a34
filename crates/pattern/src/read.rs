//! Reads text as a pattern that is known to run.

use crate::check::check;
use crate::compile::compile;
use crate::mistake::Refusal;
use crate::parser::parse;
use crate::program::Pattern;

/// Reads the pattern in `text`; `name` is its name in messages.
///
/// # Errors
/// All errors of it: syntax, impossible nodes and sizes, messages without a receive, receives without a message, and
/// deadlocks.
pub fn read(name: &str, text: &str) -> Result<Pattern, Refusal> {
    let refuse = |mistakes| Refusal::new(name, text, mistakes);
    let source = parse(text).map_err(|mistake| refuse(vec![mistake]))?;
    let mut pattern = compile(name, &source).map_err(refuse)?;
    check(&mut pattern).map_err(refuse)?;
    Ok(pattern)
}
