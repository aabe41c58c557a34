//! Files that a command writes at its end: it refuses those that it could not write before it begins.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::Path;

use crate::failure::Failure;

/// Number of bytes that identify a file of this program.
const HEAD_BYTES: u64 = 4096;

/// Refuses a file that cannot be written, or that exists and is not one that this program may replace.
pub(crate) fn check(
    path: &Path,
    what: &dyn std::fmt::Display,
    is_ours: impl Fn(&Path) -> bool,
) -> Result<(), Failure> {
    let shown = path.display();
    if path.is_dir() {
        return Err(Failure::usage(format!("'{shown}' is a folder, and {what} is a file")));
    }
    // A device is not another program's file.
    if path.is_file() && !is_ours(path) {
        return Err(Failure::usage(format!(
            "'{shown}' already exists and is not a file of this kind from Cornerstone"
        ))
        .hint("choose another name, or remove it"));
    }
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened
        .map(|_| ())
        .map_err(|error| Failure::usage(format!("cannot write {what} to '{shown}': {error}")))
}

/// Returns whether a file is empty or has a mark of this program at its beginning.
pub(crate) fn is_marked(path: &Path, mark: &str) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.is_ok() && (head.is_empty() || String::from_utf8_lossy(&head).contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_empty_files_and_own_ones_are_replaced() {
        let lab = tempfile::tempdir().unwrap();
        let path = lab.path().join("a.json");
        let check = |path: &Path| check(path, &"the report", |path| is_marked(path, "of ours"));
        assert!(check(&path).is_ok());
        assert!(check(&path).is_ok(), "it is empty now");
        std::fs::write(&path, "a file of ours").unwrap();
        assert!(check(&path).is_ok());
        std::fs::write(&path, "a file of others").unwrap();
        assert_eq!(check(&path).unwrap_err().code(), 2);
        assert!(check(lab.path()).unwrap_err().message().contains("is a folder"));
        assert!(
            check(&lab.path().join("no/a.json")).unwrap_err().message().contains("cannot write")
        );
    }
}
