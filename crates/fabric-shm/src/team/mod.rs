//! Collectives in shared memory: a team of ranks, each with a board that all of them see.
//!
//! Every collective is a number of steps (`steps`). In a step a member puts its part on its board, takes the others'
//! parts from theirs, or does both. Long data go in pieces, a step for each. Several pieces are put before the first is
//! taken, so that oversubscribed ranks switch once for all of them. A waiting rank continues to move messages: another
//! may need them to reach the collective at all.

mod agreement;
mod all_to_all;
mod allgather;
mod barrier;
mod broadcast;
mod call;
mod cma;
mod combining;
mod copies;
mod gather;
mod levels;
mod oversubscription;
mod pages;
mod places;
mod reduction;
mod scatter;
mod scatter_board_by_board;
mod shares;
mod started;
mod steps;
mod waiting;

use agreement::Agreement;
use call::{Agreed, CallCounts};
use collectives::CallId;
use collectives::plan::{CallShape, Capabilities, Plan, Plans, Topology, select};
use contract::Error;
use engine::Messages;
use levels::Arrivals;
use oversubscription::Groups;
use pages::Pages;
use started::StartedCalls;

pub(crate) use call::Call;
pub(crate) use oversubscription::Oversubscription;
pub(crate) use started::Stop;

use crate::board::{Board, SLOTS};
use crate::transport::{Engine, Rings};

/// The result of a part of a call.
pub(crate) type Result<T> = std::result::Result<T, Stop>;

/// The caller of a collective: an engine, or its owner.
pub(crate) trait Caller {
    /// Returns the messages of the rank and its rings.
    fn parts(&mut self) -> (&mut Messages, &mut Rings);

    /// Returns its rings.
    fn rings(&mut self) -> &mut Rings {
        self.parts().1
    }

    /// Waits until `done` returns true, which is called after every poll.
    fn wait_until(&mut self, done: &mut dyn FnMut(&mut dyn Caller) -> bool)
    -> contract::Result<()>;

    /// Returns whether its calls wait for other members. Calls that do not wait stop instead, and continue the next
    /// time.
    fn waits(&self) -> bool;

    /// Does other work that must go on while this rank waits.
    fn idle(&mut self) {}

    /// Handles a call in which the members are in different calls: decides the fate of the run, and returns the error
    /// of this call.
    fn on_mismatch(&mut self, error: Error) -> Error;
}

/// A caller of which the compiler knows the type: calls are compiled for it.
pub(crate) trait CompiledCaller: Caller + Sized {
    /// True if the steps of a call are compiled into it. Otherwise one function goes through the steps of all calls.
    const HAS_OWN_STEPS: bool;
}

/// Any caller. Started calls and calls with long data are compiled for it only: the cost of dynamic dispatch is
/// negligible there.
impl Caller for &mut (dyn Caller + '_) {
    fn parts(&mut self) -> (&mut Messages, &mut Rings) {
        (**self).parts()
    }

    fn wait_until(
        &mut self,
        done: &mut dyn FnMut(&mut dyn Caller) -> bool,
    ) -> contract::Result<()> {
        (**self).wait_until(done)
    }

    fn waits(&self) -> bool {
        (**self).waits()
    }

    fn idle(&mut self) {
        (**self).idle();
    }

    fn on_mismatch(&mut self, error: Error) -> Error {
        (**self).on_mismatch(error)
    }
}

impl CompiledCaller for &mut (dyn Caller + '_) {
    const HAS_OWN_STEPS: bool = false;
}

/// Returns a caller as a trait object.
fn any<C: CompiledCaller>(caller: &mut C) -> &mut (dyn Caller + '_) {
    caller
}

impl Caller for Engine {
    fn parts(&mut self) -> (&mut Messages, &mut Rings) {
        self.parts_mut()
    }

    fn wait_until(
        &mut self,
        done: &mut dyn FnMut(&mut dyn Caller) -> bool,
    ) -> contract::Result<()> {
        Engine::wait_until(self, |engine| engine, &mut |engine| done(engine))
    }

    fn waits(&self) -> bool {
        true
    }

    fn on_mismatch(&mut self, error: Error) -> Error {
        self.fail(error)
    }
}

impl CompiledCaller for Engine {
    const HAS_OWN_STEPS: bool = false;
}

/// The memory of a call at one member.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) send: *const u8,
    pub(crate) receive: *mut u8,
}

