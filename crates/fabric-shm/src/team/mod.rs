//! Collectives in shared memory: a team of ranks, each with a board that all of them see.
//!
//! Every collective is a number of steps. In a step a member puts its part on its board or takes the others' from theirs, or
//! both; long data go in pieces, a step for each, and several pieces are put before the first is taken, so that ranks that
//! share a processor switch once for all of them. A rank that waits goes on moving messages: another may need them to come
//! here at all.

mod exchange;
mod reduce;
mod spread;

use contract::{Error, Result};

pub use reduce::{Apply, Combine};

use crate::board::{Board, SHORT_BYTES, SLOT_BYTES, SLOTS, has_come};
use crate::engine::{Engine, FIRST_LOOKS, mismatch};
use crate::primitive::{Ordering, fence, spin_loop};
use crate::ring::copy_short;
use crate::segment::State;
use crate::wait;

/// Pieces that are put before the first is taken. A slot is not used again before the window after the next, so that nobody
/// waits for room while all go on at the same pace.
const WINDOW: usize = SLOTS / 2;
/// The longest piece while every rank has a processor: both ends stay in the first two caches.
const PIECE_BYTES: usize = 32 << 10;
/// Fruitless looks between two at whether a member's program has ended.
const LOOKS_BETWEEN_CHECKS: u32 = 64;

/// Who calls a collective: an engine, or what it is in.
pub(crate) trait Host: Sized {
    fn engine(&mut self) -> &mut Engine;

    /// What else has to go on while this rank waits.
    fn idle(&mut self) {}

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
pub struct Team {
    /// Ranks of the run, by their place in the team.
    members: Vec<usize>,
    /// This rank's place.
    me: usize,
    boards: Vec<*const Board>,
    /// Whether the run's ranks share processors: then the last to come wakes the others.
    shares_processors: bool,
    /// The last step that this rank has begun.
    number: u32,
    /// The last step before this window: whoever has put a part in this one has ended it.
    before_window: u32,
    /// A step that every member is known to have ended.
    ended_by_all: u32,
}

impl Team {
    /// A team of `members`, of which this rank is number `me`.
    ///
    /// # Safety
    /// Each of `boards` points to a member's board with [`BOARD_BYTES`](crate::board::BOARD_BYTES) of mapped memory, which
    /// was zero when the first member made its team of it, and stays mapped and the team's as long as any member has its.
    pub(crate) unsafe fn new(
        members: Vec<usize>,
        me: usize,
        boards: Vec<*const Board>,
        shares_processors: bool,
    ) -> Self {
        assert!(me < members.len() && members.len() == boards.len());
        Team {
            members,
            me,
            boards,
            shares_processors,
            number: 0,
            before_window: 0,
            ended_by_all: 0,
        }
    }

