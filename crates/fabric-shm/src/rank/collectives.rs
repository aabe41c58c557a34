//! The collectives of this fabric: in shared memory where that is better, else the contract's own algorithms, over messages.
//! Either way the call is announced, so that ranks that do not agree find out.

use contract::{Rank, Reduction, Result, check_rank, collective};

use super::LocalRank;
use crate::engine::{Collective, LONGEST_BROADCAST_BYTES, signature};

pub(super) fn barrier(rank: &mut LocalRank) -> Result<()> {
    if rank.engine.barrier()? { Ok(()) } else { collective::barrier(rank) }
}

pub(super) fn broadcast(rank: &mut LocalRank, root: usize, buffer: &mut [u8]) -> Result<()> {
    check_rank(root, rank.size())?;
    if buffer.len() <= LONGEST_BROADCAST_BYTES {
        return rank.engine.broadcast(root, buffer);
    }
    let own = signature(Collective::Broadcast, root, None, buffer.len());
    rank.engine.enter(own);
    collective::broadcast(rank, root, buffer)
}

/// What a call by messages is announced with, and whether its lengths contradict each other. A call that the algorithm
/// will refuse before it sends anything is not announced: the rank may go on, and the others know nothing of it.
pub(super) struct Announcement {
    collective: Collective,
    root: usize,
    reduction: Option<Reduction>,
    bytes: usize,
    sound: bool,
}

impl Announcement {
    /// A call in which every rank gives or gets `bytes`.
    pub(super) fn new(collective: Collective, bytes: usize) -> Self {
        Announcement { collective, root: 0, reduction: None, bytes, sound: true }
    }

    pub(super) fn rooted(self, root: usize, size: usize) -> Self {
        Announcement { root, sound: self.sound && root < size, ..self }
    }

    pub(super) fn reducing(self, reduction: Reduction) -> Self {
        let whole = self.bytes.is_multiple_of(reduction.element.bytes());
        Announcement { reduction: Some(reduction), sound: self.sound && whole, ..self }
    }

    pub(super) fn only_if(self, sound: bool) -> Self {
        Announcement { sound: self.sound && sound, ..self }
    }

    pub(super) fn announce(self, rank: &mut LocalRank) {
        if self.sound {
            rank.engine.enter(signature(self.collective, self.root, self.reduction, self.bytes));
        }
    }
}
