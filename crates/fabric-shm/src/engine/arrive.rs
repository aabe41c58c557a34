//! The receiving side: handles each cell that arrives, and each receive whose message is already here.

use contract::{Envelope, Request, Result, Selector};

use super::Engine;
use super::limits::polls_before_copy;
use super::matching::{Contents, Unexpected};
use super::message::{Rts, kind, location_from};
use super::operation::{Direction, Operation};
use super::send::Outgoing;
use crate::ring::{Body, INLINE_BYTES, copy_short};

/// The destination of the next bytes of a message that a source has begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stream {
    /// No message has begun.
    #[default]
    None,
    /// A receive.
    Receive(Request),
    /// The end of the copy of this source's newest unexpected message.
    Unexpected {
        /// Number of bytes still to come.
        left: usize,
    },
}

impl Engine {
    /// Starts a receive.
    ///
    /// # Safety
    /// `room` bytes at `memory` are writable and not otherwise used until the request has ended, or a call has failed.
    #[inline(always)]
    pub(crate) unsafe fn start_receive(
        &mut self,
        selector: Selector,
        memory: *mut u8,
        room: usize,
    ) -> Result<Request> {
        // SAFETY: the caller promises the same.
        unsafe { self.start_receive_as(selector, memory, room, false) }
    }

    /// Starts a receive. If `in_place`, a message in its sender's arena stays there, and the program reads it there
    /// (see `in_place`).
    ///
    /// # Safety
    /// As for `start_receive`.
    #[inline(always)]
    pub(crate) unsafe fn start_receive_as(
        &mut self,
        selector: Selector,
        memory: *mut u8,
        room: usize,
        in_place: bool,
    ) -> Result<Request> {
        self.check_alive()?;
        let request = self.operations.start(Operation {
            direction: Direction::Receive(selector),
            memory,
            room,
            moved: 0,
            envelope: Envelope::default(),
            done: false,
            rendezvous: false,
            in_place,
        });
        match self.unexpected.take(&selector) {
            Some(message) => self.accept(request, message),
            None => self.posted.add(selector, request),
        }
        Ok(request)
    }

    /// Takes in what `source` has sent, until `wanted` has ended. By then a receive may have been posted for what
    /// follows, which then needs no copy.
    pub(super) fn drain(&mut self, source: usize, wanted: Option<Request>) {
        let mut in_a_row = false;
        while let Some(ring) = &self.inbound[source].ring {
            let Some(body) = ring.peek() else { return };
            if wanted.is_some_and(|wanted| self.operations[wanted].done) {
                return;
            }
            if body.kind == kind::SHORT {
                if std::mem::replace(&mut in_a_row, true) {
                    ring.prefetch_ahead();
                }
                self.take_short_from(source);
                continue;
            }
            let body = *body;
            if body.kind == kind::EAGER && self.defers_copy(source, &body) {
                return;
            }
            self.idle_polls = 0;
            match body.kind {
                kind::EAGER => self.arrive_eager(source, &body),
                kind::MORE => self.arrive_more(source, &body, body.payload[0] as usize),
                kind::RTS => self.arrive_rts(source, &body),
                kind::CTS => {
                    let [mine, theirs, ..] = body.payload;
                    self.rts_answered(Request(mine));
                    self.enqueue(source, Outgoing::Data(Request(mine), theirs));
                }
                kind::DATA => {
                    self.inbound[source].stream = Stream::Receive(Request(body.payload[0]));
                    self.arrive_more(source, &body, body.payload[1] as usize);
                }
                kind::HELP => self.help(source, &body.payload),
                kind::FIN => {
                    self.rts_answered(Request(body.payload[0]));
                    self.operations[Request(body.payload[0])].done = true;
                }
                unknown => unreachable!("a cell of kind {unknown}"),
            }
            let left_bytes = self.left_bytes(source);
            let back = &mut self.outbound[source].ring.lines;
            let ring = self.inbound[source].ring.as_mut();
            let returned = ring.is_some_and(|ring| ring.pop(&body, left_bytes, back));
            if returned {
                self.wake(source);
            }
        }
    }

