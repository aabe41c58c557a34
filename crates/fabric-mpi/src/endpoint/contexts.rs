//! Contexts. Each has two communicators: one for the messages of programs, which also carries the collectives of the
//! MPI, and one for messages inside collectives.

use std::ffi::c_int;

use contract::{ContextPlace, Error, Result};

use crate::library::{Handle, Library};

/// Mask for the tags of MPI_Comm_create_group, which distinguish concurrently created groups; the smallest tag limit
/// allows 15 bits.
const GROUP_TAG_MASK: u32 = 0x7fff;

/// Open contexts by place; the first is the context of all ranks.
pub(super) struct Contexts {
    world: Context,
    others: Vec<Option<Context>>,
}

/// One open context.
pub(super) struct Context {
    number: u32,
    programs: Handle,
    collectives: Handle,
    /// `None` if ranks of the run and of the communicators are the same.
    members: Option<Members>,
}

struct Members {
    /// Ranks of the run, by rank of the communicators.
    run_ranks: Vec<u32>,
    /// Ranks of the communicators by rank of the run; `NO_MEMBER` for others.
    own_ranks: Vec<c_int>,
}

const NO_MEMBER: c_int = -1;

impl Contexts {
    pub(super) fn new(world: Context) -> Self {
        Contexts { world, others: Vec::new() }
    }

    /// Returns the context with the messages of number `context`.
    #[inline]
    pub(super) fn of_messages(&self, context: u32) -> Result<&Context> {
        if context < 2 { Ok(&self.world) } else { self.find(context / 2) }
    }

    fn find(&self, number: u32) -> Result<&Context> {
        let found = self.others.iter().flatten().find(|one| one.number == number);
        found.ok_or_else(|| Error::Unsupported {
            fabric: "this MPI".into(),
            what: format!("carry messages in context {number}, which is not open"),
        })
    }

    /// Returns the context at `place`.
    pub(super) fn at(&self, place: ContextPlace) -> Result<&Context> {
        match place {
            ContextPlace::WORLD => Ok(&self.world),
            ContextPlace(place) => {
                let found = self.others.get(place as usize - 1).and_then(Option::as_ref);
                found.ok_or(Error::UnknownRequest)
            }
        }
    }

    /// Opens a context for some ranks of the run, all of which make the same call.
    pub(super) fn open(
        &mut self,
        library: &Library,
        number: u32,
        members: &[usize],
        run_size: usize,
    ) -> Result<ContextPlace> {
        let world = self.world.programs;
        let programs = create(library, world, members, number & GROUP_TAG_MASK)?;
        let context = Context::new(library, number, programs, members, run_size)?;
        let free = self.others.iter().position(Option::is_none);
        let index = free.unwrap_or_else(|| {
            self.others.push(None);
            self.others.len() - 1
        });
        self.others[index] = Some(context);
        Ok(ContextPlace(index as u32 + 1))
    }

    /// Frees the communicators of a context. All members call it.
    pub(super) fn close(&mut self, library: &Library, place: ContextPlace) -> Result<()> {
        let index = (place.0 as usize).checked_sub(1);
        let context = index.and_then(|index| self.others.get_mut(index)?.take());
        context.map_or(Ok(()), |context| context.free(library))
    }

    /// Frees the communicators of all contexts. No call may follow.
    pub(super) fn free(&mut self, library: &Library) -> Result<()> {
        for context in std::mem::take(&mut self.others).into_iter().flatten() {
            context.free(library)?;
        }
        self.world.free(library)
    }
}

impl Context {
    /// Returns the context of all ranks of a run, whose messages use the communicator `programs`.
    pub(super) fn world(library: &Library, programs: Handle) -> Result<Self> {
        let collectives = duplicate(library, programs)?;
        Ok(Context { number: 0, programs, collectives, members: None })
    }

    fn new(
        library: &Library,
        number: u32,
        programs: Handle,
        members: &[usize],
        run_size: usize,
    ) -> Result<Self> {
        let mut own_ranks = vec![NO_MEMBER; run_size];
        for (own, &member) in members.iter().enumerate() {
            own_ranks[member] = own as c_int;
        }
        let run_ranks = members.iter().map(|&member| member as u32).collect();
        let collectives = duplicate(library, programs)?;
        let members = Some(Members { run_ranks, own_ranks });
        Ok(Context { number, programs, collectives, members })
    }

    /// Returns the communicator of the messages of number `context`.
    #[inline]
    pub(super) fn communicator(&self, context: u32) -> Handle {
        if context.is_multiple_of(2) { self.programs } else { self.collectives }
    }

    /// Returns the communicator of the MPI's collectives.
    pub(super) fn for_collectives(&self) -> Handle {
        self.programs
    }

    /// Returns the rank in the communicators that corresponds to a rank of the run.
    #[inline]
    pub(super) fn own_rank(&self, run_rank: usize) -> Result<c_int> {
        let Some(members) = &self.members else { return Ok(run_rank as c_int) };
        let found = members.own_ranks.get(run_rank).copied().filter(|&own| own != NO_MEMBER);
        let size = members.run_ranks.len();
        found.ok_or(Error::InvalidRank { rank: run_rank, size })
    }

    /// Returns the rank of the run that corresponds to a rank in the communicators.
    #[inline]
    pub(super) fn run_rank(&self, own_rank: c_int) -> u32 {
        match &self.members {
            Some(members) => members.run_ranks[own_rank as usize],
            None => own_rank as u32,
        }
    }

    fn free(&self, library: &Library) -> Result<()> {
        for mut communicator in [self.programs, self.collectives] {
            // SAFETY: both are communicators of ours, and are not used any more.
            let status = unsafe { (library.general.comm_free)(&mut communicator) };
            library.check("MPI_Comm_free", status)?;
        }
        Ok(())
    }
}

/// Returns a communicator of some ranks of `parent`, all of which make the same call.
pub(crate) fn create(
    library: &Library,
    parent: Handle,
    members: &[usize],
    tag: u32,
) -> Result<Handle> {
    let general = &library.general;
    let ranks: Vec<c_int> = members.iter().map(|&member| member as c_int).collect();
    let null = std::ptr::null_mut();
    let (mut all, mut group, mut communicator) = (null, null, null);
    let check = |what, status| library.check(what, status);
    // SAFETY: `ranks` contains the stated number of ranks of the parent; every place is live. Only the members call
    // MPI_Comm_create_group.
    unsafe {
        check("MPI_Comm_group", (general.comm_group)(parent, &mut all))?;
        let included = (general.group_incl)(all, ranks.len() as c_int, ranks.as_ptr(), &mut group);
        check("MPI_Group_incl", included)?;
        let created = (general.comm_create_group)(parent, group, tag as c_int, &mut communicator);
        check("MPI_Comm_create_group", created)?;
        check("MPI_Group_free", (general.group_free)(&mut all))?;
        check("MPI_Group_free", (general.group_free)(&mut group))?;
    }
    Ok(communicator)
}

fn duplicate(library: &Library, communicator: Handle) -> Result<Handle> {
    let mut copy = std::ptr::null_mut();
    // SAFETY: it is a communicator of ours.
    let status = unsafe { (library.general.comm_dup)(communicator, &mut copy) };
    library.check("MPI_Comm_dup", status)?;
    Ok(copy)
}
