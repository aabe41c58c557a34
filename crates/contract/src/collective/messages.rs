//! Messages of a collective, which carry its call id and are checked when received.

use collectives::{AgreedCall, CallId};

use crate::{Error, Rank, Result, Source, Status, Tag, TagSelector};

/// A call by messages.
#[derive(Clone, Copy)]
pub(super) struct Messages {
    id: CallId,
    /// The call id in its short form.
    tag: Tag,
}

impl Messages {
    /// Returns the messages of a call by an algorithm.
    pub(super) fn of(id: CallId) -> Self {
        Messages { id, tag: Tag::reserved(id.to_short()) }
    }

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
        let (tag, bytes) = match received {
            Ok(status) => (status.tag, status.bytes),
            Err(Error::Truncated { tag, message_bytes, .. }) => {
                (Tag::from_wire(tag), message_bytes)
            }
            Err(error) => return Err(error),
        };
        if (tag, bytes) == (self.tag, expected_bytes) {
            return Ok(());
        }
        // Both ids in the short form: a root has fewer bits there.
        let [own, theirs] = [self.tag, tag].map(Tag::call_id);
        let call = |id| AgreedCall { id, bytes: expected_bytes };
        let own = call(own.unwrap_or(self.id));
        let theirs = theirs.map(|id| AgreedCall { id, bytes });
        let error = theirs.and_then(|theirs| Error::of_calls((rank, own), (from, theirs)));
        Err(error.unwrap_or_else(|| Error::of_unknown_call((rank, self.id), from)))
    }
}
