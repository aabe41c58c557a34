//! The processors of all ranks: one each, or several ranks on one.

use contract::{Priority, Time, TimeSpan};

use super::noise::Noise;
use super::sharing::{Costs, Job, Sharing};
use crate::agenda::{Agenda, Event};
use crate::machine::Machine;

/// All processors of a machine. Rank r is on processor r / ranks_per_processor.
pub(super) struct Processors {
    ranks_per_processor: u32,
    /// Of ranks that have a processor each; empty on a machine without pauses.
    noise: Vec<Noise>,
    /// Of those that do not.
    shared: Vec<Sharing>,
}

impl Processors {
    pub(super) fn new(
        machine: &Machine,
        nodes: usize,
        ranks_per_processor: u32,
        seed: u64,
    ) -> Self {
        let noise = |node| Noise::new(machine, seed, node);
        let nodes = 0..nodes as u32;
        let mut processors =
            Processors { ranks_per_processor, noise: Vec::new(), shared: Vec::new() };
        if ranks_per_processor > 1 {
            let costs =
                Costs { slice: machine.processor.time_slice, switch: machine.processor.switch };
            let sharing = |node| Sharing::new(node, costs, noise(node));
            processors.shared = nodes.map(sharing).collect();
        } else if !machine.pauses.is_empty() {
            processors.noise = nodes.map(noise).collect();
        }
        processors
    }

    pub(super) fn ranks_per_processor(&self) -> u32 {
        self.ranks_per_processor
    }

    /// Whether ranks share processors.
    pub(super) fn are_shared(&self) -> bool {
        self.ranks_per_processor > 1
    }

    /// The processor of a rank.
    pub(super) fn node(&self, rank: usize) -> usize {
        if self.are_shared() { rank / self.ranks_per_processor as usize } else { rank }
    }

    /// Whether two ranks are on one processor, as every rank is with itself.
    pub(super) fn are_one(&self, rank: usize, other: usize) -> bool {
        rank == other || (self.are_shared() && self.node(rank) == self.node(other))
    }

    /// When work of `span` that begins now ends on a rank's own processor.
    pub(super) fn end(&self, rank: usize, now: Time, span: TimeSpan) -> Time {
        match self.noise.get(rank) {
            None => now + span,
            Some(noise) => noise.end(now, span),
        }
    }

    /// A job for the processor that a rank shares; `done` happens when it is done.
    pub(super) fn occupy(
        &mut self,
        agenda: &mut Agenda,
        rank: usize,
        priority: Priority,
        span: TimeSpan,
        done: Event,
    ) {
        let node = self.node(rank);
        let job = Job { rank: rank as u32, priority, left: span, done };
        self.shared[node].submit(agenda, job);
    }

    /// What runs on a shared processor ends.
    pub(super) fn turn(&mut self, agenda: &mut Agenda, node: u32) {
        self.shared[node as usize].turn(agenda);
    }

    /// A shared processor chooses what it does next.
    pub(super) fn choose(&mut self, agenda: &mut Agenda, node: u32) {
        self.shared[node as usize].choose(agenda);
    }
}
