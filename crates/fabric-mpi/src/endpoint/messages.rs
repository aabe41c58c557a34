//! Messages between two ranks.

use std::ffi::c_int;

use contract::{
    Buffer, Completion, Destination, EAGER_BYTES, Envelope, Readable, Result, Selector, check_rank,
};

use super::MpiEndpoint;
use super::call::{counted, readable, writable};
use super::outcome::bytes_of;
use crate::library::{self, Handle};

/// Destination of a message in terms of the MPI.
#[derive(Clone, Copy)]
pub(super) struct Address {
    pub(super) comm: Handle,
    pub(super) rank: c_int,
    pub(super) tag: c_int,
}

/// Messages that a receive matches, in terms of the MPI.
#[derive(Clone, Copy)]
pub(super) struct Source {
    pub(super) comm: Handle,
    pub(super) rank: c_int,
    pub(super) tag: c_int,
}

/// Lends `data` to a request for which the caller waits.
///
/// # Safety
/// As for [`Readable::new`].
pub(super) unsafe fn lend(data: &[u8]) -> Readable {
    // SAFETY: the caller promises the same.
    unsafe { Readable::new(data.as_ptr(), data.len()) }
}

impl MpiEndpoint {
    #[inline]
    pub(super) fn address(&self, to: Destination) -> Result<Address> {
        let Destination { rank, context, tag } = to;
        check_rank(rank, self.setting.size)?;
        let own = self.contexts.of_messages(context)?;
        let tag = self.tags.to_mpi(context, tag)?;
        Ok(Address { comm: own.communicator(context), rank: own.own_rank(rank)?, tag })
    }

    #[inline]
    pub(super) fn source(&self, selector: Selector) -> Result<Source> {
        let Selector { context, source, tag } = selector;
        let own = self.contexts.of_messages(context)?;
        let rank = match source {
            None => self.library.constants.any_source,
            Some(rank) => {
                check_rank(rank as usize, self.setting.size)?;
                own.own_rank(rank as usize)?
            }
        };
        let tag = match tag {
            None => self.library.constants.any_tag,
            Some(tag) => self.tags.to_mpi(context, tag)?,
        };
        Ok(Source { comm: own.communicator(context), rank, tag })
    }

    #[inline]
    pub(super) fn send_bytes(&mut self, to: Destination, data: &[u8]) -> Result<()> {
        let address = self.address(to)?;
        if to.rank == self.setting.rank {
            return self.send_to_self(address, data);
        }
        let byte = self.library.constants.byte;
        // SAFETY: MPI reads `data`, which has the given length, and no longer uses it when the call returns.
        let status = unsafe {
            counted!(
                self.library,
                data.len(),
                send,
                [count = data.len()](
                    readable(data),
                    count,
                    byte,
                    address.rank,
                    address.tag,
                    address.comm
                )
            )
        }?;
        self.library.check("MPI_Send", status)
    }

    /// Sends to this rank. An MPI may block a send to self until its receive, even if the message is short. Short
    /// messages are copied here.
    #[cold]
    pub(super) fn send_to_self(&mut self, address: Address, data: &[u8]) -> Result<()> {
        self.forget_received_from_self()?;
        if data.len() > EAGER_BYTES {
            // SAFETY: the request is waited for here, so `data` outlives it.
            let mut request = unsafe {
                let data = lend(data);
                self.begin_send(address, &data, Completion::Local)
            }?;
            let mut status = library::Status::default();
            // SAFETY: the request was created just now; both places are live.
            let waited = unsafe { (self.library.general.wait)(&mut request, &mut status) };
            return self.library.check("MPI_Wait", waited);
        }
        let copy = Buffer::from_bytes(data);
        // SAFETY: the copy is kept, and its bytes do not move, until the request has ended.
        let request = unsafe {
            let data = lend(&copy);
            self.begin_send(address, &data, Completion::Local)
        }?;
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
        selector: Selector,
        buffer: &mut [u8],
    ) -> Result<Envelope> {
        if let Some(claimed) = self.find_claimed(selector) {
            return self.receive_claimed(claimed, buffer);
        }
        let source = self.source(selector)?;
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
                    source.rank,
                    source.tag,
                    source.comm,
                    &mut status
                )
            )
        }?;
        self.received("MPI_Recv", code, &status, selector.context, buffer.len())
    }

    pub(super) fn exchange_bytes(
        &mut self,
        (to, data): (Destination, &[u8]),
        (selector, buffer): (Selector, &mut [u8]),
    ) -> Result<Envelope> {
        let address = self.address(to)?;
        let source = self.source(selector)?;
        // MPI_Sendrecv uses one communicator for both messages.
        if address.comm != source.comm || self.find_claimed(selector).is_some() {
            return self.exchange_separately(address, data, selector, buffer);
        }
        let byte = self.library.constants.byte;
        let mut status = library::Status::default();
        let largest = data.len().max(buffer.len());
        // SAFETY: as in `send_bytes` and `receive_bytes`; the two do not overlap, because one is borrowed mutably.
        let code = unsafe {
            counted!(
                self.library,
                largest,
                send_receive,
                [sent = data.len(), room = buffer.len()](
                    readable(data),
                    sent,
                    byte,
                    address.rank,
                    address.tag,
                    writable(buffer),
                    room,
                    byte,
                    source.rank,
                    source.tag,
                    source.comm,
                    &mut status
                )
            )
        }?;
        self.received("MPI_Sendrecv", code, &status, selector.context, buffer.len())
    }

    fn exchange_separately(
        &mut self,
        to: Address,
        data: &[u8],
        selector: Selector,
        buffer: &mut [u8],
    ) -> Result<Envelope> {
        // SAFETY: the request is waited for here, also if the receive fails, so `data` outlives it.
        let mut request = unsafe {
            let data = lend(data);
            self.begin_send(to, &data, Completion::Local)
        }?;
        let received = self.receive_bytes(selector, buffer);
        let mut status = library::Status::default();
        // SAFETY: the request was created just now; both places are live.
        let waited = unsafe { (self.library.general.wait)(&mut request, &mut status) };
        self.library.check("MPI_Wait", waited).and(received)
    }

    pub(super) fn probe_for(&mut self, selector: Selector) -> Result<Option<Envelope>> {
        if let Some(claimed) = self.find_claimed(selector) {
            return Ok(Some(self.claimed[claimed].envelope));
        }
        let source = self.source(selector)?;
        let (mut found, mut status) = (0, library::Status::default());
        // SAFETY: the communicator is ours; all places are live.
        let code = unsafe {
            (self.library.general.probe)(
                source.rank,
                source.tag,
                source.comm,
                &mut found,
                &mut status,
            )
        };
        self.library.check("MPI_Iprobe", code)?;
        if found == 0 {
            return Ok(None);
        }
        // The message may be longer than any buffer for which it was probed.
        let bytes = bytes_of(&self.library, &status, true)?;
        self.envelope_of(&status, selector.context, bytes, bytes).map(Some)
    }
}
