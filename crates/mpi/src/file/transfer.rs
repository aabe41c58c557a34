//! Reads and writes: their position, participants, and outcome.

use std::rc::Rc;

use contract::Endpoint;

use super::File;
use super::agree::gather;
use super::alone;
use super::call::{Buffer, Call};
use super::view::View;
use crate::error::{ErrorClass, Result, ensure};
use crate::memory::Memory;
use crate::request::{Action, Request};
use crate::status::Status;

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the file to memory.
    Read,
    /// From memory to the file.
    Write,
}

/// The position of the data in a member's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// This number of etypes after its beginning.
    At(i64),
    /// At the member's pointer, which advances.
    Individual,
    /// At the shared pointer, which advances. In collective calls in the order of the ranks.
    Shared,
}

/// The participants of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members {
    /// This member.
    Alone,
    /// All, which make the same call.
    Together,
}

impl<E: Endpoint + 'static> File<E> {
    /// Reads or writes.
    ///
    /// # Errors
    /// [`ErrorClass::Access`] and [`ErrorClass::ReadOnly`] for a file that was opened for other accesses,
    /// [`ErrorClass::Argument`] for data that are not a multiple of the etype, or an invalid position,
    /// [`ErrorClass::Unsupported`] if a sequential file is not used with its shared pointer,
    /// [`ErrorClass::Conversion`], errors of the system, and errors that end the run.
    pub fn transfer(
        &self,
        direction: Direction,
        position: Position,
        members: Members,
        memory: &Memory,
    ) -> Result<Status> {
        self.check_none_begun().or_else(|error| match members {
            // Independent accesses are permitted while a collective operation is begun.
            Members::Alone => Ok(()),
            Members::Together => Err(error),
        })?;
        self.carry_out(direction, position, members, memory)
    }

    /// Starts an independent transfer. Members that make the same call do not wait for each other either.
    ///
    /// # Errors
    /// As for [`transfer`](File::transfer), except for errors of the system, which the request reports.
    pub fn start(
        &self,
        direction: Direction,
        position: Position,
        memory: &Memory,
    ) -> Result<Request<E>> {
        let (call, room) = self.prepare(direction, position, memory)?;
        let outcome = self.finish(direction, &call, Members::Alone, memory, room);
        let (status, outcome) = match outcome {
            Ok(status) => (status, Ok(())),
            Err(error) => (Status::empty(), Err(error)),
        };
        Ok(Request::new(self.engine(), Action::Done(status, outcome)))
    }

    /// Begins a split collective operation, of which each member may have one at a time.
    ///
    /// # Errors
    /// [`ErrorClass::InputOutput`] while another is begun. All other errors are reported at the end.
    pub fn begin(&self, direction: Direction, position: Position, memory: &Memory) -> Result {
        self.check_none_begun()?;
        let outcome = self.carry_out(direction, position, Members::Together, memory);
        *self.begun.borrow_mut() = Some((direction, outcome));
        Ok(())
    }

    /// Ends it.
    ///
    /// # Errors
    /// [`ErrorClass::InputOutput`] if none of this direction was begun, and as for [`transfer`](File::transfer).
    pub fn end(&self, direction: Direction) -> Result<Status> {
        let mut begun = self.begun.borrow_mut();
        let fits = begun.as_ref().is_some_and(|(its_direction, _)| *its_direction == direction);
        ensure!(fits, ErrorClass::InputOutput, "no matching collective access was begun");
        begun.take().expect("just checked").1
    }

    fn carry_out(
        &self,
        direction: Direction,
        position: Position,
        members: Members,
        memory: &Memory,
    ) -> Result<Status> {
        if members == Members::Alone {
            let (call, room) = self.prepare(direction, position, memory)?;
            return self.finish(direction, &call, members, memory, room);
        }
        // A member that cannot participate goes through it nevertheless, without data, because the others depend on it.
        let prepared = match position {
            Position::Shared => self.prepare_in_order(direction, memory)?,
            _ => self.prepare(direction, position, memory),
        };
        match prepared {
            Ok((call, room)) => self.finish(direction, &call, members, memory, room),
            Err(error) => {
                let nothing = Call::of_nothing(self.view());
                self.move_data(Buffer::Out(&[]), &nothing, members)?;
                Err(error)
            }
        }
    }

    /// Returns the view, the length in the file, and the data in the file's form if that differs from memory.
    fn check(&self, direction: Direction, memory: &Memory) -> Result<(Rc<View>, i64, Vec<u8>)> {
        match direction {
            Direction::Write => self.check_writable()?,
            Direction::Read => {
                let class = ErrorClass::Access;
                ensure!(self.mode.reads(), class, "the file was opened to be written");
            }
        }
        let view = self.view();
        let (bytes, room) = match (view.is_portable(), direction) {
            (false, _) => (memory.bytes() as i64, Vec::new()),
            (true, Direction::Read) => {
                let bytes = memory.of().portable_bytes(memory.count())?;
                (bytes, vec![0; bytes as usize])
            }
            (true, Direction::Write) => {
                let room = memory.of().to_portable(&memory.packed())?;
                (room.len() as i64, room)
            }
        };
        let unit = view.etype_bytes();
        let is_whole = bytes == 0 || (unit > 0 && bytes % unit == 0);
        ensure!(is_whole, ErrorClass::Argument, "{bytes} bytes are no multiple of {unit}");
        Ok((view, bytes, room))
    }

    /// Checks a call and advances pointers.
    fn prepare(
        &self,
        direction: Direction,
        position: Position,
        memory: &Memory,
    ) -> Result<(Call, Vec<u8>)> {
        if position != Position::Shared {
            self.check_not_sequential()?;
        }
        let (view, bytes, room) = self.check(direction, memory)?;
        let etypes = bytes / view.etype_bytes().max(1);
        let start = match position {
            Position::At(start) => start,
            Position::Individual => self.position.replace(self.position.get() + etypes),
            Position::Shared => self.shared.advance(etypes)?,
        };
        Ok((Call::new(view, start, bytes)?, room))
    }

    /// As `prepare`, where the members' data follow each other in the order of their ranks. The outer error concerns
    /// all.
    fn prepare_in_order(
        &self,
        direction: Direction,
        memory: &Memory,
    ) -> Result<Result<(Call, Vec<u8>)>> {
        let checked = self.check(direction, memory);
        let etypes =
            |(view, bytes, _): &(Rc<View>, i64, Vec<u8>)| bytes / view.etype_bytes().max(1);
        let mine = checked.as_ref().map_or(0, etypes);
        // All members have finished their earlier accesses to the pointer once they know of each other.
        let all = gather(&self.communicator, [mine])?;
        let total = all.iter().map(|[one]| one).sum();
        let is_first = self.communicator.rank() == 0;
        let start = if is_first { self.shared.advance(total)? } else { 0 };
        let start = gather(&self.communicator, [start])?[0][0];
        let before: i64 = all[..self.communicator.rank()].iter().map(|[one]| one).sum();
        Ok(checked
            .and_then(|(view, bytes, room)| Ok((Call::new(view, start + before, bytes)?, room))))
    }

    /// Moves the data of a call, in the file's form.
    fn finish(
        &self,
        direction: Direction,
        call: &Call,
        members: Members,
        memory: &Memory,
        mut room: Vec<u8>,
    ) -> Result<Status> {
        let bytes = match (direction, call.view.is_portable()) {
            (Direction::Write, false) => {
                memory.with_data(|data| self.move_data(Buffer::Out(data), call, members))?;
                memory.bytes()
            }
            (Direction::Write, true) => {
                self.move_data(Buffer::Out(&room), call, members)?;
                memory.bytes()
            }
            (Direction::Read, false) => {
                memory.fill(|room| self.move_data(Buffer::In(room), call, members))?
            }
            (Direction::Read, true) => {
                let found = self.move_data(Buffer::In(&mut room), call, members)?;
                let packed = memory.of().from_portable(&room, memory.count());
                let kept = memory.of().packed_bytes_of(found as i64) as usize;
                memory.unpack_from(&packed[..kept]);
                kept
            }
        };
        Ok(Status { bytes: bytes as u64, ..Status::empty() })
    }

    /// Moves data between memory and the file. Returns the length.
    fn move_data(&self, buffer: Buffer<'_>, call: &Call, members: Members) -> Result<usize> {
        match members {
            Members::Together if self.communicator.size() > 1 => self.move_together(buffer, call),
            _ => self.move_alone(buffer, call),
        }
    }

    /// As `move_data`, without the other members.
    pub(super) fn move_alone(&self, buffer: Buffer<'_>, call: &Call) -> Result<usize> {
        if call.range.bytes == 0 {
            return Ok(0);
        }
        // A view without data cannot be read: the file ends before it.
        if call.view.tiles().are_empty() && matches!(buffer, Buffer::In(_)) {
            return Ok(0);
        }
        let pieces = call.view.tiles().pieces(call.range)?;
        let writes = matches!(buffer, Buffer::Out(_));
        let move_all = || match buffer {
            Buffer::In(room) => alone::read(&self.disk, pieces, room),
            Buffer::Out(data) => alone::write(&self.disk, pieces, data).map(|()| data.len()),
        };
        match self.is_atomic.get() {
            true => self.disk.locked(writes, move_all),
            false => move_all(),
        }
    }
}
