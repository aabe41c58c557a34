//! File operations on slices.

use contract::Endpoint;

use crate::error::Result;
use crate::file::{Direction, File, Members, Position};
use crate::memory::{Incoming, Outgoing};
use crate::status::Status;

impl<E: Endpoint + 'static> File<E> {
    /// Reads into `room`. The status holds the length before the end of the file.
    ///
    /// # Errors
    /// As for [`transfer`](File::transfer).
    pub fn read<'a>(
        &self,
        position: Position,
        members: Members,
        room: impl Into<Incoming<'a>>,
    ) -> Result<Status> {
        self.transfer(Direction::Read, position, members, room.into().memory())
    }

    /// Writes `data`.
    ///
    /// # Errors
    /// As for [`transfer`](File::transfer).
    pub fn write<'a>(
        &self,
        position: Position,
        members: Members,
        data: impl Into<Outgoing<'a>>,
    ) -> Result<Status> {
        self.transfer(Direction::Write, position, members, data.into().memory())
    }
}
