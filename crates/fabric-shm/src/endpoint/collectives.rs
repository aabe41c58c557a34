//! The collectives of this fabric, which use boards if they are faster than messages.
//!
//! Calls over boards and calls by messages are both announced, so that ranks in different calls find out.

use collectives::plan::{Boards, Capabilities, Plans, THRESHOLDS, Thresholds, Transport};
use collectives::{AgreedCall, CallId, Collective, LibraryCall, Manner};
use contract::{
    CollectiveCall, ContextPlace, Error, Readable, Result, SharedMemory, StartedCollective,
    Writable,
};

use super::{Purpose, ShmEndpoint};
use crate::board::{SHORT_BYTES, SLOT_BYTES, SLOTS};
use crate::team::{self, Call, Caller, CompiledCaller, Memory, Stop, Team};
use crate::transport::{Engine, Rings};

/// Returns the capabilities of a team's ranks. Long data of programs lie in arenas, from where messages copy them once.
/// A library's data are copied from its own memory.
#[inline(always)]
fn capabilities(purpose: Purpose, engine: &Engine) -> Capabilities {
    let is_library = purpose == Purpose::Library;
    let boards = Boards {
        most_ranks: THRESHOLDS.boards_most_ranks,
        most_bytes: if is_library { usize::MAX } else { THRESHOLDS.boards_most_bytes },
        slots: SLOTS,
        slot_bytes: SLOT_BYTES,
        piece_bytes: THRESHOLDS.piece_bytes,
    };
    Capabilities { boards, cma: is_library && engine.transport().uses_cma() }
}

/// A rank that waits in a collective: an endpoint, and the work that must go on meanwhile.
struct Waiting<'a> {
    endpoint: &'a mut ShmEndpoint,
    idle: &'a mut dyn FnMut(&mut ShmEndpoint),
}

/// A rank that advances a collective without waiting.
struct Passing<'a> {
    endpoint: &'a mut ShmEndpoint,
}

impl Caller for Passing<'_> {
    #[inline]
    fn engine(&mut self) -> &mut Engine {
        &mut self.endpoint.engine
    }

    #[inline(always)]
    fn waits(&self) -> bool {
        false
    }

    fn on_mismatch(&mut self, error: Error) -> Error {
        self.endpoint.on_mismatch(error)
    }
}

impl CompiledCaller for Waiting<'_> {
    const HAS_OWN_STEPS: bool = true;
}

impl Caller for Waiting<'_> {
    #[inline]
    fn engine(&mut self) -> &mut Engine {
        &mut self.endpoint.engine
    }

    #[inline(always)]
    fn waits(&self) -> bool {
        true
    }

    #[inline]
    fn idle(&mut self) {
        (self.idle)(self.endpoint);
    }

    fn on_mismatch(&mut self, error: Error) -> Error {
        self.endpoint.on_mismatch(error)
    }
}

impl ShmEndpoint {
    /// Ends the run if the members of a program's collective are in different calls.
    fn on_mismatch(&mut self, error: Error) -> Error {
        match self.purpose {
            Purpose::Program => self.engine.fail(error),
            Purpose::Library => error,
        }
    }

