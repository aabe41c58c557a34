//! Making communicators: duplicates, parts, and those of a group.

use std::ffi::c_int;
use std::rc::Rc;

use super::{Communicator, GROUP_TAGS, get};
use crate::abi::*;
use mpi::{Cartesian, Group as Members, Info as Pairs};

use crate::collective::{self, Call, Kind, Party};
use crate::failure::{Result, ensure, error_of};
use crate::group;
use crate::info;
use crate::process::process;
use crate::request::{self, Action};

fn register(communicator: Option<Communicator>) -> Comm {
    match communicator {
        Some(one) => process().communicators.borrow_mut().add(Rc::new(one)),
        None => COMM_NULL,
    }
}

/// What a member gives for a new communicator.
#[derive(Clone, Copy)]
struct Offer {
    /// That of the first member of a party counts: one that no rank has given out before, however many agreements are under
    /// way and in whichever order they end.
    context: u32,
    /// Its part of the shared memory, if it becomes a member of a communicator of several.
    board: u64,
}

const OFFER_BYTES: usize = 12;

impl Offer {
    fn new(party: &Party) -> Self {
        let process = process();
        let number = process.next_context.get();
        if party.rank == 0 {
            process.next_context.set(number + 1);
        }
        let context = number * process.size.get() as u32 + process.rank.get() as u32;
        let board = match party.members.size() {
            1 => collective::NO_BOARD,
            _ => collective::new_board(),
        };
        Offer { context, board }
    }

    fn to_bytes(self) -> Vec<u8> {
        [&self.context.to_ne_bytes()[..], &self.board.to_ne_bytes()].concat()
    }
}

/// What all members of a party gave.
struct Agreed {
    context: u32,
    boards: Vec<u64>,
}

impl Agreed {
    /// From as many bytes of each, which begin with an offer.
    fn read(all: &[u8], each: usize) -> Self {
        let number = |bytes: &[u8]| u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let board =
            |bytes: &[u8]| u64::from(number(&bytes[4..])) | u64::from(number(&bytes[8..])) << 32;
        Agreed { context: number(all), boards: all.chunks(each).map(board).collect() }
    }

    fn with(party: &Party) -> Result<Self> {
        let all = collective::allgather_bytes(party, &Offer::new(party).to_bytes())?;
        Ok(Agreed::read(&all, OFFER_BYTES))
    }

    /// Tells a new communicator its context, and its members' boards where there is something to share. `party` made it.
    fn tell(self, party: &Party, new: Option<&Communicator>) {
        let Some(new) = new.filter(|new| new.size() > 1) else {
            collective::take_back(self.boards[party.rank]);
            new.inspect(|new| new.context.set(self.context));
            return;
        };
        new.context.set(self.context);
        let place = |member| party.members.rank_of(member);
        let boards =
            new.members.members().iter().filter_map(|&member| Some(self.boards[place(member)?]));
        new.team.agree(boards.collect());
    }
}

/// A communicator of the same members, with what a duplicate keeps, that has no context yet.
fn copy(comm: Comm, old: &Communicator, hints: Pairs) -> Result<Communicator> {
    let mut new = Communicator::new(old.members.clone(), 0, old.handler())
        .expect("a member of the old communicator is one of the new");
    new.attributes = old.attributes.copy(comm.0)?;
    new.topology = old.topology.clone();
    new.hints = hints;
    Ok(new)
}

/// Which hints a duplicate has.
#[derive(Clone, Copy)]
pub(crate) enum Hints {
    TheOldOnes,
    These(Info),
}

impl Hints {
    fn of(self, old: &Communicator) -> Result<Pairs> {
        match self {
            Hints::TheOldOnes => Ok(old.hints.clone()),
            Hints::These(info) => info::copy_or_none(info),
        }
    }
}

fn dup_as(comm: Comm, hints: Hints) -> Result<Comm> {
    let old = get(comm)?;
    let new = copy(comm, &old, hints.of(&old)?)?;
    let party = old.next_party(Call::of(Kind::Duplicate));
    Agreed::with(&party)?.tell(&party, Some(&new));
    Ok(register(Some(new)))
}

pub(crate) unsafe fn dup(comm: Comm, new: *mut Comm) -> Result {
    *new = dup_as(comm, Hints::TheOldOnes)?;
    Ok(())
}

pub(crate) unsafe fn dup_with_info(comm: Comm, info: Info, new: *mut Comm) -> Result {
    *new = dup_as(comm, Hints::These(info))?;
    Ok(())
}

/// The new communicator is there at once and may be used once the request has ended.
unsafe fn idup_as(comm: Comm, hints: Hints, new: *mut Comm, request: *mut Request) -> Result {
    let old = get(comm)?;
    let copied = Rc::new(copy(comm, &old, hints.of(&old)?)?);
    let handle = process().communicators.borrow_mut().add(copied.clone());
    let party = old.next_party(Call::of(Kind::DuplicateLater));
    let mine = Offer::new(&party).to_bytes();
    let schedule = collective::gather_then(party.clone(), mine, move |all| {
        Agreed::read(all, OFFER_BYTES).tell(&party, Some(&copied));
    });
    *new = handle;
    *request = request::register(Action::Collective(collective::start(schedule)?));
    Ok(())
}

