//! Sends and receives active messages.

use contract::{Buffer, Context, Progress, Rank, Source, Tag, TagSelector, check_rank};

use super::ActiveMessages;
use super::call::{Body, Call};
use super::outgoing::{self, Content, Outgoing};
use super::wire::{self, Header, Load, Parts, Purpose};
use crate::limits::WORD_BYTES;
use crate::{Error, Result};

const TAG: Tag = Tag::new(0);
/// The tag of the data of long messages.
const DATA: Tag = Tag::new(1);
/// Maximum number of messages that a poll handles, so that it always ends.
const POLLED_MAX: usize = 256;

/// The calls of active messages. It borrows the rank and the state of the program.
///
/// Handlers run in every call that may wait, and in [`poll`](Session::poll). A call whose documentation names no other
/// errors returns those of the fabric and [`Error::Handler`]: a handler returned an error, and its message has been
/// handled.
pub struct Session<'a, S> {
    active: &'a mut ActiveMessages<S>,
    /// The rank, in the service's own context until the session ends.
    rank: &'a mut dyn Rank,
    /// The program's context before.
    outer: Option<Context>,
    state: &'a mut S,
}

impl<S> Drop for Session<'_, S> {
    fn drop(&mut self) {
        if let Some(outer) = self.outer.take() {
            self.rank.enter(outer);
        }
    }
}

impl<'a, S> Session<'a, S> {
    pub(super) fn new(
        active: &'a mut ActiveMessages<S>,
        rank: &'a mut dyn Rank,
        state: &'a mut S,
    ) -> Self {
        let outer = Some(rank.enter(active.context.clone()));
        Session { active, rank, outer, state }
    }

    /// Returns the state that is passed to handlers.
    pub fn state(&mut self) -> &mut S {
        self.state
    }

    /// Returns this rank in the service's own context, for its number, its clock and its computing. Waiting in its
    /// calls handles no messages.
    pub fn rank(&mut self) -> &mut dyn Rank {
        self.rank
    }

    /// Returns this rank's segment.
    pub fn segment(&mut self) -> &mut [u8] {
        &mut self.active.segment
    }

    /// Calls handler `handler` on rank `to` with `words`. Waits for a credit if [`CREDITS`](super::CREDITS) requests to
    /// that rank are under way.
    ///
    /// # Errors
    /// [`Error::NotRegistered`], [`Error::TooManyWords`], and a rank that does not exist, before anything is sent.
    pub fn request(&mut self, to: usize, handler: u8, words: &[u64]) -> Result<()> {
        self.request_with(to, handler, words, Content::None)
    }

    /// As [`request`](Session::request), with data. The handler gets a copy of them.
    ///
    /// # Errors
    /// As [`request`](Session::request), and [`Error::TooMuchData`].
    pub fn request_medium(
        &mut self,
        to: usize,
        handler: u8,
        words: &[u64],
        data: &[u8],
    ) -> Result<()> {
        self.request_with(to, handler, words, Content::Medium(data))
    }

    /// As [`request`](Session::request), with data of any length for the segment of rank `to`, from `offset` on. The
    /// handler is called after they have arrived. [`take_back`](Session::take_back) returns `buffer`.
    ///
    /// The receiver waits in its poll until all data have arrived. This rank should therefore stay in calls of the
    /// service until then.
    ///
    /// # Errors
    /// As [`request`](Session::request), and [`Error::OutsideSegment`]. The buffer is lost then.
    pub fn request_long(
        &mut self,
        to: usize,
        handler: u8,
        words: &[u64],
        offset: usize,
        buffer: Buffer,
    ) -> Result<()> {
        self.request_with(to, handler, words, Content::Long { offset: offset as u64, buffer })
    }

    /// Waits for the oldest long send and returns its buffer, or `None` if there is none. Handlers run while it waits.
    pub fn take_back(&mut self) -> Result<Option<Buffer>> {
        let own = |active: &ActiveMessages<S>| active.own.iter().any(|(_, data)| data.is_some());
        while self.active.sent.is_empty() && (!self.active.sending.is_empty() || own(self.active)) {
            self.test_oldest()?;
            if self.active.sent.is_empty() {
                self.poll()?;
            }
        }
        Ok(self.active.sent.pop_front())
    }

    /// Handles the messages that have arrived, without waiting. Returns their number.
    pub fn poll(&mut self) -> Result<usize> {
        self.test_oldest()?;
        for handled in 0..POLLED_MAX {
            if !self.handle_own()? {
                let Some(status) = self.rank.probe(Source::Any, TAG.into())? else {
                    return Ok(handled);
                };
                self.receive(Source::Rank(status.source))?;
            }
        }
        Ok(POLLED_MAX)
    }

