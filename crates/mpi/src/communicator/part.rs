//! Parts of communicators. All members make the same calls.

use collectives::LibraryCall;
use contract::Endpoint;

use super::Communicator;
use crate::collective::{Agreement, Proposal, allgather_bytes};
use crate::error::Result;

/// A member's choice of its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Choice {
    /// `None` for no part at all.
    colour: Option<u32>,
    key: i64,
}

impl Choice {
    const BYTES: usize = 16;

    fn to_bytes(self) -> [u8; Choice::BYTES] {
        let colour = self.colour.map_or(-1, i64::from);
        let mut bytes = [0; Choice::BYTES];
        bytes[..8].copy_from_slice(&colour.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.key.to_ne_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let (colour, rest) = bytes.split_first_chunk().expect("a choice has a colour");
        let key = rest.first_chunk().expect("a choice has a key");
        let colour = u32::try_from(i64::from_ne_bytes(*colour)).ok();
        Choice { colour, key: i64::from_ne_bytes(*key) }
    }
}

/// Returns the members of a colour, by key and then by old rank.
fn members_of(colour: u32, choices: &[Choice]) -> Vec<usize> {
    let same = (0..choices.len()).filter(|&rank| choices[rank].colour == Some(colour));
    let mut same: Vec<usize> = same.collect();
    same.sort_by_key(|&rank| choices[rank].key);
    same
}

impl<E: Endpoint + 'static> Communicator<E> {
    /// Creates one communicator for all members with the same colour, in the order of their keys and then of their old
    /// ranks. Returns `None` without a colour. In an intercommunicator the new one is between the members of each group
    /// with the same colour; there is none if one of the groups has no such member.
    ///
    /// # Errors
    /// [`ErrorClass::Other`] if the members make different calls, and errors that end the run.
    pub fn split(&self, colour: Option<u32>, key: i64) -> Result<Option<Self>> {
        self.split_as(LibraryCall::Split, colour, key)
    }

    pub(super) fn split_as(
        &self,
        call: LibraryCall,
        colour: Option<u32>,
        key: i64,
    ) -> Result<Option<Self>> {
        let at = self.next_making(call);
        let mut mine = Proposal::new(&at)?.to_bytes();
        mine.extend(Choice { colour, key }.to_bytes());
        let all = allgather_bytes(at.clone(), &mine)?;
        let agreement = Agreement::read(&all, mine.len());
        let choice = |words: &[u8]| Choice::from_bytes(&words[Proposal::BYTES..]);
        let choices: Vec<Choice> = all.chunks(mine.len()).map(choice).collect();
        let context = colour.and_then(|colour| self.context().part(&members_of(colour, &choices)));
        agreement.open(&mut *self.engine().endpoint()?, &at, context.as_ref())?;
        Ok(context.map(Communicator::of))
    }

    /// Creates one communicator for all participating members whose processes share memory: those on one host, as far
    /// as their kernels report it. Returns `None` to a member that does not participate.
    ///
    /// # Errors
    /// As for [`split`](Communicator::split).
    pub fn split_by_host(&self, takes_part: bool, key: i64) -> Result<Option<Self>> {
        let at = self.next_making(LibraryCall::Split);
        let engine = self.context().engine();
        let host = engine.endpoint()?.computer().services.host_of(engine.rank());
        let mine = host.map_or_else(hosts::domain, |host| host as u64).to_ne_bytes();
        let all = allgather_bytes(at, &mine)?;
        let first = all.chunks(mine.len()).position(|one| one == mine);
        self.split(first.filter(|_| takes_part).map(|rank| rank as u32), key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_ordered_by_key_and_then_by_old_rank() {
        let choice = |colour, key| Choice { colour, key };
        let choices = [
            choice(Some(1), 2),
            choice(None, 0),
            choice(Some(1), -1),
            choice(Some(1), 2),
            choice(Some(2), i64::MIN),
        ];
        for one in choices {
            assert_eq!(Choice::from_bytes(&one.to_bytes()), one);
        }
        assert_eq!(members_of(1, &choices), [2, 0, 3]);
        assert_eq!(members_of(2, &choices), [4]);
    }
}
