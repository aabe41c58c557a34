//! The collectives of this fabric: in shared memory where that is better, else the contract's own algorithms, over messages.
//! Either way the call is announced, so that ranks that do not agree find out.

use contract::record::FabricDescription;
use contract::{Rank, Reduction, Result, collective};

use super::LocalRank;
use crate::board::{SHORT_BYTES, SLOTS};
use crate::engine::{Collective, signature};
use crate::team::{Combine, PIECE_BYTES};

/// Teams of more ranks go by messages: in log P steps each rank looks at fewer lines.
const MOST_RANKS: usize = 32;
/// Longer data go by messages: each rank copies them straight from another's memory.
const LONGEST_BYTES: usize = 1 << 20;

/// What a model of these collectives needs to know.
pub(super) fn describe() -> [(String, String); 5] {
    [
        (FabricDescription::BOARDS_RANKS.into(), MOST_RANKS.to_string()),
        (FabricDescription::BOARDS_BYTES.into(), LONGEST_BYTES.to_string()),
        (FabricDescription::BOARDS_LINE.into(), format!("{SHORT_BYTES} bytes")),
        (FabricDescription::BOARDS_PIECE.into(), format!("{PIECE_BYTES} bytes")),
        (FabricDescription::BOARDS_SLOTS.into(), SLOTS.to_string()),
    ]
}

/// What a call is announced with, and whether its lengths contradict each other. A call that will be refused before anything
/// is sent is not announced: the rank may go on, and the others know nothing of it.
struct Announcement {
    collective: Collective,
    root: usize,
    reduction: Option<Reduction>,
    bytes: usize,
    sound: bool,
}

impl Announcement {
    /// A call in which every rank gives or gets `bytes`.
    fn new(collective: Collective, bytes: usize) -> Self {
        Announcement { collective, root: 0, reduction: None, bytes, sound: true }
    }

    fn rooted(self, root: usize, size: usize) -> Self {
        Announcement { root, sound: self.sound && root < size, ..self }
    }

    fn reducing(self, reduction: Reduction) -> Self {
        let whole = self.bytes.is_multiple_of(reduction.element.bytes());
        Announcement { reduction: Some(reduction), sound: self.sound && whole, ..self }
    }

    fn only_if(self, sound: bool) -> Self {
        Announcement { sound: self.sound && sound, ..self }
    }

    /// Announces the call, and gives its mark if it should go through shared memory.
    fn announce(self, rank: &mut LocalRank) -> Option<u32> {
        if !self.sound {
            return None;
        }
        let mark = signature(self.collective, self.root, self.reduction, self.bytes);
        rank.engine.enter(mark);
        (rank.size() <= MOST_RANKS && self.bytes <= LONGEST_BYTES).then_some(mark)
    }
}

