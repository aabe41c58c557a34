//! A file of the operating system, and the error classes of its errors.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};

use super::mode::AccessMode;
use crate::error::{Error, ErrorClass, Result};

/// Length that is written at a time if the system cannot reserve space.
const ZEROS: usize = 1 << 20;

/// An open file. Offsets and lengths are in bytes.
pub(super) struct Disk {
    file: File,
    path: PathBuf,
}

/// Returns the class of an error of the system.
fn class_of(error: &io::Error) -> ErrorClass {
    match error.kind() {
        ErrorKind::NotFound => ErrorClass::NoSuchFile,
        ErrorKind::AlreadyExists => ErrorClass::FileExists,
        ErrorKind::PermissionDenied => ErrorClass::Access,
        ErrorKind::ReadOnlyFilesystem => ErrorClass::ReadOnly,
        ErrorKind::StorageFull | ErrorKind::FileTooLarge => ErrorClass::NoSpace,
        ErrorKind::QuotaExceeded => ErrorClass::Quota,
        ErrorKind::ExecutableFileBusy | ErrorKind::ResourceBusy => ErrorClass::FileInUse,
        ErrorKind::IsADirectory
        | ErrorKind::NotADirectory
        | ErrorKind::InvalidFilename
        | ErrorKind::InvalidInput => ErrorClass::BadFile,
        _ => ErrorClass::InputOutput,
    }
}

#[cold]
fn failed(path: &Path, what: &str, error: &io::Error) -> Error {
    Error::new(class_of(error), format!("{what} {}: {error}", path.display()))
}

/// Deletes a file.
///
/// # Errors
/// [`ErrorClass::NoSuchFile`], [`ErrorClass::Access`] and the like.
pub(super) fn delete(path: &Path) -> Result {
    std::fs::remove_file(path).map_err(|error| failed(path, "cannot delete", &error))
}

impl Disk {
    /// Opens a file with a mode. `permissions` are those of a new file.
    pub(super) fn open(path: &Path, mode: AccessMode, permissions: u32) -> Result<Self> {
        let opened = OpenOptions::new()
            .read(mode.reads())
            .write(mode.writes())
            .create(mode.create && !mode.exclusive)
            .create_new(mode.create && mode.exclusive)
            .mode(permissions)
            .open(path);
        let file = opened.map_err(|error| failed(path, "cannot open", &error))?;
        let disk = Disk { file, path: path.into() };
        // The system opens a directory for reading without an error.
        let kind = disk.file.metadata().map_err(|error| disk.failed("cannot inspect", &error))?;
        match kind.is_dir() {
            true => Err(disk.failed("cannot open", &io::Error::from(ErrorKind::IsADirectory))),
            false => Ok(disk),
        }
    }

    #[cold]
    fn failed(&self, what: &str, error: &io::Error) -> Error {
        failed(&self.path, what, error)
    }

