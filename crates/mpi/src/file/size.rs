//! The length of a file, and the visibility of writes. All members make the same calls, except for queries.

use contract::Endpoint;

use super::File;
use super::agree::{agree, agree_on};
use crate::collective::{Barrier, Collective};
use crate::error::{ErrorClass, Result, ensure};

impl<E: Endpoint + 'static> File<E> {
    /// Returns its length in bytes.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn size(&self) -> Result<i64> {
        self.disk.size()
    }

    /// Checks the arguments of a change of the length, and that the members agree on it.
    fn check_size(&self, bytes: i64) -> Result {
        let checked = (|| {
            self.check_writable()?;
            self.check_not_sequential()?;
            ensure!(bytes >= 0, ErrorClass::Argument, "{bytes} bytes");
            self.check_none_begun()
        })();
        agree_on(&self.communicator, ("the size", bytes), checked)
    }

    /// Lets the first member change it, and tells all members the outcome.
    fn at_first(&self, change: impl FnOnce() -> Result) -> Result {
        let outcome = if self.communicator.rank() == 0 { change() } else { Ok(()) };
        agree(&self.communicator, outcome)
    }

    /// Truncates it, or extends it with zeros.
    ///
    /// # Errors
    /// [`ErrorClass::ReadOnly`], [`ErrorClass::Argument`], [`ErrorClass::NotSame`] if the members pass different
    /// lengths, [`ErrorClass::Unsupported`] for a sequential file, errors of the system, and errors that end the run.
    pub fn set_size(&self, bytes: i64) -> Result {
        self.check_size(bytes)?;
        self.at_first(|| self.disk.set_size(bytes))
    }

    /// Reserves space for the first `bytes` bytes. A shorter file is extended.
    ///
    /// # Errors
    /// As for [`set_size`](File::set_size), and [`ErrorClass::NoSpace`], after which the file is unchanged.
    pub fn preallocate(&self, bytes: i64) -> Result {
        self.check_size(bytes)?;
        self.at_first(|| self.disk.reserve(bytes))
    }

    /// Sets whether other members see a member's writes at once and as a whole.
    ///
    /// # Errors
    /// [`ErrorClass::NotSame`] if the members pass different values, and errors that end the run.
    pub fn set_atomicity(&self, atomic: bool) -> Result {
        agree_on(&self.communicator, ("atomicity", i64::from(atomic)), self.check_none_begun())?;
        self.is_atomic.set(atomic);
        Ok(())
    }

    /// Waits until everything that this member has written is on stable storage.
    ///
    /// # Errors
    /// [`ErrorClass::InputOutput`] while an operation is begun, errors of the system, and errors that end the run.
    pub fn sync(&self) -> Result {
        self.check_none_begun()?;
        let synced = if self.mode.writes() { self.disk.sync() } else { Ok(()) };
        Barrier::new(self.communicator.context().clone()).run()?;
        synced
    }
}
