//! SEND and RECV.

use contract::{Rank, Source, Tag, TagSelector, check_rank};

use super::Paslib;
use super::pair::{Incoming, Outgoing};
use super::wire::{self, Fault};
use crate::limits::BUFFER_WORDS_MAX;
use crate::{Error, Medium, ReceiveMode, Result};

/// Tags of buffers, by medium.
const BUFFERS: [Tag; Medium::ALL.len()] = [Tag::new(0), Tag::new(1)];
/// Tags of notices from an asynchronous receiver, by medium. A notice has the number of messages that the receiver has
/// taken so far.
const NOTICES: [Tag; Medium::ALL.len()] = [Tag::new(2), Tag::new(3)];

/// The latest buffer of a partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latest<'a> {
    /// Its words.
    pub words: &'a [u16],
    /// Number of earlier SENDs of the partner.
    pub number: u32,
    /// True if it has not been read before.
    pub is_new: bool,
}

/// The calls of the service. It borrows the rank. Creating one costs an allocation.
pub struct Calls<'a> {
    paslib: &'a mut Paslib,
    rank: Box<dyn Rank + 'a>,
}

impl<'a> Calls<'a> {
    pub(super) fn new(paslib: &'a mut Paslib, rank: &'a mut dyn Rank) -> Self {
        let rank = rank.within(&paslib.context);
        Calls { paslib, rank }
    }

    /// SEND: takes a copy of `words` for rank `to` and returns. The receiver's mode makes no difference to the caller.
    ///
    /// If an asynchronous receiver has not received for some time, the buffer is held back here, and replaces the one
    /// that was held back before.
    ///
    /// # Errors
    /// [`Error::WordCount`] and [`Error::UnknownPartner`], before anything is sent.
    pub fn send(&mut self, medium: Medium, to: usize, words: &[u16]) -> Result<()> {
        let count = words.len();
        if !(1..=BUFFER_WORDS_MAX).contains(&count) {
            return Err(Error::WordCount { words: count });
        }
        check_rank(to, self.rank.size())?;
        if self.outgoing(to, medium).mode.is_none() {
            return Err(Error::UnknownPartner { rank: to, medium });
        }
        self.receive_notices(to, medium)?;
        let Paslib { outgoing, message, corrupt_next, .. } = &mut *self.paslib;
        let pair = &mut outgoing[to][medium.index()];
        wire::encode(pair.called, words, message);
        if std::mem::take(corrupt_next) {
            wire::corrupt_checksum(message);
        }
        pair.called = pair.called.wrapping_add(1);
        if pair.may_send() {
            pair.sent = pair.sent.wrapping_add(1);
            self.rank.send(to, BUFFERS[medium.index()], message)?;
        } else {
            pair.waiting.get_or_insert_default().clone_from(message);
        }
        Ok(())
    }

    /// RECV, synchronous: puts the first buffer of `from` that was not received yet into `words`. Waits for one.
    ///
    /// # Errors
    /// [`Error::UnknownPartner`] and [`Error::OtherMode`], at once; [`Error::Checksum`], and the buffer is lost.
    pub fn receive(&mut self, medium: Medium, from: usize, words: &mut Vec<u16>) -> Result<()> {
        self.check(medium, from, ReceiveMode::Synchronous)?;
        // Other ranks may wait for a buffer that is held back here, so this rank must not sleep while there is one.
        while self.serve()? && self.rank.probe(Source::Rank(from), buffers(medium))?.is_none() {}
        let bytes = self.take(medium, from)?;
        let Paslib { message, .. } = &mut *self.paslib;
        let number = wire::decode(&message[..bytes], words);
        number.map(drop).map_err(|fault| error_of(fault, medium, from))
    }

