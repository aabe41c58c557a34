//! Accesses to the same memory of a window of which at least one writes, and that nothing orders (MPI 4.1, 12.7).

use std::collections::{BTreeMap, HashMap};

use crate::access::{AccessKind, Synchronisation, WindowAccess};
use crate::arrivals::Dependence;
use crate::clocks::{VectorClock, clocks, number};
use crate::event::{Event, Kind, NOBODY};
use crate::matching::Matched;
use crate::record::RankRecord;

/// Maximum number of pairs of accesses that are compared, which takes about a second.
const PAIRS_MAX: usize = 50_000_000;

/// A call with an access, or after a store of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Side {
    /// Index of the record of its rank.
    pub record: usize,
    /// Index of the place of the call.
    pub site: u16,
    /// True if it writes.
    pub writes: bool,
    /// True if it is a store of the program before the call.
    pub is_store: bool,
}

/// Two calls with accesses that conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The two calls; the second is that of the higher rank.
    pub sides: [Side; 2],
    /// Rank in MPI_COMM_WORLD of the owner of the memory.
    pub target: u32,
    /// Number of bytes that both access, of the first pair.
    pub bytes: u64,
    /// Number of pairs of accesses of these calls.
    pub times: u64,
}

/// An access, with what its rank knew when it began, and when it was complete.
struct TimedAccess<'a> {
    side: Side,
    kind: AccessKind,
    start: i64,
    end: i64,
    /// The lock under which it was made, if there was one.
    lock: Option<HeldLock>,
    clock: &'a VectorClock,
    /// True if its rank may have seen the results of others before it.
    has_polled: bool,
    /// Number of the call of its rank that completed it; `None` if no call did.
    completed: Option<u32>,
}

/// A lock of the memory of a rank.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HeldLock {
    Shared,
    Exclusive,
}

impl TimedAccess<'_> {
    /// Returns whether it was complete before another began, and the rank of the other could know that.
    fn is_before(&self, other: &TimedAccess) -> bool {
        let is_known = |number| other.clock.of(self.side.record) >= number;
        other.has_polled || self.completed.is_some_and(is_known)
    }

    /// Returns the number of bytes for which nothing orders the two, although something must.
    fn conflict(&self, other: &TimedAccess) -> Option<u64> {
        let is_own = self.side.record == other.side.record;
        // A rank that writes twice gets one of the two values, as it may expect.
        let is_rewritten = is_own && self.side.writes == other.side.writes;
        let bytes = self.end.min(other.end) - self.start.max(other.start);
        let conflicts = bytes > 0 && !is_rewritten && self.kind.conflicts_with(other.kind);
        let is_excluded = || {
            let locks = self.lock.zip(other.lock);
            !is_own && locks.is_some_and(|(one, other)| [one, other].contains(&HeldLock::Exclusive))
        };
        let is_ordered = || self.is_before(other) || other.is_before(self);
        (conflicts && !is_excluded() && !is_ordered()).then_some(bytes as u64)
    }
}

/// Returns the calls with accesses that conflict, in the order of their ranks, or `None` if that is not known: there are
/// accesses, and events of a rank are missing, or none was found among as many pairs as can be compared. `dependence` returns the dependence of
/// the collective that a place calls.
pub fn conflicts(
    records: &[RankRecord],
    messages: &[Matched],
    dependence: &dyn Fn(&RankRecord, u16) -> Dependence,
) -> Option<Vec<Conflict>> {
    let is_access =
        |event: &Event| WindowAccess::of(event).is_some_and(|one| one.kind != AccessKind::Store);
    if !records.iter().any(|record| record.events.iter().any(is_access)) {
        return Some(Vec::new());
    }
    let clocks = clocks(records, messages, dependence)?;
    let units = units(records);
    let mut of_memory: BTreeMap<(u64, u32), Vec<TimedAccess>> = BTreeMap::new();
    for (index, record) in records.iter().enumerate() {
        add_accesses((index, record), &clocks[index], &units, &mut of_memory);
    }
    let mut found = BTreeMap::new();
    let mut pairs = 0;
    for ((_, target), accesses) in &mut of_memory {
        compare(*target, accesses, &mut pairs, &mut found);
    }
    (pairs <= PAIRS_MAX || !found.is_empty()).then(|| found.into_values().collect())
}

/// Returns the units of displacements of the members of windows, by the window and the rank.
fn units(records: &[RankRecord]) -> HashMap<(u64, u32), i64> {
    let mut units = HashMap::new();
    for record in records {
        let is_made = |event: &&Event| Synchronisation::of(event) == Some(Synchronisation::Create);
        for event in record.events.iter().filter(is_made) {
            units.insert((number(record, event), record.rank as u32), event.posted as i64);
        }
    }
    units
}

