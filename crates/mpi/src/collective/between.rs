//! Collectives between two groups: the data of one group's members go to those of the other.

use std::rc::Rc;

use collectives::algorithm::between;
use collectives::{
    Blocks as ByteBlocks, CallId, Collective, Order, RootBetween, Schedule as Rounds, TwoGroups,
};
use contract::Endpoint;

use super::blocks::lengths;
use super::scheduled::{Scheduled, ScheduledMemory};
use crate::engine::Context;
use crate::error::{Error, ErrorClass, Result, ensure};
use crate::memory::Memory;
use crate::operation::Reduction;

/// Creates collectives between two groups.
pub struct Between<E: Endpoint> {
    context: Rc<Context<E>>,
    groups: TwoGroups,
}

impl<E: Endpoint + 'static> Between<E> {
    /// Returns the collectives of a context between two groups.
    ///
    /// # Errors
    /// [`ErrorClass::Communicator`] if it has one group.
    pub fn new(context: Rc<Context<E>>) -> Result<Self> {
        let wrong = || Error::new(ErrorClass::Communicator, "not an intercommunicator");
        let groups = context.two_groups().ok_or_else(wrong)?;
        Ok(Between { context, groups })
    }

    /// Returns the number of members of the other group.
    pub fn others(&self) -> usize {
        self.groups.other().len()
    }

    /// Returns a root of the other group.
    ///
    /// # Errors
    /// [`ErrorClass::Root`].
    pub fn across(&self, rank: usize) -> Result<RootBetween> {
        let others = self.others();
        ensure!(rank < others, ErrorClass::Root, "root {rank} of a group of {others}");
        Ok(RootBetween::Across(rank))
    }

    fn made(
        self,
        collective: Collective,
        memory: ScheduledMemory,
        rounds: impl Fn(TwoGroups) -> Rounds + 'static,
    ) -> Scheduled<E> {
        // Without the root, because other members of its group do not know which member it is.
        let (call_id, groups) = (CallId::of(collective), self.groups);
        Scheduled {
            context: self.context,
            call_id,
            rounds: Rc::new(move || rounds(groups)),
            memory,
        }
    }

    /// Copies the root's data to all members of the other group.
    pub fn broadcast(self, root: RootBetween, memory: Memory) -> Scheduled<E> {
        let length = memory.bytes();
        let is_filled = root == RootBetween::Me;
        let output = if root == RootBetween::NoPart { vec![] } else { vec![memory] };
        let memory = ScheduledMemory { output, is_filled, ..ScheduledMemory::default() };
        self.made(Collective::Broadcast, memory, move |groups| {
            between::broadcast(groups, root, length)
        })
    }

    /// Copies the data of member r of the other group to block r at the root. Only a root has blocks, and only members
    /// of the other group have data.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] for another number of blocks than of members.
    pub fn gather(
        self,
        root: RootBetween,
        mine: Option<Memory>,
        blocks: Vec<Memory>,
    ) -> Result<Scheduled<E>> {
        let of = self.blocks_at(root, mine.as_ref(), &blocks)?;
        let memory = ScheduledMemory {
            input: mine.into_iter().collect(),
            output: blocks,
            ..ScheduledMemory::default()
        };
        Ok(self.made(Collective::Gather, memory, move |groups| between::gather(groups, root, &of)))
    }

    /// Copies block r of the root's data to member r of the other group.
    ///
    /// # Errors
    /// As for [`gather`](Between::gather).
    pub fn scatter(
        self,
        root: RootBetween,
        blocks: Vec<Memory>,
        mine: Option<Memory>,
    ) -> Result<Scheduled<E>> {
        let of = self.blocks_at(root, mine.as_ref(), &blocks)?;
        let memory = ScheduledMemory {
            input: blocks,
            output: mine.into_iter().collect(),
            ..ScheduledMemory::default()
        };
        Ok(self
            .made(Collective::Scatter, memory, move |groups| between::scatter(groups, root, &of)))
    }

    /// Returns the lengths of a root's blocks, or of the one block of a member of the other group.
    fn blocks_at(
        &self,
        root: RootBetween,
        mine: Option<&Memory>,
        blocks: &[Memory],
    ) -> Result<ByteBlocks> {
        if root == RootBetween::Me {
            self.check_number(blocks)?;
            return Ok(ByteBlocks::of_lengths(blocks.iter().map(Memory::bytes)));
        }
        Ok(ByteBlocks::of_lengths([mine.map_or(0, Memory::bytes)]))
    }

    fn check_number(&self, blocks: &[Memory]) -> Result {
        let (found, others) = (blocks.len(), self.others());
        ensure!(found == others, ErrorClass::Argument, "{found} blocks for {others} members");
        Ok(())
    }

    /// Copies the data of member r of the other group to block r at every member.
    ///
    /// # Errors
    /// As for [`gather`](Between::gather).
    pub fn allgather(self, mine: Memory, blocks: Vec<Memory>) -> Result<Scheduled<E>> {
        self.check_number(&blocks)?;
        let (length, of) = (mine.bytes(), lengths(&blocks));
        let memory =
            ScheduledMemory { input: vec![mine], output: blocks, ..ScheduledMemory::default() };
        Ok(self.made(Collective::Allgather, memory, move |groups| {
            between::allgather(groups, length, &of)
        }))
    }

    /// Copies block r of member s of one group to block s of member r of the other.
    ///
    /// # Errors
    /// As for [`gather`](Between::gather).
    pub fn all_to_all(self, from: Vec<Memory>, to: Vec<Memory>) -> Result<Scheduled<E>> {
        self.check_number(&from)?;
        self.check_number(&to)?;
        let (input, output) = (lengths(&from), lengths(&to));
        let memory = ScheduledMemory { input: from, output: to, ..ScheduledMemory::default() };
        Ok(self.made(Collective::AllToAll, memory, move |groups| {
            between::all_to_all(groups, &input, &output)
        }))
    }

    /// Combines the elements of the other group at the root. Only the root has `output`, and only members of the other
    /// group have `input`.
    pub fn reduce(
        self,
        root: RootBetween,
        reduction: Reduction,
        input: Option<Memory>,
        output: Option<Memory>,
    ) -> Scheduled<E> {
        let (order, unit_bytes) = (order(&reduction), unit_bytes(&reduction));
        let length = input.as_ref().or(output.as_ref()).map_or(0, Memory::count) as usize;
        let memory = combined(reduction, input, output);
        self.made(Collective::Reduce, memory, move |groups| {
            between::reduce(groups, root, length, order, unit_bytes)
        })
    }

    /// Returns the reduce for a member that does not participate and does not know the elements.
    pub fn reduce_without_part(self) -> Scheduled<E> {
        self.made(Collective::Reduce, ScheduledMemory::default(), |_| Rounds::default())
    }

    /// Combines the elements of the other group at every member.
    pub fn allreduce(self, reduction: Reduction, input: Memory, output: Memory) -> Scheduled<E> {
        let (order, unit_bytes) = (order(&reduction), unit_bytes(&reduction));
        let length = input.count() as usize;
        let memory = combined(reduction, Some(input), Some(output));
        self.made(Collective::Allreduce, memory, move |groups| {
            between::allreduce(groups, length, order, unit_bytes)
        })
    }

    /// Combines the elements of the other group, and distributes `counts[r]` of them to member r of this one.
    ///
    /// # Errors
    /// [`ErrorClass::Count`] if the number of elements of a memory does not fit.
    pub fn reduce_scatter(
        self,
        reduction: Reduction,
        counts: &[i64],
        input: Memory,
        output: Memory,
    ) -> Result<Scheduled<E>> {
        let own = self.groups.own();
        let fits = counts.len() == own.len()
            && input.count() == counts.iter().sum::<i64>()
            && output.count() == counts[self.groups.me - own.start];
        ensure!(fits, ErrorClass::Count, "memory that does not fit the counts {counts:?}");
        let blocks = ByteBlocks::of_lengths(counts.iter().map(|&count| count as usize));
        let (order, unit_bytes) = (order(&reduction), unit_bytes(&reduction));
        let memory = combined(reduction, Some(input), Some(output));
        Ok(self.made(Collective::ReduceScatter, memory, move |groups| {
            between::reduce_scatter(groups, &blocks, order, unit_bytes)
        }))
    }
}

fn combined(
    reduction: Reduction,
    input: Option<Memory>,
    output: Option<Memory>,
) -> ScheduledMemory {
    ScheduledMemory {
        input: input.into_iter().collect(),
        output: output.into_iter().collect(),
        is_filled: false,
        reduction: Some(reduction),
    }
}

fn order(reduction: &Reduction) -> Order {
    if reduction.commutes() { Order::Any } else { Order::Ranks }
}

fn unit_bytes(reduction: &Reduction) -> usize {
    reduction.of().size() as usize
}
