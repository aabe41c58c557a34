//! Collectives of the MPI.

use std::ffi::{c_int, c_void};

use contract::collective::Collective;
use contract::{
    CollectiveCall, Combine, ContextPlace, Error, Readable, Reduction, Result, Writable,
};

use super::MpiEndpoint;
use super::call::{counted, readable_at, writable_at};
use crate::library::{Handle, IN_PLACE};

/// Calls a collective of the library with counts large enough for its length, and checks the status. Must be used
/// inside `unsafe`, as `counted`.
macro_rules! collective {
    ($endpoint:expr, $mpi_name:literal, $largest:expr, $name:ident ($count:ident; $($argument:expr),* $(,)?)) => {
        match counted!($endpoint.library, $largest, $name, [$count = $largest]($($argument),*)) {
            Ok(status) => $endpoint.library.check_collective($mpi_name, status),
            Err(error) => Err(error),
        }
    };
}

/// Returns the address from which MPI reads a block; `MPI_IN_PLACE` if there is none.
fn block_of(send: Option<&Readable>) -> *const c_void {
    send.map_or(IN_PLACE, readable_at)
}

/// Returns the address at which MPI writes a block; `MPI_IN_PLACE` if there is none.
fn room_of(receive: Option<&Writable>) -> *mut c_void {
    receive.map_or(IN_PLACE.cast_mut(), writable_at)
}

/// Fails a call whose own arguments contradict each other: MPI has no means to report this to the other ranks.
fn check_own_block(collective: Collective, each: usize, stated: Option<usize>) -> Result<()> {
    let Some(found_bytes) = stated else { return Ok(()) };
    let what = "the block of this rank".into();
    Err(Error::UnequalCounts {
        collective: collective.words().into(),
        what,
        expected_bytes: each,
        found_bytes,
    })
}

/// Returns whether MPI has an operation for a call.
pub(super) fn has_operation(call: &CollectiveCall<'_>) -> bool {
    call.combine.as_ref().is_none_or(|combine| combine.reduction().is_some())
}

/// Ranks that receive the result of a reduction.
enum Receivers {
    Root(usize),
    All,
    /// Each rank receives the block of its number.
    EachABlock,
    /// Each rank receives the result of those before it, and its own operand if the scan is not exclusive.
    LaterRanks {
        exclusive: bool,
    },
}

impl MpiEndpoint {
    /// Carries a collective out among the ranks of a context.
    pub(super) fn mpi_collective(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
    ) -> Result<()> {
        let context = self.contexts.at(place)?;
        let (comm, me) = (context.for_collectives(), context.own_rank(self.setting.rank)?);
        let exclusive = call.collective == Collective::ExclusiveScan;
        let (receivers, receives) = match call.collective {
            Collective::Barrier => return self.mpi_barrier(comm),
            Collective::Broadcast => {
                let data = call.receive.unwrap_or(Writable::empty());
                return self.mpi_broadcast(comm, call.root, &data);
            }
            Collective::Reduce => (Receivers::Root(call.root), me as usize == call.root),
            Collective::Allreduce => (Receivers::All, true),
            Collective::ReduceScatter => (Receivers::EachABlock, true),
            Collective::InclusiveScan | Collective::ExclusiveScan => {
                (Receivers::LaterRanks { exclusive }, !exclusive || me > 0)
            }
            _ => return self.mpi_blocks(comm, &call),
        };
        let combine = call.combine.ok_or(Error::UnknownRequest)?;
        let send = call.send.unwrap_or(Readable::empty());
        let vectors = (&send, call.receive.unwrap_or(Writable::empty()), receives);
        self.mpi_reduction(comm, vectors, combine, receivers)
    }

    fn mpi_barrier(&mut self, comm: Handle) -> Result<()> {
        // SAFETY: the communicator is ours.
        let status = unsafe { (self.library.general.barrier)(comm) };
        self.library.check_collective("MPI_Barrier", status)
    }

