//! The processors that the ranks may use.

/// One bit for each processor that a process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processors([u64; Processors::WORDS]);

impl Processors {
    const WORDS: usize = 16;
    pub(crate) const BYTES: usize = Self::WORDS * 8;

    /// Returns those of this process; none if the system does not report them.
    pub fn of_this_process() -> Self {
        let mut words = [0; Processors::WORDS];
        if let Ok(set) = rustix::thread::sched_getaffinity(None) {
            for processor in (0..64 * Processors::WORDS).filter(|&processor| set.is_set(processor))
            {
                words[processor / 64] |= 1 << (processor % 64);
            }
        }
        Processors(words)
    }

    /// Binds this process to one of them: the `place`-th, counted cyclically.
    ///
    /// # Errors
    /// The error of the system, or that there are none.
    pub fn bind_to(&self, place: usize) -> std::io::Result<()> {
        let own: Vec<usize> = (0..64 * Processors::WORDS)
            .filter(|&one| self.0[one / 64] >> (one % 64) & 1 == 1)
            .collect();
        let Some(&processor) = place.checked_rem(own.len()).and_then(|place| own.get(place)) else {
            return Err(std::io::Error::other(
                "the system does not report which processors may be used",
            ));
        };
        let mut set = rustix::thread::CpuSet::new();
        set.set(processor);
        Ok(rustix::thread::sched_setaffinity(None, &set)?)
    }

    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (chunks, _) = bytes.as_chunks_mut::<8>();
        chunks.iter_mut().zip(self.0).for_each(|(chunk, word)| *chunk = word.to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let (chunks, _) = bytes.as_chunks::<8>();
        Processors(std::array::from_fn(|index| u64::from_le_bytes(chunks[index])))
    }

    fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the processor, if there is exactly one.
    pub fn only(&self) -> Option<usize> {
        let word = self.0.iter().position(|word| *word != 0)?;
        (self.count() == 1).then(|| word * 64 + self.0[word].trailing_zeros() as usize)
    }
}

/// Returns whether every one of these processes, all on one host, can have its own processor at the same time.
pub(crate) fn enough(processes: &[Processors]) -> bool {
    let mut all = [0; Processors::WORDS];
    for process in processes {
        all.iter_mut().zip(process.0).for_each(|(word, own)| *word |= own);
    }
    let mut bound: Vec<usize> = processes.iter().filter_map(Processors::only).collect();
    let before = bound.len();
    bound.sort_unstable();
    bound.dedup();
    bound.len() == before && processes.len() <= Processors(all).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(processors: &[usize]) -> Processors {
        let mut words = [0; Processors::WORDS];
        processors.iter().for_each(|processor| words[processor / 64] |= 1 << (processor % 64));
        Processors(words)
    }

    #[test]
    fn processes_need_a_processor_each() {
        assert!(enough(&[set(&[0, 1]), set(&[0, 1])]));
        assert!(!enough(&[set(&[0, 1]), set(&[0, 1]), set(&[0, 1])]));
        assert!(enough(&[set(&[0]), set(&[70])]));
        assert!(!enough(&[set(&[1]), set(&[1]), set(&[0]), set(&[2, 3])]));
    }

    #[test]
    fn places_among_the_processors_go_round() {
        // In a thread of its own, because the calling thread is bound.
        std::thread::spawn(|| {
            let all = Processors::of_this_process();
            let first =
                (0..64 * Processors::WORDS).find(|one| all.0[one / 64] >> (one % 64) & 1 == 1);
            all.bind_to(all.count()).unwrap();
            assert_eq!(Processors::of_this_process().only(), first);
            assert!(set(&[]).bind_to(0).is_err());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_bound_process_knows_its_processor() {
        assert_eq!(set(&[70]).only(), Some(70));
        assert_eq!(set(&[3, 70]).only(), None);
        assert_eq!(set(&[]).only(), None);
        assert_eq!(Processors::from_bytes(&set(&[5, 64]).to_bytes()), set(&[5, 64]));
        assert!(Processors::of_this_process().count() > 0);
    }
}
