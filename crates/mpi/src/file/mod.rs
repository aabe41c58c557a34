//! Files that several processes read and write (MPI 5, chapter 14), on files of the operating system.
//!
//! Operations on a file are carried out immediately: reads and writes go through the system's memory and do not wait
//! for others, so a request has ended when it is created. Members that read or write together exchange data if that
//! combines many small pieces into few large ones; otherwise each works independently.

mod agree;
mod alone;
mod call;
mod disk;
mod domains;
mod hints;
mod mode;
mod open;
mod position;
mod shared;
mod size;
mod tile;
mod together;
mod transfer;
mod view;

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;

use contract::Endpoint;

use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, ErrorClass, Result, ensure};
use crate::group::Group;
use crate::info::Info;
use crate::status::Status;
use disk::Disk;
pub use mode::{Access, AccessMode};
pub use position::Whence;
use shared::SharedPointer;
pub use transfer::{Direction, Members, Position};
pub use view::{Representation, View};

/// A file that the members of a communicator have opened.
pub struct File<E: Endpoint> {
    /// Communicator of the file among the same members.
    communicator: Communicator<E>,
    disk: Disk,
    mode: AccessMode,
    view: RefCell<Rc<View>>,
    /// Individual pointer of this member, in etypes.
    position: Cell<i64>,
    shared: SharedPointer<E>,
    is_atomic: Cell<bool>,
    /// The split collective operation that was begun and not ended, and its outcome.
    begun: RefCell<Option<(Direction, Result<Status>)>>,
    info: Info,
    /// Memory in which this member joins the pieces of its domain.
    space: RefCell<Vec<u8>>,
}

/// Deletes a file that nobody has open.
///
/// # Errors
/// [`ErrorClass::NoSuchFile`], [`ErrorClass::Access`], and other errors of the system.
pub fn delete_file(path: &Path) -> Result {
    disk::delete(path)
}

impl<E: Endpoint> File<E> {
    /// Returns the engine of this process.
    pub fn engine(&self) -> &Rc<Engine<E>> {
        self.communicator.engine()
    }

    /// Returns the group of the members that have opened it.
    pub fn group(&self) -> Group {
        self.communicator.group()
    }

    /// Returns its access mode.
    pub fn mode(&self) -> AccessMode {
        self.mode
    }

    /// Returns this member's view.
    pub fn view(&self) -> Rc<View> {
        self.view.borrow().clone()
    }

    /// Returns whether other members see a member's writes at once and as a whole.
    pub fn is_atomic(&self) -> bool {
        self.is_atomic.get()
    }

    /// Returns the hints in use.
    pub fn info(&self) -> &Info {
        &self.info
    }

    fn check_not_sequential(&self) -> Result {
        let what = "a sequential file has only the shared pointer";
        ensure!(!self.mode.sequential, ErrorClass::Unsupported, "{what}");
        Ok(())
    }

    fn check_writable(&self) -> Result {
        ensure!(self.mode.writes(), ErrorClass::ReadOnly, "the file was opened to be read");
        Ok(())
    }

    /// Fails while an operation was begun and not ended.
    fn check_none_begun(&self) -> Result {
        if self.begun.borrow().is_none() {
            return Ok(());
        }
        let what = "an operation of the file was begun and has not been ended";
        Err(Error::new(ErrorClass::InputOutput, what))
    }
}
