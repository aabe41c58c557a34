//! Blocking collectives over memory that all members share, where a communicator has such memory.
//!
//! Whether it has is agreed upon when it is made, so all members go the same way from its first collective on. Data that do
//! not lie in one piece are packed here; the members see nothing but bytes.

use std::cell::RefCell;

use fabric_shm::{ShmEndpoint as Endpoint, Team};
use mpi::Reduction;

use super::Call;
use crate::abi::*;
use crate::communicator::Communicator;
use crate::datatype::Memory;
use crate::failure::{Error, Result, ensure};
use crate::process::{endpoint, process};

/// Communicators of more members go by messages, and use their shared memory to tell who is in which call.
const MOST_MEMBERS: usize = 32;

/// A communicator's shared memory.
#[derive(Default)]
pub(crate) struct TeamPlace(RefCell<State>);

#[derive(Default)]
enum State {
    #[default]
    Absent,
    /// Where each member has its board, for the first collective to make the team of.
    Agreed(Vec<u64>),
    Present(Box<Team>),
}

/// What a member says that shares no memory.
pub(crate) const NO_BOARD: u64 = u64::MAX;

/// A board of this rank's, for a team to come.
pub(crate) fn new_board() -> u64 {
    endpoint().ok().and_then(|mut endpoint| endpoint.new_board()).unwrap_or(NO_BOARD)
}

/// Gives a board back of which no member makes a team.
pub(crate) fn take_back(board: u64) {
    if board != NO_BOARD
        && let Ok(mut endpoint) = endpoint()
    {
        endpoint.take_back(board);
    }
}

impl TeamPlace {
    /// Takes over the team of all ranks, if it is one for these calls.
    pub(crate) fn set(&self, team: Team) {
        if team.size() > 1 {
            *self.0.borrow_mut() = State::Present(Box::new(team));
        }
    }

    /// The members, at least two, have told each other these boards.
    pub(crate) fn agree(&self, boards: Vec<u64>) {
        let all_share = !boards.contains(&NO_BOARD);
        *self.0.borrow_mut() = if all_share { State::Agreed(boards) } else { State::Absent };
    }

    /// Counts a collective by messages; its number, 0 where nobody would compare it.
    pub(crate) fn count_call_by_messages(&self, communicator: &Communicator, call: Call) -> u32 {
        // A user's operation that calls back comes here while the team is held, and fails a little later.
        let Ok(mut state) = self.0.try_borrow_mut() else { return 0 };
        match state.team(communicator) {
            Ok(Some(team)) => team.count_call_by_messages(call.mark()),
            _ => 0,
        }
    }

    /// Why the collective by messages of that number waits in vain, if it does.
    pub(super) fn why_in_vain(&self, endpoint: &mut Endpoint, number: u32) -> Option<Error> {
        // While a call through the team is under way, that one looks.
        match &*self.0.try_borrow().ok()? {
            State::Present(team) => endpoint.why_in_vain(team, number).map(Error::from),
            _ => None,
        }
    }

    /// Gives the shared memory up. The others may have made their teams already, so this rank makes its own to leave it.
    pub(crate) fn leave(&self, communicator: &Communicator) -> Result {
        let mut state = self.0.replace(State::Absent);
        state.team(communicator)?;
        if let State::Present(team) = state {
            endpoint()?.leave(*team);
        }
        Ok(())
    }
}

impl State {
    /// The team, if there is one.
    #[inline]
    fn team(&mut self, communicator: &Communicator) -> Result<Option<&mut Team>> {
        if let State::Agreed(_) = self {
            self.make(communicator)?;
        }
        match self {
            State::Present(team) => Ok(Some(team)),
            _ => Ok(None),
        }
    }

    #[cold]
    fn make(&mut self, communicator: &Communicator) -> Result {
        let State::Agreed(boards) = self else { return Ok(()) };
        let members = communicator.members.members().to_vec();
        let team = endpoint()?.team(members, communicator.rank, boards);
        *self = team.map_or(State::Absent, |team| State::Present(Box::new(team)));
        Ok(())
    }
}

