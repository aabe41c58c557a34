//! What collectives need that the fabric carries out: each user's memory as one piece.
//!
//! Data that do not lie in one piece are packed here; the members see nothing but bytes.

use contract::{CollectiveCall, Endpoint, Readable, Writable};

use crate::engine::Context;
use crate::error::{ErrorClass, Result, ensure};
use crate::memory::{Memory, Piece};

impl<E: Endpoint> Context<E> {
    /// Has the fabric carry out a collective; `None` if it leaves that to messages.
    #[inline(always)]
    pub(super) fn collective(&self, call: CollectiveCall<'_>) -> Option<Result> {
        self.engine().collective(self.place()?, call)
    }
}

/// A user's memory as one piece, for as long as a call: itself, or a copy.
pub(super) enum Whole<'a> {
    Itself(&'a Memory),
    Copy(Piece),
}

impl<'a> Whole<'a> {
    /// Of memory whose data are wanted.
    #[inline]
    pub(super) fn filled(memory: &'a Memory) -> Self {
        match memory.in_one_piece() {
            Some(_) => Whole::Itself(memory),
            None => Whole::Copy(Piece::filled(memory)),
        }
    }

    /// Of memory that only gets data.
    #[inline]
    pub(super) fn room(memory: &'a Memory) -> Self {
        match memory.in_one_piece() {
            Some(_) => Whole::Itself(memory),
            None => Whole::Copy(Piece::room(memory)),
        }
    }

    #[inline]
    pub(super) fn readable(&self) -> Readable {
        match self {
            Whole::Itself(memory) => {
                memory.readable().expect("in one piece, or else it was copied")
            }
            Whole::Copy(piece) => piece.readable(),
        }
    }

    #[inline]
    pub(super) fn writable(&self) -> Writable {
        match self {
            Whole::Itself(memory) => {
                memory.writable().expect("in one piece, or else it was copied")
            }
            Whole::Copy(piece) => piece.writable(),
        }
    }

    /// Puts what the copy got into the user's memory.
    #[inline]
    pub(super) fn deliver(&self) {
        if let Whole::Copy(piece) = self {
            piece.deliver(piece.bytes());
        }
    }
}

/// Fails if a rank's own block has another length than the blocks of all. The rank goes through the call all the same, as if
/// its block were in its place: the others count on it, and their next call too.
#[inline]
pub(super) fn check_block(own: Option<&Memory>, blocks: usize, each: usize) -> Result {
    let found = own.map_or(each, |memory| memory.bytes() / blocks);
    let what = "bytes of this rank's own block where the blocks of all have";
    ensure!(found == each, ErrorClass::Truncated, "{found} {what} {each}");
    Ok(())
}
