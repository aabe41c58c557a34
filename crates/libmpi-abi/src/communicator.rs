//! Communicators: a list of members with tags of their own.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int};
use std::rc::Rc;

use crate::attribute::{Attributes, For};
use crate::bindings::*;
use crate::collective::{self, Party, TeamPlace};
use crate::errors::Handler;
use crate::failure::{Failure, Result, ensure};
use crate::group::{self, Members};
use crate::handle::Table;
use crate::info;
use crate::point::SendBuffer;
use crate::process::process;
use crate::request::{self, Action};
use crate::text;
use crate::topology::Cartesian;

/// A communicator within one group.
pub(crate) struct Communicator {
    /// Ranks of the world by rank of the communicator.
    pub(crate) members: Rc<Members>,
    pub(crate) rank: usize,
    /// Whether the ranks of the world and of the communicator are the same.
    pub(crate) identity: bool,
    /// Set once all members have agreed on it.
    context: Cell<u32>,
    /// Counts the collective calls, so that messages of two that are under way together do not meet.
    sequence: Cell<u32>,
    handler: RefCell<Rc<Handler>>,
    name: RefCell<String>,
    hints: RefCell<Vec<(String, String)>>,
    pub(crate) attributes: Attributes,
    pub(crate) topology: Option<Cartesian>,
    pub(crate) buffer: SendBuffer,
    pub(crate) team: TeamPlace,
}

/// Tags of messages that make a communicator for some members of another lie above those of collective calls.
const GROUP_TAGS: u32 = 1 << 31;

impl Communicator {
    fn new(members: Rc<Members>, context: u32, handler: Rc<Handler>) -> Option<Self> {
        let rank = group::my_rank(&members)?;
        Some(Communicator {
            rank,
            identity: members.iter().enumerate().all(|(index, &member)| index == member),
            members,
            context: Cell::new(context),
            sequence: Cell::new(0),
            handler: RefCell::new(handler),
            name: RefCell::default(),
            hints: RefCell::default(),
            attributes: Attributes::default(),
            topology: None,
            buffer: SendBuffer::default(),
            team: TeamPlace::default(),
        })
    }

    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.members.len()
    }

    /// The context of messages that programs send.
    #[inline]
    pub(crate) fn point_context(&self) -> u32 {
        2 * self.context.get()
    }

    /// A failure that belongs to it.
    pub(crate) fn failure(&self, class: c_int, message: String) -> Failure {
        Failure::new(class, message).in_context(self.context.get())
    }

    /// The members, and a tag that only the next collective call has.
    pub(crate) fn next_party(&self) -> Party {
        let tag = self.sequence.get();
        self.sequence.set((tag + 1) % GROUP_TAGS);
        Party {
            members: self.members.clone(),
            rank: self.rank,
            context: 2 * self.context.get() + 1,
            tag,
        }
    }

    pub(crate) fn handler(&self) -> Rc<Handler> {
        self.handler.borrow().clone()
    }

    pub(crate) fn set_handler(&self, handler: Rc<Handler>) {
        *self.handler.borrow_mut() = handler;
    }

    /// The rank here of a rank of the world.
    #[inline]
    pub(crate) fn rank_of(&self, member: usize) -> usize {
        if self.identity {
            return member;
        }
        self.members.iter().position(|&one| one == member).unwrap_or(member)
    }

    /// The rank of the world behind a rank here.
    #[inline]
    pub(crate) fn member(&self, rank: c_int) -> Result<usize> {
        let member = usize::try_from(rank).ok().and_then(|rank| self.members.get(rank));
        member.copied().ok_or_else(|| {
            Failure::new(ERR_RANK, format!("rank {rank} of a communicator of {}", self.size()))
        })
    }

    /// A root argument.
    pub(crate) fn root(&self, root: c_int) -> Result<usize> {
        let known = usize::try_from(root).ok().filter(|&root| root < self.size());
        known.ok_or_else(|| {
            Failure::new(ERR_ROOT, format!("root {root} of a communicator of {}", self.size()))
        })
    }
}

/// The communicator behind a handle.
#[inline]
pub(crate) fn get(comm: Comm) -> Result<Rc<Communicator>> {
    let found = process().communicators.borrow().get(comm).cloned();
    found.ok_or_else(|| {
        let before = process().size.get() == 0;
        let what = if before { "MPI_Init has not been called" } else { "not a communicator" };
        Failure::new(ERR_COMM, what)
    })
}

/// The handle of the communicator with a context.
pub(crate) fn with_context(context: u32) -> Option<Comm> {
    process().communicators.borrow().find(|one| one.context.get() == context)
}

