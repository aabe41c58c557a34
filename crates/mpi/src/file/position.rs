//! Views and pointers of files.

use std::rc::Rc;

use contract::Endpoint;

use super::File;
use super::agree::{agree, agree_on};
use super::view::{Representation, View};
use crate::datatype::Datatype;
use crate::error::{Error, ErrorClass, Result, ensure};

/// The reference point of an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whence {
    /// The beginning of the view.
    Start,
    /// The position of the pointer.
    Current,
    /// The end of the file.
    End,
}

impl<E: Endpoint + 'static> File<E> {
    /// Sets this member's view from byte `displacement` on, or from the position of the shared pointer with `None`. All
    /// pointers move to its beginning. All members make the same call, with etypes of the same size and the same
    /// representation.
    ///
    /// # Errors
    /// As for [`View::new`]; [`ErrorClass::Unsupported`] if a sequential file is given a displacement, or another file
    /// none; [`ErrorClass::NotSame`]; and errors that end the run.
    pub fn set_view(
        &self,
        displacement: Option<i64>,
        etype: Rc<Datatype>,
        filetype: Rc<Datatype>,
        representation: Representation,
    ) -> Result {
        let etype_bytes = etype.size();
        let made = self.displacement(displacement).and_then(|displacement| {
            self.check_none_begun()?;
            let view = View::new(displacement, etype, filetype, representation)?;
            let overlaps = self.mode.writes() && view.tiles().overlap();
            let what = "a filetype whose pieces overlap, in a file that is written";
            ensure!(!overlaps, ErrorClass::Type, "{what}");
            Ok(view)
        });
        let (view, outcome) = match made {
            Ok(view) => (Some(view), Ok(())),
            Err(error) => (None, Err(error)),
        };
        agree_on(&self.communicator, ("the size of the etype", etype_bytes), outcome)?;
        if let Some(view) = view {
            *self.view.borrow_mut() = Rc::new(view);
        }
        self.position.set(0);
        self.reset_shared(0)
    }

    /// Returns the displacement of a new view in bytes.
    fn displacement(&self, given: Option<i64>) -> Result<i64> {
        let fits = given.is_none() == self.mode.sequential;
        let what = "the current displacement is for sequential files, and others are not";
        ensure!(fits, ErrorClass::Unsupported, "{what}");
        match given {
            Some(displacement) => Ok(displacement),
            None => self.byte_offset(self.shared.get()?),
        }
    }

    /// Moves the shared pointer after all members have called this, and before any continues.
    fn reset_shared(&self, position: i64) -> Result {
        let moved = if self.communicator.rank() == 0 { self.shared.set(position) } else { Ok(()) };
        agree(&self.communicator, moved)
    }

    /// Returns the new position of a pointer.
    fn target(&self, offset: i64, whence: Whence, current: i64) -> Result<i64> {
        let from = match whence {
            Whence::Start => 0,
            Whence::Current => current,
            Whence::End => self.view().etypes_before(self.disk.size()?),
        };
        let target = from.checked_add(offset).filter(|&target| target >= 0);
        let what = format!("a position {offset} from {from}");
        target.ok_or_else(|| Error::new(ErrorClass::Argument, what))
    }

    /// Moves this member's pointer; offsets are in etypes.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] for a position before the view, [`ErrorClass::Unsupported`] for a sequential file.
    pub fn seek(&self, offset: i64, whence: Whence) -> Result {
        self.check_not_sequential()?;
        self.position.set(self.target(offset, whence, self.position.get())?);
        Ok(())
    }

    /// Returns the position of this member's pointer in etypes.
    ///
    /// # Errors
    /// [`ErrorClass::Unsupported`] for a sequential file.
    pub fn position(&self) -> Result<i64> {
        self.check_not_sequential()?;
        Ok(self.position.get())
    }

    /// Moves the shared pointer. All members make the same call.
    ///
    /// # Errors
    /// As for [`seek`](File::seek), [`ErrorClass::NotSame`], and errors that end the run.
    pub fn seek_shared(&self, offset: i64, whence: Whence) -> Result {
        let checked = self.check_not_sequential().and_then(|()| self.check_none_begun());
        agree_on(&self.communicator, ("the offset", offset), checked)?;
        // All members are here, so neither the pointer nor the file's end changes.
        let target = self.shared.get().and_then(|current| self.target(offset, whence, current));
        let outcome = target.as_ref().map(drop).map_err(Clone::clone);
        agree_on(&self.communicator, ("the position", *target.as_ref().unwrap_or(&0)), outcome)?;
        self.reset_shared(target?)
    }

    /// Returns the position of the shared pointer in etypes.
    ///
    /// # Errors
    /// [`ErrorClass::Unsupported`] for a sequential file, and errors that end the run.
    pub fn shared_position(&self) -> Result<i64> {
        self.check_not_sequential()?;
        self.shared.get()
    }

    /// Returns the byte of the file at which an etype of the view begins.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] for an offset below 0, or beyond the maximum length of a file.
    pub fn byte_offset(&self, etypes: i64) -> Result<i64> {
        let view = self.view();
        ensure!(etypes >= 0, ErrorClass::Argument, "an offset of {etypes}");
        let data = etypes.checked_mul(view.etype_bytes());
        let offset = match data {
            Some(_) if view.tiles().are_empty() => Some(view.displacement()),
            data => data.and_then(|data| view.tiles().offset_of(data)),
        };
        offset.ok_or_else(|| Error::new(ErrorClass::Argument, format!("an offset of {etypes}")))
    }

    /// Returns the distance between elements of a type in the file, in bytes.
    ///
    /// # Errors
    /// [`ErrorClass::NoMemory`] for a type of too many pieces.
    pub fn type_extent(&self, of: &Rc<Datatype>) -> Result<i64> {
        Ok(self.view().representation().in_file(of)?.extent())
    }
}
