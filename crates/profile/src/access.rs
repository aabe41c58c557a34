//! Accesses to the memory of windows, and the calls that synchronise them, as events.

use crate::event::{Event, Kind};

/// MPI_NO_OP, with which an operation only reads.
const NO_OP: u8 = 0x3d;

/// What an access does with the memory of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// It writes.
    Put,
    /// It reads.
    Get,
    /// The owner of the memory has stored into it, without a call.
    Store,
    /// It combines, and may read: the low bits of the handles of the operation and of the datatype, each 0 if it may differ
    /// from that of other accesses.
    Combine(u8, u16),
}

impl AccessKind {
    fn number(self) -> i32 {
        match self {
            AccessKind::Put => 0,
            AccessKind::Get => 1,
            AccessKind::Store => 3,
            AccessKind::Combine(operation, of) => {
                2 | i32::from(operation) << 8 | i32::from(of) << 16
            }
        }
    }

    fn of(number: i32) -> Self {
        match number & 0xff {
            0 => AccessKind::Put,
            1 => AccessKind::Get,
            3 => AccessKind::Store,
            _ => AccessKind::Combine((number >> 8) as u8, (number >> 16) as u16),
        }
    }

    /// Returns whether two such accesses to the same bytes may not be concurrent (MPI 4.1, 12.7 and 12.3.4).
    pub(crate) fn conflicts_with(self, other: Self) -> bool {
        let differ = |one: u16, other: u16| one != other && one != 0 && other != 0;
        match (self, other) {
            (AccessKind::Combine(one, of), AccessKind::Combine(other, of_other)) => {
                let with_none = one == NO_OP || other == NO_OP;
                (differ(one.into(), other.into()) && !with_none) || differ(of, of_other)
            }
            _ => self.writes() || other.writes(),
        }
    }

    /// Returns whether it may write.
    pub fn writes(self) -> bool {
        !matches!(self, AccessKind::Get | AccessKind::Combine(NO_OP, _))
    }
}

/// An access to one piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowAccess {
    /// What it does.
    pub kind: AccessKind,
    /// Rank of the target in MPI_COMM_WORLD.
    pub target: u32,
    /// Displacement in units of the target.
    pub displacement: i64,
    /// Offset of the piece from there, in bytes.
    pub offset: i32,
    /// Length of the piece, in bytes.
    pub bytes: u32,
}

impl WindowAccess {
    /// Returns the event of such an access, from one that has everything else.
    pub fn event(&self, of: Event) -> Event {
        Event {
            kind: Kind::Accessed,
            is_span: false,
            posted: self.displacement as u64,
            bytes: u64::from(self.offset as u32) << 32 | u64::from(self.bytes),
            peer: self.target,
            tag: self.kind.number(),
            ..of
        }
    }

    /// Returns the access of an event that has one.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        (event.kind == Kind::Accessed).then(|| WindowAccess {
            kind: AccessKind::of(event.tag),
            target: event.peer,
            displacement: event.posted as i64,
            offset: (event.bytes >> 32) as i32,
            bytes: event.bytes as u32,
        })
    }
}

/// What a call does to the accesses to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Synchronisation {
    /// The window is made; its unit of displacements in bytes stands in `posted`.
    Create,
    /// MPI_Win_lock with an exclusive lock.
    LockExclusive,
    /// Other locks.
    Lock,
    /// MPI_Win_unlock, MPI_Win_unlock_all.
    Unlock,
    /// MPI_Win_flush, MPI_Win_flush_all.
    Flush,
    /// MPI_Win_flush_local, MPI_Win_flush_local_all: what is read is there.
    FlushLocal,
    /// MPI_Win_post.
    Post,
    /// MPI_Win_start.
    Start,
    /// MPI_Win_complete.
    Complete,
    /// MPI_Win_wait, and MPI_Win_test.
    Wait,
    /// MPI_Win_sync.
    Sync,
    /// An operation that also fetches: another process may have told this one something by it.
    Fetched,
}

impl Synchronisation {
    const ALL: [Synchronisation; 12] = {
        use Synchronisation::*;
        [
            Create,
            LockExclusive,
            Lock,
            Unlock,
            Flush,
            FlushLocal,
            Post,
            Start,
            Complete,
            Wait,
            Sync,
            Fetched,
        ]
    };

    /// Returns the event of such a call for the memory of `target`, or of all ranks with [`NOBODY`](crate::NOBODY),
    /// from one that has everything else.
    pub fn event(self, target: u32, of: Event) -> Event {
        let (kind, is_span) = (Kind::Synchronised, false);
        Event { kind, is_span, peer: target, tag: self as i32, ..of }
    }

    /// Returns what an event does, if it is one of these.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        let of_number = || Self::ALL.get(usize::try_from(event.tag).ok()?).copied();
        (event.kind == Kind::Synchronised).then(of_number)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::NOBODY;

    const EMPTY: Event = Event {
        kind: Kind::Call,
        is_span: true,
        begin: 3,
        end: 4,
        posted: 3,
        bytes: 0,
        peer: NOBODY,
        tag: 0,
        site: 5,
        communicator: 6,
    };

    #[test]
    fn an_access_is_read_as_it_was_written() {
        let combine = AccessKind::Combine(0x85, 0x245);
        for kind in [AccessKind::Put, AccessKind::Get, AccessKind::Store, combine] {
            let access =
                WindowAccess { kind, target: 7, displacement: -3, offset: -8, bytes: u32::MAX };
            assert_eq!(WindowAccess::of(&access.event(EMPTY)), Some(access));
        }
        assert_eq!(WindowAccess::of(&EMPTY), None);
        for one in Synchronisation::ALL {
            let event = one.event(NOBODY, EMPTY);
            assert_eq!(Synchronisation::of(&event), Some(one));
            assert_eq!((event.begin, event.site, event.is_span), (3, 5, false));
        }
    }

    #[test]
    fn reads_agree_and_so_do_equal_operations() {
        let add = AccessKind::Combine(1, 2);
        for (one, other, conflict) in [
            (AccessKind::Get, AccessKind::Get, false),
            (AccessKind::Get, AccessKind::Put, true),
            (AccessKind::Put, AccessKind::Put, true),
            (AccessKind::Store, AccessKind::Get, true),
            (AccessKind::Store, add, true),
            (add, AccessKind::Get, true),
            (add, AccessKind::Put, true),
            (add, add, false),
            (add, AccessKind::Combine(3, 2), true),
            (add, AccessKind::Combine(1, 4), true),
            (add, AccessKind::Combine(0, 2), false),
            (add, AccessKind::Combine(1, 0), false),
            (add, AccessKind::Combine(NO_OP, 2), false),
            (AccessKind::Get, AccessKind::Combine(NO_OP, 2), false),
            (AccessKind::Put, AccessKind::Combine(NO_OP, 2), true),
        ] {
            assert_eq!(one.conflicts_with(other), conflict, "{one:?} {other:?}");
            assert_eq!(other.conflicts_with(one), conflict, "{one:?} {other:?}");
        }
    }
}
