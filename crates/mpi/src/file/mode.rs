//! The access mode of a file.

use crate::error::{ErrorClass, Result, ensure};

/// The permitted kinds of access to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read it.
    ReadOnly,
    /// Write it.
    WriteOnly,
    /// Both.
    ReadWrite,
}

/// The access mode of a file. All members must pass the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessMode {
    /// The kind of access.
    pub access: Access,
    /// Creates the file if it does not exist.
    pub create: bool,
    /// Fails if the file exists and would be created.
    pub exclusive: bool,
    /// Deletes the file when it is closed.
    pub delete_on_close: bool,
    /// Nobody else opens the file meanwhile: a promise without an effect here.
    pub unique: bool,
    /// The file is only read or written from its beginning to its end, with the shared pointer.
    pub sequential: bool,
    /// All pointers begin at the end of the file.
    pub append: bool,
}

impl AccessMode {
    /// Returns the mode of an existing file with this access.
    pub fn new(access: Access) -> Self {
        AccessMode {
            access,
            create: false,
            exclusive: false,
            delete_on_close: false,
            unique: false,
            sequential: false,
            append: false,
        }
    }

    /// Fails for a contradictory mode.
    pub(super) fn check(self) -> Result {
        let makes = self.create || self.exclusive;
        let reads_only = self.access == Access::ReadOnly;
        ensure!(!(reads_only && makes), ErrorClass::Amode, "a new file that is only read");
        let both_ways = self.sequential && self.access == Access::ReadWrite;
        ensure!(!both_ways, ErrorClass::Amode, "a sequential file that is read and written");
        Ok(())
    }

    pub(super) fn reads(self) -> bool {
        self.access != Access::WriteOnly
    }

    pub(super) fn writes(self) -> bool {
        self.access != Access::ReadOnly
    }

    /// Returns bits that are equal for equal modes, for the members to compare.
    pub(super) fn bits(self) -> u32 {
        let flags = [
            self.create,
            self.exclusive,
            self.delete_on_close,
            self.unique,
            self.sequential,
            self.append,
        ];
        flags.iter().fold(self.access as u32, |bits, &flag| bits << 1 | u32::from(flag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_that_contradict_themselves_are_refused() {
        let read = AccessMode::new(Access::ReadOnly);
        let both = AccessMode::new(Access::ReadWrite);
        assert_eq!((read.check(), both.check()), (Ok(()), Ok(())));
        for wrong in [
            AccessMode { create: true, ..read },
            AccessMode { exclusive: true, ..read },
            AccessMode { sequential: true, ..both },
        ] {
            assert_eq!(wrong.check().unwrap_err().class, ErrorClass::Amode);
        }
        let sequential = AccessMode { sequential: true, ..read };
        assert_eq!(sequential.check(), Ok(()));
        assert_ne!(sequential.bits(), read.bits());
        assert_ne!(both.bits(), read.bits());
    }
}
