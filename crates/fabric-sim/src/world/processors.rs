//! The processors of all ranks: one each, or several ranks on one, and a processor's work for its node beside its
//! ranks.

use contract::{Priority, Time, TimeSpan};

use super::noise::Noise;
use super::scheduler::{Costs, Job, Scheduler};
use crate::agenda::{Agenda, Event};
use crate::machine::{Level, Machine};

/// Number of a processor's work for its node, in place of a rank's.
const NODE: u32 = u32::MAX;
/// Priority of that work, above every rank's, as for an interrupt.
const INTERRUPT: Priority = Priority::Fixed(u8::MAX);

/// All processors of a machine. Rank r is on processor r / ranks_per_processor.
pub(super) struct Processors {
    ranks_per_processor: u32,
    /// Pauses by rank, if each has a processor of its own; empty on a machine without pauses.
    noise: Vec<Noise>,
    /// Schedulers by processor, if several ranks share one, or if it forwards messages beside its rank.
    scheduled: Vec<Scheduler>,
}

impl Processors {
    pub(super) fn new(
        machine: &Machine,
        level: Level,
        nodes: usize,
        ranks_per_processor: u32,
        seed: u64,
    ) -> Self {
        let noise = |node| Noise::new(machine, seed, node);
        let forwards = machine.endpoint.processor_forwards && level == Level::Packets;
        // Nodes without a rank, in a cube that is not full, forward, too.
        let nodes = 0..if forwards { nodes.next_power_of_two() } else { nodes } as u32;
        let mut processors =
            Processors { ranks_per_processor, noise: Vec::new(), scheduled: Vec::new() };
        if ranks_per_processor > 1 || forwards {
            let costs =
                Costs { slice: machine.processor.time_slice, switch: machine.processor.switch };
            let scheduler = |node| Scheduler::new(node, costs, noise(node));
            processors.scheduled = nodes.map(scheduler).collect();
        } else if !machine.pauses.is_empty() {
            processors.noise = nodes.map(noise).collect();
        }
        processors
    }

    pub(super) fn ranks_per_processor(&self) -> u32 {
        self.ranks_per_processor
    }

    /// Returns whether ranks share processors.
    pub(super) fn are_shared(&self) -> bool {
        self.ranks_per_processor > 1
    }

    /// Returns whether a scheduler determines when each piece of work is done.
    pub(super) fn are_scheduled(&self) -> bool {
        !self.scheduled.is_empty()
    }

    /// Returns the processor of a rank.
    pub(super) fn node(&self, rank: usize) -> usize {
        if self.are_shared() { rank / self.ranks_per_processor as usize } else { rank }
    }

    /// Returns whether two ranks are on one processor; a rank and itself are.
    pub(super) fn are_one(&self, rank: usize, other: usize) -> bool {
        rank == other || (self.are_shared() && self.node(rank) == self.node(other))
    }

    /// Returns the end of work of `span` that begins now on a rank's own processor.
    pub(super) fn end(&self, rank: usize, now: Time, span: TimeSpan) -> Time {
        match self.noise.get(rank) {
            None => now + span,
            Some(noise) => noise.end(now, span),
        }
    }

    /// Returns the longest time after `now` in which no pause begins on a rank's own processor. Zero in a pause; `None` if
    /// there are no pauses.
    pub(super) fn quiet_after(&self, rank: usize, now: Time) -> Option<TimeSpan> {
        self.noise.get(rank)?.quiet_after(now)
    }

    /// Submits a job to the processor that a rank shares; `done` happens when it is done.
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
        self.scheduled[node].submit(agenda, job);
    }

    /// Ends the time slice of a rank that has the processor that it shares.
    pub(super) fn end_slice(&mut self, rank: usize) {
        let node = self.node(rank);
        self.scheduled[node].end_slice();
    }

    /// Lets a processor work for its node, before it continues with its ranks; `done` happens afterwards.
    pub(super) fn interrupt(
        &mut self,
        agenda: &mut Agenda,
        node: u32,
        span: TimeSpan,
        done: Event,
    ) {
        let job = Job { rank: NODE, priority: INTERRUPT, left: span, done };
        self.scheduled[node as usize].submit(agenda, job);
    }

    /// Ends the current job of a shared processor.
    pub(super) fn stop(&mut self, agenda: &mut Agenda, node: u32) {
        self.scheduled[node as usize].stop(agenda);
    }

    /// Lets the scheduler of a shared processor choose the next job.
    pub(super) fn choose(&mut self, agenda: &mut Agenda, node: u32) {
        self.scheduled[node as usize].choose(agenda);
    }
}
