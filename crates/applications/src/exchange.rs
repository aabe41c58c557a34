//! Blocks that every rank sends to every other. They are read in their senders' memory if the fabric can.

use contract::{Buffer, Completed, Posted, Rank, Result, Source, Tag, TagSelector};

const TAG: Tag = Tag::new(3);

/// Buffers of an exchange, which are reused.
pub(crate) struct Exchange {
    /// A buffer to send to each rank. This rank's own is read in place.
    pub(crate) outgoing: Vec<Buffer>,
    incoming: Vec<Buffer>,
    posted: Vec<Posted>,
    /// The received block of each rank.
    arrived: Vec<Option<Completed>>,
}

impl Exchange {
    /// Creates buffers for `bytes(to)` bytes to each rank, and `bytes_from(from)` from each. A rank's block for itself
    /// is only in `outgoing`.
    pub(crate) fn new(
        (me, ranks): (usize, usize),
        bytes_to: impl Fn(usize) -> usize,
        bytes_from: impl Fn(usize) -> usize,
    ) -> Result<Self> {
        let from = |rank: usize| if rank == me { 0 } else { bytes_from(rank) };
        Ok(Exchange {
            outgoing: (0..ranks)
                .map(|to| Buffer::try_zeroed(bytes_to(to)))
                .collect::<Result<_>>()?,
            incoming: (0..ranks).map(|one| Buffer::try_zeroed(from(one))).collect::<Result<_>>()?,
            posted: Vec::with_capacity(ranks),
            arrived: (0..ranks).map(|_| None).collect(),
        })
    }

    /// Makes room for `bytes` bytes from a rank.
    pub(crate) fn expect(&mut self, from: usize, bytes: usize) {
        if self.incoming[from].len() < bytes {
            self.incoming[from].resize(bytes);
        }
    }

    /// Sends the first `bytes(to)` bytes of each outgoing buffer, and waits for the blocks of all others.
    pub(crate) fn start(
        &mut self,
        rank: &mut dyn Rank,
        bytes: impl Fn(usize) -> usize,
    ) -> Result<()> {
        let (me, ranks) = (rank.rank(), rank.size());
        let mut receives = Vec::with_capacity(ranks);
        let others = || (1..ranks).map(move |step| (me + step) % ranks);
        for from in others() {
            let buffer = std::mem::replace(&mut self.incoming[from], Buffer::zeroed(0));
            let tag = TagSelector::Is(TAG);
            receives.push((from, rank.post_receive_in_place(Source::Rank(from), tag, buffer)?));
        }
        for to in others() {
            let mut buffer = std::mem::replace(&mut self.outgoing[to], Buffer::zeroed(0));
            buffer.resize(bytes(to));
            self.posted.push(rank.post_send(to, TAG, buffer)?);
        }
        for (from, receive) in receives {
            self.arrived[from] = Some(rank.wait(receive)?);
        }
        Ok(())
    }

    /// Returns the block of rank `from`, between start and end.
    pub(crate) fn block<'a>(&'a self, rank: &'a dyn Rank, from: usize) -> &'a [u8] {
        match &self.arrived[from] {
            Some(message) => rank.view(message),
            None => &self.outgoing[from],
        }
    }

    /// Releases all blocks, and waits until the other ranks have released this rank's.
    pub(crate) fn end(&mut self, rank: &mut dyn Rank) -> Result<()> {
        let (me, ranks) = (rank.rank(), rank.size());
        for from in 0..ranks {
            if let Some(message) = self.arrived[from].take() {
                self.incoming[from] = rank.release(message)?;
            }
        }
        let others = (1..ranks).map(|step| (me + step) % ranks);
        for (to, posted) in others.zip(std::mem::take(&mut self.posted)) {
            self.outgoing[to] = rank.wait(posted)?.buffer;
        }
        Ok(())
    }
}
