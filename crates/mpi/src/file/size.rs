//! How long a file is, and when others see what was written. All members call alike, but for asking.

use contract::Endpoint;

use super::File;
use super::agree::{agree, agree_on};
use crate::collective::{Barrier, Collective};
use crate::error::{ErrorClass, Result, ensure};

impl<E: Endpoint + 'static> File<E> {
    /// Its length, in bytes.
    ///
    /// # Errors
    /// What the system says.
    pub fn size(&self) -> Result<i64> {
        self.disk.size()
    }

    /// Checks what changes the length; gives whether the members agree on it.
    fn check_size(&self, bytes: i64) -> Result {
        let checked = (|| {
            self.check_writable()?;
            self.check_not_sequential()?;
            ensure!(bytes >= 0, ErrorClass::Argument, "{bytes} bytes");
            self.check_none_begun()
        })();
        agree_on(&self.communicator, ("the size", bytes), checked)
    }

    /// Has the first member change it, and all know how it went.
    fn at_first(&self, change: impl FnOnce() -> Result) -> Result {
        let outcome = if self.communicator.rank() == 0 { change() } else { Ok(()) };
        agree(&self.communicator, outcome)
    }

    /// Cuts it, or lengthens it by zeros.
    ///
    /// # Errors
    /// [`ErrorClass::ReadOnly`], [`ErrorClass::Argument`], [`ErrorClass::NotSame`] if the members say different lengths,
    /// [`ErrorClass::Unsupported`] for a sequential file, what the system says, and those that end the run.
    pub fn set_size(&self, bytes: i64) -> Result {
        self.check_size(bytes)?;
        self.at_first(|| self.disk.set_size(bytes))
    }

    /// Has the system keep space for the first so many bytes; the file gets longer if it is shorter than that.
    ///
    /// # Errors
    /// As of [`set_size`](File::set_size), and [`ErrorClass::NoSpace`]: then the file is as it was.
    pub fn preallocate(&self, bytes: i64) -> Result {
        self.check_size(bytes)?;
        self.at_first(|| self.disk.reserve(bytes))
    }

    /// Says whether what a member writes is seen by the others at once and as a whole.
    ///
    /// # Errors
    /// [`ErrorClass::NotSame`] if the members say different things, and those that end the run.
    pub fn set_atomicity(&self, atomic: bool) -> Result {
        agree_on(&self.communicator, ("atomicity", i64::from(atomic)), self.check_none_begun())?;
        self.is_atomic.set(atomic);
        Ok(())
    }

    /// Waits until what this member has written is where it lasts.
    ///
    /// # Errors
    /// [`ErrorClass::InputOutput`] while an operation is begun, what the system says, and those that end the run.
    pub fn sync(&self) -> Result {
        self.check_none_begun()?;
        let synced = if self.mode.writes() { self.disk.sync() } else { Ok(()) };
        Barrier::new(self.communicator.context().clone()).run()?;
        synced
    }
}
