//! Collectives on slices. All members make the same calls.

use std::rc::Rc;

use contract::Endpoint;

use crate::collective::{
    AllToAll, Allgather, Allreduce, Barrier, Broadcast, Collective, Gather, Reduce, ReduceScatter,
    Scan, ScanKind, Scatter,
};
use crate::communicator::Communicator;
use crate::engine::Context;
use crate::error::{ErrorClass, Result, ensure};
use crate::memory::{Incoming, Memory, Outgoing};
use crate::operation::{Operation, Reduction};

impl<E: Endpoint + 'static> Communicator<E> {
    /// Waits until all members have reached the barrier.
    ///
    /// # Errors
    /// As for all collectives: [`ErrorClass::Truncated`] if the members disagree about lengths, [`ErrorClass::Other`]
    /// if they make different calls, and errors that end the run.
    pub fn barrier(&self) -> Result {
        Barrier::new(self.one_group()?).run()
    }

    /// Copies the root's data to all members.
    ///
    /// # Errors
    /// [`ErrorClass::Root`], and those of [`barrier`](Communicator::barrier).
    pub fn broadcast<'a>(&self, data: impl Into<Incoming<'a>>, root: usize) -> Result {
        let data = data.into();
        Broadcast::new(self.one_group()?, root, data.memory().clone())?.run()
    }

    /// Copies the data of member r to block r at the root. Only the root has room, for a block of each member.
    ///
    /// # Errors
    /// As for [`broadcast`](Communicator::broadcast), and [`ErrorClass::Count`] if the room is not a whole number of
    /// elements for each member.
    pub fn gather<'a, 'b>(
        &self,
        data: impl Into<Outgoing<'a>>,
        room: Option<impl Into<Incoming<'b>>>,
        root: usize,
    ) -> Result {
        let (data, room) = (data.into(), room.map(Into::into));
        let all = room.as_ref().map(|room| self.blocks(room.memory())).transpose()?;
        self.check_root_has(all.as_ref(), root)?;
        Gather::new(self.one_group()?, root, Some(data.memory().clone()), all)?.run()
    }

    /// Copies block r of the root's data to member r. Only the root has data, a block for each member.
    ///
    /// # Errors
    /// As for [`gather`](Communicator::gather).
    pub fn scatter<'a, 'b>(
        &self,
        data: Option<impl Into<Outgoing<'a>>>,
        room: impl Into<Incoming<'b>>,
        root: usize,
    ) -> Result {
        let (data, room) = (data.map(Into::into), room.into());
        let all = data.as_ref().map(|data| self.blocks(data.memory())).transpose()?;
        self.check_root_has(all.as_ref(), root)?;
        Scatter::new(self.one_group()?, root, all, Some(room.memory().clone()))?.run()
    }

    /// Copies the data of member r to block r at every member.
    ///
    /// # Errors
    /// As for [`gather`](Communicator::gather), except for the root.
    pub fn allgather<'a, 'b>(
        &self,
        data: impl Into<Outgoing<'a>>,
        room: impl Into<Incoming<'b>>,
    ) -> Result {
        let (data, room) = (data.into(), room.into());
        let all = self.blocks(room.memory())?;
        Allgather::new(self.one_group()?, Some(data.memory().clone()), all)?.run()
    }

    /// Copies block r of member s to block s of member r.
    ///
    /// # Errors
    /// As for [`allgather`](Communicator::allgather).
    pub fn all_to_all<'a, 'b>(
        &self,
        data: impl Into<Outgoing<'a>>,
        room: impl Into<Incoming<'b>>,
    ) -> Result {
        let (data, room) = (data.into(), room.into());
        let (from, to) = (self.blocks(data.memory())?, self.blocks(room.memory())?);
        AllToAll::new(self.one_group()?, Some(from), to)?.run()
    }

    /// Combines the elements of all members at the root, which alone has room.
    ///
    /// # Errors
    /// [`ErrorClass::Operation`] if the operation is not defined for the elements, [`ErrorClass::Count`] if data and
    /// room have different lengths, and as for [`broadcast`](Communicator::broadcast).
    pub fn reduce<'a, 'b>(
        &self,
        data: impl Into<Outgoing<'a>>,
        room: Option<impl Into<Incoming<'b>>>,
        operation: impl Into<Operation>,
        root: usize,
    ) -> Result {
        let (data, room) = (data.into(), room.map(Into::into));
        let (input, output) = (data.memory(), room.as_ref().map(Incoming::memory));
        let reduction = reduction(operation, input, output)?;
        let (input, output) = (Some(input.clone()), output.cloned());
        Reduce::new(self.one_group()?, root, reduction, input, output)?.run()
    }

    /// Combines the elements of all members at all of them, with the same bits at each.
    ///
    /// # Errors
    /// As for [`reduce`](Communicator::reduce), except for the root.
    pub fn allreduce<'a, 'b>(
        &self,
        data: impl Into<Outgoing<'a>>,
        room: impl Into<Incoming<'b>>,
        operation: impl Into<Operation>,
    ) -> Result {
        let (data, room) = (data.into(), room.into());
        let (input, output) = (data.memory(), room.memory());
        let reduction = reduction(operation, input, Some(output))?;
        Allreduce::new(self.one_group()?, reduction, Some(input.clone()), output.clone())?.run()
    }

    /// Combines the elements of the members up to each rank at that rank.
    ///
    /// # Errors
    /// As for [`allreduce`](Communicator::allreduce).
    pub fn scan<'a, 'b>(
        &self,
        data: impl Into<Outgoing<'a>>,
        room: impl Into<Incoming<'b>>,
        operation: impl Into<Operation>,
        kind: ScanKind,
    ) -> Result {
        let (data, room) = (data.into(), room.into());
        let (input, output) = (data.memory(), room.memory());
        let reduction = reduction(operation, input, Some(output))?;
        Scan::new(self.one_group()?, kind, reduction, Some(input.clone()), output.clone())?.run()
    }

    /// Combines the elements of all members, and distributes the result: each member gets as many elements as it has
    /// room for, the same number at all members.
    ///
    /// # Errors
    /// As for [`allreduce`](Communicator::allreduce).
    pub fn reduce_scatter<'a, 'b>(
        &self,
        data: impl Into<Outgoing<'a>>,
        room: impl Into<Incoming<'b>>,
        operation: impl Into<Operation>,
    ) -> Result {
        let (data, room) = (data.into(), room.into());
        let (input, output) = (data.memory().clone(), room.memory().clone());
        let reduction = Reduction::new(Rc::new(operation.into()), input.of().clone())?;
        let (context, count) = (self.one_group()?, output.count());
        ReduceScatter::of_equal_counts(context, reduction, count, Some(input), output)?.run()
    }

    /// Returns the context, which must have one group.
    fn one_group(&self) -> Result<Rc<Context<E>>> {
        self.check_one_group()?;
        Ok(self.context().clone())
    }

    /// Checks that memory has a block for each member.
    fn blocks(&self, all: &Memory) -> Result<Memory> {
        let (count, members) = (all.count(), self.size());
        let whole = count % members as i64 == 0;
        ensure!(whole, ErrorClass::Count, "{count} elements for {members} members");
        Ok(all.clone())
    }

    /// Fails unless the root, and only the root, has the blocks of all.
    fn check_root_has(&self, all: Option<&Memory>, root: usize) -> Result {
        self.context().check_root(root)?;
        let fits = all.is_some() == (self.rank() == root);
        ensure!(fits, ErrorClass::Buffer, "only the root has the blocks of all");
        Ok(())
    }
}

/// Creates a reduction of elements, as many from the source as for the destination.
fn reduction(
    operation: impl Into<Operation>,
    input: &Memory,
    output: Option<&Memory>,
) -> Result<Reduction> {
    if let Some(output) = output {
        let (found, expected) = (output.count(), input.count());
        ensure!(found == expected, ErrorClass::Count, "room for {found} of {expected} elements");
    }
    Reduction::new(Rc::new(operation.into()), input.of().clone())
}