/// Makes MPI_COMM_WORLD and MPI_COMM_SELF.
pub(crate) fn predefine(table: &mut Table<Rc<Communicator>>, rank: usize, size: usize) {
    let make = |members: Members, context, name: &str| {
        let one = Communicator::new(Rc::new(members), context, Rc::new(Handler::Fatal));
        let one = one.expect("this process is a member");
        *one.name.borrow_mut() = name.into();
        Rc::new(one)
    };
    table.predefine(COMM_WORLD, make((0..size).collect(), 0, "MPI_COMM_WORLD"));
    table.predefine(COMM_SELF, make(vec![rank], 1, "MPI_COMM_SELF"));
    process().next_context.set(2);
}

fn register(communicator: Option<Communicator>) -> Comm {
    match communicator {
        Some(one) => process().communicators.borrow_mut().add(Rc::new(one)),
        None => COMM_NULL,
    }
}

/// The context that the first member of a party gives out, for the others to take: one that no rank has given out before,
/// however many agreements are under way and in whichever order they end.
fn offer(party: &Party) -> u32 {
    let process = process();
    let number = process.next_context.get();
    if party.rank == 0 {
        process.next_context.set(number + 1);
    }
    number * process.size.get() as u32 + process.rank.get() as u32
}

/// Agrees on a context.
fn agree(party: &Party) -> Result<u32> {
    let all = collective::allgather_bytes(party, &offer(party).to_ne_bytes())?;
    Ok(offered(&all))
}

/// The offer of the first member, which is all that counts.
fn offered(all: &[u8]) -> u32 {
    u32::from_ne_bytes([all[0], all[1], all[2], all[3]])
}

/// A communicator of the same members, with what a duplicate keeps, that has no context yet.
fn copy(comm: Comm, old: &Communicator, hints: Vec<(String, String)>) -> Result<Communicator> {
    let mut new = Communicator::new(old.members.clone(), 0, old.handler())
        .expect("a member of the old communicator is one of the new");
    new.attributes = old.attributes.copy(For::Communicator, comm.0)?;
    new.topology = old.topology.clone();
    *new.hints.borrow_mut() = hints;
    Ok(new)
}

/// Which hints a duplicate has.
#[derive(Clone, Copy)]
pub(crate) enum Hints {
    TheOldOnes,
    These(Info),
}

impl Hints {
    fn of(self, old: &Communicator) -> Result<Vec<(String, String)>> {
        match self {
            Hints::TheOldOnes => Ok(old.hints.borrow().clone()),
            Hints::These(info) => info::pairs_or_none(info),
        }
    }
}

