//! Collectives of some or all ranks, on raw memory.
//!
//! A call of which the members disagree fails for whoever sees it, and the run goes on.

use contract::{Combine, ContextOffer, ContextPlace, Error, Result};

use super::ShmEndpoint;
use crate::board::BOARD_BYTES;
use crate::engine::{Collective, Engine, signature};
use crate::team::{Host, Team};
use crate::wait;

impl Host for ShmEndpoint {
    fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    fn idle(&mut self) {
        (self.idle)(self);
    }

    fn attaches(&mut self) -> bool {
        self.engine.attaches()
    }

    fn disagree(&mut self, error: Error) -> Error {
        error
    }
}

impl ShmEndpoint {
    /// What is called again and again while a collective waits, so that other things go on. It must not wait itself.
    pub fn set_idle(&mut self, idle: fn(&mut ShmEndpoint)) {
        self.idle = idle;
    }

    /// The team of all ranks. It may be had once.
    pub fn world(&mut self) -> Team {
        self.engine.world()
    }

    /// A board for this rank's part in a new team, for [`team`](ShmEndpoint::team); none if no memory is shared.
    pub fn new_board(&mut self) -> Option<u64> {
        let offer = self.offer_board();
        (offer != ContextOffer::NOTHING).then_some(offer.0)
    }

    /// Takes a board back of which no team will be made.
    pub fn take_back(&mut self, board: u64) {
        self.retire_board(ContextOffer(board), 0);
    }

    /// The team of `members`, ranks of the run, of which this rank is number `me`, from the boards that each has made with
    /// [`new_board`](ShmEndpoint::new_board) for this team alone. None if one of them is not to be reached from here.
    pub fn team(&mut self, members: Vec<usize>, me: usize, boards: &[u64]) -> Option<Team> {
        let engine = &self.engine;
        let place = |&offset: &u64| engine.segment().at_offset(offset as usize, BOARD_BYTES);
        let boards: Option<Vec<_>> =
            boards.iter().map(|one| place(one).map(|p| p.cast_const().cast())).collect();
        let sharing = engine.sharing(&members);
        // SAFETY: the places were just checked, and hold zeros: `new_board` wrote them. They are used for
        // another team only once all members have left this one.
        Some(unsafe { Team::new(members, me, boards?, sharing) })
    }

    /// Leaves a team, as all members do in the end; its board is used again once they have.
    pub fn leave(&mut self, team: Team) {
        self.free_places.clear();
        self.teams.push(Some(Box::new(team)));
        self.close_team(ContextPlace(self.teams.len() as u32 - 1));
    }

    /// Whether it is time to ask [`why_in_vain`](ShmEndpoint::why_in_vain), after so many fruitless looks.
    pub fn is_time_to_doubt(&mut self, looks: u32) -> bool {
        wait::is_time_to_doubt(looks, !self.engine.shares_processors())
    }

    /// For a rank that waits for messages of a collective of the team's members, which
    /// [`count_call_by_messages`](Team::count_call_by_messages) gave this number: why it waits in vain, if it does.
    pub fn why_in_vain(&mut self, team: &Team, number: u32) -> Option<Error> {
        team.look_beside(self, number)
    }

    /// Waits until all members have come here.
    ///
    /// # Errors
    /// Those that end the run, and [`Error::MismatchedCollective`].
    pub fn barrier(&mut self, team: &mut Team) -> Result<()> {
        team.barrier(self, signature(Collective::Barrier, 0, None, 0))
    }

    /// Copies `bytes` bytes of the root's to every other member's.
    ///
    /// # Safety
    /// `memory` holds `bytes` bytes, to read at the root and to write elsewhere.
    ///
    /// # Errors
    /// As for [`barrier`](ShmEndpoint::barrier); so for all that follow.
    pub unsafe fn broadcast(
        &mut self,
        team: &mut Team,
        root: usize,
        memory: *mut u8,
        bytes: usize,
    ) -> Result<()> {
        let mark = signature(Collective::Broadcast, root, None, bytes);
        // SAFETY: our caller's promise.
        unsafe { team.broadcast(self, mark, root, memory, bytes) }
    }

