//! Calls of collectives over boards.
//!
//! Calls over boards and calls by messages are both announced, so that ranks in different calls find out.

use collectives::plan::{Boards, Capabilities, Plans, THRESHOLDS, Thresholds, Transport};
use collectives::{AgreedCall, CallId, Collective, LibraryCall, Manner};
use contract::{
    CollectiveCall, ContextPlace, Error, Readable, Result, SharedMemory, StartedCollective,
    Writable,
};
use engine::Messages;

use super::{HostCollectives, Owner, Purpose};
use crate::board::{SHORT_BYTES, SLOT_BYTES, SLOTS};
use crate::team::{self, Call, Caller, CompiledCaller, Memory, Stop, Team};
use crate::transport::Rings;

/// A call whose plan goes over boards.
struct BegunCall<'a> {
    plan: Call,
    call: CollectiveCall<'a>,
}

/// Returns the capabilities of a team's ranks. Long data of programs lie in arenas, from where messages copy them once.
/// A library's data are copied from its own memory.
#[inline(always)]
fn capabilities(purpose: Purpose, rings: &Rings) -> Capabilities {
    let is_library = purpose == Purpose::Library;
    let boards = Boards {
        most_ranks: THRESHOLDS.boards_most_ranks,
        most_bytes: if is_library { usize::MAX } else { THRESHOLDS.boards_most_bytes },
        slots: SLOTS,
        slot_bytes: SLOT_BYTES,
        piece_bytes: THRESHOLDS.piece_bytes,
    };
    Capabilities { boards, cma: is_library && rings.uses_cma() }
}

/// A rank that waits in a collective: an endpoint, and the work that must go on meanwhile.
struct Waiting<'a, O> {
    owner: &'a mut O,
    idle: &'a mut dyn FnMut(&mut O),
}

/// A rank that advances a collective without waiting.
struct Passing<'a, O> {
    owner: &'a mut O,
}

impl<O: Owner> Caller for Passing<'_, O> {
    #[inline]
    fn parts(&mut self) -> (&mut Messages, &mut Rings) {
        self.owner.parts()
    }

    fn wait_until(&mut self, _done: &mut dyn FnMut(&mut dyn Caller) -> bool) -> Result<()> {
        unreachable!("it does not wait")
    }

    #[inline(always)]
    fn waits(&self) -> bool {
        false
    }

    fn on_mismatch(&mut self, error: Error) -> Error {
        on_mismatch(self.owner, error)
    }
}

impl<O: Owner> CompiledCaller for Waiting<'_, O> {
    const HAS_OWN_STEPS: bool = true;
}

impl<O: Owner> Caller for Waiting<'_, O> {
    #[inline]
    fn parts(&mut self) -> (&mut Messages, &mut Rings) {
        self.owner.parts()
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut dyn Caller) -> bool) -> Result<()> {
        let Waiting { owner, idle } = self;
        owner.wait_until(&mut |owner| done(&mut Waiting { owner, idle: &mut **idle }))
    }

    #[inline(always)]
    fn waits(&self) -> bool {
        true
    }

    #[inline]
    fn idle(&mut self) {
        (self.idle)(self.owner);
    }

    fn on_mismatch(&mut self, error: Error) -> Error {
        on_mismatch(self.owner, error)
    }
}

/// Ends the run if the members of a program's collective are in different calls.
fn on_mismatch<O: Owner>(owner: &mut O, error: Error) -> Error {
    match owner.collectives().purpose {
        Purpose::Program => owner.fail(error),
        Purpose::Library => error,
    }
}

impl HostCollectives {
    /// Describes collectives over boards for readers of measurements.
    pub fn describe() -> [(String, String); 5] {
        let Thresholds { boards_most_ranks, boards_most_bytes, piece_bytes, .. } = THRESHOLDS;
        [
            ("collectives over boards, ranks up to", boards_most_ranks.to_string()),
            ("collectives over boards, bytes up to", boards_most_bytes.to_string()),
            ("parts in one line of a board, up to", format!("{SHORT_BYTES} bytes")),
            ("pieces on boards", format!("{piece_bytes} bytes")),
            ("places on a board", SLOTS.to_string()),
        ]
        .map(|(name, value)| (name.into(), value))
    }

    /// Returns the properties that a model of this fabric needs.
    pub fn shared_memory(rings: &Rings) -> SharedMemory {
        let [one_copy_from, both_copy_from] = Rings::copies_from_bytes();
        SharedMemory {
            one_copy_from_bytes: Some(one_copy_from as u64),
            both_copy_from_bytes: both_copy_from as u64,
            cma_is_fast: rings.uses_cma(),
            board_line_bytes: Some(SHORT_BYTES as u64),
        }
    }

