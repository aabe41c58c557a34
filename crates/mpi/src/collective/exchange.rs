//! What allgather and all-to-all have in common: every rank has a block for every rank.

use contract::{Endpoint, Readable};

use super::blocks::{Blocks, check_apart, copy, incoming_from_others};
use crate::error::Result;
use crate::memory::Memory;
use crate::schedule::{CollectiveContext, Schedule};

/// What a rank sends.
pub(super) enum Outgoing {
    /// A block to each.
    Blocks(Blocks),
    /// The same to all.
    Same(Memory),
    /// What it receives takes the place of.
    InPlace,
}

impl Outgoing {
    /// Of several blocks each is compared with the one that comes from the same rank.
    pub(super) fn check_apart(&self, into: &Blocks) -> Result {
        match self {
            Outgoing::Blocks(blocks) => {
                blocks.iter().zip(into).try_for_each(|(a, b)| check_apart(a, b))
            }
            Outgoing::Same(_) | Outgoing::InPlace => Ok(()),
        }
    }

    /// What goes to each rank. This rank's own block is copied at once.
    fn readables<E: Endpoint>(&self, schedule: &mut Schedule<E>, into: &Blocks) -> Vec<Readable> {
        let rank = schedule.rank();
        match self {
            Outgoing::Blocks(blocks) => {
                copy(&blocks[rank], &into[rank]);
                blocks.iter().map(|one| schedule.outgoing(one).readable()).collect()
            }
            Outgoing::Same(block) => {
                copy(block, &into[rank]);
                vec![schedule.outgoing(block).readable(); into.len()]
            }
            // What arrives would take the place of what is still to go.
            Outgoing::InPlace => into
                .iter()
                .map(|block| {
                    let storage = block.packed().into();
                    schedule.keep::<crate::memory::Storage>(&storage);
                    storage.readable(0..storage.bytes())
                })
                .collect(),
        }
    }
}

/// Everything in one round: `from[r]` goes to rank r, `into[r]` comes from it.
pub(super) fn schedule<E: Endpoint>(
    at: CollectiveContext<E>,
    from: &Outgoing,
    into: &Blocks,
) -> Schedule<E> {
    let mut schedule = Schedule::new(at);
    let (rank, size) = (schedule.rank(), schedule.size());
    let places = incoming_from_others(&mut schedule, into);
    let mut places: Vec<_> = places.into_iter().map(Some).collect();
    let from = from.readables(&mut schedule, into);
    let round = schedule.round();
    // Each begins with its neighbour, so that not all send to the same rank at once.
    for distance in 1..size {
        let (source, to) = ((rank + size - distance) % size, (rank + distance) % size);
        // The list lacks this rank's own place.
        let place = places[source - usize::from(source > rank)].take();
        let (source, place) = place.expect("each is taken once");
        round.receive(source, place);
        round.send(to, from[to]);
    }
    schedule
}