    /// How many members there are.
    pub fn size(&self) -> usize {
        self.members.len()
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

    /// Where the part of step `number` lies on a member's board.
    fn place(&self, member: usize, number: u32, bytes: usize) -> *mut u8 {
        assert!(bytes <= SLOT_BYTES);
        let slot = number as usize % SLOTS;
        if bytes <= SHORT_BYTES {
            return self.board(member).heads[slot].short();
        }
        let bodies = self.boards[member].wrapping_add(1).cast_mut().cast::<u8>();
        bodies.wrapping_add(slot * SLOT_BYTES)
    }

    /// How much of the data goes in one step if every step holds `parts` parts of it, in multiples of `unit` bytes.
    fn piece_bytes(&self, parts: usize, unit: usize) -> usize {
        let limit = if self.shares_processors { SLOT_BYTES } else { PIECE_BYTES };
        let room = limit / parts;
        // Whole lines where that leaves something.
        let unit = if unit <= 64 && 64 % unit == 0 && room >= 64 { 64 } else { unit };
        (room / unit * unit).max(unit)
    }

    /// Makes the steps of one call: `pieces` pieces, or one step if there is nothing. `put` gets the number of the step and
    /// of the piece and may use this rank's slot; `take` does what has to wait for others.
    fn run<H: Host>(
        &mut self,
        host: &mut H,
        pieces: usize,
        mut put: impl FnMut(&mut Team, &mut H, u32, usize),
        mut take: impl FnMut(&mut Team, &mut H, u32, usize) -> Result<()>,
    ) -> Result<()> {
        host.engine().check_alive()?;
        let pieces = pieces.max(1);
        for first in (0..pieces).step_by(WINDOW) {
            let window = first..pieces.min(first + WINDOW);
            let before = self.number;
            self.before_window = before;
            for piece in window.clone() {
                let number = self.begin(host)?;
                put(self, host, number, piece);
            }
            for piece in window {
                let number = before.wrapping_add(1 + (piece - first) as u32);
                take(self, host, number, piece)?;
                self.end(host, number);
            }
        }
        Ok(())
    }

    /// Begins a step: from here on this rank may use its slot, and the step's tallies.
    #[inline]
    fn begin<H: Host>(&mut self, host: &mut H) -> Result<u32> {
        self.number = self.number.wrapping_add(1);
        let before = self.number.wrapping_sub(SLOTS as u32);
        if !has_come(self.ended_by_all, before) {
            self.wait_for_slot(host, before)?;
        }
        Ok(self.number)
    }

    #[cold]
    fn wait_for_slot<H: Host>(&mut self, host: &mut H, before: u32) -> Result<()> {
        let starved = &self.board(0).starved.0;
        // Sequentially consistent with the fence in `end`: a member that ends its step either sees that we wait, or we see
        // that it has ended it.
        starved.fetch_add(1, Ordering::SeqCst);
        let mut oldest = self.number.wrapping_sub(1);
        let mut outcome = Ok(());
        for member in (0..self.size()).filter(|&member| member != self.me) {
            let ended = |team: &Team| has_come(team.board(member).progress.ended(), before);
            outcome = outcome.and_then(|()| self.wait_for(host, self.number, ended));
            let theirs = self.board(member).progress.ended();
            oldest = if has_come(theirs, oldest) { oldest } else { theirs };
        }
        self.board(0).starved.0.fetch_sub(1, Ordering::Relaxed);
        outcome?;
        self.ended_by_all = oldest;
        Ok(())
    }

    #[inline]
    fn end<H: Host>(&self, host: &mut H, number: u32) {
        self.board(self.me).progress.end(number);
        if self.shares_processors {
            fence(Ordering::SeqCst);
            if self.board(0).starved.0.load(Ordering::Relaxed) != 0 {
                self.wake_others(host);
            }
        }
    }

    /// Puts `bytes` bytes, which `fill` writes, into this rank's slot.
    #[inline]
    fn put(&self, number: u32, mark: u32, bytes: usize, fill: impl FnOnce(*mut u8)) {
        fill(self.place(self.me, number, bytes));
        self.board(self.me).heads[number as usize % SLOTS].publish(number, mark, bytes);
    }

    /// Says that this rank's part of the step is there. The last to say so wakes the others.
    #[inline]
    fn arrive<H: Host>(&self, host: &mut H, number: u32) -> bool {
        if !self.shares_processors {
            return false;
        }
        let arrived = &self.board(0).works[number as usize % SLOTS].arrived;
        let last = arrived.count(number) as usize == self.size();
        if last {
            self.wake_others(host);
        }
        last
    }

    /// Whether every member's part of the step is there already.
    fn all_are_there(&self, number: u32) -> bool {
        let slot = number as usize % SLOTS;
        (0..self.size()).all(|member| self.board(member).heads[slot].holds(number))
    }

    /// Waits until every member's part of the step is there, and checks that all of them mean the same call.
    #[inline]
    fn wait_for_all<H: Host>(&mut self, host: &mut H, number: u32, call: Call) -> Result<()> {
        self.wait_for_arrivals(host, number)?;
        for distance in 1..self.size() {
            self.part(host, (self.me + distance) % self.size(), number, call)?;
        }
        self.ended_by_all = self.before_window;
        Ok(())
    }

    /// Where ranks share processors, waits until all have said that they are there: one sleep, not one for each.
    #[inline]
    fn wait_for_arrivals<H: Host>(&mut self, host: &mut H, number: u32) -> Result<()> {
        if !self.shares_processors {
            return Ok(());
        }
        let all = self.size() as u32;
        self.wait_for(host, number, |team| {
            team.board(0).works[number as usize % SLOTS].arrived.is(number, all)
        })
    }

    /// Waits for one member's part of the step; gives where it lies.
    #[inline]
    fn part<H: Host>(
        &mut self,
        host: &mut H,
        member: usize,
        number: u32,
        call: Call,
    ) -> Result<*const u8> {
        let slot = number as usize % SLOTS;
        self.wait_for(host, number, |team| team.board(member).heads[slot].holds(number))?;
        let (mark, bytes) = self.board(member).heads[slot].contents();
        if (mark, bytes) != (call.mark, call.bytes) {
            let (me, other) = (self.members[self.me], self.members[member]);
            return Err(host.disagree(mismatch(me, call.mark, other, mark)));
        }
        Ok(self.place(member, number, bytes))
    }

    /// Wakes the members that sleep.
    fn wake_others<H: Host>(&self, host: &mut H) {
        let segment = host.engine().segment();
        for &rank in self.members.iter().filter(|&&rank| rank != self.members[self.me]) {
            wait::wake_if_asleep(segment.block(rank).sleep_word());
        }
    }

    /// Waits in step `number` until `ready`.
    #[inline]
    fn wait_for<H: Host>(
        &self,
        host: &mut H,
        number: u32,
        ready: impl Fn(&Team) -> bool,
    ) -> Result<()> {
        let looks = if self.shares_processors { 1 } else { FIRST_LOOKS };
        for _ in 0..looks {
            if ready(self) {
                return Ok(());
            }
            spin_loop();
        }
        self.wait_long_for(host, number, &ready)
    }

    #[cold]
    fn wait_long_for<H: Host>(
        &self,
        host: &mut H,
        number: u32,
        ready: &dyn Fn(&Team) -> bool,
    ) -> Result<()> {
        let mut gone = None;
        let mut looks = 0_u32;
        Engine::wait_until(host, H::engine, &mut |host| {
            host.idle();
            looks += 1;
            if ready(self) {
                return true;
            }
            if looks.is_multiple_of(LOOKS_BETWEEN_CHECKS) {
                gone = self.gone_before(host, number);
            }
            // It may have given its part just before it went.
            gone.is_some() && !ready(self)
        })?;
        match gone {
            Some(rank) if !ready(self) => {
                let how = "its program ended before it came to a collective that is waited for";
                let error = Error::RankDied { rank, how: how.into() };
                Err(host.engine().fail(error))
            }
            _ => Ok(()),
        }
    }

    /// A rank that has ended its program and not step `number`.
    fn gone_before<H: Host>(&self, host: &mut H, number: u32) -> Option<usize> {
        let segment = host.engine().segment();
        let gone = |member: usize| {
            let ended = segment.block(self.members[member]).state() == State::Finished;
            ended && !has_come(self.board(member).progress.ended(), number)
        };
        (0..self.size()).find(|&member| gone(member)).map(|member| self.members[member])
    }
}

/// What all members have to agree on in a step.
#[derive(Clone, Copy)]
struct Call {
    mark: u32,
    bytes: usize,
}

/// The pieces of `bytes` bytes: each one's start and length. Nothing is one empty piece.
#[derive(Clone, Copy)]
struct Pieces {
    bytes: usize,
    each: usize,
}

impl Pieces {
    fn count(self) -> usize {
        self.bytes.div_ceil(self.each).max(1)
    }

    fn get(self, index: usize) -> (usize, usize) {
        let start = index * self.each;
        (start, self.each.min(self.bytes - start))
    }
}

/// Copies `bytes` bytes that do not overlap, short ones without calling out.
///
/// # Safety
/// Both places hold them.
#[inline]
unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: our caller's promise.
    unsafe {
        if bytes <= SHORT_BYTES {
            copy_short(from, to, bytes);
        } else {
            std::ptr::copy_nonoverlapping(from, to, bytes);
        }
    }
}