    /// RECV, asynchronous: returns the latest complete buffer of `from`, which may have been read before. Never waits.
    /// Returns `None` before the first buffer.
    ///
    /// # Errors
    /// [`Error::UnknownPartner`] and [`Error::OtherMode`]; [`Error::Checksum`], and the buffer before that stays the
    /// latest.
    pub fn latest(&mut self, medium: Medium, from: usize) -> Result<Option<Latest<'_>>> {
        self.check(medium, from, ReceiveMode::Asynchronous)?;
        self.serve()?;
        let before = self.incoming(from, medium).received;
        let mut outcome = Ok(());
        // This ends, because the sender has at most `LATEST_UNDER_WAY` buffers under way.
        while self.rank.probe(Source::Rank(from), buffers(medium))?.is_some() {
            let bytes = self.take(medium, from)?;
            let Paslib { incoming, message, .. } = &mut *self.paslib;
            let taken = incoming[from][medium.index()].replace(&message[..bytes]);
            outcome = outcome.and(taken.map_err(|fault| error_of(fault, medium, from)));
        }
        let pair = &mut self.paslib.incoming[from][medium.index()];
        if pair.received != before {
            pair.notices = pair.notices.wrapping_add(1);
            let received = pair.received.to_le_bytes();
            self.rank.send(from, NOTICES[medium.index()], &received)?;
        }
        outcome?;
        Ok(self.paslib.incoming[from][medium.index()].read())
    }

    /// Sends buffers that are held back and may be sent now. Every call that receives does this as well. Returns
    /// whether any buffer is still held back.
    pub fn serve(&mut self) -> Result<bool> {
        let mut still_waits = false;
        for to in 0..self.rank.size() {
            for medium in Medium::ALL {
                if self.outgoing(to, medium).waiting.is_some() {
                    self.receive_notices(to, medium)?;
                    still_waits |= self.outgoing(to, medium).waiting.is_some();
                }
            }
        }
        Ok(still_waits)
    }

    /// Returns this rank in the service's own context, for its number, its clock and its computing.
    pub fn rank(&mut self) -> &mut dyn Rank {
        &mut *self.rank
    }

    fn outgoing(&mut self, to: usize, medium: Medium) -> &mut Outgoing {
        &mut self.paslib.outgoing[to][medium.index()]
    }

    fn incoming(&mut self, from: usize, medium: Medium) -> &mut Incoming {
        &mut self.paslib.incoming[from][medium.index()]
    }

    fn check(&mut self, medium: Medium, from: usize, called: ReceiveMode) -> Result<()> {
        check_rank(from, self.rank.size())?;
        match self.incoming(from, medium).mode {
            None => Err(Error::UnknownPartner { rank: from, medium }),
            Some(mode) if mode != called => Err(Error::OtherMode { from, medium, called }),
            Some(_) => Ok(()),
        }
    }

    /// Receives the notices of an asynchronous receiver. Sends the buffer that is held back, if it may be sent now.
    fn receive_notices(&mut self, to: usize, medium: Medium) -> Result<()> {
        if self.outgoing(to, medium).mode != Some(ReceiveMode::Asynchronous) {
            return Ok(());
        }
        let tag = TagSelector::Is(NOTICES[medium.index()]);
        while self.rank.probe(Source::Rank(to), tag)?.is_some() {
            let mut acknowledged = [0; size_of::<u32>()];
            self.rank.receive(Source::Rank(to), tag, &mut acknowledged)?;
            let pair = self.outgoing(to, medium);
            pair.acknowledged = u32::from_le_bytes(acknowledged);
            pair.notices = pair.notices.wrapping_add(1);
        }
        let pair = &mut self.paslib.outgoing[to][medium.index()];
        if pair.may_send()
            && let Some(message) = pair.waiting.take()
        {
            pair.sent = pair.sent.wrapping_add(1);
            self.rank.send(to, BUFFERS[medium.index()], &message)?;
        }
        Ok(())
    }

    /// Receives a buffer's message. Returns its length.
    fn take(&mut self, medium: Medium, from: usize) -> Result<usize> {
        let Paslib { message, incoming, .. } = &mut *self.paslib;
        message.resize(wire::BYTES_MAX, 0);
        let status = self.rank.receive(Source::Rank(from), buffers(medium), message)?;
        let pair = &mut incoming[from][medium.index()];
        pair.received = pair.received.wrapping_add(1);
        Ok(status.bytes)
    }

    /// Receives every message that is still under way, so that the context can be closed. The ranks exchange the
    /// numbers of sent messages first.
    pub(super) fn drain(&mut self) -> Result<()> {
        const COUNTS: usize = 2 * Medium::ALL.len();
        const BYTES: usize = size_of::<u32>();
        let size = self.rank.size();
        let mut counts = Vec::with_capacity(size * COUNTS * BYTES);
        for partner in 0..size {
            for medium in Medium::ALL {
                let (sent, noticed) =
                    (self.outgoing(partner, medium).sent, self.incoming(partner, medium).notices);
                counts.extend_from_slice(&sent.to_le_bytes());
                counts.extend_from_slice(&noticed.to_le_bytes());
            }
        }
        let mut theirs = vec![0; counts.len()];
        self.rank.all_to_all(&counts, &mut theirs)?;
        let (counts, _) = theirs.as_chunks::<BYTES>();
        for (at, pair) in counts.chunks_exact(2).enumerate() {
            let (partner, medium) = (at / Medium::ALL.len(), Medium::ALL[at % Medium::ALL.len()]);
            let [sent, noticed] = [pair[0], pair[1]].map(u32::from_le_bytes);
            while self.incoming(partner, medium).received != sent {
                self.take(medium, partner)?;
            }
            while self.outgoing(partner, medium).notices != noticed {
                let tag = TagSelector::Is(NOTICES[medium.index()]);
                self.rank.receive(Source::Rank(partner), tag, &mut [0; BYTES])?;
                self.outgoing(partner, medium).notices += 1;
            }
        }
        Ok(())
    }
}

impl Incoming {
    /// Makes a message the latest buffer, after all of it was read and found correct.
    fn replace(&mut self, message: &[u8]) -> std::result::Result<(), Fault> {
        let number = wire::decode(message, &mut self.spare)?;
        let words = std::mem::take(&mut self.spare);
        if let Some((_, before)) = self.latest.replace((number, words)) {
            self.spare = before;
        }
        self.was_read = false;
        Ok(())
    }

    fn read(&mut self) -> Option<Latest<'_>> {
        let is_new = !std::mem::replace(&mut self.was_read, true);
        let (number, words) = self.latest.as_ref()?;
        Some(Latest { words, number: *number, is_new })
    }
}

fn buffers(medium: Medium) -> TagSelector {
    TagSelector::Is(BUFFERS[medium.index()])
}

fn error_of(fault: Fault, medium: Medium, from: usize) -> Error {
    match fault {
        Fault::Length => {
            Error::Malformed { from, what: "it is no buffer of 1 to 255 words".into() }
        }
        Fault::Checksum { number, sent, found } => {
            Error::Checksum { from, medium, number, sent, found }
        }
    }
}
