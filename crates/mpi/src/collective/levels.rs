//! Blocking collectives of members on several hosts, in two levels: inside each host, and between the first members of
//! the hosts, their leaders. Each level is a collective of its own context, so that the one inside a host is the
//! fabric's (decision 0097).

use std::ops::Range;
use std::rc::Rc;

use collectives::{Algorithm, Blocks, Call, CallId, HostMap, LibraryCall, Manner, THRESHOLDS};
use contract::{ContextPlace, Endpoint, boards_of};

use super::agree::Agreement;
use super::blocks::lengths;
use super::{
    Allgather, AllgatherUnequal, Allreduce, Barrier, Broadcast, Collective, CollectiveWork, Gather,
    GatherUnequal, InLevels, Reduce, announce,
};
use crate::datatype::{Datatype, Kind};
use crate::engine::{Context, Levels};
use crate::error::Result;
use crate::memory::{Image, Memory};
use crate::schedule::{self, CallMemory, CollectiveContext, Schedule, Work};

/// Runs a collective in two levels. Returns `None`, at all members alike, if it goes by messages of all members.
#[cold]
pub(super) fn run<E: Endpoint + 'static>(collective: &impl CollectiveWork<E>) -> Option<Result> {
    let (context, in_levels) = (collective.context(), collective.in_levels()?);
    let hosts = context.hosts().filter(|hosts| hosts.has_levels())?;
    let Work::Call(call) = collective.work() else { return None };
    if !in_levels.fits(&call, hosts) {
        return None;
    }
    if context.levels().is_none() {
        // Boards of contexts on several hosts are those inside each.
        let is_of_use =
            boards_of(&mut *context.engine().endpoint().ok()?, ContextPlace::WORLD).is_some();
        if !is_of_use || context.count_call() < THRESHOLDS.calls_before_levels {
            return None;
        }
        if let Err(error) = make(context, hosts) {
            return Some(Err(error));
        }
    }
    // Members of another call find that this one is not in theirs.
    let _ = CollectiveContext::next(context, collective.call_id().by(Algorithm::TwoLevel));
    Some(in_levels.run_in(context.levels()?))
}

/// Makes the levels of a context, in which all members agree.
fn make<E: Endpoint + 'static>(context: &Rc<Context<E>>, hosts: &HostMap) -> Result {
    let member = |rank: usize| context.members()[rank];
    let own = hosts.number(context.rank());
    let inside = hosts.members(own).map(member).collect();
    let first = |host| hosts.members(host).next().expect("a host has members");
    let leaders = (0..hosts.hosts()).map(first).map(member).collect();
    let [inside, leaders] = [inside, leaders].map(|members| open(context, members));
    let inside = inside?.expect("a member of its host");
    context.set_levels(Levels { inside, leaders: leaders? });
    Ok(())
}

/// Opens a context of some members, which are others at the members of another host. Returns `None` to the rest.
fn open<E: Endpoint + 'static>(
    context: &Rc<Context<E>>,
    members: Vec<usize>,
) -> Result<Option<Rc<Context<E>>>> {
    let at = CollectiveContext::next(context, CallId::of_library(LibraryCall::Split));
    let opened = Agreement::on_context(&at, members.into())?;
    opened.iter().for_each(|one| one.identity().set_part_of(context.identity()));
    Ok(opened.map(Rc::new))
}

impl<E: Endpoint + 'static> InLevels<E> for Barrier<E> {
    #[allow(private_interfaces)]
    fn run_in(&self, Levels { inside, leaders }: &Levels<E>) -> Result {
        let barrier = |of: &Rc<Context<E>>| Barrier::new(of.clone()).run();
        let arrived = barrier(inside);
        let across = leaders.as_ref().map_or(Ok(()), barrier);
        arrived.and(across).and(barrier(inside))
    }
}

impl<E: Endpoint + 'static> InLevels<E> for Broadcast<E> {
    #[allow(private_interfaces)]
    fn run_in(&self, Levels { inside, leaders }: &Levels<E>) -> Result {
        let context = CollectiveWork::context(self);
        let hosts = context.hosts().expect("levels are of hosts");
        let (host, own) = (hosts.number(self.root), hosts.number(context.rank()));
        let across = |outcome: Result| match leaders {
            Some(leaders) => pass_on(leaders, host, &self.memory, outcome),
            None => outcome,
        };
        match hosts.members(own).position(|member| member == self.root) {
            // The leader gets the data with the other members of its host.
            Some(from) if from > 0 => across(pass_on(inside, from, &self.memory, Ok(()))),
            _ => pass_on(inside, 0, &self.memory, across(Ok(()))),
        }
    }
}

impl<E: Endpoint + 'static> InLevels<E> for Allreduce<E> {
    #[allow(private_interfaces)]
    fn run_in(&self, Levels { inside, leaders }: &Levels<E>) -> Result {
        let (terms, reduction) = (&self.terms, &self.terms.reduction);
        let output = terms.output.as_ref().expect("every member has room for the result");
        let leads = leaders.is_some();
        let in_place = leads && terms.input.is_same_as(output);
        let input = (!in_place).then(|| terms.input.clone());
        let result = leads.then(|| output.clone());
        let up = Reduce::new(inside.clone(), 0, reduction.clone(), input, result);
        let mut outcome = up.and_then(Collective::run);
        if let Some(leaders) = leaders {
            let across = Allreduce::new(leaders.clone(), reduction.clone(), None, output.clone());
            let across = across.and_then(|across| run_after(&across, outcome.clone()));
            outcome = outcome.and(across);
        }
        pass_on(inside, 0, output, outcome)
    }
}

