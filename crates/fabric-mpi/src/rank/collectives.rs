//! The MPI's own collectives.

use std::ffi::c_int;

use contract::{Error, Rank, Reduction, Result, check_rank};

use super::MpiRank;
use super::call::{counted, readable, writable};
use crate::library::IN_PLACE;

/// Calls a collective of the library with the counts that its length asks for, and checks its status. To be used inside
/// `unsafe`, as `counted`.
macro_rules! collective {
    ($rank:expr, $mpi_name:literal, $largest:expr, $name:ident ($count:ident; $($argument:expr),* $(,)?)) => {
        match counted!($rank.library, $largest, $name, [$count = $largest]($($argument),*)) {
            Ok(status) => $rank.library.check_collective($mpi_name, status),
            Err(error) => Err(error),
        }
    };
}

/// Refuses a length that contradicts another of the same call.
fn expect_bytes(
    collective: &'static str,
    what: &str,
    expected_bytes: usize,
    found_bytes: usize,
) -> Result<()> {
    if found_bytes == expected_bytes {
        return Ok(());
    }
    Err(Error::UnequalCounts { collective, what: what.into(), expected_bytes, found_bytes })
}

/// The length of a block, where `buffer` must hold one for each of `size` ranks.
fn block_bytes(collective: &'static str, what: &str, size: usize, buffer: &[u8]) -> Result<usize> {
    let broken = buffer.len() % size;
    expect_bytes(collective, what, buffer.len() - broken, buffer.len())?;
    Ok(buffer.len() / size)
}

impl MpiRank {
    pub(super) fn mpi_barrier(&mut self) -> Result<()> {
        // SAFETY: the communicator is ours.
        let status = unsafe { (self.library.general.barrier)(self.comm) };
        self.library.check_collective("MPI_Barrier", status)
    }

    pub(super) fn mpi_broadcast(&mut self, root: usize, buffer: &mut [u8]) -> Result<()> {
        check_rank(root, self.size())?;
        let byte = self.library.constants.byte;
        // SAFETY: `buffer` is as long as is said; MPI reads it at the root and writes it elsewhere.
        unsafe {
            collective!(self, "MPI_Bcast", buffer.len(), broadcast(count; writable(buffer), count, byte, root as c_int, self.comm))
        }
    }

    pub(super) fn mpi_scatter(
        &mut self,
        root: usize,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        check_rank(root, self.size())?;
        if self.rank() == root {
            expect_bytes("scatter", "the send buffer", receive.len() * self.size(), send.len())?;
        }
        let byte = self.library.constants.byte;
        // SAFETY: `receive` is as long as is said, and `send` at the root, where alone it is read, `size` times as long.
        unsafe {
            collective!(self, "MPI_Scatter", receive.len(), scatter(count; readable(send), count, byte, writable(receive), count, byte, root as c_int, self.comm))
        }
    }

    pub(super) fn mpi_gather(
        &mut self,
        root: usize,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        check_rank(root, self.size())?;
        if self.rank() == root {
            expect_bytes("gather", "the receive buffer", send.len() * self.size(), receive.len())?;
        }
        let byte = self.library.constants.byte;
        // SAFETY: `send` is as long as is said, and `receive` at the root, where alone it is written, `size` times as
        // long.
        unsafe {
            collective!(self, "MPI_Gather", send.len(), gather(count; readable(send), count, byte, writable(receive), count, byte, root as c_int, self.comm))
        }
    }

    pub(super) fn mpi_allgather(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        expect_bytes("allgather", "the receive buffer", send.len() * self.size(), receive.len())?;
        let byte = self.library.constants.byte;
        // SAFETY: `receive` is `size` times as long as `send`, which is as long as is said.
        unsafe {
            collective!(self, "MPI_Allgather", send.len(), allgather(count; readable(send), count, byte, writable(receive), count, byte, self.comm))
        }
    }

    pub(super) fn mpi_allgather_in_place(&mut self, buffer: &mut [u8]) -> Result<()> {
        let block = block_bytes("allgather_in_place", "the buffer", self.size(), buffer)?;
        let byte = self.library.constants.byte;
        // SAFETY: `buffer` holds `size` blocks of the length that is said.
        unsafe {
            collective!(self, "MPI_Allgather", block, allgather(count; IN_PLACE, count, byte, writable(buffer), count, byte, self.comm))
        }
    }

    pub(super) fn mpi_all_to_all(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        let block = block_bytes("all_to_all", "the send buffer", self.size(), send)?;
        expect_bytes("all_to_all", "the receive buffer", send.len(), receive.len())?;
        let byte = self.library.constants.byte;
        // SAFETY: both hold `size` blocks of the length that is said.
        unsafe {
            collective!(self, "MPI_Alltoall", block, all_to_all(count; readable(send), count, byte, writable(receive), count, byte, self.comm))
        }
    }

    pub(super) fn mpi_reduce(
        &mut self,
        root: usize,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        check_rank(root, self.size())?;
        if self.rank() == root {
            expect_bytes("reduce", "the receive buffer", send.len(), receive.len())?;
        }
        self.expect_whole("reduce", reduction, send)?;
        if send.is_empty() {
            return self.mpi_barrier();
        }
        let receives = self.rank() == root;
        let mut aligned = self.reductions.aligned(reduction, send, receive, receives);
        let (from, to) = aligned.pointers(send, receive);
        let count = send.len() / reduction.element.bytes();
        let element = self.library.constants.element(reduction.element);
        let operation = self.reductions.operation(&self.library, reduction);
        // SAFETY: `from` and, at the root, `to` are addresses of `count` elements, aligned as these need.
        unsafe {
            collective!(self, "MPI_Reduce", count, reduce(count; from, to, count, element, operation, root as c_int, self.comm))
        }?;
        if receives {
            aligned.give_back(receive);
        }
        Ok(())
    }

    pub(super) fn mpi_allreduce(
        &mut self,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        expect_bytes("allreduce", "the receive buffer", send.len(), receive.len())?;
        self.expect_whole("allreduce", reduction, send)?;
        if send.is_empty() {
            return self.mpi_barrier();
        }
        let mut aligned = self.reductions.aligned(reduction, send, receive, true);
        let (from, to) = aligned.pointers(send, receive);
        let count = send.len() / reduction.element.bytes();
        let element = self.library.constants.element(reduction.element);
        let operation = self.reductions.operation(&self.library, reduction);
        // SAFETY: `from` and `to` are addresses of `count` elements, aligned as these need.
        unsafe {
            collective!(self, "MPI_Allreduce", count, allreduce(count; from, to, count, element, operation, self.comm))
        }?;
        aligned.give_back(receive);
        Ok(())
    }

    fn expect_whole(
        &self,
        collective: &'static str,
        reduction: Reduction,
        send: &[u8],
    ) -> Result<()> {
        let broken = send.len() % reduction.element.bytes();
        let what = "the send buffer, in whole elements";
        expect_bytes(collective, what, send.len() - broken, send.len())
    }
}
