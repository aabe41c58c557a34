//! Collectives in shared memory: a team of ranks, each with a board that all of them see.
//!
//! Every collective is a number of steps. In a step a member puts its part on its board or takes the others' from theirs, or
//! both; long data go in pieces, a step for each, and several pieces are put before the first is taken, so that ranks that
//! share a processor switch once for all of them. A rank that waits goes on moving messages: another may need them to come
//! here at all.

mod agree;
mod deal;
mod direct;
mod exchange;
mod pages;
mod pieces;
mod reduce;
mod shares;
mod sharing;
mod spread;
mod waiting;

use agree::{Agreement, Call, Made, Whom, out_of_step};
use contract::{Error, Result};
use pages::Pages;
use pieces::{Pieces, Span, copy, piece_within};
use sharing::Groups;
pub(crate) use sharing::Sharing;

use crate::board::{Board, SHORT_BYTES, SLOT_BYTES, SLOTS, has_reached};
use crate::engine::Engine;
use crate::primitive::{Ordering, fence};
use crate::wait;

/// Pieces that are put before the first is taken. A slot is not used again before the window after the next, so that nobody
/// waits for room while all go on at the same pace.
const WINDOW: usize = SLOTS / 2;
/// The longest piece while every rank has a processor: both ends stay in the first two caches.
pub(crate) const PIECE_BYTES: usize = 32 << 10;
/// The longest piece of a broadcast that is longer than all slots hold of those: the root is then so far ahead that it waits for
/// each slot, and fewer bytes in slots move faster (1 MiB between two processors of a Zen 5: 34 us in pieces of 32 KiB, 22 of 16, 24 of
/// 8; 512 KiB 8.4, 9.0, 10.2). In all other collectives they are slower.
const LONG_BROADCAST_PIECE_BYTES: usize = 16 << 10;
/// The longest piece where two members give to each other (allgather of 512 KiB and 1 MiB between two processors of a Zen 5, copies
/// alone: 24 and 48 us, and 26 and 53 in pieces of 32 KiB; up to 256 KiB 1.0 to 0.97).
const EXCHANGED_PIECE_BYTES: usize = 64 << 10;

/// Who calls a collective: an engine, or what it is in.
pub(crate) trait Host: Sized {
    fn engine(&mut self) -> &mut Engine;

    /// What else has to go on while this rank waits.
    fn idle(&mut self) {}

    /// Whether members may read and write each other's memory, and that is the fast way for long data: the same for all of them.
    fn uses_cma(&mut self) -> bool {
        false
    }

    /// What becomes of the run if members do not agree about a call.
    fn disagree(&mut self, error: Error) -> Error;
}

impl Host for Engine {
    fn engine(&mut self) -> &mut Engine {
        self
    }

    fn disagree(&mut self, error: Error) -> Error {
        self.fail(error)
    }
}

/// Some ranks, with memory for their collectives.
///
/// All members make the same calls in the same order.
pub(crate) struct Team {
    /// Ranks of the run, by their place in the team.
    members: Vec<usize>,
    /// This rank's place.
    me: usize,
    boards: Vec<*const Board>,
    /// For each slot, whether long parts of two members lie on each other's boards: they swap places whenever both have given.
    swapped: [bool; SLOTS],
    /// What of each board this rank has used.
    pages: Vec<Pages>,
    /// Whether the run's ranks share processors: then the last to come wakes the others.
    shares_processors: bool,
    /// Who is on which processor, where every rank is bound to one and some share theirs.
    groups: Option<Groups>,
    /// The last step that this rank has begun.
    epoch: u32,
    /// The last step before this window: whoever has put a part in this one has ended it.
    before_window: u32,
    /// A step that every member is known to have ended.
    ended_by_all: u32,
    /// The call that this rank is in.
    call: Call,
    /// What the next call says of its length, where that is not what it is made with.
    stated: Option<usize>,
    agreement: Agreement,
    made: Made,
    /// Whether this rank was the root of the last call, and shares its processor: it has waited for nobody, and lets those
    /// who wait for its data go on before it begins the next.
    owes_turn: bool,
    /// For combining; nothing until that is done from memory to memory.
    scratch: Vec<u8>,
}

