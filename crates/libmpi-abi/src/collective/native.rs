//! Blocking collectives over memory that all members share, where a communicator has such memory.
//!
//! Whether it has is agreed upon in its first blocking collective, so all members go the same way in each. Data that do not
//! lie in one piece are packed here; the members see nothing but bytes.

use std::cell::RefCell;

use fabric_shm::{Combine, Endpoint, Team};

use super::allgather_bytes;
use crate::bindings::*;
use crate::communicator::Communicator;
use crate::datatype::Memory;
use crate::failure::{Failure, Result, ensure};
use crate::operation::Reduction;
use crate::process::{endpoint, process};

/// Communicators of more members go by messages.
const MOST_MEMBERS: usize = 32;

/// Begins the messages in which members agree on their shared memory: those of a member that is in another collective
/// must not be taken for them.
const AGREEING: [u8; 8] = *b"my board";

/// A communicator's shared memory.
#[derive(Default)]
pub(crate) struct TeamPlace(RefCell<State>);

#[derive(Default)]
enum State {
    /// No collective has asked yet.
    #[default]
    Unknown,
    Absent,
    Present(Box<Team>),
}

impl TeamPlace {
    /// Takes over the team of all ranks, if it is one for these calls.
    pub(crate) fn set(&self, team: Team) {
        let fits = (2..=MOST_MEMBERS).contains(&team.size());
        *self.0.borrow_mut() = if fits { State::Present(Box::new(team)) } else { State::Absent };
    }

    /// Counts a collective by messages.
    pub(crate) fn count_call_by_messages(&self) {
        // A user's operation that calls back comes here while the team is held, and fails a little later.
        let Ok(mut state) = self.0.try_borrow_mut() else { return };
        if let State::Present(team) = &mut *state {
            team.count_call_by_messages();
        }
    }

    /// Why a collective by messages waits in vain, if it does.
    pub(super) fn why_in_vain(&self, endpoint: &mut Endpoint) -> Option<Failure> {
        // While a call through the team is under way, that one looks.
        match &*self.0.try_borrow().ok()? {
            State::Present(team) => endpoint.why_in_vain(team).map(Failure::from),
            _ => None,
        }
    }

    /// Gives the shared memory up.
    pub(crate) fn leave(&self) -> Result {
        if let State::Present(team) = self.0.replace(State::Absent) {
            endpoint()?.leave(*team);
        }
        Ok(())
    }
}

/// Agrees with the other members on a team, if this is the first call to ask.
fn agree(communicator: &Communicator) -> Result {
    if !matches!(*communicator.team.0.borrow(), State::Unknown) {
        return Ok(());
    }
    let members = communicator.size();
    if !(2..=MOST_MEMBERS).contains(&members) {
        *communicator.team.0.borrow_mut() = State::Absent;
        return Ok(());
    }
    const NONE: u64 = u64::MAX;
    let board = endpoint()?.new_board().unwrap_or(NONE).to_ne_bytes();
    let all = allgather_bytes(&communicator.next_party(), &[AGREEING, board].concat())?;
    let (words, _) = all.as_chunks::<16>();
    let agreeing = words.iter().all(|word| word.starts_with(&AGREEING));
    ensure!(agreeing, ERR_OTHER, "another member is in another collective of this communicator");
    let board = |word: &[u8; 16]| u64::from_ne_bytes(*word.last_chunk().expect("of 16 bytes"));
    let boards: Vec<u64> = words.iter().map(board).collect();
    let team = match boards.contains(&NONE) {
        true => None,
        false => endpoint()?.team(communicator.members.to_vec(), communicator.rank, &boards),
    };
    *communicator.team.0.borrow_mut() =
        team.map_or(State::Absent, |team| State::Present(Box::new(team)));
    Ok(())
}

/// Makes a call with the communicator's team; none if it has none.
#[inline]
fn with_team(
    communicator: &Communicator,
    call: impl FnOnce(&mut Endpoint, &mut Team) -> Result,
) -> Option<Result> {
    if let Err(failure) = agree(communicator) {
        return Some(Err(failure));
    }
    // A user's operation that calls back comes here while the endpoint is held, and is told so.
    let mut endpoint = match endpoint() {
        Ok(endpoint) => endpoint,
        Err(failure) => return Some(Err(failure)),
    };
    match &mut *communicator.team.0.borrow_mut() {
        State::Present(team) => {
            // Whoever still waits for this rank's messages is told that it has left, not that it makes another call.
            if !process().leaving.get() {
                team.count_call();
            }
            Some(call(&mut endpoint, team))
        }
        _ => None,
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
    let element_bytes = input.of.size.max(1) as usize;
    if !input.of.dense || element_bytes > Combine::LONGEST_ELEMENT {
        return None;
    }
    with_team(communicator, |endpoint, team| {
        let mut apply = |left: *const u8, right: *const u8, result: *mut u8, bytes: usize| {
            // SAFETY: the team gives whole elements of this datatype in each place.
            unsafe { reduction.apply_to(left, right, result, (bytes / element_bytes) as i64) };
        };
        let combine = Combine { element_bytes, apply: &mut apply };
        let (from, to, bytes) = (input.start, output.start, input.bytes());
        match root {
            Some(root) => endpoint.reduce(team, root, from, to, bytes, combine)?,
            None => endpoint.allreduce(team, from, to, bytes, combine)?,
        }
        Ok(())
    })
}
