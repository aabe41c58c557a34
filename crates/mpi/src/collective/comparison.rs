//! The comparison of all collectives at the end of a run: what members have called in another order, or with other data,
//! is found there at the latest (decision 0150).

use std::collections::BTreeMap;
use std::rc::Rc;

use collectives::{CallId, LibraryCall};
use contract::{Endpoint, WaitTerms, with_article};

use super::allgather_bytes;
use crate::datatype::Signature;
use crate::engine::{Agreed, CallLog, Context, KEPT_CALLS, LoggedCall};
use crate::error::{Error, ErrorClass, Result};
use crate::schedule::CollectiveContext;

/// Room for the place of a call in words.
const PLACE_BYTES: usize = 500;

/// A call in the form in which members exchange it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exchanged {
    id: CallId,
    agreed: Agreed,
}

impl Exchanged {
    const BYTES: usize = 16;

    fn to_bytes(self) -> [u8; Exchanged::BYTES] {
        let (kind, word) = match self.agreed {
            Agreed::Nothing => (0_u32, 0),
            Agreed::Same(word) => (1, word),
            Agreed::Balanced(word) => (2, word),
        };
        let mut all = [0; Exchanged::BYTES];
        all[..4].copy_from_slice(&self.id.bits().to_ne_bytes());
        all[4..8].copy_from_slice(&kind.to_ne_bytes());
        all[8..].copy_from_slice(&word.to_ne_bytes());
        all
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let word = word(&bytes[8..]);
        Exchanged {
            id: CallId::from_bits(half(bytes)),
            agreed: match half(&bytes[4..]) {
                0 => Agreed::Nothing,
                1 => Agreed::Same(word),
                _ => Agreed::Balanced(word),
            },
        }
    }
}

/// Reads the first four bytes.
pub(crate) fn half(bytes: &[u8]) -> u32 {
    u32::from_ne_bytes(*bytes.first_chunk().expect("four bytes"))
}

/// Reads the first eight bytes.
pub(crate) fn word(bytes: &[u8]) -> u64 {
    u64::from_ne_bytes(*bytes.first_chunk().expect("eight bytes"))
}

/// The calls of one member in a context: how many it has made, and the last of them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Calls {
    rank: usize,
    count: u32,
    /// The last is call `count - 1`.
    kept: Vec<Exchanged>,
}

impl Calls {
    fn first_kept(&self) -> u32 {
        self.count - self.kept.len() as u32
    }

    fn call(&self, number: u32) -> Option<Exchanged> {
        self.kept.get(number.checked_sub(self.first_kept())? as usize).copied()
    }
}

/// The first call in which two members differ.
#[derive(Debug, PartialEq, Eq)]
struct Difference {
    /// Counted from 0.
    number: u32,
    /// Two ranks of the run; the first has made the call.
    ranks: [usize; 2],
    calls: [Option<Exchanged>; 2],
}

/// Finds the first difference of the members' calls that are still known.
fn first_difference(members: &[Calls]) -> Option<Difference> {
    let from = members.iter().map(Calls::first_kept).max()?;
    let to = members.iter().map(|member| member.count).max()?;
    (from..to).find_map(|number| difference_in(members, number))
}

fn difference_in(members: &[Calls], number: u32) -> Option<Difference> {
    let (first, made) = members.iter().find_map(|one| Some((one.rank, one.call(number)?)))?;
    let all = || members.iter().map(|one| (one.rank, one.call(number)));
    let with =
        |(rank, call)| Difference { number, ranks: [first, rank], calls: [Some(made), call] };
    let other_id =
        |(_, call): &(usize, Option<Exchanged>)| call.map(|call| call.id) != Some(made.id);
    if let Some(other) = all().find(other_id) {
        return Some(with(other));
    }
    // Bytes match everything, at whichever member they are.
    if all().any(|(_, call)| call.is_some_and(|call| call.agreed == Agreed::Nothing)) {
        return None;
    }
    if let Agreed::Balanced(_) = made.agreed {
        let word = |call: Option<Exchanged>| match call?.agreed {
            Agreed::Balanced(word) => Some(word),
            _ => None,
        };
        let sum = all().filter_map(|(_, call)| word(call)).fold(0, u64::wrapping_add);
        return (sum != 0).then(|| with((first, Some(made))));
    }
    all().find(|(_, call)| *call != Some(made)).map(with)
}