    /// Returns whether a message stays in its ring for now. No receive accepts it yet, but one may be posted soon, and
    /// a copy would cost more than the message (decision 0027).
    #[inline]
    fn defers_copy(&self, source: usize, body: &Body) -> bool {
        self.may_defer_copy
            && self.idle_polls <= polls_before_copy(body.payload[0])
            && !self.posted.accepts(&Engine::envelope(source, body, 0))
    }

    /// Tries the shortest path: receives the oldest message of a known source directly from its ring into `buffer`.
    /// Correct only while no message is unexpected and no other receive is posted, because then the oldest message in
    /// the ring is the next one to match.
    #[inline]
    pub(super) fn receive_now(
        &mut self,
        selector: &Selector,
        buffer: &mut [u8],
        polls: u32,
    ) -> Option<Envelope> {
        let source = selector.source? as usize;
        if !self.unexpected.is_empty() || !self.posted.is_empty() {
            return None;
        }
        let ring = self.inbound[source].ring.as_mut()?;
        let body = ring.await_message(polls)?;
        let whole = match body.kind {
            kind::SHORT => usize::from(body.inline_bytes),
            kind::EAGER if body.payload[0] == body.payload[2] => body.payload[0] as usize,
            _ => return None,
        };
        let room = buffer.len();
        let envelope = Envelope { room, ..Engine::envelope(source, body, whole) };
        if !selector.accepts(&envelope) {
            return None;
        }
        let kept = whole.min(room);
        let returned = if body.lines == 0 {
            // SAFETY: the buffer has room for what is kept.
            unsafe { take_short(body, ring.rest(body), buffer.as_mut_ptr(), kept) };
            let cells = body.cells();
            ring.pop_short(cells)
        } else {
            let body = *body;
            let mut copied = 0;
            ring.read(&body, kept, |part| {
                buffer[copied..copied + part.len()].copy_from_slice(part);
                copied += part.len();
            });
            ring.pop(&body, 0, &mut self.outbound[source].ring.lines)
        };
        self.outbound[source].ring.end_row();
        if returned {
            self.wake(source);
        }
        Some(envelope)
    }

    #[inline(always)]
    fn envelope(source: usize, body: &Body, bytes: usize) -> Envelope {
        Envelope { context: body.context, source: source as u32, tag: body.tag, bytes, room: bytes }
    }

    /// Takes in the oldest message of a source, which is short, without copying its cell.
    #[inline(always)]
    fn take_short_from(&mut self, source: usize) {
        self.idle_polls = 0;
        let Some(ring) = &mut self.inbound[source].ring else { return };
        let Some(body) = ring.peek() else { return };
        let envelope = Engine::envelope(source, body, usize::from(body.inline_bytes));
        match self.posted.take(&envelope) {
            Some(request) => {
                let operation = &mut self.operations[request];
                operation.begin(envelope);
                let kept = envelope.bytes.min(operation.room);
                // SAFETY: the receive has room for what is kept.
                unsafe { take_short(body, ring.rest(body), operation.memory, kept) };
                operation.moved = envelope.bytes;
                operation.done = true;
            }
            None => {
                let mut copy = vec![0; envelope.bytes];
                // SAFETY: the copy has room for all of the message.
                unsafe { take_short(body, ring.rest(body), copy.as_mut_ptr(), envelope.bytes) };
                self.unexpected.add(Unexpected { envelope, contents: Contents::Copy(copy) });
            }
        }
        let cells = body.cells();
        if ring.pop_short(cells) {
            self.wake(source);
        }
    }

    fn arrive_eager(&mut self, source: usize, body: &Body) {
        let [low, high, bytes, ..] = body.payload;
        let envelope = Engine::envelope(source, body, low as usize | (high as usize) << 32);
        self.inbound[source].stream = match self.posted.take(&envelope) {
            Some(request) => {
                self.operations[request].begin(envelope);
                Stream::Receive(request)
            }
            None => {
                let contents = Contents::Copy(Vec::with_capacity(envelope.bytes));
                self.unexpected.add(Unexpected { envelope, contents });
                Stream::Unexpected { left: envelope.bytes }
            }
        };
        self.arrive_more(source, body, bytes as usize);
    }

