//! Messages between two ranks.

use std::ffi::c_int;

use contract::{Buffer, EAGER_BYTES, Result, Source, Status, Tag, TagSelector, check_rank};

use super::MpiRank;
use super::call::{counted, readable, writable};
use super::outcome::bytes_of;
use crate::library::{self, Handle};

/// Which messages a receive takes, in the MPI's terms.
#[derive(Clone, Copy)]
pub(super) struct Selector {
    pub(super) comm: Handle,
    pub(super) source: c_int,
    pub(super) tag: c_int,
    pub(super) reserved: bool,
}

impl MpiRank {
    /// The communicator that a message with this tag travels in, and its tag there.
    #[inline]
    pub(super) fn envelope(&self, to: usize, tag: Tag) -> Result<(Handle, c_int)> {
        check_rank(to, self.setting.size)?;
        let comm = if tag.is_reserved() { self.reserved } else { self.comm };
        Ok((comm, self.tags.to_mpi(tag)?))
    }

    #[inline]
    pub(super) fn selector(&self, from: Source, tag: TagSelector) -> Result<Selector> {
        let source = match from {
            Source::Any => self.library.constants.any_source,
            Source::Rank(rank) => {
                check_rank(rank, self.setting.size)?;
                rank as c_int
            }
        };
        let any = self.library.constants.any_tag;
        let (comm, tag, reserved) = match tag {
            TagSelector::Any => (self.comm, any, false),
            TagSelector::AnyReserved => (self.reserved, any, true),
            TagSelector::Is(tag) if tag.is_reserved() => {
                (self.reserved, self.tags.to_mpi(tag)?, true)
            }
            TagSelector::Is(tag) => (self.comm, self.tags.to_mpi(tag)?, false),
        };
        Ok(Selector { comm, source, tag, reserved })
    }

    #[inline]
    pub(super) fn send_bytes(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<()> {
        let (comm, tag) = self.envelope(to, tag)?;
        if to == self.setting.rank {
            return self.send_to_self(comm, tag, data);
        }
        let byte = self.library.constants.byte;
        // SAFETY: MPI reads `data`, which is as long as is said, and is done with it when the call returns.
        let status = unsafe {
            counted!(
                self.library,
                data.len(),
                send,
                [count = data.len()](readable(data), count, byte, to as c_int, tag, comm)
            )
        }?;
        self.library.check("MPI_Send", status)
    }

    /// An MPI may let a blocking send to oneself wait for its receive, however short. Short ones are copied here.
    #[cold]
    pub(super) fn send_to_self(&mut self, comm: Handle, tag: c_int, data: &[u8]) -> Result<()> {
        self.forget_received_from_self()?;
        if data.len() > EAGER_BYTES {
            // SAFETY: the request is waited for here, so `data` outlives it.
            let mut request = unsafe { self.begin_send(self.setting.rank, comm, tag, data) }?;
            let mut status = library::Status::default();
            // SAFETY: the request was made just now; both places are live.
            let waited = unsafe { (self.library.general.wait)(&mut request, &mut status) };
            return self.library.check("MPI_Wait", waited);
        }
        let copy = Buffer::from_bytes(data);
        // SAFETY: the copy is kept, and its bytes do not move, until the request has ended.
        let request = unsafe { self.begin_send(self.setting.rank, comm, tag, &copy) }?;
        self.to_self.push_back((request, copy));
        Ok(())
    }

    pub(super) fn forget_received_from_self(&mut self) -> Result<()> {
        while let Some((request, _)) = self.to_self.front_mut() {
            let (mut done, mut status) = (0, library::Status::default());
            // SAFETY: the request is under way; all places are live.
            let tested = unsafe { (self.library.general.test)(request, &mut done, &mut status) };
            self.library.check("MPI_Test", tested)?;
            if done == 0 {
                break;
            }
            self.to_self.pop_front();
        }
        Ok(())
    }

    #[inline]
    pub(super) fn receive_bytes(
        &mut self,
        from: Source,
        tag: TagSelector,
        buffer: &mut [u8],
    ) -> Result<Status> {
        let selector = self.selector(from, tag)?;
        let byte = self.library.constants.byte;
        let mut status = library::Status::default();
        // SAFETY: MPI writes at most as many bytes as `buffer` has, and is done with it when the call returns.
        let code = unsafe {
            counted!(
                self.library,
                buffer.len(),
                receive,
                [count = buffer.len()](
                    writable(buffer),
                    count,
                    byte,
                    selector.source,
                    selector.tag,
                    selector.comm,
                    &mut status
                )
            )
        }?;
        self.received("MPI_Recv", code, &status, selector.reserved, buffer.len())
    }

    pub(super) fn exchange_bytes(
        &mut self,
        (to, send_tag, data): (usize, Tag, &[u8]),
        (from, receive_tag, buffer): (Source, TagSelector, &mut [u8]),
    ) -> Result<Status> {
        let (comm, tag) = self.envelope(to, send_tag)?;
        let selector = self.selector(from, receive_tag)?;
        if comm != selector.comm {
            let posted = self.start_send(to, send_tag, Buffer::from_bytes(data))?;
            let status = self.receive_bytes(from, receive_tag, buffer)?;
            return self.wait_for(&posted).map(|_| status);
        }
        let byte = self.library.constants.byte;
        let mut status = library::Status::default();
        let largest = data.len().max(buffer.len());
        // SAFETY: as in `send_bytes` and `receive_bytes`; the two do not overlap, as one is borrowed to write.
        let code = unsafe {
            counted!(
                self.library,
                largest,
                send_receive,
                [sent = data.len(), room = buffer.len()](
                    readable(data),
                    sent,
                    byte,
                    to as c_int,
                    tag,
                    writable(buffer),
                    room,
                    byte,
                    selector.source,
                    selector.tag,
                    selector.comm,
                    &mut status
                )
            )
        }?;
        self.received("MPI_Sendrecv", code, &status, selector.reserved, buffer.len())
    }

    pub(super) fn probe_for(&mut self, from: Source, tag: TagSelector) -> Result<Option<Status>> {
        let selector = self.selector(from, tag)?;
        let (mut found, mut status) = (0, library::Status::default());
        // SAFETY: the communicator is ours; all places are live.
        let code = unsafe {
            (self.library.general.probe)(
                selector.source,
                selector.tag,
                selector.comm,
                &mut found,
                &mut status,
            )
        };
        self.library.check("MPI_Iprobe", code)?;
        if found == 0 {
            return Ok(None);
        }
        // A message may be longer than any buffer that it was looked for with.
        let bytes = bytes_of(&self.library, &status, true)?;
        Ok(Some(self.status(&status, selector.reserved, bytes)))
    }
}