/// Exchanges bytes of any length between all processes, at the end of the run.
///
/// # Errors
/// Errors that end the run.
pub(crate) fn exchange<E: Endpoint + 'static>(
    world: &Rc<Context<E>>,
    mine: &[u8],
) -> Result<Vec<Vec<u8>>> {
    let gather = |bytes: &[u8]| {
        let id = CallId::of_library(LibraryCall::Finalize);
        allgather_bytes(CollectiveContext::next(world, id), bytes)
    };
    let lengths = gather(&(mine.len() as u64).to_ne_bytes())?;
    let lengths: Vec<usize> = lengths.chunks(8).map(|length| word(length) as usize).collect();
    let longest = lengths.iter().copied().max().unwrap_or(0).max(1);
    let mut padded = mine.to_vec();
    padded.resize(longest, 0);
    let all = gather(&padded)?;
    Ok(all.chunks(longest).zip(lengths).map(|(one, length)| one[..length].to_vec()).collect())
}

/// Exchanges the place of a call between all processes, at the end of the run: empty where there is none.
///
/// # Errors
/// Errors that end the run.
pub(crate) fn exchange_places<E: Endpoint + 'static>(
    world: &Rc<Context<E>>,
    mine: &str,
) -> Result<Vec<String>> {
    let all = exchange(world, &mine.as_bytes()[..mine.floor_char_boundary(PLACE_BYTES)])?;
    Ok(all.iter().map(|place| String::from_utf8_lossy(place).into_owned()).collect())
}

/// Finds the context whose members have made different calls, if one is known: the first of those that all have kept.
fn differing_context(of_ranks: &[Vec<u8>]) -> Option<(u32, u32)> {
    let mut sums = BTreeMap::<(u32, u32), (u32, u32, u64)>::new();
    for log in of_ranks.iter().flat_map(|all| all.chunks(SUMMARY_BYTES)) {
        let entry = sums.entry((half(log), half(&log[4..]))).or_insert((0, half(&log[8..]), 0));
        *entry = (entry.0 + 1, entry.1, entry.2.wrapping_add(word(&log[16..])));
    }
    let differs =
        |&(_, &(kept, members, sum)): &(&(u32, u32), &(u32, u32, u64))| kept == members && sum != 0;
    sums.iter().find(differs).map(|(key, _)| *key)
}

/// A context's key, its number of members, padding and residue.
const SUMMARY_BYTES: usize = 24;

fn summary(log: &CallLog) -> Vec<u8> {
    let halves = [log.key.0, log.key.1, log.members, 0];
    let mut all: Vec<u8> = halves.iter().flat_map(|half| half.to_ne_bytes()).collect();
    all.extend(log.residue().to_ne_bytes());
    all
}

/// Finds out in which call the members of a context differ, once it is known that some do. All processes make this call.
/// Returns the error at the first of the two, and `None` elsewhere, or if the call is no longer known.
///
/// # Errors
/// Errors that end the run.
pub(crate) fn explain_difference<E: Endpoint + 'static>(
    world: &Rc<Context<E>>,
) -> Result<Option<Error>> {
    let engine = world.engine();
    let logs = engine.call_logs.all();
    let summaries: Vec<u8> = logs.iter().flat_map(|log| summary(log)).collect();
    let Some(key) = differing_context(&exchange(world, &summaries)?) else { return Ok(None) };
    let own = logs.iter().find(|log| log.key == key);
    let all = exchange(world, &own.map(|log| kept_calls(log)).unwrap_or_default())?;
    let members: Vec<Calls> = all.iter().enumerate().filter_map(read_calls).collect();
    let Some(difference) = first_difference(&members) else { return Ok(None) };
    let own = own.and_then(|log| log.call(difference.number));
    let place = own.map(|LoggedCall { site, .. }| site.to_string()).unwrap_or_default();
    let places = exchange_places(world, &place)?;
    if difference.ranks[0] != world.rank() {
        return Ok(None);
    }
    let places = difference.ranks.map(|rank| &*places[rank]);
    let context = engine.identities().place(2 * key.0).unwrap_or_default();
    Ok(Some(Error::new(ErrorClass::Other, in_words(&difference, &places, &context))))
}