    /// Returns its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads from `offset` on. Returns fewer bytes than requested only at the end of the file.
    pub(super) fn read(&self, room: &mut [u8], offset: i64) -> Result<usize> {
        let mut done = 0;
        while done < room.len() {
            match self.file.read_at(&mut room[done..], offset as u64 + done as u64) {
                Ok(0) => break,
                Ok(bytes) => done += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed("cannot read", &error)),
            }
        }
        Ok(done)
    }

    /// Writes all of `data` from `offset` on.
    pub(super) fn write(&self, data: &[u8], offset: i64) -> Result {
        let written = self.file.write_all_at(data, offset as u64);
        written.map_err(|error| self.failed("cannot write", &error))
    }

    /// Returns its length.
    pub(super) fn size(&self) -> Result<i64> {
        let metadata = self.file.metadata();
        Ok(metadata.map_err(|error| self.failed("cannot inspect", &error))?.len() as i64)
    }

    /// Truncates it, or extends it with zeros.
    pub(super) fn set_size(&self, bytes: i64) -> Result {
        self.file.set_len(bytes as u64).map_err(|error| self.failed("cannot resize", &error))
    }

    /// Reserves space for the first `bytes` bytes. If there is none, the file stays unchanged.
    pub(super) fn reserve(&self, bytes: i64) -> Result {
        if bytes == 0 {
            return Ok(());
        }
        let before = self.size()?;
        let reserved = match fallocate(&self.file, FallocateFlags::empty(), 0, bytes as u64) {
            Err(rustix::io::Errno::OPNOTSUPP) => self.write_zeros(before, bytes),
            other => other.map_err(|error| self.failed("cannot reserve space for", &error.into())),
        };
        if reserved.is_err() && self.size()? > before {
            self.set_size(before)?;
        }
        reserved
    }

    fn write_zeros(&self, from: i64, to: i64) -> Result {
        let zeros = vec![0; ZEROS];
        (from..to).step_by(ZEROS).try_for_each(|offset| {
            let here = ((to - offset) as usize).min(ZEROS);
            self.write(&zeros[..here], offset)
        })
    }

    /// Waits until everything written is on stable storage.
    pub(super) fn sync(&self) -> Result {
        match self.file.sync_all() {
            // Pipes and the like have nothing to synchronise.
            Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
            other => other.map_err(|error| self.failed("cannot synchronise", &error)),
        }
    }

    /// Excludes accesses of other members while `body` runs: all of them, or those that write.
    pub(super) fn locked<R>(&self, writes: bool, body: impl FnOnce() -> Result<R>) -> Result<R> {
        let taken = if writes { self.file.lock() } else { self.file.lock_shared() };
        taken.map_err(|error| self.failed("cannot lock", &error))?;
        let result = body();
        self.file.unlock().map_err(|error| self.failed("cannot unlock", &error))?;
        result
    }
}

#[cfg(test)]
mod tests {
    use super::super::mode::Access;
    use super::*;

    fn create(path: &Path) -> Disk {
        let mode = AccessMode { create: true, ..AccessMode::new(Access::ReadWrite) };
        Disk::open(path, mode, 0o600).unwrap()
    }

    #[test]
    fn errors_of_the_system_have_classes_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let open = |path: &Path, mode| Disk::open(path, mode, 0o600).err().unwrap().class;
        let both = AccessMode::new(Access::ReadWrite);
        assert_eq!(open(&path, both), ErrorClass::NoSuchFile);
        create(&path).write(b"abc", 1).unwrap();
        let exclusive = AccessMode { create: true, exclusive: true, ..both };
        assert_eq!(open(&path, exclusive), ErrorClass::FileExists);
        let read = AccessMode::new(Access::ReadOnly);
        assert_eq!(open(folder.path(), read), ErrorClass::BadFile);
        assert_eq!(open(&path.join("below"), read), ErrorClass::BadFile);
        assert_eq!(delete(&folder.path().join("other")).unwrap_err().class, ErrorClass::NoSuchFile);
        // A device that is always full.
        let full = Disk::open(Path::new("/dev/full"), both, 0).unwrap();
        assert_eq!(full.write(b"a", 0).unwrap_err().class, ErrorClass::NoSpace);
    }

    #[test]
    fn a_failed_reservation_leaves_the_file_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let disk = create(&folder.path().join("file"));
        disk.write(b"abc", 1).unwrap();
        disk.reserve(2).unwrap();
        assert_eq!(disk.size(), Ok(4), "it never becomes shorter");
        disk.reserve(10).unwrap();
        let mut room = [1; 20];
        assert_eq!(disk.read(&mut room, 0), Ok(10));
        assert_eq!(room[..10], *b"\0abc\0\0\0\0\0\0");
        let error = disk.reserve(i64::MAX).unwrap_err();
        assert_eq!((error.class, disk.size()), (ErrorClass::NoSpace, Ok(10)));
        assert!(error.message.contains("file"), "{error}");
    }
}
