//! The started operations of a rank in a replay.

use contract::{
    Completion, Destination, Endpoint, Error, Readable, Request, Result, Selector, Writable,
};

use crate::event::{RankEvent, Room, SentMessage};
use crate::longest::Longest;

/// Offset of the contexts of a replay. The lower contexts belong to its collectives, which accept any message there.
pub(crate) const LATER: u32 = 2;

/// Memory that all operations of a rank share: the data are never used.
pub(crate) struct Scratch {
    pub(crate) out: Vec<u8>,
    pub(crate) room: Vec<u8>,
}

/// A started operation.
#[derive(Clone, Copy)]
enum Started {
    UnderWay(Request),
    Over,
}

/// The started operations, and memory for them.
pub(crate) struct Operations {
    pub(crate) scratch: Scratch,
    started: Vec<Started>,
    /// Number of operations started before the first of `started`.
    dropped: usize,
}

impl Scratch {
    /// Creates memory for the collectives of `ranks` ranks, and memory for messages.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]: a recording may name messages of any length.
    pub(crate) fn new(longest: Longest, ranks: usize) -> Result<(Self, Self)> {
        let memory = |out, room| Ok(Scratch { out: zeroes(out)?, room: zeroes(room)? });
        let all = longest.block_bytes.saturating_mul(ranks);
        Ok((memory(all, all)?, memory(longest.sent_bytes, longest.received_bytes)?))
    }
}

/// Returns that many bytes, of which the system gives those that are used.
fn zeroes(bytes: usize) -> Result<Vec<u8>> {
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| Error::OutOfMemory {
        what: "the messages of the recording".into(),
        bytes: bytes as u64,
    })?;
    Ok(vec![0; bytes])
}

impl Operations {
    /// Creates it without operations, and with memory for all later ones.
    pub(crate) fn new(scratch: Scratch) -> Self {
        Operations { scratch, started: Vec::new(), dropped: 0 }
    }

    /// Starts or ends an operation. Returns false if that would have to wait, or if the event is something else.
    pub(crate) fn perform<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        event: RankEvent,
    ) -> Result<bool> {
        match event {
            RankEvent::PostSend {
                message: SentMessage { to, context, tag, bytes },
                synchronous,
            } => {
                let completion =
                    if synchronous { Completion::Synchronous } else { Completion::Local };
                // SAFETY: the slice has `bytes` bytes, outlives the endpoint's requests, and nothing writes to it.
                let data = unsafe { Readable::new(self.scratch.out[..bytes].as_ptr(), bytes) };
                let to = Destination { rank: to, context: context + LATER, tag };
                let request = endpoint.post_send(to, data, completion)?;
                self.started.push(Started::UnderWay(request));
            }
            RankEvent::PostReceive(Room { selector, bytes }) => {
                let memory = &mut self.scratch.room[..bytes];
                // SAFETY: as above; several requests write to it, and the data are never used.
                let memory = unsafe { Writable::new(memory.as_mut_ptr(), bytes) };
                let request = endpoint.post_receive(later(selector), memory)?;
                self.started.push(Started::UnderWay(request));
            }
            RankEvent::End(back) => {
                if let Some(request) = self.request(back) {
                    if !endpoint.is_done(request) {
                        return Ok(false);
                    }
                    endpoint.end(request);
                    self.forget(back);
                }
            }
            RankEvent::Cancel(back) => {
                if let Some(request) = self.request(back) {
                    // In a replay a message may have arrived before.
                    if !endpoint.cancel_receive(request) {
                        if !endpoint.is_done(request) {
                            return Ok(false);
                        }
                        endpoint.end(request);
                    }
                    self.forget(back);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn index(&self, back: u64) -> Option<usize> {
        let count = self.dropped + self.started.len();
        count.checked_sub(1 + usize::try_from(back).ok()?)?.checked_sub(self.dropped)
    }

    /// Returns the request of a started operation that has not ended.
    pub(crate) fn request(&self, back: u64) -> Option<Request> {
        match self.started[self.index(back)?] {
            Started::UnderWay(request) => Some(request),
            Started::Over => None,
        }
    }

    fn forget(&mut self, back: u64) {
        if let Some(index) = self.index(back) {
            self.started[index] = Started::Over;
        }
        let is_over = |one: &Started| matches!(one, Started::Over);
        if self.started.len() > 64 && self.started.iter().all(is_over) {
            self.dropped += self.started.len();
            self.started.clear();
        }
    }
}

pub(crate) fn later(selector: Selector) -> Selector {
    Selector { context: selector.context + LATER, ..selector }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_no_memory_holds_are_an_error() {
        let longest = Longest { sent_bytes: usize::MAX / 4, ..Longest::default() };
        assert!(matches!(Scratch::new(longest, 2), Err(Error::OutOfMemory { .. })));
        let longest = Longest { block_bytes: 1 << 60, ..Longest::default() };
        assert!(matches!(Scratch::new(longest, 1000), Err(Error::OutOfMemory { .. })));
    }
}