/// Makes a call with the communicator's team; none if it has none.
#[inline]
fn with_team(
    communicator: &Communicator,
    call: impl FnOnce(&mut Endpoint, &mut Team) -> Result,
) -> Option<Result> {
    // A user's operation that calls back comes here while the endpoint is held, and is told so.
    if let Err(failure) = endpoint() {
        return Some(Err(failure));
    }
    let mut state = communicator.team.0.borrow_mut();
    let team = match state.team(communicator) {
        Ok(team) => team.filter(|team| team.size() <= MOST_MEMBERS)?,
        Err(failure) => return Some(Err(failure)),
    };
    // Whoever still waits for this rank's messages is told that it has left, not that it makes another call.
    if !process().leaving.get() {
        team.count_call();
    }
    match endpoint() {
        Ok(mut endpoint) => Some(call(&mut endpoint, team)),
        Err(failure) => Some(Err(failure)),
    }
}

/// A user's memory as one piece: itself, or a copy.
struct Piece<'a> {
    memory: &'a Memory,
    copy: Option<Vec<u8>>,
}

impl<'a> Piece<'a> {
    /// Memory whose data are wanted.
    unsafe fn filled(memory: &'a Memory) -> Self {
        let copy = memory.in_one_piece().is_none().then(|| memory.packed());
        Piece { memory, copy }
    }

    /// Memory that only gets data.
    fn room(memory: &'a Memory) -> Self {
        let copy = memory.in_one_piece().is_none().then(|| vec![0; memory.bytes()]);
        Piece { memory, copy }
    }

    fn start(&mut self) -> *mut u8 {
        match &mut self.copy {
            Some(copy) => copy.as_mut_ptr(),
            None => self.memory.in_one_piece().expect("else it was copied"),
        }
    }

    /// Puts what the copy got into the user's memory.
    unsafe fn deliver(self) {
        if let Some(copy) = &self.copy {
            self.memory.unpack(copy.as_ptr(), copy.len());
        }
    }
}

/// Fails if a rank's own block has another length than the blocks of all. The rank goes through the call all the same, as if
/// its block were in its place: the others count on it, and their next call too.
fn check_block(own: Option<&Memory>, blocks: usize, each: usize) -> Result {
    let found = own.map_or(each, |memory| memory.bytes() / blocks);
    let what = "bytes of this rank's own block where the blocks of all have";
    ensure!(found == each, ERR_TRUNCATE, "{found} {what} {each}");
    Ok(())
}

/// The same where all members look at each other's lengths: then the others fail too.
fn check_block_before_all(
    team: &mut Team,
    own: Option<&Memory>,
    blocks: usize,
    each: usize,
) -> Result {
    let checked = check_block(own, blocks, each);
    if let (Err(_), Some(own)) = (&checked, own) {
        team.misstate(own.bytes() / blocks);
    }
    checked
}

pub(super) fn barrier(communicator: &Communicator) -> Option<Result> {
    with_team(communicator, |endpoint, team| Ok(endpoint.barrier(team)?))
}

pub(super) unsafe fn broadcast(
    communicator: &Communicator,
    root: usize,
    memory: &Memory,
) -> Option<Result> {
    with_team(communicator, |endpoint, team| {
        if communicator.rank == root {
            let mut piece = Piece::filled(memory);
            endpoint.broadcast(team, root, piece.start(), memory.bytes())?;
            return Ok(());
        }
        let mut piece = Piece::room(memory);
        endpoint.broadcast(team, root, piece.start(), memory.bytes())?;
        piece.deliver();
        Ok(())
    })
}

