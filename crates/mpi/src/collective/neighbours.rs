//! Neighbourhood collectives: every member calls, and exchanges data only with its neighbours in a topology.

use std::rc::Rc;

use collectives::{
    Area, Blocks as ByteBlocks, CallId, Collective, Form, Message, Part, Schedule as Rounds,
};
use contract::Endpoint;

use super::scheduled::{Scheduled, ScheduledMemory};
use crate::engine::Context;
use crate::error::{ErrorClass, Result, ensure};
use crate::memory::Memory;
use crate::topology::Exchanges;

/// Creates collectives among neighbours.
pub struct Neighbours<E: Endpoint> {
    context: Rc<Context<E>>,
    exchanges: Exchanges,
}

impl<E: Endpoint + 'static> Neighbours<E> {
    /// Returns the collectives of a communicator with a topology.
    pub fn new(context: Rc<Context<E>>, exchanges: Exchanges) -> Self {
        Neighbours { context, exchanges }
    }

    /// Sends the same data to each destination, and receives those of each source into its block.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] for another number of blocks than of sources.
    pub fn allgather(self, mine: Memory, blocks: Vec<Memory>) -> Result<Scheduled<E>> {
        let input = Part::of(Area::Input, 0..mine.bytes());
        let sends = self.exchanges.destinations.iter().flatten();
        let sends: Vec<_> = sends.map(|&rank| Message::new(rank, input)).collect();
        // Data for nobody are not read: there may be no buffer of this length.
        let input = if sends.is_empty() { vec![] } else { vec![mine] };
        self.made(Collective::Allgather, input, sends, blocks)
    }

    /// Sends a block to each destination, and receives that of each source into its block.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] for another number of blocks than of neighbours.
    pub fn all_to_all(self, from: Vec<Memory>, to: Vec<Memory>) -> Result<Scheduled<E>> {
        check_number(from.len(), self.exchanges.destinations.len(), "destinations")?;
        let to_whom = self.exchanges.destinations.iter().zip(from);
        let (ranks, from): (Vec<usize>, Vec<Memory>) =
            to_whom.filter_map(|(rank, block)| Some(((*rank)?, block))).unzip();
        let blocks = ByteBlocks::of_lengths(from.iter().map(Memory::bytes));
        let part = |index| Part::of(Area::Input, blocks.one(index));
        let sends = ranks.into_iter().enumerate();
        let sends = sends.map(|(index, rank)| Message::new(rank, part(index))).collect();
        self.made(Collective::AllToAll, from, sends, to)
    }

    fn made(
        self,
        collective: Collective,
        input: Vec<Memory>,
        sends: Vec<Message>,
        blocks: Vec<Memory>,
    ) -> Result<Scheduled<E>> {
        let Exchanges { sources, order, .. } = self.exchanges;
        check_number(blocks.len(), sources.len(), "sources")?;
        // Blocks from the null process stay unchanged.
        let (mut output, mut receives) = (Vec::new(), Vec::new());
        let mut end = 0;
        for index in order {
            let (Some(rank), block) = (sources[index], &blocks[index]) else { continue };
            receives.push(Message::new(rank, Part::of(Area::Output, end..end + block.bytes())));
            end += block.bytes();
            output.push(block.clone());
        }
        let rounds = Rc::new(move || {
            let mut rounds = Rounds::default();
            rounds.messages(receives.iter().copied(), sends.iter().copied());
            rounds
        });
        let memory = ScheduledMemory { input, output, ..ScheduledMemory::default() };
        let call_id = CallId::of(collective).in_form(Form::Neighbours);
        Ok(Scheduled { context: self.context, call_id, rounds, memory })
    }
}

fn check_number(found: usize, expected: usize, what: &str) -> Result {
    ensure!(found == expected, ErrorClass::Argument, "{found} blocks for {expected} {what}");
    Ok(())
}