/// Calls `body` with an operation on raw memory.
fn combining(reduction: Reduction, body: impl FnOnce(Combine<'_>) -> Result<()>) -> Result<()> {
    let mut outcome = Ok(());
    let mut apply = |left: *const u8, right: *const u8, result: *mut u8, bytes: usize| {
        // SAFETY: the team gives places of as many bytes, of which only right and result may be the same.
        let (left, result) = unsafe {
            if right != result.cast_const() {
                std::ptr::copy_nonoverlapping(right, result, bytes);
            }
            (std::slice::from_raw_parts(left, bytes), std::slice::from_raw_parts_mut(result, bytes))
        };
        if let Err(error) = reduction.combine(result, left) {
            outcome = Err(error);
        }
    };
    body(Combine { element_bytes: reduction.element.bytes(), apply: &mut apply })?;
    outcome
}

pub(super) fn barrier(rank: &mut LocalRank) -> Result<()> {
    let mark = rank.engine.enter_barrier();
    if rank.size() <= MOST_RANKS {
        return rank.world.barrier(&mut rank.engine, mark);
    }
    collective::barrier(rank)
}

pub(super) fn broadcast(rank: &mut LocalRank, root: usize, buffer: &mut [u8]) -> Result<()> {
    let call = Announcement::new(Collective::Broadcast, buffer.len()).rooted(root, rank.size());
    let Some(mark) = call.announce(rank) else {
        return collective::broadcast(rank, root, buffer);
    };
    let (memory, bytes) = (buffer.as_mut_ptr(), buffer.len());
    // SAFETY: the buffer is borrowed until the call returns.
    unsafe { rank.world.broadcast(&mut rank.engine, mark, root, memory, bytes) }
}

pub(super) fn scatter(
    rank: &mut LocalRank,
    root: usize,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let (me, size) = (rank.rank(), rank.size());
    let call = Announcement::new(Collective::Scatter, receive.len())
        .rooted(root, size)
        .only_if(me != root || send.len() == size * receive.len());
    let Some(mark) = call.announce(rank) else {
        return collective::scatter(rank, root, send, receive);
    };
    let (from, to, each) = (send.as_ptr(), receive.as_mut_ptr(), receive.len());
    // SAFETY: the lengths were just checked, and both are borrowed until the call returns.
    unsafe { rank.world.scatter(&mut rank.engine, mark, root, from, to, each) }
}

pub(super) fn gather(
    rank: &mut LocalRank,
    root: usize,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let (me, size) = (rank.rank(), rank.size());
    let call = Announcement::new(Collective::Gather, send.len())
        .rooted(root, size)
        .only_if(me != root || receive.len() == size * send.len());
    let Some(mark) = call.announce(rank) else {
        return collective::gather(rank, root, send, receive);
    };
    let (from, to, each) = (send.as_ptr(), receive.as_mut_ptr(), send.len());
    // SAFETY: as for `scatter`.
    unsafe { rank.world.gather(&mut rank.engine, mark, root, from, to, each) }
}

pub(super) fn allgather(rank: &mut LocalRank, send: &[u8], receive: &mut [u8]) -> Result<()> {
    let fits = receive.len() == rank.size() * send.len();
    let call = Announcement::new(Collective::Allgather, receive.len()).only_if(fits);
    let Some(mark) = call.announce(rank) else {
        return collective::allgather(rank, send, receive);
    };
    let (from, to, each) = (send.as_ptr(), receive.as_mut_ptr(), send.len());
    // SAFETY: as for `scatter`.
    unsafe { rank.world.allgather(&mut rank.engine, mark, from, to, each) }
}

pub(super) fn allgather_in_place(rank: &mut LocalRank, buffer: &mut [u8]) -> Result<()> {
    let size = rank.size();
    let call = Announcement::new(Collective::Allgather, buffer.len())
        .only_if(buffer.len().is_multiple_of(size));
    let Some(mark) = call.announce(rank) else {
        return collective::allgather_in_place(rank, buffer);
    };
    let (to, each) = (buffer.as_mut_ptr(), buffer.len() / size);
    // SAFETY: as for `scatter`; a null pointer says that this rank's block is in its place.
    unsafe { rank.world.allgather(&mut rank.engine, mark, std::ptr::null(), to, each) }
}

pub(super) fn reduce(
    rank: &mut LocalRank,
    root: usize,
    reduction: Reduction,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let call = Announcement::new(Collective::Reduce, send.len())
        .rooted(root, rank.size())
        .reducing(reduction)
        .only_if(rank.rank() != root || receive.len() == send.len());
    let Some(mark) = call.announce(rank) else {
        return collective::reduce(rank, root, reduction, send, receive);
    };
    let (from, to, bytes) = (send.as_ptr(), receive.as_mut_ptr(), send.len());
    combining(reduction, |combine| {
        // SAFETY: as for `scatter`.
        unsafe { rank.world.reduce(&mut rank.engine, mark, root, from, to, bytes, combine) }
    })
}

pub(super) fn allreduce(
    rank: &mut LocalRank,
    reduction: Reduction,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let call = Announcement::new(Collective::Allreduce, send.len())
        .reducing(reduction)
        .only_if(receive.len() == send.len());
    let Some(mark) = call.announce(rank) else {
        return collective::allreduce(rank, reduction, send, receive);
    };
    let (from, to, bytes) = (send.as_ptr(), receive.as_mut_ptr(), send.len());
    combining(reduction, |combine| {
        // SAFETY: as for `scatter`.
        unsafe { rank.world.allreduce(&mut rank.engine, mark, from, to, bytes, combine) }
    })
}

pub(super) fn all_to_all(rank: &mut LocalRank, send: &[u8], receive: &mut [u8]) -> Result<()> {
    let size = rank.size();
    let fits = send.len() == receive.len() && send.len().is_multiple_of(size);
    let call = Announcement::new(Collective::AllToAll, send.len()).only_if(fits);
    let Some(mark) = call.announce(rank) else {
        return collective::all_to_all(rank, send, receive);
    };
    let (from, to, each) = (send.as_ptr(), receive.as_mut_ptr(), send.len() / size);
    // SAFETY: as for `scatter`.
    unsafe { rank.world.all_to_all(&mut rank.engine, mark, from, to, each) }
}
