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
    /// Number of samples, at least one, between two times of the processors' operations.
    pub(super) between_operations: usize,
}

impl Chunk {
    const WORDS: usize = 6;

    pub(super) fn spread(self, rank: &mut dyn Rank) -> Result<()> {
        let (start, slack_ps) = self.start.to_wire();
        let (samples, between) = (self.samples as u64, self.between_operations as u64);
        let words = [samples, self.events, self.untimed, start, slack_ps, between];
        Self::broadcast(rank, words).map(drop)
    }

    pub(super) fn spread_end(rank: &mut dyn Rank) -> Result<()> {
        Self::broadcast(rank, [0; Self::WORDS]).map(drop)
    }

    /// Receives rank 0's next chunk; `None` when the measurement is over.
    pub(super) fn receive(rank: &mut dyn Rank) -> Result<Option<Chunk>> {
        let [samples, events, untimed, start, slack_ps, between] =
            Self::broadcast(rank, [0; Self::WORDS])?;
        let start = Start::from_wire(start, slack_ps);
        let (samples, between_operations) = (samples as usize, between as usize);
        let chunk = Chunk { samples, events, untimed, start, between_operations };
        Ok((samples > 0).then_some(chunk))
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
