//! Creation of a context: the members exchange their parts of it.

use super::*;

/// A member's part of a new context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share {
    number: u32,
    offer: ContextOffer,
    colour: Option<u32>,
    key: i64,
}

const SHARE_BYTES: usize = 28;

impl Share {
    fn to_bytes(self) -> [u8; SHARE_BYTES] {
        let mut bytes = [0; SHARE_BYTES];
        bytes[..4].copy_from_slice(&self.number.to_le_bytes());
        bytes[4..12].copy_from_slice(&self.offer.0.to_le_bytes());
        bytes[12..16].copy_from_slice(&u32::from(self.colour.is_some()).to_le_bytes());
        bytes[16..20].copy_from_slice(&self.colour.unwrap_or_default().to_le_bytes());
        bytes[20..].copy_from_slice(&self.key.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; SHARE_BYTES]) -> Self {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        Share {
            number: word(0),
            offer: ContextOffer(long(4)),
            colour: (word(12) != 0).then(|| word(16)),
            key: long(20) as i64,
        }
    }
}

/// Returns the ranks of the old context with this colour, in their new order.
fn members_of(colour: u32, shares: &[Share]) -> Vec<usize> {
    let mut members: Vec<usize> =
        (0..shares.len()).filter(|&rank| shares[rank].colour == Some(colour)).collect();
    // The sort is stable: equal keys keep the old order.
    members.sort_by_key(|&rank| shares[rank].key);
    members
}

impl<E: Endpoint> Member<'_, E> {
    pub(super) fn split_as(&mut self, colour: Option<u32>, key: i64) -> Result<Option<Context>> {
        let number = self.process.numbers.propose(self.rank() == 0)?;
        let endpoint = &mut self.process.endpoint;
        let boards = boards_of(endpoint, self.context.place()).filter(|_| colour.is_some());
        let offer = boards.map_or(ContextOffer::NOTHING, |boards| boards.offer());
        let own = Share { number, offer, colour, key }.to_bytes();
        let mut all = vec![0; SHARE_BYTES * self.size()];
        self.allgather(&own, &mut all)?;
        let shares: Vec<Share> =
            all.as_chunks::<SHARE_BYTES>().0.iter().map(Share::from_bytes).collect();
        let Some(colour) = colour else { return Ok(None) };
        let own_ranks = members_of(colour, &shares);
        let offers: Vec<ContextOffer> = own_ranks.iter().map(|&rank| shares[rank].offer).collect();
        let me = own_ranks.iter().position(|&rank| rank == self.rank());
        let me = me.expect("this rank has this colour");
        let members = own_ranks.iter().map(|&rank| self.context.run_rank(rank));
        let members = members.collect::<Result<Vec<usize>>>()?;
        // Contexts of other colours have the same number and no member in common, so their messages never mix.
        let number = shares[0].number;
        let context = NewContext { number, members: &members, me, offers: &offers };
        let place = self.process.endpoint.open_context(context)?;
        let endpoint = &self.process.endpoint;
        let host_of = |rank| endpoint.computer().services.host_of(rank);
        Ok(Some(Context::of(number, place, members, me, endpoint.size(), host_of)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(colour: Option<u32>, key: i64) -> Share {
        Share { number: 7, offer: ContextOffer(1 << 40), colour, key }
    }

    #[test]
    fn shares_survive_the_trip() {
        for one in [share(None, -3), share(Some(0), i64::MIN), share(Some(u32::MAX), 5)] {
            assert_eq!(Share::from_bytes(&one.to_bytes()), one);
        }
    }

    #[test]
    fn members_are_ordered_by_key_and_then_by_old_rank() {
        let shares = [
            share(Some(1), 2),
            share(None, 0),
            share(Some(1), -1),
            share(Some(1), 2),
            share(Some(2), 0),
        ];
        assert_eq!(members_of(1, &shares), [2, 0, 3]);
        assert_eq!(members_of(2, &shares), [4]);
    }
}