/// `mine` is none where this rank's block is in its place; `all` is none away from the root.
pub(super) unsafe fn gather(
    communicator: &Communicator,
    root: usize,
    mine: Option<&Memory>,
    all: Option<&Memory>,
) -> Option<Result> {
    with_team(communicator, |endpoint, team| {
        let mut own = mine.map(|memory| Piece::filled(memory));
        let start = own.as_mut().map_or(std::ptr::null(), |piece| piece.start().cast_const());
        let Some(all) = all else {
            let each = mine.map_or(0, Memory::bytes);
            endpoint.gather(team, root, start, std::ptr::null_mut(), each)?;
            return Ok(());
        };
        let each = all.bytes() / team.size();
        let checked = check_block(mine, 1, each);
        let start = if checked.is_ok() { start } else { std::ptr::null() };
        let mut room = if mine.is_none() { Piece::filled(all) } else { Piece::room(all) };
        let outcome = endpoint.gather(team, root, start, room.start(), each);
        checked?;
        outcome?;
        room.deliver();
        Ok(())
    })
}

/// `mine` is none where this rank's block stays in its place; `all` is none away from the root.
pub(super) unsafe fn scatter(
    communicator: &Communicator,
    root: usize,
    all: Option<&Memory>,
    mine: Option<&Memory>,
) -> Option<Result> {
    with_team(communicator, |endpoint, team| {
        let mut own = mine.map(Piece::room);
        let start = own.as_mut().map_or(std::ptr::null_mut(), Piece::start);
        let mut from = all.map(|memory| Piece::filled(memory));
        let each = match all {
            Some(all) => all.bytes() / team.size(),
            None => mine.map_or(0, Memory::bytes),
        };
        let checked = check_block(mine, 1, each);
        let start = if checked.is_ok() { start } else { std::ptr::null_mut() };
        let blocks = from.as_mut().map_or(std::ptr::null(), |piece| piece.start().cast_const());
        let outcome = endpoint.scatter(team, root, blocks, start, each);
        checked?;
        outcome?;
        if let Some(own) = own {
            own.deliver();
        }
        Ok(())
    })
}

/// `mine` is none where this rank's block is in its place.
pub(super) unsafe fn allgather(
    communicator: &Communicator,
    mine: Option<&Memory>,
    all: &Memory,
) -> Option<Result> {
    with_team(communicator, |endpoint, team| {
        let each = all.bytes() / team.size();
        let checked = check_block_before_all(team, mine, 1, each);
        let mut own = mine.filter(|_| checked.is_ok()).map(|memory| Piece::filled(memory));
        let start = own.as_mut().map_or(std::ptr::null(), |piece| piece.start().cast_const());
        let mut room = if own.is_none() { Piece::filled(all) } else { Piece::room(all) };
        let outcome = endpoint.allgather(team, start, room.start(), each);
        checked?;
        outcome?;
        room.deliver();
        Ok(())
    })
}

/// `from` is none where the blocks are in the place of those that come.
pub(super) unsafe fn all_to_all(
    communicator: &Communicator,
    from: Option<&Memory>,
    to: &Memory,
) -> Option<Result> {
    with_team(communicator, |endpoint, team| {
        let each = to.bytes() / team.size();
        let blocks = team.size();
        let checked = check_block_before_all(team, from, blocks, each);
        let mut source = from.filter(|_| checked.is_ok()).map(|memory| Piece::filled(memory));
        let mut room = if source.is_none() { Piece::filled(to) } else { Piece::room(to) };
        let start = match &mut source {
            Some(source) => source.start().cast_const(),
            None => room.start().cast_const(),
        };
        let outcome = endpoint.all_to_all(team, start, room.start(), each);
        checked?;
        outcome?;
        room.deliver();
        Ok(())
    })
}

/// A reduction to one rank or to all; `output` is not looked at where there is no result. Elements with gaps go by messages,
/// as they lie.
pub(super) unsafe fn reduce(
    communicator: &Communicator,
    root: Option<usize>,
    reduction: &Reduction,
    input: &Memory,
    output: &Memory,
) -> Option<Result> {
    // Asked before the team is, since the call counts.
    reduction.with_combine(|_| ())?;
    with_team(communicator, |endpoint, team| {
        let (from, to, bytes) = (input.start, output.start, input.bytes());
        let outcome = reduction.with_combine(|combine| match root {
            Some(root) => endpoint.reduce(team, root, from, to, bytes, combine),
            None => endpoint.allreduce(team, from, to, bytes, combine),
        });
        outcome.unwrap_or(Ok(()))?;
        Ok(())
    })
}
