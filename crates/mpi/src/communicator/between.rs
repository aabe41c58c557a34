//! Creation of communicators between two groups, and of one group from two.

use std::rc::Rc;

use collectives::{CallId, LibraryCall};
use contract::{ContextOffer, Endpoint, Untrusted};

use super::Communicator;
use crate::collective::{Agreement, Proposal, allgather_bytes, broadcast_bytes};
use crate::engine::{BETWEEN_TAGS, Context};
use crate::error::{Error, ErrorClass, Result, ensure};
use crate::group::Group;
use crate::schedule::CollectiveContext;

/// What members report whose leader found no partner.
pub(super) const LOST: &str = "the leaders of the two groups did not find each other";
/// Returns what is said of a leader of another run whose message is not one.
pub(super) fn malformed() -> Error {
    Error::new(ErrorClass::Communicator, "the other leader sent what no leader sends")
}

/// Length of the longest message about a group, which no memory allows to exceed by far: a million members.
const SWAP_MAX_BYTES: u64 = 64 << 20;

/// The message of one group to the other about itself.
struct Side {
    /// True if one of the groups, or the connection between them, involves other runs.
    is_between_runs: bool,
    /// Proposal of its first member.
    number: u32,
    members: Vec<usize>,
    offers: Vec<ContextOffer>,
}

impl Side {
    fn to_bytes(&self) -> Vec<u8> {
        let first = u64::from(self.number) | u64::from(self.is_between_runs) << 32;
        let mut bytes = first.to_ne_bytes().to_vec();
        for (member, offer) in self.members.iter().zip(&self.offers) {
            bytes.extend((*member as u64).to_ne_bytes());
            bytes.extend(offer.0.to_ne_bytes());
        }
        bytes
    }

    /// Returns the side that another leader has described, or `None` if no leader sends these bytes.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (first, rest) = bytes.split_first_chunk()?;
        let first = u64::from_ne_bytes(*first);
        let (pairs, rest) = rest.as_chunks::<16>();
        let word = |pair: &[u8; 16], index: usize| {
            let (words, _) = pair.as_chunks::<8>();
            u64::from_ne_bytes(words[index])
        };
        (!pairs.is_empty() && rest.is_empty()).then(|| Side {
            is_between_runs: first >> 32 != 0,
            number: first as u32,
            members: pairs.iter().map(|pair| word(pair, 0) as usize).collect(),
            offers: pairs.iter().map(|pair| ContextOffer(word(pair, 1))).collect(),
        })
    }
}

/// A leader's connection to the other group's leader.
pub struct Bridge<E: Endpoint> {
    /// Context in which the leaders reach each other.
    pub context: Rc<Context<E>>,
    /// The other leader, as a rank of the run.
    pub leader: usize,
    /// Tag that separates this call from similar ones.
    pub tag: u32,
}

impl<E: Endpoint + 'static> Bridge<E> {
    /// Exchanges any number of bytes between the leaders.
    pub(super) fn swap(&self, mine: &[u8]) -> Result<Vec<u8>> {
        let engine = self.context.engine();
        let (me, leader) = (engine.rank(), self.leader);
        // Each process has its own numbers for processes of other runs.
        let is_first = match self.context.is_between_runs() {
            true => engine.other_runs(&mut *engine.endpoint()?)?.comes_before(leader),
            false => me < leader,
        };
        let members: Group = if is_first { vec![me, leader] } else { vec![leader, me] }.into();
        let rank = usize::from(!is_first);
        let at = CollectiveContext {
            context: self.context.clone(),
            members,
            rank,
            call_id: CallId::of_library(LibraryCall::Create),
            tag: BETWEEN_TAGS | self.tag & (BETWEEN_TAGS - 1),
            number: 0,
        };
        let lengths = allgather_bytes(at.clone(), &(mine.len() as u64).to_ne_bytes())?;
        let word = lengths[8 * (1 - rank)..].first_chunk().expect("two words");
        let theirs = Untrusted::new(u64::from_ne_bytes(*word)).at_most(SWAP_MAX_BYTES);
        let theirs = theirs.ok_or_else(malformed)? as usize;
        let longest = mine.len().max(theirs);
        let mut padded = mine.to_vec();
        padded.resize(longest, 0);
        let both = allgather_bytes(at, &padded)?;
        Ok(both[(1 - rank) * longest..][..theirs].to_vec())
    }
}