pub(crate) unsafe fn idup(comm: Comm, new: *mut Comm, request: *mut Request) -> Result {
    idup_as(comm, Hints::TheOldOnes, new, request)
}

pub(crate) unsafe fn idup_with_info(
    comm: Comm,
    info: Info,
    new: *mut Comm,
    request: *mut Request,
) -> Result {
    idup_as(comm, Hints::These(info), new, request)
}

/// A communicator for `members`, who all call this with the same party.
fn create_for(old: &Communicator, members: Members, party: &Party) -> Result<Option<Communicator>> {
    let agreed = Agreed::with(party)?;
    let new = Communicator::new(members, 0, old.handler());
    agreed.tell(party, new.as_ref());
    Ok(new)
}

pub(crate) unsafe fn create(comm: Comm, group: Group, new: *mut Comm) -> Result {
    let (old, members) = (get(comm)?, group::get(group)?);
    let inside = members.difference(&old.members).is_empty();
    ensure!(inside, ERR_GROUP, "the group has members that the communicator lacks");
    let party = old.next_party(Call::of(Kind::Create));
    *new = register(create_for(&old, (*members).clone(), &party)?);
    Ok(())
}

/// Only the members of the group call it, so the agreement has a tag of the program's choice.
pub(crate) unsafe fn create_group(comm: Comm, group: Group, tag: c_int, new: *mut Comm) -> Result {
    let (old, members) = (get(comm)?, group::get(group)?);
    ensure!(tag >= 0, ERR_TAG, "tag {tag}");
    let inside = members.difference(&old.members).is_empty();
    ensure!(inside, ERR_GROUP, "the group has members that the communicator lacks");
    let Some(rank) = members.rank_of(process().rank.get()) else {
        *new = COMM_NULL;
        return Ok(());
    };
    let context = 2 * old.context.get() + 1;
    // Not counted: the other members of the communicator do not call this.
    let tag = GROUP_TAGS | tag as u32;
    let party = Party { members: (*members).clone(), rank, context, tag, number: 0 };
    *new = register(create_for(&old, (*members).clone(), &party)?);
    Ok(())
}

/// The members of the same colour, by key and then by old rank.
fn split_as(old: &Communicator, colour: c_int, key: c_int) -> Result<Option<Communicator>> {
    let party = old.next_party(Call::of(Kind::Split));
    let mut mine = Offer::new(&party).to_bytes();
    mine.extend(colour.to_ne_bytes());
    mine.extend(key.to_ne_bytes());
    let all = collective::allgather_bytes(&party, &mine)?;
    let agreed = Agreed::read(&all, mine.len());
    if colour == UNDEFINED {
        agreed.tell(&party, None);
        return Ok(None);
    }
    let number = |bytes: &[u8]| c_int::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let mut same: Vec<(c_int, usize)> = Vec::new();
    for (rank, words) in all.chunks(mine.len()).enumerate() {
        let words = &words[OFFER_BYTES..];
        if number(words) == colour {
            same.push((number(&words[4..]), rank));
        }
    }
    same.sort_unstable();
    let members =
        same.into_iter().map(|(_, rank)| old.members.members()[rank]).collect::<Vec<_>>().into();
    let new = Communicator::new(members, 0, old.handler());
    agreed.tell(&party, new.as_ref());
    Ok(new)
}

pub(crate) unsafe fn split(comm: Comm, colour: c_int, key: c_int, new: *mut Comm) -> Result {
    let old = get(comm)?;
    ensure!(colour >= 0 || colour == UNDEFINED, ERR_ARG, "colour {colour}");
    *new = register(split_as(&old, colour, key)?);
    Ok(())
}

/// Splits, and gives the part with a topology.
pub(crate) fn split_with(
    old: &Communicator,
    colour: c_int,
    key: c_int,
    topology: Option<Cartesian>,
) -> Result<Comm> {
    let mut new = split_as(old, colour, key)?;
    if let Some(new) = &mut new {
        new.topology = topology;
    }
    Ok(register(new))
}

/// All ranks share memory; below the machine this library knows no parts.
pub(crate) unsafe fn split_type(
    comm: Comm,
    split_type: c_int,
    key: c_int,
    info: Info,
    new: *mut Comm,
) -> Result {
    let old = get(comm)?;
    let hints = info::copy_or_none(info)?;
    let asks_for_memory = hints.get("mpi_hw_resource_type").as_deref() == Some("mpi_shared_memory");
    let colour = match split_type {
        COMM_TYPE_SHARED => 0,
        COMM_TYPE_HW_GUIDED | COMM_TYPE_RESOURCE_GUIDED if asks_for_memory => 0,
        COMM_TYPE_HW_UNGUIDED | COMM_TYPE_HW_GUIDED | COMM_TYPE_RESOURCE_GUIDED | UNDEFINED => {
            UNDEFINED
        }
        _ => return Err(error_of(ERR_ARG, format!("split type {split_type}"))),
    };
    *new = register(split_as(&old, colour, key)?);
    Ok(())
}
