//! Operations that were started and have not ended.

use std::ffi::c_int;

use crate::abi::*;
use crate::table::Table;

/// Kind of a started operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Started {
    Send,
    Receive,
    Collective,
    Neighbours,
    /// A partitioned message.
    Parts,
    ReceiveOfParts,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) what: Started,
    /// True if the request remains when the operation ends.
    pub(crate) is_persistent: bool,
    /// True if it has been started.
    pub(crate) is_active: bool,
    /// Number of operations with this handle: a library may have one for all that have ended at once.
    pub(crate) sharing: u32,
    pub(crate) was_shared: bool,
    pub(crate) bytes: u64,
    /// The rank of the world that is sent to, or the root.
    pub(crate) peer: u32,
    pub(crate) tag: c_int,
    /// The place of the communicator among the known ones, and its index in the memory's table.
    pub(crate) communicator: u32,
    pub(crate) index: u16,
    /// Ticks, or the number of the collective.
    pub(crate) posted: u64,
    /// Number of partitions of a partitioned message, and of those that are ready.
    pub(crate) parts: u32,
    pub(crate) ready: u32,
}

impl Pending {
    pub(crate) fn new(what: Started, communicator: u32, index: u16) -> Self {
        Pending {
            what,
            is_persistent: false,
            is_active: true,
            sharing: 1,
            was_shared: false,
            bytes: 0,
            peer: profile::NOBODY,
            tag: 0,
            communicator,
            index,
            posted: 0,
            parts: 0,
            ready: 0,
        }
    }

    /// Returns the same operation as a persistent one that is not started.
    pub(crate) fn prepared(self) -> Self {
        Pending { is_persistent: true, is_active: false, ..self }
    }
}

/// All operations that have not ended.
pub(crate) struct Requests {
    table: Table,
    pending: Vec<Pending>,
    free: Vec<u32>,
}

impl Requests {
    pub(crate) fn new() -> Self {
        Requests { table: Table::new(), pending: Vec::new(), free: Vec::new() }
    }

    /// Adds an operation by its handle.
    #[inline]
    pub(crate) fn add(&mut self, request: Request, pending: Pending) {
        if request == REQUEST_NULL {
            return;
        }
        if let Some(number) = self.table.get(request) {
            let pending = &mut self.pending[number as usize];
            pending.sharing += 1;
            pending.was_shared = true;
            return;
        }
        let number = match self.free.pop() {
            Some(number) => {
                self.pending[number as usize] = pending;
                number
            }
            None => {
                self.pending.push(pending);
                self.pending.len() as u32 - 1
            }
        };
        self.table.insert(request, number);
    }

    /// Returns the operation of a handle.
    pub(crate) fn get_mut(&mut self, request: Request) -> Option<&mut Pending> {
        let number = self.table.get(request)?;
        Some(&mut self.pending[number as usize])
    }

    /// Removes and returns the operation of a handle, which has ended. Returns `None` if several operations share the
    /// handle, because it is unknown which of them it was.
    #[inline]
    pub(crate) fn end(&mut self, request: Request) -> Option<Pending> {
        let number = self.table.get(request)?;
        let pending = &mut self.pending[number as usize];
        if pending.sharing > 1 {
            pending.sharing -= 1;
            return None;
        }
        if pending.is_persistent {
            let was_active = std::mem::replace(&mut pending.is_active, false);
            return was_active.then_some(*pending);
        }
        let pending = *pending;
        self.remove(request);
        (!pending.was_shared).then_some(pending)
    }

    /// Removes a handle.
    pub(crate) fn remove(&mut self, request: Request) {
        if let Some(number) = self.table.remove(request) {
            self.free.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_ends_once_and_a_persistent_one_whenever_it_was_started() {
        let mut all = Requests::new();
        all.add(7, Pending::new(Started::Receive, 0, 0));
        assert_eq!(all.end(7).unwrap().what, Started::Receive);
        assert!(all.end(7).is_none());
        all.add(8, Pending { is_persistent: true, ..Pending::new(Started::Send, 0, 0) });
        assert!(all.end(8).is_some());
        assert!(all.end(8).is_none());
        all.get_mut(8).unwrap().is_active = true;
        assert!(all.end(8).is_some());
        all.remove(8);
        assert!(all.get_mut(8).is_none());
    }

    #[test]
    fn operations_that_share_a_handle_are_not_told_apart_and_end_all_the_same() {
        let mut all = Requests::new();
        for _ in 0..3 {
            all.add(9, Pending::new(Started::Send, 0, 0));
        }
        assert!(all.end(9).is_none());
        assert!(all.end(9).is_none());
        assert!(all.get_mut(9).is_some());
        assert!(all.end(9).is_none());
        assert!(all.get_mut(9).is_none());
        all.add(REQUEST_NULL, Pending::new(Started::Send, 0, 0));
        assert!(all.get_mut(REQUEST_NULL).is_none());
    }
}
