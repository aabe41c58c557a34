//! The MPI's own collectives.

use std::ffi::c_int;

use contract::{Error, Rank, Reduction, Result, check_rank};

use super::MpiRank;
use super::call::{counted, readable, writable};
use crate::library::IN_PLACE;

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
        let status = unsafe {
            counted!(
                self.library,
                buffer.len(),
                broadcast,
                [count = buffer.len()](writable(buffer), count, byte, root as c_int, self.comm)
            )
        }?;
        self.library.check_collective("MPI_Bcast", status)
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
        let status = unsafe {
            counted!(
                self.library,
                receive.len(),
                scatter,
                [count = receive.len()](
                    readable(send),
                    count,
                    byte,
                    writable(receive),
                    count,
                    byte,
                    root as c_int,
                    self.comm
                )
            )
        }?;
        self.library.check_collective("MPI_Scatter", status)
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
        let status = unsafe {
            counted!(
                self.library,
                send.len(),
                gather,
                [count = send.len()](
                    readable(send),
                    count,
                    byte,
                    writable(receive),
                    count,
                    byte,
                    root as c_int,
                    self.comm
                )
            )
        }?;
        self.library.check_collective("MPI_Gather", status)
    }

    pub(super) fn mpi_allgather(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        expect_bytes("allgather", "the receive buffer", send.len() * self.size(), receive.len())?;
        let byte = self.library.constants.byte;
        // SAFETY: `receive` is `size` times as long as `send`, which is as long as is said.
        let status = unsafe {
            counted!(
                self.library,
                send.len(),
                allgather,
                [count = send.len()](
                    readable(send),
                    count,
                    byte,
                    writable(receive),
                    count,
                    byte,
                    self.comm
                )
            )
        }?;
        self.library.check_collective("MPI_Allgather", status)
    }

    pub(super) fn mpi_allgather_in_place(&mut self, buffer: &mut [u8]) -> Result<()> {
        let block = block_bytes("allgather_in_place", "the buffer", self.size(), buffer)?;
        let byte = self.library.constants.byte;
        // SAFETY: `buffer` holds `size` blocks of the length that is said.
        let status = unsafe {
            counted!(
                self.library,
                block,
                allgather,
                [count = block](IN_PLACE, count, byte, writable(buffer), count, byte, self.comm)
            )
        }?;
        self.library.check_collective("MPI_Allgather", status)
    }

    pub(super) fn mpi_all_to_all(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        let block = block_bytes("all_to_all", "the send buffer", self.size(), send)?;
        expect_bytes("all_to_all", "the receive buffer", send.len(), receive.len())?;
        let byte = self.library.constants.byte;
        // SAFETY: both hold `size` blocks of the length that is said.
        let status = unsafe {
            counted!(
                self.library,
                block,
                all_to_all,
                [count = block](
                    readable(send),
                    count,
                    byte,
                    writable(receive),
                    count,
                    byte,
                    self.comm
                )
            )
        }?;
        self.library.check_collective("MPI_Alltoall", status)
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
        let status = unsafe {
            counted!(
                self.library,
                count,
                reduce,
                [count = count](from, to, count, element, operation, root as c_int, self.comm)
            )
        }?;
        self.library.check_collective("MPI_Reduce", status)?;
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
        let status = unsafe {
            counted!(
                self.library,
                count,
                allreduce,
                [count = count](from, to, count, element, operation, self.comm)
            )
        }?;
        self.library.check_collective("MPI_Allreduce", status)?;
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
