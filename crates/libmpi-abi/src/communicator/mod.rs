//! Communicators: a list of members with tags of their own.

mod attribute;
mod make;

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int};
use std::rc::Rc;

pub(crate) use attribute::*;
pub(crate) use make::*;

use crate::abi::*;
use mpi::{Attributes, Cartesian, Comparison, Group as Members, Info as Hints};

use crate::collective::{Call, Party, TeamPlace};
use crate::failure::{Error, Result, ensure, error_of};
use crate::group;
use crate::handle::{Table, is_predefined};
use crate::handler::Handler;
use crate::info;
use crate::point::SendBuffer;
use crate::process::process;
use crate::text;

/// A communicator within one group.
pub(crate) struct Communicator {
    /// Ranks of the world by rank of the communicator.
    pub(crate) members: Members,
    pub(crate) rank: usize,
    /// Whether the ranks of the world and of the communicator are the same.
    pub(crate) identity: bool,
    /// Set once all members have agreed on it.
    context: Cell<u32>,
    /// Counts the collective calls, so that messages of two that are under way together do not meet.
    sequence: Cell<u32>,
    handler: RefCell<Rc<Handler>>,
    name: RefCell<String>,
    hints: Hints,
    pub(crate) attributes: Attributes,
    pub(crate) topology: Option<Cartesian>,
    pub(crate) buffer: SendBuffer,
    pub(crate) team: TeamPlace,
}

/// Tags of messages that make a communicator for some members of another lie above those of collective calls.
const GROUP_TAGS: u32 = 1 << 31;

impl Communicator {
    fn new(members: Members, context: u32, handler: Rc<Handler>) -> Option<Self> {
        let rank = members.rank_of(process().rank.get())?;
        Some(Communicator {
            rank,
            identity: members.is_identity(),
            members,
            context: Cell::new(context),
            sequence: Cell::new(0),
            handler: RefCell::new(handler),
            name: RefCell::default(),
            hints: Hints::new(),
            attributes: Attributes::default(),
            topology: None,
            buffer: SendBuffer::default(),
            team: TeamPlace::default(),
        })
    }

    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.members.size()
    }

    /// The context of messages that programs send.
    #[inline]
    pub(crate) fn point_context(&self) -> u32 {
        2 * self.context.get()
    }

    /// A failure that belongs to it.
    pub(crate) fn failure(&self, class: c_int, message: String) -> Error {
        error_of(class, message).in_context(self.context.get())
    }

    /// The members, and a tag that only the next collective call has.
    pub(crate) fn next_party(&self, call: Call) -> Party {
        let number = self.team.count_call_by_messages(self, call);
        let tag = self.sequence.get();
        self.sequence.set((tag + 1) % GROUP_TAGS);
        Party {
            members: self.members.clone(),
            rank: self.rank,
            context: 2 * self.context.get() + 1,
            tag,
            number,
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
        self.members.rank_of(member).unwrap_or(member)
    }

    /// The rank of the world behind a rank here.
    #[inline]
    pub(crate) fn member(&self, rank: c_int) -> Result<usize> {
        let member = usize::try_from(rank).ok().and_then(|rank| self.members.members().get(rank));
        member.copied().ok_or_else(|| {
            error_of(ERR_RANK, format!("rank {rank} of a communicator of {}", self.size()))
        })
    }

    /// A root argument.
    pub(crate) fn root(&self, root: c_int) -> Result<usize> {
        let known = usize::try_from(root).ok().filter(|&root| root < self.size());
        known.ok_or_else(|| {
            error_of(ERR_ROOT, format!("root {root} of a communicator of {}", self.size()))
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
        error_of(ERR_COMM, what)
    })
}

/// The communicator of the messages with a context.
pub(crate) fn of_messages(context: u32) -> Option<Rc<Communicator>> {
    get(with_context(context / 2)?).ok()
}

/// The handle of the communicator with a context.
pub(crate) fn with_context(context: u32) -> Option<Comm> {
    process().communicators.borrow().find(|one| one.context.get() == context)
}

/// Makes MPI_COMM_WORLD and MPI_COMM_SELF.
pub(crate) fn predefine(table: &mut Table<Rc<Communicator>>, rank: usize, size: usize) {
    let make = |members: Members, context, name: &str| {
        let one = Communicator::new(members, context, Rc::new(Handler::Fatal));
        let one = one.expect("this process is a member");
        *one.name.borrow_mut() = name.into();
        Rc::new(one)
    };
    table.predefine(COMM_WORLD, make(Members::world(size), 0, "MPI_COMM_WORLD"));
    table.predefine(COMM_SELF, make(vec![rank].into(), 1, "MPI_COMM_SELF"));
    process().next_context.set(2);
}

pub(crate) unsafe fn free(comm: *mut Comm) -> Result {
    let one = get(*comm)?;
    ensure!(!is_predefined(*comm), ERR_COMM, "a predefined communicator");
    one.attributes.clear((*comm).0)?;
    one.buffer.flush()?;
    one.team.leave(&one)?;
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
    *result = group::comparison(match one.members.compare(&other.members) {
        Comparison::Identical if !Rc::ptr_eq(&one, &other) => Comparison::Congruent,
        found => found,
    });
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
    Err(error_of(ERR_COMM, "not an intercommunicator"))
}

pub(crate) unsafe fn remote_group(comm: Comm, _group: *mut Group) -> Result {
    get(comm)?;
    Err(error_of(ERR_COMM, "not an intercommunicator"))
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
    one.hints.set_all(&*info::get_object(info)?);
    Ok(())
}

pub(crate) unsafe fn get_info(comm: Comm, info: *mut Info) -> Result {
    *info = info::make(get(comm)?.hints.clone());
    Ok(())
}

pub(crate) unsafe fn group(comm: Comm, group: *mut Group) -> Result {
    let members = get(comm)?.members.clone();
    *group = group::make_any(members);
    Ok(())
}