    /// Returns the plans of collectives of all ranks.
    pub fn plans(&self, rings: &Rings) -> Option<Plans> {
        let world = self.teams.first()?.as_ref()?;
        Some(world.plans(capabilities(self.purpose, rings)))
    }

    /// Executes a collective, as [`Endpoint::collective`](contract::Endpoint::collective). Forced into the caller, where
    /// the kind of call is known and its arguments lie in registers.
    #[inline(always)]
    pub fn collective<O: Owner>(
        owner: &mut O,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        idle: &mut dyn FnMut(&mut O),
    ) -> Option<Result<()>> {
        let plan = HostCollectives::begin(owner, place, &call, false)?;
        if owner.collectives().team_at(place)?.has_started_calls()
            && let Err(error) = HostCollectives::finish_started(owner, place, idle)
        {
            return Some(Err(error));
        }
        // The team is out of its place meanwhile: `idle` may use the endpoint.
        let mut team = owner.collectives().teams[place.0 as usize].take()?;
        let mut waiting = Waiting { owner: &mut *owner, idle };
        let begun = BegunCall { plan, call };
        let outcome = if O::IS_COMPILED {
            carry_out(&mut team, &mut waiting, begun)
        } else {
            let caller: &mut dyn Caller = &mut waiting;
            carry_out(&mut team, &mut { caller }, begun)
        };
        owner.collectives().teams[place.0 as usize] = Some(team);
        Some(outcome.map_err(|stop| match stop {
            Stop::Failed(error) => error,
            Stop::Later => unreachable!("a call that waits comes to its end"),
        }))
    }

    /// Announces a call. Returns its plan if it goes over boards.
    #[inline(always)]
    fn begin<O: Owner>(
        owner: &mut O,
        place: ContextPlace,
        call: &CollectiveCall<'_>,
        is_started: bool,
    ) -> Option<Call> {
        let purpose = owner.collectives().purpose;
        let (messages, rings) = owner.parts();
        let (capabilities, has_left) = (capabilities(purpose, rings), messages.has_left());
        let this = owner.collectives();
        let is_library = purpose == Purpose::Library;
        // A rank that still waits for this one's messages must learn that this one has left, not that it makes another
        // call.
        let is_counted = is_library && !has_left;
        let team = this.team_at(place)?;
        let shape = call.shape();
        let mut call_id = call.id();
        if is_started {
            call_id = call_id.in_manner(Manner::Nonblocking);
        }
        // No program calls the allreduce at the end of a rank's part as an allreduce.
        if has_left && is_library && call.collective == Collective::Allreduce {
            call_id = CallId::of_library(LibraryCall::Finalize);
        }
        let plan = team.plan(shape, &capabilities);
        let native = plan.transport != Transport::Messages;
        if is_library {
            if !native {
                return None;
            }
            if is_counted {
                team.count_call();
            }
        } else {
            let is_barrier = call.collective == Collective::Barrier;
            let agreed = AgreedCall { id: call_id, bytes: shape.bytes };
            call_id = HostCollectives::announce(owner, place, agreed, native, is_barrier)?;
        }
        Some(Call { call_id, plan })
    }

    /// Waits until all started collectives of a context have ended. `idle` advances them.
    #[cold]
    fn finish_started<O: Owner>(
        owner: &mut O,
        place: ContextPlace,
        idle: &mut dyn FnMut(&mut O),
    ) -> Result<()> {
        owner.wait_until(&mut |owner| {
            idle(owner);
            !owner.collectives().team_at(place).is_some_and(|team| team.has_started_calls())
        })
    }

    /// Starts a collective, as [`Boards::start`](contract::Boards::start). Compiled once for all
    /// kinds of calls, as the next function: a call that waits gains nothing from less code here.
    #[inline(never)]
    pub fn start<O: Owner>(
        owner: &mut O,
        place: ContextPlace,
        call: &CollectiveCall<'_>,
    ) -> Option<StartedCollective> {
        let plan = HostCollectives::begin(owner, place, call, true)?;
        let number = owner.collectives().team_at(place)?.start(plan);
        Some(StartedCollective { place, number })
    }