fn kept_calls(log: &CallLog) -> Vec<u8> {
    let count = log.count();
    let mut all = count.to_ne_bytes().to_vec();
    for number in count.saturating_sub(KEPT_CALLS as u32)..count {
        let LoggedCall { id, agreed, .. } = log.call(number).expect("one of those that are kept");
        all.extend(Exchanged { id, agreed }.to_bytes());
    }
    all
}

fn read_calls((rank, bytes): (usize, &Vec<u8>)) -> Option<Calls> {
    let (count, kept) = bytes.split_first_chunk()?;
    let kept = kept.chunks(Exchanged::BYTES).map(Exchanged::from_bytes).collect();
    Some(Calls { rank, count: u32::from_ne_bytes(*count), kept })
}

fn in_words(difference: &Difference, places: &[&str; 2], context: &str) -> String {
    let Difference { number, ranks: [me, other], calls: [own, theirs] } = difference;
    let [here, there] = places;
    let own = own.expect("the first has made the call");
    let number = number + 1;
    let what = match theirs {
        None => format!("rank {me} is in {}{here}, a call that rank {other} never made", own.id),
        Some(theirs) if theirs.id != own.id => {
            format!("rank {me} is in {}{here}, rank {other} in {}{there}", own.id, theirs.id)
        }
        Some(theirs) => match (own.agreed, theirs.agreed) {
            (Agreed::Same(mine), Agreed::Same(others)) => {
                let [mine, others] = [mine, others].map(|one| Signature::from_bits(one).in_words());
                let call = with_article(own.id.name());
                format!("rank {me} has {mine} in {call}{here}, rank {other} has {others}{there}")
            }
            _ => format!(
                "in {}{here} members do not receive the data types that others send",
                own.id
            ),
        },
    };
    format!("collectives do not match: {what} (collective {number}{context})")
}

#[cfg(test)]
mod tests {
    use collectives::Collective;

    use super::*;

    fn call(collective: Collective, agreed: Agreed) -> Exchanged {
        Exchanged { id: CallId::of(collective), agreed }
    }

    fn calls(rank: usize, count: u32, kept: &[Exchanged]) -> Calls {
        Calls { rank, count, kept: kept.to_vec() }
    }

    #[test]
    fn calls_arrive_as_they_were() {
        for agreed in [Agreed::Nothing, Agreed::Same(u64::MAX - 1), Agreed::Balanced(1 << 63)] {
            let one = call(Collective::ExclusiveScan, agreed);
            assert_eq!(Exchanged::from_bytes(&one.to_bytes()), one);
        }
    }

    #[test]
    fn the_first_call_that_differs_is_found_by_its_kind_its_data_or_its_absence() {
        let barrier = call(Collective::Barrier, Agreed::Nothing);
        let scan = |word| call(Collective::InclusiveScan, Agreed::Same(word));
        let found =
            |members: &[Calls]| first_difference(members).map(|one| (one.number, one.ranks));
        let first = calls(4, 3, &[barrier, scan(5), barrier]);
        assert_eq!(found(&[first.clone(), first.clone()]), None);
        let other = calls(6, 3, &[barrier, barrier, scan(5)]);
        assert_eq!(found(&[first.clone(), other]), Some((1, [4, 6])));
        assert_eq!(found(&[first.clone(), calls(6, 2, &[barrier, scan(5)])]), Some((2, [4, 6])));
        let data = calls(6, 3, &[barrier, scan(9), barrier]);
        assert_eq!(found(&[first.clone(), data]), Some((1, [4, 6])));
        // Only the last two calls of rank 7 are known.
        let late = calls(7, 3, &[scan(5), scan(5)]);
        assert_eq!(found(&[first, late]), Some((2, [4, 7])));
    }

    #[test]
    fn bytes_match_everything_and_what_is_sent_must_be_received() {
        let broadcast = |agreed| calls(0, 1, &[call(Collective::Broadcast, agreed)]);
        assert_eq!(
            first_difference(&[broadcast(Agreed::Nothing), broadcast(Agreed::Same(3))]),
            None
        );
        let balanced = |word: i64| broadcast(Agreed::Balanced(word as u64));
        assert_eq!(first_difference(&[balanced(4), balanced(-4)]), None);
        assert!(first_difference(&[balanced(4), balanced(-3)]).is_some());
    }
}
