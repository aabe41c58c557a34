//! Groups: ordered lists of ranks of the world.

use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::*;
use crate::communicator;
use crate::failure::{Error, Result, ensure, error_of};
use crate::handle::Table;
use crate::numbers;
use crate::process::process;

/// Ranks of MPI_COMM_WORLD by rank of the group.
pub(crate) type Members = Vec<usize>;

pub(crate) fn predefine(table: &mut Table<Rc<Members>>) {
    table.predefine(GROUP_EMPTY, Rc::new(Members::new()));
}

pub(crate) fn get(group: Group) -> Result<Rc<Members>> {
    let found = process().groups.borrow().get(group).cloned();
    found.ok_or_else(|| error_of(ERR_GROUP, "not a group"))
}

/// A handle for these members.
pub(crate) fn make(members: Members) -> Group {
    if members.is_empty() {
        return GROUP_EMPTY;
    }
    process().groups.borrow_mut().add(Rc::new(members))
}

/// This process's rank among `members`.
pub(crate) fn my_rank(members: &Members) -> Option<usize> {
    members.iter().position(|&member| member == process().rank.get())
}

pub(crate) unsafe fn of_communicator(comm: Comm, group: *mut Group) -> Result {
    let members = communicator::get(comm)?.members.clone();
    *group = process().groups.borrow_mut().add(members);
    Ok(())
}

pub(crate) unsafe fn free(group: *mut Group) -> Result {
    get(*group)?;
    process().groups.borrow_mut().remove(*group);
    *group = GROUP_NULL;
    Ok(())
}

pub(crate) unsafe fn size(group: Group, size: *mut c_int) -> Result {
    *size = get(group)?.len() as c_int;
    Ok(())
}

pub(crate) unsafe fn rank(group: Group, rank: *mut c_int) -> Result {
    *rank = my_rank(&*get(group)?).map_or(UNDEFINED, |rank| rank as c_int);
    Ok(())
}

pub(crate) unsafe fn translate_ranks(
    from: Group,
    count: c_int,
    ranks: *const c_int,
    to: Group,
    translated: *mut c_int,
) -> Result {
    let (from, to) = (get(from)?, get(to)?);
    let ranks = numbers::array(ranks, count, "ranks")?;
    ensure!(!translated.is_null() || ranks.is_empty(), ERR_ARG, "the result is a null pointer");
    for (index, &rank) in ranks.iter().enumerate() {
        *translated.add(index) = if rank == PROC_NULL {
            PROC_NULL
        } else {
            let member = usize::try_from(rank).ok().and_then(|rank| from.get(rank));
            let member = member.ok_or_else(|| no_rank(rank, &from))?;
            to.iter().position(|one| one == member).map_or(UNDEFINED, |rank| rank as c_int)
        };
    }
    Ok(())
}

fn no_rank(rank: c_int, members: &Members) -> Error {
    error_of(ERR_RANK, format!("rank {rank} of a group of {}", members.len()))
}

/// How two lists of members compare.
pub(crate) fn compare_members(one: &Members, other: &Members) -> c_int {
    if one == other {
        return IDENT;
    }
    let sorted = |members: &Members| {
        let mut sorted = members.clone();
        sorted.sort_unstable();
        sorted
    };
    if sorted(one) == sorted(other) { SIMILAR } else { UNEQUAL }
}

pub(crate) unsafe fn compare(one: Group, other: Group, result: *mut c_int) -> Result {
    *result = compare_members(&*get(one)?, &*get(other)?);
    Ok(())
}

/// What to do with two groups.
pub(crate) enum Set {
    Union,
    Intersection,
    Difference,
}

pub(crate) unsafe fn combine(one: Group, other: Group, new: *mut Group, set: Set) -> Result {
    let (one, other) = (get(one)?, get(other)?);
    let mut members = one.to_vec();
    match set {
        Set::Union => members.extend(other.iter().filter(|member| !one.contains(member))),
        Set::Intersection => members.retain(|member| other.contains(member)),
        Set::Difference => members.retain(|member| !other.contains(member)),
    }
    *new = make(members);
    Ok(())
}

/// Whether the ranks that are named are in or out.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Take {
    These,
    Others,
}

fn choose(group: Group, ranks: &[c_int], take: Take) -> Result<Group> {
    let members = get(group)?;
    let mut named = Vec::new();
    for &rank in ranks {
        let index = usize::try_from(rank).ok().filter(|&rank| rank < members.len());
        let index = index.ok_or_else(|| no_rank(rank, &members))?;
        ensure!(!named.contains(&index), ERR_RANK, "rank {rank} is named twice");
        named.push(index);
    }
    Ok(make(match take {
        Take::These => named.into_iter().map(|index| members[index]).collect(),
        Take::Others => {
            let kept = (0..members.len()).filter(|index| !named.contains(index));
            kept.map(|index| members[index]).collect()
        }
    }))
}

pub(crate) unsafe fn pick(
    group: Group,
    count: c_int,
    ranks: *const c_int,
    new: *mut Group,
    take: Take,
) -> Result {
    *new = choose(group, numbers::array(ranks, count, "ranks")?, take)?;
    Ok(())
}

pub(crate) unsafe fn pick_ranges(
    group: Group,
    count: c_int,
    ranges: *mut [c_int; 3],
    new: *mut Group,
    take: Take,
) -> Result {
    let mut ranks = Vec::new();
    for &[first, last, stride] in numbers::array(ranges.cast_const(), count, "ranges")? {
        ensure!(stride != 0, ERR_ARG, "a range with stride 0");
        let mut rank = first;
        while if stride > 0 { rank <= last } else { rank >= last } {
            ranks.push(rank);
            rank += stride;
        }
    }
    *new = choose(group, &ranks, take)?;
    Ok(())
}
