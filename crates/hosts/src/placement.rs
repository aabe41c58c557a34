//! Discovery of the placement of ranks.

use std::collections::BTreeMap;

use contract::{Computer, ComputerServices, Rank, Result};

use crate::clock::{Clock, domain};
use crate::processors::{Processors, enough};

/// The placement of the ranks, as [`discover_placement`] returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// True if all ranks can run at the same time.
    pub every_rank_has_a_processor: bool,
    /// Number of hosts.
    pub hosts: usize,
    /// Processor to which this rank is bound, if it is bound to exactly one.
    pub processor: Option<usize>,
}

impl Placement {
    /// Returns the computer of this rank, with the clock that all ranks share.
    pub fn computer<'a>(&self, clock: &Clock, services: &'a dyn ComputerServices) -> Computer<'a> {
        Computer {
            processor: self.processor,
            every_rank_has_a_processor: self.every_rank_has_a_processor,
            clock: clock.quality(),
            services,
        }
    }
}

/// Discovers the placement of all ranks. All ranks must call it.
///
/// # Errors
/// Errors of an allgather.
pub fn discover_placement(rank: &mut dyn Rank) -> Result<Placement> {
    const BYTES: usize = 8 + Processors::BYTES;
    let own = Processors::of_this_process();
    let mut mine = [0; BYTES];
    mine[..8].copy_from_slice(&domain().to_le_bytes());
    mine[8..].copy_from_slice(&own.to_bytes());
    let mut all = vec![0; BYTES * rank.size()];
    rank.allgather(&mine, &mut all)?;
    let mut hosts: BTreeMap<[u8; 8], Vec<Processors>> = BTreeMap::new();
    for one in all.as_chunks::<BYTES>().0 {
        let (host, processors) = one.split_first_chunk::<8>().expect("a host comes first");
        let processors = processors.try_into().expect("as many bytes as were sent");
        hosts.entry(*host).or_default().push(Processors::from_bytes(processors));
    }
    Ok(Placement {
        every_rank_has_a_processor: hosts.values().all(|host| enough(host)),
        hosts: hosts.len(),
        processor: own.only(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use conformance::reference;

    #[test]
    fn ranks_of_one_process_find_that_they_share_a_host() {
        let ended = reference::run(3, |rank| {
            let placement = discover_placement(rank)?;
            assert_eq!(placement.hosts, 1);
            assert_eq!(placement.processor, Processors::of_this_process().only());
            Ok(())
        });
        assert_eq!(ended.map_err(|(_, error)| error), Ok(()));
    }
}
