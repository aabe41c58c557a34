//! Agreement of members on a new context.

use contract::{ContextOffer, ContextPlace, Endpoint, boards_of};

use super::allgather_bytes;
use crate::engine::Context;
use crate::error::Result;
use crate::group::Group;
use crate::schedule::CollectiveContext;

/// A member's proposal for a new context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// The number of the first member is used: one that no rank has proposed before, however many agreements are in
    /// progress and in whichever order they end.
    number: u32,
    /// Offer of its fabric, if it becomes a member of a context of several.
    offer: ContextOffer,
}

impl Proposal {
    pub(crate) const BYTES: usize = 12;

    /// Returns the proposal of this process.
    pub(crate) fn new<E: Endpoint>(at: &CollectiveContext<E>) -> Result<Self> {
        if at.members.size() > 1 {
            return Proposal::for_several(at);
        }
        let number = at.context.engine().propose_context(at.rank == 0)?;
        Ok(Proposal { number, offer: ContextOffer::NOTHING })
    }

    /// Returns the proposal for a context of several members, even if this process agrees with itself alone.
    pub(crate) fn for_several<E: Endpoint>(at: &CollectiveContext<E>) -> Result<Self> {
        let engine = at.context.engine();
        let mut endpoint = engine.endpoint()?;
        if at.context.is_between_runs() {
            let offer = engine.other_runs(&mut endpoint)?.offer_between_runs()?;
            return Ok(Proposal { number: 0, offer });
        }
        let number = engine.propose_context(at.rank == 0)?;
        let boards = boards_of(&mut *endpoint, ContextPlace::WORLD);
        let offer = boards.map_or(ContextOffer::NOTHING, |boards| boards.offer());
        Ok(Proposal { number, offer })
    }

    /// Returns the proposal without an offer, which is withdrawn: the context gets no memory of the fabric.
    pub(crate) fn without_offer<E: Endpoint>(self, at: &CollectiveContext<E>) -> Result<Self> {
        withdraw(&mut *at.context.engine().endpoint()?, self.offer);
        Ok(Proposal { offer: ContextOffer::NOTHING, ..self })
    }

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        [&self.number.to_ne_bytes()[..], &self.offer.0.to_ne_bytes()].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let (number, rest) = bytes.split_first_chunk().expect("a proposal has a number");
        let offer = rest.first_chunk().expect("a proposal has an offer");
        let offer = ContextOffer(u64::from_ne_bytes(*offer));
        Proposal { number: u32::from_ne_bytes(*number), offer }
    }
}

fn withdraw<E: Endpoint>(endpoint: &mut E, offer: ContextOffer) {
    if let Some(boards) = boards_of(endpoint, ContextPlace::WORLD) {
        boards.withdraw(offer);
    }
}

/// The proposals of all members.
pub(crate) struct Agreement {
    pub(crate) number: u32,
    pub(crate) offers: Vec<ContextOffer>,
}

impl Agreement {
    /// Reads `each` bytes of each member, which begin with a proposal.
    pub(crate) fn read(all: &[u8], each: usize) -> Self {
        let proposals = all.chunks(each).map(Proposal::from_bytes);
        let offers = proposals.map(|proposal| proposal.offer).collect();
        Agreement { number: Proposal::from_bytes(all).number, offers }
    }

    /// Exchanges proposals only.
    pub(crate) fn with<E: Endpoint + 'static>(at: &CollectiveContext<E>) -> Result<Self> {
        Agreement::on(at, Proposal::new(at)?)
    }

    /// As [`with`](Agreement::with), from this member's proposal.
    pub(crate) fn on<E: Endpoint + 'static>(
        at: &CollectiveContext<E>,
        mine: Proposal,
    ) -> Result<Self> {
        Ok(Agreement::read(&allgather_bytes(at.clone(), &mine.to_bytes())?, Proposal::BYTES))
    }

    /// Creates and opens a context for the members of `group`, in which all members of the collective agree. Returns
    /// `None` to a process outside the group.
    pub(crate) fn on_context<E: Endpoint + 'static>(
        at: &CollectiveContext<E>,
        group: Group,
    ) -> Result<Option<Context<E>>> {
        let agreement = Agreement::with(at)?;
        let context = Context::new(at.context.engine().clone(), group);
        agreement.open(&mut *at.context.engine().endpoint()?, at, context.as_ref())?;
        Ok(context)
    }

    /// Opens the new context if this process is one of its members. `at` is the collective in which they agreed.
    pub(crate) fn open<E: Endpoint>(
        self,
        endpoint: &mut E,
        at: &CollectiveContext<E>,
        new: Option<&Context<E>>,
    ) -> Result {
        let several = new.filter(|new| new.size() > 1);
        let offer_of = |member: &usize| {
            let place = at.members.rank_of(*member).expect("one of those who agreed");
            self.offers[place]
        };
        if let Some(new) = several {
            let offers: Vec<_> = new.members().iter().map(offer_of).collect();
            return match at.context.is_between_runs() {
                true => new.open_between_runs(endpoint, &offers),
                false => new.open(endpoint, self.number, &offers),
            };
        }
        if at.context.is_between_runs() {
            // A context of one process alone belongs to its run.
            let open = |new: &Context<E>| {
                let number = new.engine().propose_context(true)?;
                new.open(endpoint, number, &[ContextOffer::NOTHING])
            };
            return new.map_or(Ok(()), open);
        }
        let own = self.offers[at.rank];
        if own != ContextOffer::NOTHING {
            withdraw(endpoint, own);
        }
        new.map_or(Ok(()), |new| new.open(endpoint, self.number, &[ContextOffer::NOTHING]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_the_first_member_counts_and_every_offer() {
        let proposal = |number, offer| Proposal { number, offer: ContextOffer(offer) };
        let (first, second) = (proposal(7, 1 << 40), proposal(9, u64::MAX));
        assert_eq!(Proposal::from_bytes(&first.to_bytes()), first);
        // Four more bytes of each, which do not belong to the agreement.
        let all = [first.to_bytes(), vec![1; 4], second.to_bytes(), vec![2; 4]].concat();
        let agreed = Agreement::read(&all, Proposal::BYTES + 4);
        assert_eq!(agreed.number, 7);
        assert_eq!(agreed.offers, [ContextOffer(1 << 40), ContextOffer::NOTHING]);
    }
}
