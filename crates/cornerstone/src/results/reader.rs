//! Reading a results file.

use std::path::Path;

use analysis::launches::pooled;
use record::{Run, RunError};

use crate::failure::Failure;
use crate::progress::note;

/// Reads a results file, with the launches of each case as one measurement. Writes a note to standard error if the run
/// did not come to its end.
pub(crate) fn read_noting_gaps(path: &Path) -> Result<Run, Failure> {
    let bytes = definition_files::read_bytes(path)
        .map_err(|error| Failure::usage(format!("cannot read '{}': {error}", path.display())))?;
    let run = parse(path, &bytes)?;
    let shown = path.display();
    if run.cut_off {
        note(&format!(
            "note: '{shown}' is cut off in the middle of its last line, which is left out"
        ));
    }
    if !run.ended {
        note(&format!(
            "note: the run in '{shown}' did not come to its end; --resume goes on with it"
        ));
    }
    for warning in &run.warnings {
        note(&format!("note: '{shown}', launch {}: {}", warning.launch + 1, warning.text));
    }
    Ok(pooled(run))
}

/// Reads the bytes of a results file. `path` names it in errors.
pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Run, Failure> {
    let text = whole_lines(path, bytes)?;
    let mut run = Run::parse(&path.display().to_string(), text).map_err(explain)?;
    run.cut_off = text.len() < bytes.len();
    run.label = path.file_stem().map_or_else(String::new, |stem| stem.display().to_string());
    Ok(run)
}

/// Returns the text up to the end of the last whole line. The text after it was cut off, possibly within a character.
pub(super) fn whole_lines<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str, Failure> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    if end == 0 && !bytes.is_empty() {
        return Err(not_results(path, "it has not one whole line"));
    }
    std::str::from_utf8(&bytes[..end]).map_err(|_| not_results(path, "it is not text"))
}

fn not_results(path: &Path, why: &str) -> Failure {
    Failure::usage(format!("'{}' is not a results file: {why}", path.display()))
        .hint("a results file is what `cornerstone run` writes: JSON Lines, one record a line")
}

fn explain(error: RunError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match &error {
        RunError::BadLine { line: 1, .. } => failure
            .hint("is it a results file? `cornerstone run` writes them: JSON Lines, one record a line"),
        RunError::BadLine { line, .. } => failure.hint(format!(
            "the file was changed after it was written; `head -n {}` keeps the records before that line",
            line - 1
        )),
        RunError::Empty { .. } => {
            failure.hint("the run was ended before it wrote anything; measure again")
        }
        RunError::OtherSchema { .. } => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cut_within_a_character_is_left_out() {
        let mut bytes = b"one\ntwo \xc3\xa4\n\"\xc3".to_vec();
        let path = Path::new("x");
        assert_eq!(whole_lines(path, &bytes).unwrap(), "one\ntwo ä\n");
        bytes.truncate(3);
        assert!(whole_lines(path, &bytes).is_err());
        assert_eq!(whole_lines(path, b"").unwrap(), "");
    }
}