    /// Handles messages until `done` returns true for the state. It is called first of all and after each message.
    pub fn wait_until(&mut self, mut done: impl FnMut(&S) -> bool) -> Result<()> {
        while !done(self.state) {
            self.handle_one()?;
        }
        Ok(())
    }

    /// Waits until every rank has called it. Handlers run while it waits. Requests sent before it may still be under
    /// way after it.
    pub fn barrier(&mut self) -> Result<()> {
        let (me, size) = (self.rank.rank(), self.rank.size());
        self.active.barriers = self.active.barriers.wrapping_add(1);
        let mut distance = 1;
        for round in 0.. {
            if distance >= size {
                break;
            }
            self.control((me + distance) % size, Purpose::Arrived, round)?;
            // The difference is compared, because the counters may wrap around.
            while self.active.barriers.wrapping_sub(self.active.arrivals[usize::from(round)]) == 1 {
                self.handle_one()?;
            }
            distance *= 2;
        }
        Ok(())
    }

    /// Ends all traffic of all ranks: waits until the requests of this rank have been handled, and those of all others.
    pub(super) fn drain(&mut self) -> Result<()> {
        self.active.closing = true;
        for partner in 0..self.active.partners.len() {
            self.return_credits(partner)?;
        }
        while !self.active.partners.iter().all(|partner| partner.is_idle()) {
            self.handle_one()?;
        }
        // A rank that has come to the barrier has no request under way, and the replies to it were received with their
        // credits.
        self.barrier()?;
        while self.take_back()?.is_some() {}
        Ok(())
    }

    fn request_with(
        &mut self,
        to: usize,
        handler: u8,
        words: &[u64],
        content: Content<'_>,
    ) -> Result<()> {
        check_rank(to, self.active.partners.len())?;
        self.active.handlers.registered().check(handler)?;
        content.check(to, words, self.active.partners[to].segment_bytes)?;
        while !self.active.partners[to].may_send() {
            self.handle_one()?;
        }
        self.active.partners[to].spend();
        let outgoing =
            outgoing::write(&mut self.active.outgoing, Purpose::Request, handler, words, content);
        self.send(to, outgoing)
    }

    /// Sends a written message, with the credits that the receiver is owed.
    fn send(&mut self, to: usize, outgoing: Outgoing) -> Result<()> {
        let Outgoing { mut header, bytes, buffer } = outgoing;
        let active = &mut *self.active;
        header.credits = active.partners[to].take_owed();
        active.outgoing[..WORD_BYTES].copy_from_slice(&header.to_bytes());
        let message = &active.outgoing[..bytes];
        if to == self.rank.rank() {
            active.own.push_back((message.to_vec(), buffer));
            return Ok(());
        }
        self.rank.send(to, TAG, message)?;
        if let Some(buffer) = buffer {
            // The receiver waits for the data as soon as it has the message. That is safe, because this send is under
            // way in every call in which this rank waits.
            active.sending.push_back(self.rank.post_send(to, DATA, buffer)?);
        }
        Ok(())
    }

    /// Sends a message without a call.
    fn control(&mut self, to: usize, purpose: Purpose, number: u8) -> Result<()> {
        let credits = self.active.partners[to].take_owed();
        let header = Header::control(purpose, number, credits);
        self.send_control(to, &header.to_bytes())
    }

    fn send_control(&mut self, to: usize, message: &[u8]) -> Result<()> {
        if to == self.rank.rank() {
            self.active.own.push_back((message.to_vec(), None));
            return Ok(());
        }
        Ok(self.rank.send(to, TAG, message)?)
    }

    fn return_credits(&mut self, to: usize) -> Result<()> {
        if self.active.partners[to].must_return(self.active.closing) {
            self.control(to, Purpose::Credits, 0)?;
        }
        Ok(())
    }

    /// Tests whether the oldest send of long data has ended.
    fn test_oldest(&mut self) -> Result<()> {
        let Some(oldest) = self.active.sending.pop_front() else { return Ok(()) };
        match self.rank.test(oldest)? {
            Progress::Pending(same) => self.active.sending.push_front(same),
            Progress::Done(completed) => self.active.sent.push_back(completed.buffer),
        }
        Ok(())
    }

    /// Waits for a message and handles it.
    fn handle_one(&mut self) -> Result<()> {
        if self.handle_own()? {
            return Ok(());
        }
        let source = match (self.rank.size(), self.rank.rank()) {
            (1, _) => {
                return Err(Error::Fabric(contract::Error::Deadlock {
                    explanation: "rank 0 waits for an active message, and there is no other rank"
                        .into(),
                }));
            }
            // A fabric may have a shorter path for a message whose sender is named.
            (2, me) => Source::Rank(1 - me),
            _ => Source::Any,
        };
        self.receive(source)
    }