    /// Advances it, as [`Boards::advance`](contract::Boards::advance).
    #[inline(never)]
    pub fn advance<O: Owner>(
        owner: &mut O,
        started: StartedCollective,
        call: CollectiveCall<'_>,
    ) -> Option<Result<()>> {
        let StartedCollective { place, number } = started;
        let plan = owner.collectives().team_at(place)?.started_call(number)?;
        let mut team = owner.collectives().teams[place.0 as usize].take()?;
        let before = team.progress_of_started();
        let mut passing = Passing { owner: &mut *owner };
        let caller: &mut dyn Caller = &mut passing;
        let outcome = carry_out(&mut team, &mut { caller }, BegunCall { plan, call });
        let ended = team.note_started(outcome);
        if team.progress_of_started() != before {
            owner.parts().0.count_move();
        }
        owner.collectives().teams[place.0 as usize] = Some(team);
        ended
    }

    /// Announces a program's call. Returns its call id if it may go over boards.
    fn announce<O: Owner>(
        owner: &mut O,
        place: ContextPlace,
        mut call: AgreedCall,
        native: bool,
        is_barrier: bool,
    ) -> Option<CallId> {
        if place == ContextPlace::WORLD {
            let (_, rings) = owner.parts();
            if is_barrier {
                call.id = rings.enter_barrier(call.id);
            } else {
                rings.enter(call.id, call.bytes);
            }
            return native.then_some(call.id);
        }
        let team = owner.collectives().team_at(place)?;
        if native {
            team.count_call();
        } else {
            team.count_call_by_messages(call);
        }
        native.then_some(call.id)
    }

    /// Announces a collective that the members make by messages
    /// ([`ContextCollectives::announce_by_messages`](contract::ContextCollectives::announce_by_messages)).
    pub fn announce_by_messages(&mut self, place: ContextPlace, call: AgreedCall) -> u32 {
        self.team_at(place).map_or(0, |team| team.count_call_by_messages(call))
    }

    /// Returns why such a collective can never complete
    /// ([`ContextCollectives::find_mismatch`](contract::ContextCollectives::find_mismatch)).
    pub fn find_mismatch<O: Owner>(
        owner: &mut O,
        place: ContextPlace,
        number: u32,
    ) -> Option<Error> {
        // While a call over boards is in progress the team is out of its place; that call makes the checks.
        let team = owner.collectives().teams.get_mut(place.0 as usize)?.take()?;
        let mut passing = Passing { owner: &mut *owner };
        let caller: &mut dyn Caller = &mut passing;
        let found = team.find_mismatch(&mut { caller }, number);
        owner.collectives().teams[place.0 as usize] = Some(team);
        found
    }
}

/// Returns the source of a block, or null if it is in its place.
#[inline(always)]
fn start_of(block: Option<Readable>) -> *const u8 {
    block.map_or(std::ptr::null(), |block| block.as_ptr())
}

/// Returns the destination of a block, or null if it stays in its place.
#[inline(always)]
fn room_of(block: Option<Writable>) -> *mut u8 {
    block.map_or(std::ptr::null_mut(), |block| block.as_mut_ptr())
}

/// Carries out a call with its team.
#[inline(always)]
fn carry_out<C: CompiledCaller>(
    team: &mut Team,
    caller: &mut C,
    BegunCall { plan: begun, call }: BegunCall<'_>,
) -> team::Result<()> {
    let CollectiveCall { collective, root, send, receive, combine, stated_bytes, .. } = call;
    let memory = Memory { send: start_of(send), receive: room_of(receive) };
    // SAFETY: the creator of a call's memory promised as many bytes as the call says, until this returns, or until the
    // call has ended if it was started. The members of the call are those of the team, so there are as many blocks as
    // each function of the team expects.
    unsafe {
        match (collective, combine) {
            (Collective::Barrier, _) => team.barrier(caller, begun.call_id),
            (Collective::Broadcast, _) => team.broadcast(caller, begun, root, memory.receive),
            (Collective::Scatter, _) => team.scatter(caller, begun, root, memory),
            (Collective::Gather, _) => team.gather(caller, begun, root, memory),
            (Collective::Allgather, _) => {
                poison(team, caller, stated_bytes);
                team.allgather(caller, begun, memory)
            }
            (Collective::AllToAll, _) => {
                poison(team, caller, stated_bytes);
                let in_place = memory.receive.cast_const();
                let send = if memory.send.is_null() { in_place } else { memory.send };
                team.all_to_all(caller, begun, Memory { send, ..memory })
            }
            (Collective::Reduce, Some(combine)) => {
                team.reduce(caller, begun, root, memory, combine)
            }
            (Collective::Allreduce, Some(combine)) => {
                team.allreduce(caller, begun, memory, combine)
            }
            _ => unreachable!("no plan of these calls uses boards"),
        }
    }
}

#[inline(always)]
fn poison<C: CompiledCaller>(team: &mut Team, caller: &C, stated_bytes: Option<usize>) {
    if let Some(bytes) = stated_bytes {
        team.poison(caller, bytes);
    }
}