    fn arrive_more(&mut self, source: usize, body: &Body, bytes: usize) {
        let Inbound { ring: Some(ring), stream } = &mut self.inbound[source] else { return };
        match stream {
            Stream::None => unreachable!("data from rank {source} without a message"),
            Stream::Receive(request) => {
                let operation = &mut self.operations[*request];
                ring.read(body, bytes, |part| operation.append(part));
                if operation.done {
                    *stream = Stream::None;
                }
            }
            Stream::Unexpected { left } => {
                if let Some(copy) = self.unexpected.last_from(source as u32) {
                    ring.read(body, bytes, |part| copy.extend_from_slice(part));
                }
                *left -= bytes;
                if *left == 0 {
                    *stream = Stream::None;
                }
            }
        }
    }

    /// Returns the number of bytes still to come of the message that a source has begun.
    fn left_bytes(&self, source: usize) -> usize {
        match self.inbound[source].stream {
            Stream::None => 0,
            Stream::Receive(request) => {
                let operation = &self.operations[request];
                operation.envelope.bytes - operation.moved
            }
            Stream::Unexpected { left } => left,
        }
    }

    fn arrive_rts(&mut self, source: usize, body: &Body) {
        let [low, high, request, flag, location_low, location_high, ..] = body.payload;
        let envelope = Engine::envelope(source, body, low as usize | (high as usize) << 32);
        let rts = Rts { request, location: location_from([flag, location_low, location_high]) };
        match self.posted.take(&envelope) {
            Some(request) => self.accept_rts(request, envelope, rts),
            None => self.unexpected.add(Unexpected { envelope, contents: Contents::Rts(rts) }),
        }
    }

    /// Matches a new receive with an unexpected message.
    fn accept(&mut self, request: Request, message: Unexpected) {
        let envelope = message.envelope;
        match message.contents {
            Contents::Own(send) => self.copy_to_self(send, request),
            Contents::Rts(rts) => self.accept_rts(request, envelope, rts),
            Contents::Copy(copy) => {
                let operation = &mut self.operations[request];
                operation.begin(envelope);
                operation.append(&copy);
                if !operation.done {
                    // The rest of it is still in flight and goes directly to the receive.
                    self.inbound[envelope.source as usize].stream = Stream::Receive(request);
                }
            }
        }
    }
}

/// Copies the first `kept` bytes of a short message, which goes on in `rest`.
///
/// # Safety
/// `to` has room for `kept` bytes.
#[inline(always)]
unsafe fn take_short(body: &Body, rest: &[u8], to: *mut u8, kept: usize) {
    // SAFETY: the payload has INLINE_BYTES and `rest` its own length. No more is copied than these, nor than the caller
    // has room for.
    unsafe {
        copy_short(body.payload.as_ptr().cast(), to, kept.min(INLINE_BYTES));
        if kept > INLINE_BYTES {
            let more = (kept - INLINE_BYTES).min(rest.len());
            copy_short(rest.as_ptr(), to.add(INLINE_BYTES), more);
        }
    }
}

use super::Inbound;

impl Operation {
    /// Records the message that the receive has matched.
    #[inline(always)]
    pub(super) fn begin(&mut self, envelope: Envelope) {
        self.envelope = Envelope { room: self.room, ..envelope };
        self.moved = 0;
    }

    /// Appends the next bytes of the message. Those beyond the receive's room are dropped.
    fn append(&mut self, data: &[u8]) {
        let kept = data.len().min(self.room.saturating_sub(self.moved));
        if kept > 0 {
            // SAFETY: the caller of `start_receive` promised `room` bytes, and `moved + kept` is within them.
            unsafe {
                std::ptr::copy_nonoverlapping(data.as_ptr(), self.memory.add(self.moved), kept);
            }
        }
        self.moved += data.len();
        self.done = self.moved == self.envelope.bytes;
    }
}
