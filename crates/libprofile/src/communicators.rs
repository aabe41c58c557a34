//! Communicators and windows: the ranks of MPI_COMM_WORLD of their ranks, and a number for each that is the same at all
//! members.

use std::collections::HashMap;
use std::ffi::c_int;
use std::ptr::null_mut;
use std::rc::Rc;

use profile::NOBODY;
use profile::layout::{communicator, head, start};

use crate::abi::*;
use crate::mapped::Mapped;
use crate::mpi;
use crate::neighbours;
use crate::table::Table;

/// Index of a communicator that found no room in the memory's table.
const NO_ROOM: u16 = u16::MAX;

/// A communicator or window.
pub(crate) struct Communicator {
    /// Its index in the memory's table.
    pub(crate) index: u16,
    /// The ranks of the group that messages go to, as ranks of the world; `None` if they are the same.
    ranks: Option<Vec<u32>>,
    /// Number of members of this rank's group.
    pub(crate) size: u32,
    /// This rank in that group; 0 in a window.
    pub(crate) rank: c_int,
    /// True if messages go to another group.
    pub(crate) is_inter: bool,
    /// Number of collectives that were begun in it.
    pub(crate) collectives: u64,
    /// Its neighbours, if they were needed.
    neighbours: Option<Rc<Neighbours>>,
}

/// The neighbours of a rank in a communicator's topology, as ranks of the world; [`NOBODY`] beyond an edge.
pub(crate) struct Neighbours {
    pub(crate) sources: Vec<u32>,
    pub(crate) destinations: Vec<u32>,
}

/// All communicators, or all windows.
pub(crate) struct Communicators {
    table: Table,
    all: Vec<Communicator>,
    /// The last handle that was looked up, and its place.
    last: (usize, usize),
    /// Number of communicators of each group. All members create them in the same order, so the number distinguishes
    /// them.
    of_group: HashMap<u64, u64>,
}

impl Communicator {
    /// Returns the rank of the world, or [`NOBODY`] for a rank without one.
    #[inline]
    pub(crate) fn world_rank(&self, rank: c_int) -> u32 {
        match (&self.ranks, usize::try_from(rank)) {
            (_, Err(_)) => NOBODY,
            (None, Ok(rank)) => rank as u32,
            (Some(ranks), Ok(rank)) => ranks.get(rank).copied().unwrap_or(NOBODY),
        }
    }

    /// Returns the number of ranks that a collective exchanges data with.
    pub(crate) fn peers(&self) -> u32 {
        match &self.ranks {
            Some(ranks) if self.is_inter => ranks.len() as u32,
            _ => self.size,
        }
    }

    /// Returns the neighbours. The first call reads them from the library.
    pub(crate) fn neighbours(&mut self, comm: Comm) -> Rc<Neighbours> {
        if let Some(at) = &self.neighbours {
            return at.clone();
        }
        let (sources, destinations) = neighbours::of(comm, self.rank);
        let world = |ranks: Vec<c_int>| ranks.into_iter().map(|one| self.world_rank(one)).collect();
        let (sources, destinations) = (world(sources), world(destinations));
        let found = Rc::new(Neighbours { sources, destinations });
        self.neighbours = Some(found.clone());
        found
    }

    /// Returns the neighbours, if they were needed before.
    pub(crate) fn known_neighbours(&self) -> Option<Rc<Neighbours>> {
        self.neighbours.clone()
    }
}

impl Communicators {
    pub(crate) fn new() -> Self {
        let last = (usize::MAX, 0);
        Communicators { table: Table::new(), all: Vec::new(), last, of_group: HashMap::new() }
    }

    /// Returns the place of a handle. Adds the handle if it is new.
    #[inline]
    pub(crate) fn place(
        &mut self,
        handle: usize,
        mapped: &mut Mapped,
        members: fn(usize) -> Members,
    ) -> usize {
        if self.last.0 != handle {
            let place = match self.table.get(handle) {
                Some(place) => place as usize,
                None => self.add(handle, mapped, members(handle)),
            };
            self.last = (handle, place);
        }
        self.last.1
    }

    #[inline]
    pub(crate) fn at(&mut self, place: usize) -> &mut Communicator {
        &mut self.all[place]
    }