    /// Gives block r of `send` at the root to member r, as its `receive`; `each` bytes.
    ///
    /// # Safety
    /// `receive` has room for a block, and `send` holds one for each member at the root, where `receive` may be null: then
    /// the root's own block stays where it is.
    ///
    /// # Errors
    /// As above.
    pub unsafe fn scatter(
        &mut self,
        team: &mut Team,
        root: usize,
        send: *const u8,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        let mark = signature(Collective::Scatter, root, None, each);
        // SAFETY: our caller's promise.
        unsafe { team.scatter(self, mark, root, send, receive, each) }
    }

    /// Puts `send` of member r into block r of the root's `receive`; `each` bytes.
    ///
    /// # Safety
    /// `send` holds a block, and `receive` has room for one of each member at the root, where `send` may be null: then the
    /// root's own block is in its place.
    ///
    /// # Errors
    /// As above.
    pub unsafe fn gather(
        &mut self,
        team: &mut Team,
        root: usize,
        send: *const u8,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        let mark = signature(Collective::Gather, root, None, each);
        // SAFETY: our caller's promise.
        unsafe { team.gather(self, mark, root, send, receive, each) }
    }

    /// Puts `send` of member r into block r of every member's `receive`; `each` bytes.
    ///
    /// # Safety
    /// `send` holds a block, or is null: then this rank's block is in its place. `receive` has room for a block of each
    /// member.
    ///
    /// # Errors
    /// As above.
    pub unsafe fn allgather(
        &mut self,
        team: &mut Team,
        send: *const u8,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        let mark = signature(Collective::Allgather, 0, None, each);
        // SAFETY: our caller's promise.
        unsafe { team.allgather(self, mark, send, receive, each) }
    }

    /// Gives block r of `send` of member s to member r, as block s of its `receive`; `each` bytes.
    ///
    /// # Safety
    /// `send` holds a block for each member and `receive` has room for one of each. They are the same memory or do not
    /// overlap.
    ///
    /// # Errors
    /// As above.
    pub unsafe fn all_to_all(
        &mut self,
        team: &mut Team,
        send: *const u8,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        let mark = signature(Collective::AllToAll, 0, None, each);
        // SAFETY: our caller's promise.
        unsafe { team.all_to_all(self, mark, send, receive, each) }
    }

    /// Combines `send` of all members into `receive` of the root.
    ///
    /// # Safety
    /// `send` holds `bytes` bytes and `receive` has room for them at the root. They are the same memory or do not overlap.
    ///
    /// # Errors
    /// As above.
    pub unsafe fn reduce(
        &mut self,
        team: &mut Team,
        root: usize,
        send: *const u8,
        receive: *mut u8,
        bytes: usize,
        combine: Combine<'_>,
    ) -> Result<()> {
        let mark = signature(Collective::Reduce, root, None, bytes);
        // SAFETY: our caller's promise.
        unsafe { team.reduce(self, mark, root, send, receive, bytes, combine) }
    }

    /// Combines `send` of all members into `receive` of all members.
    ///
    /// # Safety
    /// `send` holds `bytes` bytes and `receive` has room for them. They are the same memory or do not overlap.
    ///
    /// # Errors
    /// As above.
    pub unsafe fn allreduce(
        &mut self,
        team: &mut Team,
        send: *const u8,
        receive: *mut u8,
        bytes: usize,
        combine: Combine<'_>,
    ) -> Result<()> {
        let mark = signature(Collective::Allreduce, 0, None, bytes);
        // SAFETY: our caller's promise.
        unsafe { team.allreduce(self, mark, send, receive, bytes, combine) }
    }
}
