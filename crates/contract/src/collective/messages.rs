//! Messages of a collective, which carry its call id and are checked when received.

use super::call_id::{CallId, describe, unequal};
use crate::{Error, Rank, Result, Source, Status, Tag, TagSelector};

impl CallId {
    /// Sends `data` as a message of this call.
    pub(super) fn send<R: Rank + ?Sized>(self, rank: &mut R, to: usize, data: &[u8]) -> Result<()> {
        rank.send(to, self.tag, data)
    }

    /// Receives the next message of `from`, which must belong to this call and fill `buffer`.
    pub(super) fn receive<R: Rank + ?Sized>(
        self,
        rank: &mut R,
        from: usize,
        buffer: &mut [u8],
    ) -> Result<()> {
        let received = rank.receive(Source::Rank(from), TagSelector::AnyReserved, buffer);
        self.check(rank.rank(), from, buffer.len(), received)
    }

    /// Sends to one rank and receives from another (or the same) at the same time.
    pub(super) fn exchange<R: Rank + ?Sized>(
        self,
        rank: &mut R,
        (to, data): (usize, &[u8]),
        (from, buffer): (usize, &mut [u8]),
    ) -> Result<()> {
        let source = Source::Rank(from);
        let received =
            rank.send_receive((to, self.tag, data), (source, TagSelector::AnyReserved, buffer));
        self.check(rank.rank(), from, buffer.len(), received)
    }

    fn check(
        self,
        rank: usize,
        from: usize,
        expected_bytes: usize,
        received: Result<Status>,
    ) -> Result<()> {
        let (tag, found_bytes) = match received {
            Ok(status) => (status.tag, status.bytes),
            Err(Error::Truncated { tag, message_bytes, .. }) => {
                (Tag::from_wire(tag), message_bytes)
            }
            Err(error) => return Err(error),
        };
        if tag != self.tag {
            let (own, other) = (describe(self.tag), describe(tag));
            return Err(Error::MismatchedCollective {
                explanation: format!("rank {rank} is in {own}, rank {from} in {other}"),
            });
        }
        if found_bytes != expected_bytes {
            let what = format!("the message of rank {from} to rank {rank}");
            return unequal(self.collective, what, expected_bytes, found_bytes);
        }
        Ok(())
    }
}
