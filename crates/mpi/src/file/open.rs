//! Opening and closing of files. All members make the same calls.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;

use contract::Endpoint;

use super::agree::{agree, agree_on};
use super::disk::{self, Disk};
use super::mode::AccessMode;
use super::shared::SharedPointer;
use super::view::View;
use super::{File, hints};
use crate::attribute::Attributes;
use crate::collective::{Barrier, Collective};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::info::Info;

/// Opens the file at every member, or at none. The first member creates it, if requested.
fn open_everywhere<E: Endpoint + 'static>(
    of: &Communicator<E>,
    path: &Path,
    mode: AccessMode,
    permissions: u32,
) -> Result<Disk> {
    let open = |mode| mode_checked(mode).and_then(|mode| Disk::open(path, mode, permissions));
    let split = |opened: Result<Disk>| match opened {
        Ok(disk) => (Some(disk), Ok(())),
        Err(error) => (None, Err(error)),
    };
    let (first, outcome) = match of.rank() {
        0 => split(open(mode)),
        _ => (None, mode_checked(mode).map(drop)),
    };
    agree_on(of, ("the mode", i64::from(mode.bits())), outcome)?;
    let others = AccessMode { create: false, exclusive: false, ..mode };
    let (disk, outcome) = match first {
        Some(disk) => (Some(disk), Ok(())),
        None => split(open(others)),
    };
    agree(of, outcome)?;
    Ok(disk.expect("it is open at every member"))
}

fn mode_checked(mode: AccessMode) -> Result<AccessMode> {
    mode.check().map(|()| mode)
}

impl<E: Endpoint + 'static> File<E> {
    /// Opens a file at all members or at none.
    ///
    /// # Errors
    /// [`Amode`](crate::ErrorClass::Amode), [`NotSame`](crate::ErrorClass::NotSame) if the members pass different
    /// modes, [`NoSuchFile`](crate::ErrorClass::NoSuchFile), [`FileExists`](crate::ErrorClass::FileExists),
    /// [`Access`](crate::ErrorClass::Access), [`BadFile`](crate::ErrorClass::BadFile) and other errors of the system;
    /// and errors that end the run.
    pub fn open(of: &Communicator<E>, path: &Path, mode: AccessMode, info: Info) -> Result<Self> {
        let communicator = of.dup(Attributes::new(), Info::new())?;
        let opened = open_everywhere(&communicator, path, mode, hints::permissions(&info));
        let disk = match opened {
            Ok(disk) => disk,
            Err(error) => {
                communicator.free(0)?;
                return Err(error);
            }
        };
        let end = if mode.append { disk.size()? } else { 0 };
        let shared = SharedPointer::new(&communicator)?;
        if communicator.rank() == 0 && end > 0 {
            shared.set(end)?;
        }
        // No member uses the shared pointer before its initial position is set.
        Barrier::new(communicator.context().clone()).run()?;
        Ok(File {
            info: hints::in_use(&info, communicator.size()),
            communicator,
            disk,
            mode,
            view: RefCell::new(Rc::new(View::whole())),
            position: Cell::new(end),
            shared,
            is_atomic: Cell::new(false),
            begun: RefCell::new(None),
            space: RefCell::default(),
        })
    }

    /// Closes the file. Every member calls this in the end.
    ///
    /// # Errors
    /// Errors of the system for a file that is deleted, [`InputOutput`](crate::ErrorClass::InputOutput) while an
    /// operation is begun, and errors that end the run.
    pub fn close(&self) -> Result {
        self.check_none_begun()?;
        self.shared.free()?;
        // Nobody uses it after all have reached this barrier.
        Barrier::new(self.communicator.context().clone()).run()?;
        let deletes = self.mode.delete_on_close && self.communicator.rank() == 0;
        let deleted = if deletes { disk::delete(self.disk.path()) } else { Ok(()) };
        let outcome =
            if self.mode.delete_on_close { agree(&self.communicator, deleted) } else { Ok(()) };
        self.communicator.free(0)?;
        outcome
    }

    /// Adds hints. All members make the same call.
    pub fn set_info(&self, given: &Info) {
        self.info.set_all(given);
        self.info.set_all(&hints::in_use(&self.info, self.communicator.size()));
    }
}