fn dup_as(comm: Comm, hints: Hints) -> Result<Comm> {
    let old = get(comm)?;
    let new = copy(comm, &old, hints.of(&old)?)?;
    new.context.set(agree(&old.next_party())?);
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
    let party = old.next_party();
    let mine = offer(&party).to_ne_bytes().to_vec();
    let schedule = collective::gather_then(party, mine, move |all| {
        copied.context.set(offered(all));
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
    let context = agree(party)?;
    Ok(Communicator::new(Rc::new(members), context, old.handler()))
}

pub(crate) unsafe fn create(comm: Comm, group: Group, new: *mut Comm) -> Result {
    let (old, members) = (get(comm)?, group::get(group)?);
    let inside = members.iter().all(|member| old.members.contains(member));
    ensure!(inside, ERR_GROUP, "the group has members that the communicator lacks");
    *new = register(create_for(&old, members.to_vec(), &old.next_party())?);
    Ok(())
}

/// Only the members of the group call it, so the agreement has a tag of the program's choice.
pub(crate) unsafe fn create_group(comm: Comm, group: Group, tag: c_int, new: *mut Comm) -> Result {
    let (old, members) = (get(comm)?, group::get(group)?);
    ensure!(tag >= 0, ERR_TAG, "tag {tag}");
    let inside = members.iter().all(|member| old.members.contains(member));
    ensure!(inside, ERR_GROUP, "the group has members that the communicator lacks");
    let Some(rank) = group::my_rank(&members) else {
        *new = COMM_NULL;
        return Ok(());
    };
    let context = 2 * old.context.get() + 1;
    let party = Party { members: members.clone(), rank, context, tag: GROUP_TAGS | tag as u32 };
    *new = register(create_for(&old, members.to_vec(), &party)?);
    Ok(())
}

/// The members of the same colour, by key and then by old rank.
fn split_as(old: &Communicator, colour: c_int, key: c_int) -> Result<Option<Communicator>> {
    let party = old.next_party();
    let mut mine = offer(&party).to_ne_bytes().to_vec();
    mine.extend(colour.to_ne_bytes());
    mine.extend(key.to_ne_bytes());
    let all = collective::allgather_bytes(&party, &mine)?;
    let context = offered(&all);
    if colour == UNDEFINED {
        return Ok(None);
    }
    let number = |bytes: &[u8]| c_int::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let mut same: Vec<(c_int, usize)> = Vec::new();
    for (rank, words) in all.chunks(12).enumerate() {
        if number(&words[4..8]) == colour {
            same.push((number(&words[8..12]), rank));
        }
    }
    same.sort_unstable();
    let members = same.into_iter().map(|(_, rank)| old.members[rank]).collect();
    Ok(Communicator::new(Rc::new(members), context, old.handler()))
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
    let hints = info::pairs_or_none(info)?;
    let asks_for_memory = hints
        .iter()
        .any(|(name, value)| name == "mpi_hw_resource_type" && value == "mpi_shared_memory");
    let colour = match split_type {
        COMM_TYPE_SHARED => 0,
        COMM_TYPE_HW_GUIDED | COMM_TYPE_RESOURCE_GUIDED if asks_for_memory => 0,
        COMM_TYPE_HW_UNGUIDED | COMM_TYPE_HW_GUIDED | COMM_TYPE_RESOURCE_GUIDED | UNDEFINED => {
            UNDEFINED
        }
        _ => return Err(Failure::new(ERR_ARG, format!("split type {split_type}"))),
    };
    *new = register(split_as(&old, colour, key)?);
    Ok(())
}

pub(crate) unsafe fn free(comm: *mut Comm) -> Result {
    let one = get(*comm)?;
    ensure!(!Table::<()>::is_predefined(*comm), ERR_COMM, "a predefined communicator");
    one.attributes.clear(For::Communicator, (*comm).0)?;
    one.buffer.flush()?;
    one.team.leave()?;
    process().communicators.borrow_mut().remove(*comm);
    *comm = COMM_NULL;
    Ok(())
}

pub(crate) unsafe fn size(comm: Comm, size: *mut c_int) -> Result {
    *size = get(comm)?.size() as c_int;
    Ok(())
}

pub(crate) unsafe fn rank(comm: Comm, rank: *mut c_int) -> Result {
    *rank = get(comm)?.rank as c_int;
    Ok(())
}

pub(crate) unsafe fn compare(one: Comm, other: Comm, result: *mut c_int) -> Result {
    let (one, other) = (get(one)?, get(other)?);
    *result = match group::compare_members(&one.members, &other.members) {
        IDENT if !Rc::ptr_eq(&one, &other) => CONGRUENT,
        other => other,
    };
    Ok(())
}

/// There are no intercommunicators.
pub(crate) unsafe fn test_inter(comm: Comm, flag: *mut c_int) -> Result {
    get(comm)?;
    *flag = 0;
    Ok(())
}

pub(crate) unsafe fn remote_size(comm: Comm, _size: *mut c_int) -> Result {
    get(comm)?;
    Err(Failure::new(ERR_COMM, "not an intercommunicator"))
}

pub(crate) unsafe fn remote_group(comm: Comm, _group: *mut Group) -> Result {
    get(comm)?;
    Err(Failure::new(ERR_COMM, "not an intercommunicator"))
}

/// Nobody spawned this process.
pub(crate) unsafe fn get_parent(parent: *mut Comm) -> Result {
    *parent = COMM_NULL;
    Ok(())
}

pub(crate) unsafe fn set_name(comm: Comm, name: *const c_char) -> Result {
    let one = get(comm)?;
    *one.name.borrow_mut() = text::read(name)?;
    Ok(())
}

pub(crate) unsafe fn get_name(comm: Comm, name: *mut c_char, length: *mut c_int) -> Result {
    if comm == COMM_NULL {
        text::write("MPI_COMM_NULL", name, MAX_OBJECT_NAME, length);
        return Ok(());
    }
    let one = get(comm)?;
    text::write(&one.name.borrow(), name, MAX_OBJECT_NAME, length);
    Ok(())
}

pub(crate) unsafe fn set_info(comm: Comm, info: Info) -> Result {
    let one = get(comm)?;
    let new = info::get_object(info)?.0.borrow().clone();
    let mut hints = one.hints.borrow_mut();
    for (name, value) in new {
        match hints.iter_mut().find(|(known, _)| *known == name) {
            Some(pair) => pair.1 = value,
            None => hints.push((name, value)),
        }
    }
    Ok(())
}

pub(crate) unsafe fn get_info(comm: Comm, info: *mut Info) -> Result {
    *info = info::make(get(comm)?.hints.borrow().clone());
    Ok(())
}