impl<E: Endpoint + 'static> Communicator<E> {
    /// Creates a communicator between this one's group and another, which makes the same call with its own
    /// communicator. Only the `leader` needs a bridge to the other leader; if it has none, all members of its group
    /// fail.
    ///
    /// # Errors
    /// [`ErrorClass::Rank`] for a leader that is not a member, [`ErrorClass::Communicator`] if the groups have common
    /// members or the leaders do not find each other, and errors that end the run.
    pub fn join_across(
        &self,
        leader: usize,
        bridge: impl FnOnce() -> Result<Bridge<E>>,
    ) -> Result<Self> {
        self.check_one_group()?;
        self.context().member(leader)?;
        let at = self.next_making(LibraryCall::Create);
        let mine = Proposal::for_several(&at)?.to_bytes();
        let agreement = Agreement::read(&allgather_bytes(at.clone(), &mine)?, mine.len());
        let (number, offers) = (agreement.number, agreement.offers.clone());
        let is_between_runs = self.context().is_between_runs();
        let mut own =
            Side { is_between_runs, number, members: self.group().members().to_vec(), offers };
        let mut kept = None;
        let swapped = match self.rank() == leader {
            true => bridge().and_then(|bridge| {
                own.is_between_runs |= bridge.context.is_between_runs();
                let mut theirs = bridge.swap(&own.to_bytes())?;
                Side::from_bytes(&theirs).ok_or_else(malformed)?;
                // The properties of one group affect both, and all their members.
                theirs[4] |= u8::from(own.is_between_runs);
                kept = Some(bridge);
                Ok(theirs)
            }),
            false => Ok(Vec::new()),
        };
        // A leader that failed reports that by sending no bytes.
        let bytes = swapped.as_deref().unwrap_or_default();
        let theirs = broadcast_bytes(
            self.context(),
            CallId::of_library(LibraryCall::Create),
            leader,
            bytes,
        )?;
        if theirs.get(4).is_some_and(|&flag| flag != 0) {
            agreement.open(&mut *self.engine().endpoint()?, &at, None)?;
            return self.join_across_runs(leader, ErrorClass::Communicator, || {
                kept.ok_or_else(|| Error::new(ErrorClass::Internal, "only a leader asks for it"))
            });
        }
        let outcome = swapped.and_then(|_| self.open_between(&at, own, &theirs));
        if outcome.is_err() {
            agreement.open(&mut *self.engine().endpoint()?, &at, None)?;
        }
        outcome
    }

    fn open_between(&self, at: &CollectiveContext<E>, own: Side, theirs: &[u8]) -> Result<Self> {
        ensure!(!theirs.is_empty(), ErrorClass::Communicator, "{LOST}");
        let theirs = Side::from_bytes(theirs).ok_or_else(malformed)?;
        let is_disjoint = theirs.members.iter().all(|member| !own.members.contains(member));
        ensure!(is_disjoint, ErrorClass::Communicator, "the two groups have members in common");
        let (first, second) =
            if own.members[0] < theirs.members[0] { (own, theirs) } else { (theirs, own) };
        let offers = [first.offers, second.offers].concat();
        let [one, other] = [first.members, second.members].map(Group::from);
        let context = Context::between(self.engine().clone(), &one, &other);
        let context = context.expect("both groups have members, of which this process is one");
        let at = CollectiveContext {
            members: context.group().clone(),
            rank: context.rank(),
            ..at.clone()
        };
        let agreement = Agreement { number: first.number, offers };
        agreement.open(&mut *self.engine().endpoint()?, &at, Some(&context))?;
        Ok(Communicator::of(context))
    }

    /// Merges the two groups into one. The group whose members pass `high` as false comes first. If both pass the same,
    /// the order is the same for all.
    ///
    /// # Errors
    /// [`ErrorClass::Communicator`] within one group, and [`ErrorClass::Argument`] if members of a group pass different
    /// values.
    pub fn merge(&self, high: bool) -> Result<Self> {
        let groups = self.context().two_groups();
        let wrong = || Error::new(ErrorClass::Communicator, "not an intercommunicator");
        let split = groups.ok_or_else(wrong)?.first;
        let at = self.next_making(LibraryCall::Merge);
        let mut mine = Proposal::new(&at)?.to_bytes();
        mine.push(u8::from(high));
        let all = allgather_bytes(at.clone(), &mine)?;
        let agreement = Agreement::read(&all, mine.len());
        let said: Vec<bool> = all.chunks(mine.len()).map(|one| one[Proposal::BYTES] != 0).collect();
        let (first, second) = said.split_at(split);
        let alike = [first, second].iter().all(|one| one.iter().all(|said| *said == one[0]));
        let members = self.context().members();
        let ordered = match first[0] && !second[0] {
            true => [&members[split..], &members[..split]].concat(),
            false => members.to_vec(),
        };
        let context = Context::new(self.engine().clone(), ordered.into()).filter(|_| alike);
        agreement.open(&mut *self.engine().endpoint()?, &at, context.as_ref())?;
        let differ = "members of one group say different things of which group comes first";
        let context = context.ok_or_else(|| Error::new(ErrorClass::Argument, differ))?;
        Ok(Communicator::of(context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_survives_its_journey() {
        let offers = vec![ContextOffer(7), ContextOffer::NOTHING];
        let side = Side { is_between_runs: true, number: 9, members: vec![4, 1 << 20], offers };
        let found = Side::from_bytes(&side.to_bytes()).unwrap();
        assert_eq!((found.number, &found.members), (9, &side.members));
        // The leader sets this byte for all if its own group is the one of several runs.
        assert!(found.is_between_runs && side.to_bytes()[4] == 1);
        assert_eq!(found.offers, side.offers);
        let bytes = side.to_bytes();
        for end in (0..bytes.len()).filter(|end| *end != 24) {
            assert!(Side::from_bytes(&bytes[..end]).is_none(), "the first {end} bytes");
        }
    }
}