impl Team {
    /// A team of `members`, of which this rank is epoch `me`.
    ///
    /// # Safety
    /// Each of `boards` points to a member's board with [`BOARD_BYTES`](crate::board::BOARD_BYTES) of mapped memory, which
    /// was zero when the first member made its team of it, and stays mapped and the team's as long as any member has its.
    pub(crate) unsafe fn new(
        members: Vec<usize>,
        me: usize,
        boards: Vec<*const Board>,
        sharing: Sharing,
    ) -> Self {
        assert!(me < members.len() && members.len() == boards.len());
        Team {
            pages: members.iter().map(|_| Pages::default()).collect(),
            members,
            me,
            boards,
            swapped: [false; SLOTS],
            shares_processors: sharing != Sharing::No,
            groups: match sharing {
                Sharing::Bound(processors) => Some(Groups::new(&processors, me)),
                Sharing::No | Sharing::Anyhow => None,
            },
            epoch: 0,
            before_window: 0,
            ended_by_all: 0,
            call: Call { call_id: 0, bytes: 0, pieces: 1, window: WINDOW, direct: false },
            stated: None,
            agreement: Agreement::Yes,
            made: Made::default(),
            owes_turn: false,
            scratch: Vec::new(),
        }
    }

    /// How many members there are.
    pub(crate) fn size(&self) -> usize {
        self.members.len()
    }

    /// Makes the others fail in the next call, which says that it is of so many bytes: for a rank whose own arguments do not
    /// fit each other, and which has to go through the call for the others' sake.
    pub(crate) fn misstate(&mut self, bytes: usize) {
        self.stated = Some(bytes);
    }

    /// Leaves the team: this rank looks at the boards no more. Gives its own board.
    pub(crate) fn leave(self) -> *const Board {
        for member in 0..self.size() {
            self.board(member).left.leave();
        }
        self.boards[self.me]
    }

    fn board(&self, member: usize) -> &Board {
        // SAFETY: `new` was promised mapped boards, which are all atomics and cells that the steps' numbers guard.
        unsafe { &*self.boards[member] }
    }

    /// Where a member's part of step `epoch` lies.
    fn place(&self, member: usize, epoch: u32, bytes: usize) -> *mut u8 {
        assert!(bytes <= SLOT_BYTES);
        let slot = epoch as usize % SLOTS;
        if bytes <= SHORT_BYTES {
            return self.board(member).headers[slot].short();
        }
        let board = self.board_of_part(member, slot);
        let bodies = self.slots(board);
        // SAFETY: `new` was promised mapped slots behind the board, and shared memory may be touched anywhere.
        unsafe { self.pages[board].use_slot(bodies, bytes) };
        bodies.wrapping_add(slot * SLOT_BYTES)
    }

    /// On whose board a member's long part lies.
    #[inline]
    fn board_of_part(&self, member: usize, slot: usize) -> usize {
        member ^ usize::from(self.swapped[slot])
    }

    /// The slots of a board.
    #[inline]
    fn slots(&self, board: usize) -> *mut u8 {
        self.boards[board].wrapping_add(1).cast_mut().cast()
    }

    /// Of two members, both of which have given a part in step `epoch` and taken the other's: each gives the next one where it has just
    /// read, for those lines are in its cache already. Two processes that only copy blocks to each other take 0.8 of the time for 2 and 4 KiB,
    /// 0.87 for 8 to 64 and 0.93 for 128 while a line takes 40 ns, 0.72 to 0.77 while it takes 230; where only one gives there is nothing to
    /// swap. Each member knows of it by itself, as both find out if they do not mean the same call.
    #[inline]
    fn swap_places(&mut self, epoch: u32) {
        if self.size() == 2 {
            self.swapped[epoch as usize % SLOTS] ^= true;
        }
    }

