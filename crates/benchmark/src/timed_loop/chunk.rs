//! The samples that all ranks take next, as rank 0 spreads them.

use contract::{Rank, Result};

use super::start::Start;

/// Maximum number of samples of a chunk, whose times a rank stores. Even a chunk of the shortest events takes much
/// longer than the decision about the next one.
pub(super) const CHUNK_MAX: usize = 4096;
/// The samples that all ranks take next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) samples: usize,
    /// Number of events in each sample.
    pub(super) events: u64,
    /// Number of events before each sample that are not timed.
    pub(super) untimed: u64,
    pub(super) start: Start,
}

impl Chunk {
    const WORDS: usize = 5;

    pub(super) fn spread(self, rank: &mut dyn Rank) -> Result<()> {
        let (start, slack_ps) = self.start.to_wire();
        let words = [self.samples as u64, self.events, self.untimed, start, slack_ps];
        Self::broadcast(rank, words).map(drop)
    }

    pub(super) fn spread_end(rank: &mut dyn Rank) -> Result<()> {
        Self::broadcast(rank, [0; Self::WORDS]).map(drop)
    }

    /// Receives rank 0's next chunk; `None` when the measurement is over.
    pub(super) fn receive(rank: &mut dyn Rank) -> Result<Option<Chunk>> {
        let [samples, events, untimed, start, slack_ps] = Self::broadcast(rank, [0; Self::WORDS])?;
        let start = Start::from_wire(start, slack_ps);
        let samples = samples as usize;
        Ok((samples > 0).then_some(Chunk { samples, events, untimed, start }))
    }

    fn broadcast(rank: &mut dyn Rank, words: [u64; Self::WORDS]) -> Result<[u64; Self::WORDS]> {
        let mut bytes = [0; Self::WORDS * size_of::<u64>()];
        let (chunks, _) = bytes.as_chunks_mut::<8>();
        chunks.iter_mut().zip(words).for_each(|(chunk, word)| *chunk = word.to_le_bytes());
        rank.broadcast(0, &mut bytes)?;
        let (chunks, _) = bytes.as_chunks::<8>();
        Ok(std::array::from_fn(|index| u64::from_le_bytes(chunks[index])))
    }
}
