//! Groups.

use std::cell::RefCell;
use std::ffi::c_int;
use std::ops::Deref;
use std::rc::Rc;

use call_stack::CallSite;
use mpi::{Comparison, Group as Members, RankRange, SendBuffer};

use crate::abi::*;
use crate::arguments;
use crate::failure::{Result, ensure, error_of};
use crate::handle::{Objects, Table};
use crate::process;
use crate::shared::Shared;

/// The target of a group's handle.
pub(crate) struct Object {
    members: Members,
    /// Buffer for buffered sends in communicators that are created from it: its session's.
    pub(crate) send_buffer: Option<Rc<SendBuffer>>,
}

impl Deref for Object {
    type Target = Members;

    fn deref(&self) -> &Members {
        &self.members
    }
}

/// All groups.
static GROUPS: Objects<Object> = Shared::new(|| {
    let mut table = Table::new();
    table.predefine(GROUP_EMPTY, Rc::new(Object { members: Members::empty(), send_buffer: None }));
    RefCell::new(table)
});

/// Returns the group of a handle.
pub(crate) fn get(group: Group) -> Result<Rc<Object>> {
    GROUPS.get(group).ok_or_else(|| error_of(ERR_GROUP, "not a group"))
}

/// Returns the calls that have made the groups of the program which are not freed.
pub(crate) fn makers() -> Vec<CallSite> {
    GROUPS.makers()
}

/// Returns a new handle for these members, which must be freed separately.
pub(crate) fn make_any(members: Members) -> Group {
    GROUPS.add(Rc::new(Object { members, send_buffer: None }))
}

/// Returns a new handle for the members of a session, with its buffer.
pub(crate) fn make_of_session(members: Members, send_buffer: Rc<SendBuffer>) -> Group {
    GROUPS.add(Rc::new(Object { members, send_buffer: Some(send_buffer) }))
}

/// Returns a handle for these members, which were derived from another group's.
fn make(members: Members, of: &Object) -> Group {
    let send_buffer = of.send_buffer.clone();
    if members.is_empty() {
        GROUP_EMPTY
    } else {
        GROUPS.add(Rc::new(Object { members, send_buffer }))
    }
}

pub(crate) unsafe fn free(group: *mut Group) -> Result {
    get(*group)?;
    GROUPS.remove(*group);
    *group = GROUP_NULL;
    Ok(())
}

pub(crate) unsafe fn size(group: Group, size: *mut c_int) -> Result {
    *size = get(group)?.size() as c_int;
    Ok(())
}

fn or_undefined(rank: Option<usize>) -> c_int {
    rank.map_or(UNDEFINED, |rank| rank as c_int)
}

pub(crate) unsafe fn rank(group: Group, rank: *mut c_int) -> Result {
    *rank = or_undefined(get(group)?.rank_of(process::rank()));
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
    let ranks = arguments::array(ranks, count, "ranks")?;
    ensure!(!translated.is_null() || ranks.is_empty(), ERR_ARG, "the result is a null pointer");
    for (index, &rank) in ranks.iter().enumerate() {
        let there = match rank {
            PROC_NULL => PROC_NULL,
            _ => or_undefined(from.translate(i64::from(rank), &to)?),
        };
        *translated.add(index) = there;
    }
    Ok(())
}

/// Returns C's number of a comparison.
pub(crate) fn comparison(found: Comparison) -> c_int {
    match found {
        Comparison::Identical => IDENT,
        Comparison::Congruent => CONGRUENT,
        Comparison::Similar => SIMILAR,
        Comparison::Unequal => UNEQUAL,
    }
}

pub(crate) unsafe fn compare(one: Group, other: Group, result: *mut c_int) -> Result {
    *result = comparison(get(one)?.compare(&*get(other)?));
    Ok(())
}

/// The set operation on two groups.
pub(crate) enum Set {
    Union,
    Intersection,
    Difference,
}

pub(crate) unsafe fn combine(one: Group, other: Group, new: *mut Group, set: Set) -> Result {
    let (one, other) = (get(one)?, get(other)?);
    let members = match set {
        Set::Union => one.union(&other),
        Set::Intersection => one.intersection(&other),
        Set::Difference => one.difference(&other),
    };
    *new = make(members, &one);
    Ok(())
}

/// Inclusion or exclusion of the named ranks.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Take {
    These,
    Others,
}

fn choose(group: Group, ranks: &[i64], take: Take) -> Result<Group> {
    let old = get(group)?;
    let members = match take {
        Take::These => old.include(ranks)?,
        Take::Others => old.exclude(ranks)?,
    };
    Ok(make(members, &old))
}

pub(crate) unsafe fn pick(
    group: Group,
    count: c_int,
    ranks: *const c_int,
    new: *mut Group,
    take: Take,
) -> Result {
    let ranks = arguments::array(ranks, count, "ranks")?;
    let ranks: Vec<i64> = ranks.iter().map(|&rank| i64::from(rank)).collect();
    *new = choose(group, &ranks, take)?;
    Ok(())
}

pub(crate) unsafe fn pick_ranges(
    group: Group,
    count: c_int,
    ranges: *mut [c_int; 3],
    new: *mut Group,
    take: Take,
) -> Result {
    let ranges = arguments::array(ranges.cast_const(), count, "ranges")?;
    let range = |range: &[c_int; 3]| {
        let [first, last, stride] = range.map(i64::from);
        RankRange { first, last, stride }
    };
    let ranges: Vec<RankRange> = ranges.iter().map(range).collect();
    let ranks = get(group)?.ranks_in(&ranges)?;
    *new = choose(group, &ranks, take)?;
    Ok(())
}