    /// A member's slots from step `epoch` on as one place, for `bytes` bytes that all of them hold together.
    #[inline]
    fn span(&self, member: usize, epoch: u32, bytes: usize) -> Span {
        let header = self.place(member, epoch, bytes.min(SLOT_BYTES));
        if bytes <= SHORT_BYTES {
            return Span { start: header, first: header, bytes: SHORT_BYTES };
        }
        let board = self.board_of_part(member, epoch as usize % SLOTS);
        Span { start: self.slots(board), first: header, bytes: SLOTS * SLOT_BYTES }
    }

    /// How much of the data goes in one step if every step holds `parts` parts of it, in multiples of `unit` bytes.
    fn piece_bytes(&self, parts: usize, unit: usize) -> usize {
        let limit = if self.shares_processors { SLOT_BYTES } else { PIECE_BYTES };
        piece_within(limit / parts, unit)
    }

    /// The same of parts that each member gives to each other.
    fn exchanged_bytes(&self, parts: usize) -> usize {
        match self.size() {
            2 => EXCHANGED_PIECE_BYTES,
            _ => self.piece_bytes(parts, 1),
        }
    }

    /// The same of parts that one of two members gives, as long as a slot (gather between two processors of a Zen 5, copies alone: 128 and
    /// 256 KiB 2.24 and 4.65 us, and 2.44 and 5.04 in pieces of 32 KiB).
    fn gathered_bytes(&self) -> usize {
        if self.size() == 2 { piece_within(SLOT_BYTES, 1) } else { self.piece_bytes(1, 1) }
    }

    /// The same of a broadcast of `bytes` bytes.
    fn broadcast_piece_bytes(&self, bytes: usize) -> usize {
        match !self.shares_processors && bytes > SLOTS * PIECE_BYTES {
            true => LONG_BROADCAST_PIECE_BYTES,
            false => self.piece_bytes(1, 1),
        }
    }

    /// Makes the steps of one call. `put` gets the epoch of the step and the number of the piece and may use this rank's slot; `take`
    /// does what has to wait for others.
    ///
    /// If the members do not agree about the call, its steps are made all the same, so that the next call finds all in step;
    /// where their numbers of steps differ, no call of this team can succeed any more.
    fn run<H: Host>(
        &mut self,
        host: &mut H,
        call: Call,
        put: impl FnMut(&mut Team, &mut H, u32, usize),
        take: impl FnMut(&mut Team, &mut H, u32, usize) -> Result<()>,
    ) -> Result<()> {
        self.run_with_work(host, call, put, |_, _, _, _| Ok(()), take)
    }

    /// The same with a third part between the two: `work` is done for all pieces of a window before the first is taken, so
    /// that a rank which shares its processor waits once for what others do of it, not once for each piece.
    fn run_with_work<H: Host>(
        &mut self,
        host: &mut H,
        call: Call,
        mut put: impl FnMut(&mut Team, &mut H, u32, usize),
        mut work: impl FnMut(&mut Team, &mut H, u32, usize) -> Result<()>,
        mut take: impl FnMut(&mut Team, &mut H, u32, usize) -> Result<()>,
    ) -> Result<()> {
        host.engine().check_alive()?;
        if std::mem::take(&mut self.owes_turn) {
            self.give_way();
        }
        if self.board(0).broken.is_set() {
            return Err(host.disagree(out_of_step()));
        }
        (self.call, self.agreement) = (call, Agreement::Yes);
        if let Some(bytes) = self.stated.take() {
            self.call.bytes = bytes;
        }
        let (pieces, mut outcome) = (call.pieces, Ok(()));
        for first in (0..pieces).step_by(call.window) {
            let window = first..pieces.min(first + call.window);
            let before = self.epoch;
            self.before_window = before;
            for piece in window.clone() {
                let epoch = self.begin(host)?;
                put(self, host, epoch, piece);
            }
            if first == 0 {
                self.tell_call(call.call_id);
            }
            let number_of = |piece: usize| before.wrapping_add(1 + (piece - first) as u32);
            for piece in window.clone() {
                if outcome.is_ok() {
                    outcome = work(self, host, number_of(piece), piece);
                    self.look_at(&outcome, host)?;
                }
            }
            for piece in window {
                if outcome.is_ok() {
                    outcome = take(self, host, number_of(piece), piece);
                    self.look_at(&outcome, host)?;
                }
                self.end(host, number_of(piece));
            }
            if self.agreement == Agreement::OutOfStep {
                break;
            }
        }
        outcome
    }