/// Ranks with shared memory for their collectives.
///
/// All members make the same calls in the same order.
pub(crate) struct Team {
    /// Number of the context, for reports.
    context: u32,
    /// Ranks of the run, by their place in the team.
    members: Vec<usize>,
    /// Place of this rank.
    me: usize,
    boards: Vec<*const Board>,
    /// For each slot, whether the long parts of two members lie on each other's boards: they swap places whenever both
    /// have given a part.
    swapped: [bool; SLOTS],
    /// The pages of each board that this rank has used.
    pages: Vec<Pages>,
    topology: Topology,
    /// True if there are more ranks than processors. Then the last member to arrive wakes the others.
    oversubscribed: bool,
    arrivals: Arrivals,
    groups: Groups,
    /// The last step that this rank has begun.
    epoch: u32,
    /// The last step before this window: a member that has put a part in this window has ended that step.
    before_window: u32,
    /// A step that every member is known to have ended.
    ended_by_all: u32,
    /// The call that this rank is in.
    call: Agreed,
    /// Length that the next call publishes instead of its own.
    poisoned_bytes: Option<usize>,
    agreement: Agreement,
    counts: CallCounts,
    started: StartedCalls,
    /// True if this rank is counted among those that wait until a slot may be reused.
    waits_for_slot: bool,
    /// True if this rank combines its group's share of the current stage. All stages of a window are put before the
    /// first is combined, and only groups of one have several.
    owns_share: bool,
    /// True if ranks are oversubscribed and this rank was the root of the last call. It has waited for nobody, and
    /// yields to those who wait for its data before it begins its next call.
    must_yield: bool,
    /// Scratch memory of calls by cross-memory attach: for combining elements, and for the data that an in-place
    /// all-to-all sends.
    scratch: Vec<u8>,
}

impl Team {
    /// Creates a team of `members`, of which this rank is number `me`.
    ///
    /// # Safety
    /// Each of `boards` points to a member's board with [`BOARD_BYTES`](crate::board::BOARD_BYTES) of mapped memory. It
    /// was zero when the first member created its team with it. It stays mapped and reserved for the team while any
    /// member has its team.
    pub(crate) unsafe fn new(
        members: Vec<usize>,
        me: usize,
        boards: Vec<*const Board>,
        oversubscription: Oversubscription,
    ) -> Self {
        assert!(me < members.len() && members.len() == boards.len());
        let oversubscribed = oversubscription != Oversubscription::None;
        Team {
            context: 0,
            pages: members.iter().map(|_| Pages::default()).collect(),
            groups: Groups::new(&oversubscription, members.len(), me),
            arrivals: Arrivals::of(members.len(), oversubscribed),
            members,
            me,
            boards,
            swapped: [false; SLOTS],
            topology: oversubscription.topology(),
            oversubscribed,
            epoch: 0,
            before_window: 0,
            ended_by_all: 0,
            call: Agreed { call_id: CallId::NONE, bytes: 0, is_one_step: true },
            poisoned_bytes: None,
            agreement: Agreement::Yes,
            counts: CallCounts::default(),
            started: StartedCalls::default(),
            waits_for_slot: false,
            owns_share: false,
            must_yield: false,
            scratch: Vec::new(),
        }
    }

    /// Creates the team of all ranks, which a process may have once.
    pub(crate) fn world(rings: &Rings) -> Self {
        let segment = rings.segment();
        let members: Vec<usize> = (0..segment.seat().size()).collect();
        let boards = members.iter().map(|&rank| segment.board(rank)).collect();
        let oversubscription = Oversubscription::of(rings, &members);
        // SAFETY: the layout has a board for every rank, of zeros when the launcher created it. The mapping outlives
        // the engine, beside which the team is kept.
        unsafe { Team::new(members, segment.seat().rank(), boards, oversubscription) }
    }

    /// Sets the number of the context, which is 0 for that of all ranks.
    pub(crate) fn in_context(self, number: u32) -> Self {
        Team { context: number, ..self }
    }

    /// Returns the number of members.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.members.len()
    }

    /// Returns the plan of a call of these members.
    #[inline(always)]
    pub(crate) fn plan(&self, shape: CallShape, capabilities: &Capabilities) -> Plan {
        select(shape, self.size(), self.topology, capabilities)
    }

    /// Returns the plans of all calls of these members.
    pub(crate) fn plans(&self, capabilities: Capabilities) -> Plans {
        Plans::of(self.size(), self.topology, capabilities)
    }

    /// Makes the other members fail in the next call, which publishes `bytes` as its length: for a rank whose own
    /// arguments are inconsistent, and which must go through the call for the others' sake.
    pub(crate) fn poison<C: CompiledCaller>(&mut self, caller: &C, bytes: usize) {
        if self.is_beginning(caller) {
            self.poisoned_bytes = Some(bytes);
        }
    }

    /// Leaves the team: this rank no longer reads the boards. Returns its own board.
    pub(crate) fn leave(self) -> *const Board {
        for member in 0..self.size() {
            self.board(member).left.leave();
        }
        self.boards[self.me]
    }

    #[inline]
    fn board(&self, member: usize) -> &Board {
        // SAFETY: `new` was promised mapped boards, which are all atomics and cells that the epochs guard.
        unsafe { &*self.boards[member] }
    }

    /// Returns the other members. Each rank begins with another one.
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (me, size) = (self.me, self.size());
        (1..size).map(move |distance| (me + distance) % size)
    }
}

#[cfg(all(test, not(loom)))]
mod corrupt;
#[cfg(all(test, loom))]
mod tests;
#[cfg(all(test, not(loom)))]
mod traffic;
