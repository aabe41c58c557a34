//! The collectives of this fabric, in shared memory where that is better than messages.
//!
//! Either way a call of a program is announced, so that ranks that do not agree find out.

use contract::record::FabricDescription;
use contract::{CollectiveCall, ContextPlace, Error, Readable, Result, Writable};

use super::{Purpose, ShmEndpoint};
use crate::board::{SHORT_BYTES, SLOTS};
use crate::engine::{Collective, Engine, call_id};
use crate::team::{Host, PIECE_BYTES, Team};

/// Teams of more ranks go by messages: in log P steps each rank looks at fewer lines.
const MOST_RANKS: usize = 32;
/// Longer data of programs go by messages: each rank copies them straight from another's memory. A library's go from memory to
/// memory within the team.
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

/// Who waits in a collective: an endpoint, and what has to go on meanwhile.
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

    fn disagree(&mut self, error: Error) -> Error {
        match self.endpoint.purpose {
            Purpose::Program => self.endpoint.engine.fail(error),
            Purpose::Library => error,
        }
    }
}

/// What all members must agree on, and the length that decides about the way.
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
    /// All of it is forced into the caller: what the call is, is then known where it is carried out, and it lies in registers.
    #[inline(always)]
    pub(super) fn collective_of_team(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        let (index, is_library) = (place.0 as usize, self.purpose == Purpose::Library);
        // Whoever still waits for this rank's messages is told that it has left, not that it makes another call.
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

    /// Announces a program's call, and gives its call_id if it should go through shared memory.
    fn announce(
        &mut self,
        place: ContextPlace,
        call_id: u32,
        all_bytes: usize,
        is_barrier: bool,
    ) -> Option<u32> {
        let team = self.teams[place.0 as usize].as_mut()?;
        let native = team.size() <= MOST_RANKS && all_bytes <= LONGEST_BYTES;
        let mut call_id = call_id;
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
#[allow(clippy::undocumented_unsafe_blocks)] // Said once, for all arms.
fn carry_out(
    team: &mut Team,
    host: &mut Waiting<'_>,
    call_id: u32,
    call: CollectiveCall<'_>,
) -> Result<()> {
    // SAFETY: whoever made the memory of a call promised as many bytes as the call says, until this returns. The members of
    // the call are those of the team, so there are as many blocks as each function of the team expects.
    unsafe {
        match call {
            CollectiveCall::Barrier => team.barrier(host, call_id),
            CollectiveCall::Broadcast { root, data } => {
                team.broadcast(host, call_id, root, data.as_mut_ptr(), data.bytes())
            }
            CollectiveCall::Scatter { root, send, receive, each } => {
                team.scatter(host, call_id, root, send.as_ptr(), room_of(receive), each)
            }
            CollectiveCall::Gather { root, send, receive, each } => {
                team.gather(host, call_id, root, start_of(send), receive.as_mut_ptr(), each)
            }
            CollectiveCall::Allgather { send, receive, each, told } => {
                tell(team, told);
                team.allgather(host, call_id, start_of(send), receive.as_mut_ptr(), each)
            }
            CollectiveCall::AllToAll { send, receive, each, told } => {
                tell(team, told);
                let to = receive.as_mut_ptr();
                let from = send.map_or(to.cast_const(), |send| send.as_ptr());
                team.all_to_all(host, call_id, from, to, each)
            }
            CollectiveCall::Reduce { root, send, receive, combine } => {
                let (from, to) = (send.as_ptr(), receive.as_mut_ptr());
                team.reduce(host, call_id, root, from, to, send.bytes(), combine)
            }
            CollectiveCall::Allreduce { send, receive, combine } => {
                let (from, to) = (send.as_ptr(), receive.as_mut_ptr());
                team.allreduce(host, call_id, from, to, send.bytes(), combine)
            }
        }
    }
}

#[inline(always)]
fn tell(team: &mut Team, told: Option<usize>) {
    if let Some(bytes) = told {
        team.misstate(bytes);
    }
}
