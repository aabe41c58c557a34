//! The collectives of this fabric, over boards where that is better than messages.
//!
//! Either way a call of a program is announced, so that ranks in different calls find out.

use contract::record::FabricDescription;
use contract::{CollectiveCall, ContextPlace, Error, Readable, Result, Writable};

use super::{Purpose, ShmEndpoint};
use crate::board::{SHORT_BYTES, SLOTS};
use crate::engine::{Collective, Engine, call_id};
use crate::team::{Host, Memory, PIECE_BYTES, Team};

/// Teams of more ranks go by messages: in log P rounds each rank reads fewer lines.
const MOST_RANKS: usize = 32;
/// Longer data of programs go by messages: each rank copies them from another's memory. Those of a library go
/// by cross-memory attach within the team.
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

/// A rank that waits in a collective: an endpoint, and what has to go on meanwhile.
struct Waiting<'a> {
    endpoint: &'a mut ShmEndpoint,
    idle: &'a mut dyn FnMut(&mut ShmEndpoint),
}

impl Host for Waiting<'_> {
    #[inline]
    fn engine(&mut self) -> &mut Engine {
        &mut self.endpoint.engine
    }

    #[inline]
    fn idle(&mut self) {
        (self.idle)(self.endpoint);
    }

    #[inline]
    fn uses_cma(&mut self) -> bool {
        self.endpoint.purpose == Purpose::Library && self.endpoint.engine.uses_cma()
    }

    fn on_mismatch(&mut self, error: Error) -> Error {
        match self.endpoint.purpose {
            Purpose::Program => self.endpoint.engine.fail(error),
            Purpose::Library => error,
        }
    }
}

/// The call id, and the length that decides whether the call goes over boards.
#[inline(always)]
fn call_id_of(call: &CollectiveCall<'_>, members: usize) -> (u32, usize) {
    use Collective::{AllToAll, Allgather, Allreduce, Broadcast, Gather, Reduce, Scatter};
    let (kind, root, reduction, bytes, all_bytes) = match call {
        CollectiveCall::Barrier => (Collective::Barrier, 0, None, 0, 0),
        CollectiveCall::Broadcast { root, data } => {
            (Broadcast, *root, None, data.bytes(), data.bytes())
        }
        CollectiveCall::Scatter { root, each, .. } => (Scatter, *root, None, *each, *each),
        CollectiveCall::Gather { root, each, .. } => (Gather, *root, None, *each, *each),
        CollectiveCall::Allgather { each, .. } => (Allgather, 0, None, *each, each * members),
        CollectiveCall::AllToAll { each, .. } => (AllToAll, 0, None, *each, each * members),
        CollectiveCall::Reduce { root, send, combine, .. } => {
            (Reduce, *root, combine.reduction, send.bytes(), send.bytes())
        }
        CollectiveCall::Allreduce { send, combine, .. } => {
            (Allreduce, 0, combine.reduction, send.bytes(), send.bytes())
        }
    };
    (call_id(kind, root, reduction, bytes), all_bytes)
}

impl ShmEndpoint {
    /// All of it is forced into the caller: there the kind of call is known, and its arguments lie in registers.
    #[inline(always)]
    pub(super) fn collective_of_team(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        let (index, is_library) = (place.0 as usize, self.purpose == Purpose::Library);
        // A rank that still waits for this one's messages is told that this one has left, not that it makes
        // another call.
        let is_counted = is_library && !self.left;
        let team = self.teams.get_mut(index)?.as_deref_mut()?;
        let members = team.size();
        let (mut call_id, all_bytes) = call_id_of(&call, members);
        if is_library {
            if members > MOST_RANKS {
                return None;
            }
            if is_counted {
                team.count_call();
            }
        } else {
            let is_barrier = matches!(call, CollectiveCall::Barrier);
            call_id = self.announce(place, call_id, all_bytes, is_barrier)?;
        }
        // The team is not in its place meanwhile: `idle` may use the endpoint.
        let mut team = self.teams[index].take()?;
        let outcome = carry_out(&mut team, &mut Waiting { endpoint: self, idle }, call_id, call);
        self.teams[index] = Some(team);
        Some(outcome)
    }

    /// Announces a program's call. Returns its call id if it should go over boards.
    fn announce(
        &mut self,
        place: ContextPlace,
        mut call_id: u32,
        all_bytes: usize,
        is_barrier: bool,
    ) -> Option<u32> {
        let team = self.team_at(place)?;
        let native = team.size() <= MOST_RANKS && all_bytes <= LONGEST_BYTES;
        if place == ContextPlace::WORLD {
            if is_barrier {
                call_id = self.engine.enter_barrier();
            } else {
                self.engine.enter(call_id);
            }
        } else if native {
            team.count_call();
        } else {
            team.count_call_by_messages(call_id);
        }
        native.then_some(call_id)
    }
}

/// Where a block comes from; null if it is in its place.
#[inline(always)]
fn start_of(block: Option<Readable>) -> *const u8 {
    block.map_or(std::ptr::null(), |block| block.as_ptr())
}

/// Where a block goes; null if it stays in its place.
#[inline(always)]
fn room_of(block: Option<Writable>) -> *mut u8 {
    block.map_or(std::ptr::null_mut(), |block| block.as_mut_ptr())
}

/// Makes a call with its team.
#[inline(always)]
fn carry_out(
    team: &mut Team,
    host: &mut Waiting<'_>,
    call_id: u32,
    call: CollectiveCall<'_>,
) -> Result<()> {
    // SAFETY: whoever made the memory of a call promised as many bytes as the call says, until this returns.
    // The members of the call are those of the team, so there are as many blocks as each function of the team
    // expects.
    unsafe {
        match call {
            CollectiveCall::Barrier => team.barrier(host, call_id),
            CollectiveCall::Broadcast { root, data } => {
                team.broadcast(host, call_id, root, data.as_mut_ptr(), data.bytes())
            }
            CollectiveCall::Scatter { root, send, receive, each } => {
                let memory = Memory { send: send.as_ptr(), receive: room_of(receive) };
                team.scatter(host, call_id, root, memory, each)
            }
            CollectiveCall::Gather { root, send, receive, each } => {
                let memory = Memory { send: start_of(send), receive: receive.as_mut_ptr() };
                team.gather(host, call_id, root, memory, each)
            }
            CollectiveCall::Allgather { send, receive, each, told } => {
                poison(team, told);
                let memory = Memory { send: start_of(send), receive: receive.as_mut_ptr() };
                team.allgather(host, call_id, memory, each)
            }
            CollectiveCall::AllToAll { send, receive, each, told } => {
                poison(team, told);
                let receive = receive.as_mut_ptr();
                let send = send.map_or(receive.cast_const(), |send| send.as_ptr());
                team.all_to_all(host, call_id, Memory { send, receive }, each)
            }
            CollectiveCall::Reduce { root, send, receive, combine } => {
                let memory = Memory { send: send.as_ptr(), receive: receive.as_mut_ptr() };
                team.reduce(host, call_id, root, memory, send.bytes(), combine)
            }
            CollectiveCall::Allreduce { send, receive, combine } => {
                let memory = Memory { send: send.as_ptr(), receive: receive.as_mut_ptr() };
                team.allreduce(host, call_id, memory, send.bytes(), combine)
            }
        }
    }
}

#[inline(always)]
fn poison(team: &mut Team, told: Option<usize>) {
    if let Some(bytes) = told {
        team.poison(bytes);
    }
}