    /// Handles the oldest message of this rank to itself. Returns false if there is none.
    #[inline]
    fn handle_own(&mut self) -> Result<bool> {
        match self.active.own.pop_front() {
            Some((message, buffer)) => self.handle_own_message(&message, buffer).map(|()| true),
            None => Ok(false),
        }
    }

    fn handle_own_message(&mut self, message: &[u8], buffer: Option<Buffer>) -> Result<()> {
        let me = self.rank.rank();
        let mut words = Vec::new();
        let parts = wire::read(me, message, &mut words)?;
        if let Some(buffer) = buffer {
            let (offset, bytes) = (parts.place.0 as usize, buffer.len());
            self.active.segment[offset..][..bytes].copy_from_slice(&buffer);
            self.active.sent.push_back(buffer);
        }
        self.accept(me, &parts, &words)
    }

    /// Receives a message and handles it.
    fn receive(&mut self, source: Source) -> Result<()> {
        // Both are taken, because the handler gets parts of them, and also the rest of the service.
        let mut message = std::mem::take(&mut self.active.incoming);
        let mut words = std::mem::take(&mut self.active.words);
        let outcome = self.receive_into(source, &mut message, &mut words);
        self.active.incoming = message;
        self.active.words = words;
        outcome
    }

    #[inline]
    fn receive_into(
        &mut self,
        source: Source,
        message: &mut [u8],
        words: &mut Vec<u64>,
    ) -> Result<()> {
        let status = self.rank.receive(source, TagSelector::Is(TAG), message)?;
        let from = status.source;
        let parts = wire::read(from, &message[..status.bytes], words)?;
        if parts.header.load == Load::Long {
            self.receive_long(from, &parts)?;
        }
        self.accept(from, &parts, words)
    }

    /// Receives the data of a long message.
    fn receive_long(&mut self, from: usize, parts: &Parts<'_>) -> Result<()> {
        let (offset, bytes) = parts.place;
        let segment = &mut self.active.segment;
        let end = offset.checked_add(bytes).filter(|end| *end <= segment.len() as u64);
        let end = end.ok_or_else(|| Error::Malformed {
            from,
            what: "its data are for memory outside this rank's segment".into(),
        })?;
        let room = &mut segment[offset as usize..end as usize];
        self.rank.receive(Source::Rank(from), TagSelector::Is(DATA), room)?;
        Ok(())
    }

    /// Carries out a message.
    fn accept(&mut self, from: usize, parts: &Parts<'_>, words: &[u64]) -> Result<()> {
        let Header { purpose, number, credits, .. } = parts.header;
        self.active.partners[from].earn(from, credits)?;
        match purpose {
            Purpose::Credits => Ok(()),
            Purpose::Arrived => {
                let round = self.active.arrivals.get_mut(usize::from(number));
                let round = round.ok_or_else(|| Error::Malformed {
                    from,
                    what: "a barrier has fewer rounds".into(),
                })?;
                *round = round.wrapping_add(1);
                Ok(())
            }
            Purpose::Request | Purpose::Reply => self.call(from, parts, words),
        }
    }

    /// Calls the handler that a message names, and sends its reply.
    fn call(&mut self, from: usize, parts: &Parts<'_>, words: &[u64]) -> Result<()> {
        let Header { purpose, load, number, .. } = parts.header;
        let active = &mut *self.active;
        let function = active.handlers.find(number)?;
        let mut call = Call {
            from,
            me: self.rank.rank(),
            purpose,
            words,
            body: match load {
                Load::None => Body::Words,
                Load::Medium => Body::Medium(parts.data),
                Load::Long => {
                    Body::Long { offset: parts.place.0 as usize, bytes: parts.place.1 as usize }
                }
            },
            segment: &mut active.segment,
            their_segment_bytes: active.partners[from].segment_bytes,
            registered: active.handlers.registered(),
            message: &mut active.outgoing,
            reply: None,
        };
        let outcome = function(self.state, &mut call);
        let reply = call.reply.take();
        if purpose == Purpose::Request {
            self.active.partners[from].owe();
            match reply {
                Some(reply) => self.send(from, reply)?,
                None => self.return_credits(from)?,
            }
        }
        outcome.map_err(|error| match error {
            Error::Fabric(error) => Error::Fabric(error),
            error => Error::Handler { handler: number, from, error: Box::new(error) },
        })
    }
}