impl<E: Endpoint + 'static> InLevels<E> for Allgather<E> {
    /// The blocks of a host must be consecutive.
    fn fits(&self, _call: &Call, hosts: &HostMap) -> bool {
        hosts.is_in_order()
    }

    #[allow(private_interfaces)]
    fn run_in(&self, levels: &Levels<E>) -> Result {
        let (context, all) = (CollectiveWork::context(self), &self.all);
        let blocks = Blocks::equal(context.size(), all.count() as usize / context.size());
        let own = || part(all, blocks.one(context.rank()));
        let leads = levels.leaders.is_some();
        let mine = self.mine.clone().or_else(|| (!leads).then(own));
        gather_at_all(context, levels, (mine, all), &blocks)
    }
}

impl<E: Endpoint + 'static> InLevels<E> for AllgatherUnequal<E> {
    fn fits(&self, call: &Call, hosts: &HostMap) -> bool {
        let can_copy = |blocks: &Blocks| blocks.total() <= THRESHOLDS.levels_copy_most_bytes;
        hosts.is_in_order() && matches!(call, Call::Allgather { blocks } if can_copy(blocks))
    }

    /// Blocks that a member has anywhere in its memory are consecutive in a copy of all of them.
    #[allow(private_interfaces)]
    fn run_in(&self, levels: &Levels<E>) -> Result {
        let (context, lengths) = (CollectiveWork::context(self), lengths(&self.blocks));
        let whole = Image::of(lengths.total() as i64, Datatype::basic(Kind::Byte));
        let mine = self.mine.clone().unwrap_or_else(|| self.blocks[context.rank()].clone());
        gather_at_all(context, levels, (Some(mine), whole.memory()), &lengths)?;
        for (member, block) in self.blocks.iter().enumerate() {
            block.copy_from(&part(whole.memory(), lengths.one(member)));
        }
        Ok(())
    }
}

fn part(of: &Memory, elements: Range<usize>) -> Memory {
    of.part(elements.start as i64, elements.len() as i64)
}

/// Gathers each host's `blocks` of `all` at its leader, and all blocks at all leaders, and broadcasts them inside each
/// host. `mine` is `None` at a leader whose block is in place.
fn gather_at_all<E: Endpoint + 'static>(
    context: &Rc<Context<E>>,
    Levels { inside, leaders }: &Levels<E>,
    (mine, all): (Option<Memory>, &Memory),
    blocks: &Blocks,
) -> Result {
    let hosts = context.hosts().expect("levels are of hosts");
    let own = hosts.consecutive_members(hosts.number(context.rank()));
    let of_members = |members| part(all, blocks.some(members));
    let mut outcome = match blocks.are_equal() {
        true => {
            let room = leaders.is_some().then(|| of_members(own));
            Gather::new(inside.clone(), 0, mine, room).and_then(Collective::run)
        }
        false => {
            let rooms = own.filter(|_| leaders.is_some()).map(|rank| part(all, blocks.one(rank)));
            GatherUnequal::new(inside.clone(), 0, mine, rooms.collect()).and_then(Collective::run)
        }
    };
    if let Some(leaders) = leaders {
        let of_hosts: Vec<Memory> =
            (0..hosts.hosts()).map(|host| of_members(hosts.consecutive_members(host))).collect();
        let are_alike = of_hosts.iter().all(|one| one.count() == of_hosts[0].count());
        let across = if blocks.are_equal() && are_alike {
            Allgather::new(leaders.clone(), None, all.clone())
                .and_then(|across| run_after(&across, outcome.clone()))
        } else {
            AllgatherUnequal::new(leaders.clone(), None, of_hosts)
                .and_then(|across| run_after(&across, outcome.clone()))
        };
        outcome = outcome.and(across);
    }
    pass_on(inside, 0, all, outcome)
}

/// Runs a collective of the leaders. If this member's operand is invalid, so are the results of all.
fn run_after<E: Endpoint + 'static>(
    collective: &impl CollectiveWork<E>,
    outcome: Result,
) -> Result {
    let (at, chosen) = announce(collective, Manner::Blocking);
    let memory = CallMemory { failure: outcome, ..collective.memory() };
    schedule::finish(Schedule::new(at, &chosen, memory))
}

/// Broadcasts what has come before with this outcome. After a failure the others get nothing, and fail too.
fn pass_on<E: Endpoint + 'static>(
    context: &Rc<Context<E>>,
    from: usize,
    memory: &Memory,
    outcome: Result,
) -> Result {
    let memory = if outcome.is_ok() { memory.clone() } else { memory.part(0, 0) };
    let passed = Broadcast::new(context.clone(), from, memory).and_then(Collective::run);
    outcome.and(passed)
}