    /// Begins a step: from here on this rank may use its slot, and the step's tallies.
    #[inline]
    fn begin<H: Host>(&mut self, host: &mut H) -> Result<u32> {
        self.epoch = self.epoch.wrapping_add(1);
        let before = self.epoch.wrapping_sub(SLOTS as u32);
        if !has_reached(self.ended_by_all, before) {
            self.wait_for_slot(host, before)?;
        }
        Ok(self.epoch)
    }

    #[cold]
    fn wait_for_slot<H: Host>(&mut self, host: &mut H, before: u32) -> Result<()> {
        let waiters = &self.board(0).waiters.0;
        // Sequentially consistent with the fence in `end`: a member that ends its step either sees that we wait, or we see
        // that it has ended it.
        waiters.fetch_add(1, Ordering::SeqCst);
        let mut oldest = self.epoch.wrapping_sub(1);
        let mut outcome = Ok(());
        for distance in 1..self.size() {
            let member = (self.me + distance) % self.size();
            let ended = |team: &Team| has_reached(team.board(member).progress.ended(), before);
            if outcome.is_ok() {
                outcome = self.wait_for(host, self.epoch, Whom::Nobody, ended);
            }
            let theirs = self.board(member).progress.ended();
            oldest = if has_reached(theirs, oldest) { oldest } else { theirs };
        }
        self.board(0).waiters.0.fetch_sub(1, Ordering::Relaxed);
        outcome?;
        self.ended_by_all = oldest;
        Ok(())
    }

    #[inline]
    fn end<H: Host>(&self, host: &mut H, epoch: u32) {
        self.board(self.me).progress.end(epoch);
        if self.shares_processors {
            fence(Ordering::SeqCst);
            if self.board(0).waiters.0.load(Ordering::Relaxed) != 0 {
                self.wake_others(host);
            }
        }
    }

    /// Puts `bytes` bytes, which `fill` writes, into this rank's slot.
    #[inline]
    fn put(&self, epoch: u32, bytes: usize, fill: impl FnOnce(*mut u8)) {
        fill(self.place(self.me, epoch, bytes));
        self.publish(epoch);
    }

    /// Says that this rank's part of the step is there.
    #[inline]
    fn publish(&self, epoch: u32) {
        let header = &self.board(self.me).headers[epoch as usize % SLOTS];
        header.publish(epoch, self.call.call_id, self.call.bytes);
    }

    /// Says that this rank's part of the step is there. The last to say so wakes the others.
    #[inline]
    fn arrive<H: Host>(&self, host: &mut H, epoch: u32) -> bool {
        if !self.shares_processors {
            return false;
        }
        let arrived = &self.board(0).counters[epoch as usize % SLOTS].arrived;
        let last = arrived.count(epoch) as usize == self.size();
        if last {
            self.wake_others(host);
        }
        last
    }

    /// Whether every member's part of the step is there already.
    fn all_are_there(&self, epoch: u32) -> bool {
        self.board(self.me).headers[epoch as usize % SLOTS].holds(epoch)
            && self.others_are_there(epoch)
    }

    /// The same of the others.
    fn others_are_there(&self, epoch: u32) -> bool {
        let slot = epoch as usize % SLOTS;
        self.others().all(|member| self.board(member).headers[slot].holds(epoch))
    }

    /// The other members, each rank beginning with another.
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (me, size) = (self.me, self.size());
        (1..size).map(move |distance| (me + distance) % size)
    }

    /// Wakes the members that sleep.
    fn wake_others<H: Host>(&self, host: &mut H) {
        let segment = host.engine().segment();
        for &rank in self.members.iter().filter(|&&rank| rank != self.members[self.me]) {
            wait::wake_if_asleep(segment.block(rank).sleep_word());
        }
    }
}