    /// Describes collectives over boards for readers of measurements.
    pub(super) fn describe_boards() -> [(String, String); 5] {
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
    pub(super) fn shared_memory(&self) -> SharedMemory {
        let [one_copy_from, both_copy_from] = Rings::copies_from_bytes();
        SharedMemory {
            one_copy_from_bytes: Some(one_copy_from as u64),
            both_copy_from_bytes: both_copy_from as u64,
            cma_is_fast: self.engine.transport().uses_cma(),
            board_line_bytes: Some(SHORT_BYTES as u64),
        }
    }

    /// Returns the plans of collectives of all ranks.
    pub(super) fn plans(&self) -> Option<Plans> {
        let world = self.teams.first()?.as_ref()?;
        Some(world.plans(capabilities(self.purpose, &self.engine)))
    }

    /// Forced into the caller, where the kind of call is known and its arguments lie in registers.
    #[inline(always)]
    pub(super) fn collective_of_team(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        let begun = self.begin_collective(place, &call, false)?;
        if self.team_at(place)?.has_started_calls()
            && let Err(error) = self.finish_started(place, idle)
        {
            return Some(Err(error));
        }
        // The team is out of its place meanwhile: `idle` may use the endpoint.
        let mut team = self.teams[place.0 as usize].take()?;
        let outcome = carry_out(&mut team, &mut Waiting { endpoint: self, idle }, begun, call);
        self.teams[place.0 as usize] = Some(team);
        Some(outcome.map_err(|stop| match stop {
            Stop::Failed(error) => error,
            Stop::Later => unreachable!("a call that waits comes to its end"),
        }))
    }

    /// Announces a call. Returns its plan if it goes over boards.
    #[inline(always)]
    fn begin_collective(
        &mut self,
        place: ContextPlace,
        call: &CollectiveCall<'_>,
        is_started: bool,
    ) -> Option<Call> {
        let (index, is_library) = (place.0 as usize, self.purpose == Purpose::Library);
        // A rank that still waits for this one's messages must learn that this one has left, not that it makes another
        // call.
        let is_counted = is_library && !self.left;
        let team = self.teams.get_mut(index)?.as_deref_mut()?;
        let shape = call.shape();
        let mut call_id = call.id();
        if is_started {
            call_id = call_id.in_manner(Manner::Nonblocking);
        }
        // No program calls the barrier at the end of a rank's part as a barrier.
        if self.left && is_library && call.collective == Collective::Barrier {
            call_id = CallId::of_library(LibraryCall::Finalize);
        }
        let capabilities = capabilities(self.purpose, &self.engine);
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
            call_id = self.announce(place, agreed, native, is_barrier)?;
        }
        Some(Call { call_id, plan })
    }

    /// Waits until all started collectives of a context have ended. `idle` advances them.
    #[cold]
    fn finish_started(
        &mut self,
        place: ContextPlace,
        idle: &mut dyn FnMut(&mut Self),
    ) -> Result<()> {
        Engine::wait_until(self, |endpoint| &mut endpoint.engine, &mut |endpoint| {
            idle(endpoint);
            !endpoint.team_at(place).is_some_and(|team| team.has_started_calls())
        })
    }

    /// Compiled once for all kinds of calls, as the next function: a call that waits gains nothing from less code here.
    #[inline(never)]
    pub(super) fn start_with_team(
        &mut self,
        place: ContextPlace,
        call: &CollectiveCall<'_>,
    ) -> Option<StartedCollective> {
        let begun = self.begin_collective(place, call, true)?;
        Some(StartedCollective { place, number: self.team_at(place)?.start(begun) })
    }

    #[inline(never)]
    pub(super) fn advance_with_team(
        &mut self,
        started: StartedCollective,
        call: CollectiveCall<'_>,
    ) -> Option<Result<()>> {
        let StartedCollective { place, number } = started;
        let begun = self.team_at(place)?.started_call(number)?;
        let mut team = self.teams[place.0 as usize].take()?;
        let before = team.progress_of_started();
        let mut passing = Passing { endpoint: self };
        let caller: &mut dyn Caller = &mut passing;
        let outcome = carry_out(&mut team, &mut { caller }, begun, call);
        let ended = team.note_started(outcome);
        if team.progress_of_started() != before {
            self.engine.parts_mut().0.count_move();
        }
        self.teams[place.0 as usize] = Some(team);
        ended
    }

    /// Announces a program's call. Returns its call id if it may go over boards.
    fn announce(
        &mut self,
        place: ContextPlace,
        mut call: AgreedCall,
        native: bool,
        is_barrier: bool,
    ) -> Option<CallId> {
        let team = self.team_at(place)?;
        if place == ContextPlace::WORLD {
            if is_barrier {
                call.id = self.engine.transport_mut().enter_barrier(call.id);
            } else {
                self.engine.transport_mut().enter(call.id, call.bytes);
            }
        } else if native {
            team.count_call();
        } else {
            team.count_call_by_messages(call);
        }
        native.then_some(call.id)
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
    begun: Call,
    call: CollectiveCall<'_>,
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