    /// Adds a handle.
    #[cold]
    pub(crate) fn add(&mut self, handle: usize, mapped: &mut Mapped, members: Members) -> usize {
        let count = self.of_group.entry(members.number).or_insert(0);
        *count += 1;
        let number = mixed(members.number, *count);
        let total = mapped.read(head::COMMUNICATORS) as usize;
        let mut index = NO_ROOM;
        if total < communicator::MOST {
            let at = start::COMMUNICATORS + total * communicator::WORDS;
            mapped.write(at, number);
            mapped.write(at + 1, u64::from(members.total));
            mapped.write(head::COMMUNICATORS, total as u64 + 1);
            index = total as u16;
        }
        let Members { ranks, size, rank, is_inter, .. } = members;
        self.all.push(Communicator {
            index,
            ranks,
            size,
            rank,
            is_inter,
            collectives: 0,
            neighbours: None,
        });
        let place = self.all.len() - 1;
        self.table.insert(handle, place as u32);
        place
    }

    /// Removes a handle, because it may be reused.
    pub(crate) fn remove(&mut self, handle: usize) {
        self.table.remove(handle);
        self.last.0 = usize::MAX;
    }
}

/// The members of a communicator or a window.
pub(crate) struct Members {
    /// A number for the set of all members.
    number: u64,
    /// See [`Communicator::ranks`].
    ranks: Option<Vec<u32>>,
    size: u32,
    /// Number of members of both groups.
    total: u32,
    /// See [`Communicator::rank`] and [`Communicator::is_inter`].
    rank: c_int,
    is_inter: bool,
}

/// Returns the members of a communicator.
pub(crate) fn of_communicator(comm: Comm) -> Members {
    let (mut group, mut inter, mut rank) = (0, 0, 0);
    mpi::comm_rank(comm, &mut rank);
    mpi::comm_group(comm, &mut group);
    let own = translated(group);
    mpi::comm_test_inter(comm, &mut inter);
    if inter == 0 {
        let identity = own.iter().enumerate().all(|(rank, &world)| rank as u32 == world);
        let number = own.iter().fold(mixed(0, 1), |number, &rank| mixed(number, rank.into()));
        let size = own.len() as u32;
        let ranks = (!identity).then_some(own);
        return Members { number, ranks, size, total: size, rank, is_inter: false };
    }
    mpi::comm_remote_group(comm, &mut group);
    let other = translated(group);
    // The number is the same for both groups, whichever of them is this rank's.
    let of = |ranks: &[u32]| ranks.iter().fold(1, |number, &rank| mixed(number, rank.into()));
    let number = of(&own).wrapping_add(of(&other));
    let (size, total) = (own.len() as u32, (own.len() + other.len()) as u32);
    Members { number, ranks: Some(other), size, total, rank, is_inter: true }
}

/// Returns the members of a window.
pub(crate) fn of_window(win: Win) -> Members {
    let mut group = 0;
    mpi::win_get_group(win, &mut group);
    let ranks = translated(group);
    let number = ranks.iter().fold(mixed(0, 2), |number, &rank| mixed(number, rank.into()));
    let size = ranks.len() as u32;
    Members { number, ranks: Some(ranks), size, total: size, rank: 0, is_inter: false }
}

/// Returns the ranks of a group as ranks of the world. Frees the group.
fn translated(mut group: Group) -> Vec<u32> {
    let (mut size, mut world) = (0, 0);
    mpi::group_size(group, &mut size);
    mpi::comm_group(COMM_WORLD, &mut world);
    let ranks: Vec<c_int> = (0..size).collect();
    let mut found = vec![UNDEFINED; ranks.len()];
    let place = if found.is_empty() { null_mut() } else { found.as_mut_ptr() };
    mpi::group_translate_ranks(group, size, ranks.as_ptr(), world, place);
    mpi::group_free(&mut world);
    mpi::group_free(&mut group);
    found.into_iter().map(|rank| u32::try_from(rank).unwrap_or(NOBODY)).collect()
}

fn mixed(number: u64, next: u64) -> u64 {
    let mut mixed = number.rotate_left(23) ^ next.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 27)
}