    fn mpi_broadcast(&mut self, comm: Handle, root: usize, data: &Writable) -> Result<()> {
        let byte = self.library.constants.byte;
        // SAFETY: `data` has the given length; MPI reads it at the root and writes it elsewhere.
        unsafe {
            collective!(self, "MPI_Bcast", data.bytes(), broadcast(count; writable_at(data), count, byte, root as c_int, comm))
        }
    }

    /// Carries out a call in which each rank sends or receives blocks of equal lengths.
    fn mpi_blocks(&mut self, comm: Handle, call: &CollectiveCall<'_>) -> Result<()> {
        let &CollectiveCall { collective, root, bytes: each, ref send, ref receive, .. } = call;
        check_own_block(collective, each, call.stated_bytes)?;
        let nothing = Writable::empty();
        let room = receive.as_ref().unwrap_or(&nothing);
        let byte = self.library.constants.byte;
        // SAFETY: in each of these calls, `send` and `receive` have a block, or one for each rank where MPI reads or
        // writes as many.
        unsafe {
            match collective {
                Collective::Scatter => {
                    let from = send.as_ref().map_or(std::ptr::null(), readable_at);
                    let to = room_of(receive.as_ref());
                    collective!(self, "MPI_Scatter", each, scatter(count; from, count, byte, to, count, byte, root as c_int, comm))
                }
                Collective::Gather => {
                    let (from, to) = (block_of(send.as_ref()), writable_at(room));
                    collective!(self, "MPI_Gather", each, gather(count; from, count, byte, to, count, byte, root as c_int, comm))
                }
                Collective::Allgather => {
                    let (from, to) = (block_of(send.as_ref()), writable_at(room));
                    collective!(self, "MPI_Allgather", each, allgather(count; from, count, byte, to, count, byte, comm))
                }
                Collective::AllToAll => {
                    let (from, to) = (block_of(send.as_ref()), writable_at(room));
                    collective!(self, "MPI_Alltoall", each, all_to_all(count; from, count, byte, to, count, byte, comm))
                }
                _ => unreachable!("the caller carries out the other calls"),
            }
        }
    }

    /// Calls the reduction of MPI with these receivers. The vectors are this rank's operand and the place of the
    /// result; the flag is true if this rank receives the result.
    fn mpi_reduction(
        &mut self,
        comm: Handle,
        (send, mut receive, receives): (&Readable, Writable, bool),
        combine: Combine<'_>,
        receivers: Receivers,
    ) -> Result<()> {
        let reduction: Reduction = combine.reduction().ok_or(Error::UnknownRequest)?;
        if send.bytes() == 0 {
            return self.mpi_barrier(comm);
        }
        let mut aligned = self.reductions.aligned(reduction, send, &receive, receives);
        let (from, to) = aligned.pointers(send, &receive);
        let is_in_place = receives && from == to.cast_const();
        let from = if is_in_place { IN_PLACE } else { from };
        let bytes = match receivers {
            Receivers::EachABlock => receive.bytes(),
            _ => send.bytes(),
        };
        let count = bytes / reduction.element.bytes();
        let element = self.library.constants.element(reduction.element);
        let operation = self.reductions.operation(&self.library, reduction);
        // SAFETY: `from`, and `to` on ranks that receive the result, are addresses of `count` elements, aligned as
        // these need.
        unsafe {
            match receivers {
                Receivers::Root(root) => {
                    collective!(self, "MPI_Reduce", count, reduce(count; from, to, count, element, operation, root as c_int, comm))
                }
                Receivers::EachABlock => {
                    collective!(self, "MPI_Reduce_scatter_block", count, reduce_scatter(count; from, to, count, element, operation, comm))
                }
                Receivers::LaterRanks { exclusive: false } => {
                    collective!(self, "MPI_Scan", count, scan(count; from, to, count, element, operation, comm))
                }
                Receivers::LaterRanks { exclusive: true } => {
                    collective!(self, "MPI_Exscan", count, exclusive_scan(count; from, to, count, element, operation, comm))
                }
                Receivers::All => {
                    collective!(self, "MPI_Allreduce", count, allreduce(count; from, to, count, element, operation, comm))
                }
            }
        }?;
        if receives {
            aligned.deliver(&mut receive);
        }
        Ok(())
    }
}