/// Adds the accesses of a rank, by the window and the owner of the memory.
fn add_accesses<'a>(
    (index, record): (usize, &RankRecord),
    clocks: &'a [VectorClock],
    units: &HashMap<(u64, u32), i64>,
    to: &mut BTreeMap<(u64, u32), Vec<TimedAccess<'a>>>,
) {
    // The accesses that are not complete, by the window and the owner: their places in the lists.
    let mut open: BTreeMap<(u64, u32), Vec<usize>> = BTreeMap::new();
    // The locks that it holds, by the window and the owner, or nobody for all.
    let mut locks: BTreeMap<(u64, u32), HeldLock> = BTreeMap::new();
    let mut has_polled = false;
    for (event, clock) in record.events.iter().zip(clocks) {
        let window = number(record, event);
        has_polled |= event.kind == Kind::Polls;
        if let Some(access) = WindowAccess::of(event) {
            let memory = (window, access.target);
            let Some(unit) = units.get(&memory) else { continue };
            let lock = locks.get(&memory).or_else(|| locks.get(&(window, NOBODY))).copied();
            let mut one = TimedAccess { lock, ..timed((index, event.site), &access, *unit, clock) };
            let list = to.entry(memory).or_default();
            if one.side.is_store {
                // A store has no end of its own. A program may wait with idle polls until its memory has changed.
                (one.completed, one.has_polled) = (Some(clock.number), has_polled);
            } else {
                open.entry(memory).or_default().push(list.len());
            }
            list.push(one);
            continue;
        }
        match Synchronisation::of(event) {
            Some(Synchronisation::Lock) => {
                locks.insert((window, event.peer), HeldLock::Shared);
            }
            Some(Synchronisation::LockExclusive) => {
                locks.insert((window, event.peer), HeldLock::Exclusive);
            }
            Some(Synchronisation::Unlock) => {
                locks.remove(&(window, event.peer));
            }
            _ => {}
        }
        complete((window, event, clock.number), &mut open, to);
    }
}

/// Returns an access of a call at a place of a record, without what its rank did before and after.
fn timed<'a>(
    (record, site): (usize, u16),
    access: &WindowAccess,
    unit: i64,
    clock: &'a VectorClock,
) -> TimedAccess<'a> {
    let kind = access.kind;
    let first = access.displacement.saturating_mul(unit);
    let start = first.saturating_add(access.offset.into());
    let end = start.saturating_add(access.bytes.into());
    let is_store = kind == AccessKind::Store;
    let side = Side { record, site, writes: kind.writes(), is_store };
    TimedAccess { side, kind, start, end, lock: None, clock, has_polled: false, completed: None }
}

/// Records which accesses an event of a window completes, with the number of its call.
fn complete(
    (window, event, number): (u64, &Event, u32),
    open: &mut BTreeMap<(u64, u32), Vec<usize>>,
    all: &mut BTreeMap<(u64, u32), Vec<TimedAccess>>,
) {
    let Some((target, only_reads)) = completes(event) else { return };
    let range = match target {
        NOBODY => (window, 0)..=(window, NOBODY),
        target => (window, target)..=(window, target),
    };
    for (memory, places) in open.range_mut(range) {
        let list = all.get_mut(memory).expect("it has these accesses");
        places.retain(|&place| {
            let stays = only_reads && list[place].kind != AccessKind::Get;
            if !stays {
                list[place].completed = Some(number);
            }
            stays
        });
    }
}

/// Returns the rank for whose memory an event completes accesses, or [`NOBODY`] for all, and whether it does so only for
/// those that read.
fn completes(event: &Event) -> Option<(u32, bool)> {
    use Synchronisation::*;
    match (event.kind, Synchronisation::of(event)) {
        // A fence, or the end of the window. Collectives of communicators have no accesses.
        (Kind::Collective, _) => Some((NOBODY, false)),
        (_, Some(Unlock | Flush | Complete)) => Some((event.peer, false)),
        (_, Some(FlushLocal)) => Some((event.peer, true)),
        _ => None,
    }
}

/// Compares the accesses to the memory of a rank.
fn compare(
    target: u32,
    accesses: &mut [TimedAccess],
    pairs: &mut usize,
    found: &mut BTreeMap<(u32, [Side; 2]), Conflict>,
) {
    accesses.sort_by_key(|one| one.start);
    let mut over: Vec<&TimedAccess> = Vec::new();
    for new in accesses.iter() {
        over.retain(|old| old.end > new.start);
        for old in &over {
            *pairs += 1;
            if *pairs > PAIRS_MAX {
                return;
            }
            let Some(bytes) = old.conflict(new) else { continue };
            let mut sides = [old.side, new.side];
            sides.sort();
            let conflict = Conflict { sides, target, bytes, times: 0 };
            found.entry((target, sides)).or_insert(conflict).times += 1;
        }
        over.push(new);
    }
}

#[cfg(test)]
mod tests;
