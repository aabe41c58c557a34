//! Files that a command writes at its end: it refuses those that it could not write before it begins.
//!
//! They may lie beside a file of a stranger, whose folder may have a link with their name to another file.

use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::failure::Failure;

/// Number of bytes that identify a file of this program.
const HEAD_BYTES: u64 = 4096;

/// Refuses a file that exists and is not one that this program may replace.
pub(crate) fn refuse_others(
    path: &Path,
    what: &dyn Display,
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
    Ok(())
}

/// Refuses a file that [`refuse_others`] refuses or that cannot be written, and creates it if there is none.
pub(crate) fn check(
    path: &Path,
    what: &dyn Display,
    is_ours: impl Fn(&Path) -> bool,
) -> Result<(), Failure> {
    refuse_others(path, what, is_ours)?;
    open(path, OpenOptions::new().append(true)).map(drop).map_err(|error| {
        Failure::usage(format!("cannot write {what} to '{}': {error}", path.display()))
    })
}

/// Creates a file, or empties it. It follows no link.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().write(true).truncate(true))
}

/// Writes a file, unless [`refuse_others`] refuses it.
pub(crate) fn replace(
    path: &Path,
    what: &dyn Display,
    is_ours: impl Fn(&Path) -> bool,
    contents: &str,
) -> Result<(), Failure> {
    refuse_others(path, what, is_ours)?;
    create(path).and_then(|mut file| file.write_all(contents.as_bytes())).map_err(|error| {
        Failure::failed(format!("cannot write {what} to '{}': {error}", path.display()))
    })
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // The system's own links, such as /dev/stdout, lead where the user wants.
    if !path.starts_with("/dev") {
        options.custom_flags(OFlags::NOFOLLOW.bits() as i32);
    }
    options.create(true).open(path).map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => io::Error::other("it is a link, which is not followed: name the file"),
        _ => error,
    })
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
        for target in ["nothing", "a.json"] {
            let link = lab.path().join(format!("to-{target}"));
            std::os::unix::fs::symlink(lab.path().join(target), &link).unwrap();
            std::fs::write(&path, "").unwrap();
            assert!(check(&link).unwrap_err().message().contains("it is a link"));
            assert!(create(&link).unwrap_err().to_string().contains("it is a link"));
        }
        assert!(!lab.path().join("nothing").exists());
        assert!(
            check(&lab.path().join("no/a.json")).unwrap_err().message().contains("cannot write")
        );
    }
}
