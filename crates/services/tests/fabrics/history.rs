//! Recorded histories of seeded random programs are linearizable: there is an order of the operations that agrees with
//! their results, and in which an operation that ended before another began comes first (Herlihy and Wing,
//! *Linearizability*, 1990).

use random::SplitMix64;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use contract::Rank;
use services::{Error, FieldKind, Result, Template, Tuple, TupleOperations, TupleSpace};

/// An operation on tuples of one number, with its result.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Out(i64),
    /// Took a tuple, or found none: the requested number (`None` for any), and the found one.
    Take(Option<i64>, Option<i64>),
    Read(Option<i64>, Option<i64>),
}

#[derive(Clone, Copy, Debug)]
struct Event {
    rank: usize,
    begin: u64,
    end: u64,
    operation: Operation,
}

impl Operation {
    /// Returns the contents of the space afterwards, in order, or `None` if the operation could not have had its
    /// result.
    fn applied(self, space: &[i64]) -> Option<Vec<i64>> {
        let position = |number: i64| space.iter().position(|one| *one == number);
        let wanted = |wanted: Option<i64>| match wanted {
            Some(number) => position(number).is_some(),
            None => !space.is_empty(),
        };
        let mut after = space.to_vec();
        match self {
            Operation::Out(number) => after.push(number),
            Operation::Take(_, Some(number)) => drop(after.remove(position(number)?)),
            Operation::Read(_, Some(number)) => drop(position(number)?),
            Operation::Take(what, None) | Operation::Read(what, None) if wanted(what) => {
                return None;
            }
            Operation::Take(..) | Operation::Read(..) => {}
        }
        after.sort_unstable();
        Some(after)
    }
}

/// Tries every order, as Wing and Gong (*Testing and verifying concurrent objects*, 1993), and no state twice.
fn is_linearizable(events: &[Event]) -> bool {
    assert!(events.len() <= 64);
    let all = u64::MAX >> (64 - events.len().max(1));
    let mut seen = HashSet::new();
    let mut open = vec![(all, Vec::new())];
    while let Some((left, space)) = open.pop() {
        if left == 0 || events.is_empty() {
            return true;
        }
        let is_left = |at: &usize| left >> at & 1 == 1;
        let first_end = (0..events.len()).filter(is_left).map(|at| events[at].end).min();
        for at in (0..events.len()).filter(is_left) {
            // All operations that ended before this one began must come before it.
            if Some(events[at].begin) > first_end {
                continue;
            }
            if let Some(after) = events[at].operation.applied(&space) {
                let next = (left & !(1 << at), after);
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    false
}

/// A clock that orders the calls, on threads and on coroutines.
static CLOCK: AtomicU64 = AtomicU64::new(0);

fn now() -> u64 {
    CLOCK.fetch_add(1, Ordering::SeqCst)
}

const OPERATIONS: usize = 7;
/// Number of different numbers: few, so that ranks request the same.
const NUMBERS: usize = 3;

/// Carries out one random operation. Returns `None` if it ended because no rank was left.
fn operate(
    operations: &mut TupleOperations<'_>,
    random: &mut SplitMix64,
) -> Result<Option<Operation>> {
    let number = random.below(NUMBERS) as i64;
    let wanted = (random.below(2) == 0).then_some(number);
    let template = Template(vec![match wanted {
        Some(number) => number.into(),
        None => FieldKind::Integer.into(),
    }]);
    let value = |tuple: Option<Tuple>| tuple.map(|tuple| tuple.integer(0)).transpose();
    let outcome = match random.below(6) {
        0 | 1 => operations.out(Tuple(vec![number.into()])).map(|()| Operation::Out(number)),
        2 => Ok(Operation::Take(wanted, value(operations.inp(&template)?)?)),
        3 => Ok(Operation::Read(wanted, value(operations.rdp(&template)?)?)),
        4 => operations
            .in_(&template)
            .and_then(|tuple| Ok(Operation::Take(wanted, value(Some(tuple))?))),
        _ => operations
            .rd(&template)
            .and_then(|tuple| Ok(Operation::Read(wanted, value(Some(tuple))?))),
    };
    match outcome {
        Ok(operation) => Ok(Some(operation)),
        Err(Error::NoProducerLeft) => Ok(None),
        Err(error) => Err(error),
    }
}

fn record(rank: &mut dyn Rank, seed: u64, history: &Mutex<Vec<Event>>) -> Result<()> {
    let me = rank.rank();
    let mut random = SplitMix64::new(seed.wrapping_mul(1000) + me as u64);
    let home = seed as usize % rank.size();
    let mut space = TupleSpace::open(rank, home, 100)?;
    let mut operations = space.enter(rank);
    operations.join()?;
    for _ in 0..OPERATIONS {
        let begin = now();
        if let Some(operation) = operate(&mut operations, &mut random)? {
            history.lock().unwrap().push(Event { rank: me, begin, end: now(), operation });
        }
    }
    drop(operations);
    space.close(rank)
}

fn check(seed: u64, history: &Mutex<Vec<Event>>) -> usize {
    let mut events = history.lock().unwrap();
    events.sort_by_key(|event| event.begin);
    assert!(is_linearizable(&events), "seed {seed}: {events:#?}");
    let overlap = |pair: &&[Event]| pair[1].begin < pair[0].end && pair[0].rank != pair[1].rank;
    events.windows(2).filter(overlap).count()
}

#[test]
fn histories_of_threads_are_linearizable() {
    let mut overlaps = 0;
    for seed in 0..150 {
        let history = Mutex::new(Vec::new());
        let program =
            |rank: &mut dyn Rank| record(rank, seed, &history).map_err(Error::into_contract);
        assert_eq!(conformance::reference::run(4, program), Ok(()), "seed {seed}");
        overlaps += check(seed, &history);
    }
    assert!(overlaps > 0, "no operations overlapped, so nothing was tested");
}

#[test]
fn histories_in_virtual_time_are_linearizable() {
    let machine = fabric_sim::machine::find("cluster").unwrap();
    for seed in 0..150 {
        let history = Arc::new(Mutex::new(Vec::new()));
        let shared = history.clone();
        let program =
            move |rank: &mut dyn Rank| record(rank, seed, &shared).map_err(Error::into_contract);
        let ended = fabric_sim::run(&machine, &fabric_sim::Options::new(4), program);
        assert_eq!(ended.map(drop), Ok(()), "seed {seed}");
        check(seed, &history);
    }
}

#[test]
fn a_history_that_is_not_linearizable_is_found() {
    let event = |rank, begin, end, operation| Event { rank, begin, end, operation };
    let put = event(0, 0, 1, Operation::Out(5));
    let take = |begin, end| event(1, begin, end, Operation::Take(None, Some(5)));
    assert!(is_linearizable(&[put, take(2, 3)]));
    // The tuple is taken twice; taken before it was put; not found though it was there.
    assert!(!is_linearizable(&[put, take(2, 3), take(4, 5)]));
    assert!(!is_linearizable(&[event(0, 4, 5, Operation::Out(5)), take(2, 3)]));
    assert!(!is_linearizable(&[put, event(1, 2, 3, Operation::Read(Some(5), None))]));
    // While it is being put, it may be found or not.
    let long = event(0, 0, 9, Operation::Out(5));
    assert!(is_linearizable(&[long, event(1, 2, 3, Operation::Read(None, None)), take(4, 5)]));
}
