//! The receiving side: handles each cell that arrives, and each receive whose message is already here.

use contract::{Envelope, Request, Selector, Untrusted};
use engine::{Contents, Messages, Rts, Unexpected};

use super::limits::{EAGER_LIMIT_BYTES, polls_before_copy};
use super::message::{kind, location_in};
use super::send::Outgoing;
use super::{FIRST_POLLS, Inbound, Rings};
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

impl Rings {
    /// Takes in what `source` has sent, until `wanted` has ended. By then a receive may have been posted for what
    /// follows, which then needs no copy.
    pub(super) fn drain(
        &mut self,
        messages: &mut Messages,
        source: usize,
        wanted: Option<Request>,
    ) {
        let mut in_a_row = false;
        while let Some(ring) = &self.inbound[source].ring {
            let Some(body) = ring.peek() else { return };
            if wanted.is_some_and(|wanted| messages.transfers[wanted].done) {
                return;
            }
            if body.kind == kind::SHORT {
                if std::mem::replace(&mut in_a_row, true) {
                    ring.prefetch_ahead();
                }
                if self.take_short_from(messages, source).is_none() {
                    return self.refuse_because(
                        messages,
                        source,
                        "a short message that is too long",
                    );
                }
                continue;
            }
            // A copy, which its sender cannot change any more.
            let body = *body;
            if body.kind == kind::EAGER && self.defers_copy(messages, source, &body) {
                return;
            }
            self.idle_polls = 0;
            if self.take(messages, source, &body).is_none() {
                self.refuse(messages, source, &body);
                return;
            }
            let left_bytes = self.left_bytes(messages, source);
            let back = &mut self.outbound[source].ring.lines;
            let ring = self.inbound[source].ring.as_mut();
            let returned = ring.is_some_and(|ring| ring.pop(&body, left_bytes, back));
            if returned {
                self.wake(source);
            }
            if self.outbound[source].ring.has_wrong_credits() {
                self.refuse_credits(messages, source);
                return;
            }
        }
    }

    /// Takes in a cell of any kind but a short message. Returns `None` if no rank sends it: a number is impossible, or it
    /// names an operation or a message that is not in progress with its sender.
    fn take(&mut self, messages: &mut Messages, source: usize, body: &Body) -> Option<()> {
        match body.kind {
            kind::EAGER => self.arrive_eager(messages, source, body),
            kind::MORE => self.arrive_more(messages, source, body, body.number(0)),
            kind::RTS => self.arrive_rts(messages, source, body),
            kind::CTS => {
                let send = self.take_answered(messages, source, body.number(0))?;
                let theirs = body.number(1).sent_back();
                self.enqueue(messages, source, Outgoing::Data(send, theirs));
                Some(())
            }
            kind::DATA => {
                let rank = self.rank_at(source);
                let receive = messages.transfers.answered_receive(body.number(0), rank)?;
                self.begin_stream(source, Stream::Receive(receive))?;
                self.arrive_more(messages, source, body, body.number(1))
            }
            kind::HELP => self.help(messages, source, body),
            kind::FIN => {
                let send = self.take_answered(messages, source, body.number(0))?;
                messages.transfers[send].done = true;
                Some(())
            }
            _ => None,
        }
    }

    /// Directs what follows from a source. Returns `None` if the message before is not complete.
    fn begin_stream(&mut self, source: usize, stream: Stream) -> Option<()> {
        let before = std::mem::replace(&mut self.inbound[source].stream, stream);
        (before == Stream::None).then_some(())
    }

    /// Ends the run for this rank, because another has sent what no rank sends.
    #[cold]
    fn refuse(&self, messages: &mut Messages, source: usize, body: &Body) {
        let (first, second) = (body.number(0), body.number(1));
        let kind = body.kind;
        let what = format!("a cell of kind {kind} with {first:?} and {second:?}");
        self.refuse_because(messages, source, &what);
    }

    /// As [`refuse`](Rings::refuse), for a message that no cell names any more.
    #[cold]
    pub(super) fn refuse_because(&self, messages: &mut Messages, source: usize, what: &str) {
        messages.refuse(self.rank_at(source), what);
    }

    #[cold]
    pub(super) fn refuse_credits(&self, messages: &mut Messages, to: usize) {
        self.refuse_because(messages, to, "credits for more than was sent to it");
    }

    /// Returns whether a message stays in its ring for now. No receive accepts it yet, but one may be posted soon, and
    /// a copy would cost more than the message (decision 0027).
    #[inline]
    fn defers_copy(&self, messages: &Messages, source: usize, body: &Body) -> bool {
        self.may_defer_copy
            && self.idle_polls <= polls_before_copy(body.number(0))
            && !messages.posted.accepts(&envelope_of(self.inbound[source].rank, body, 0))
    }

    /// Tries the shortest path: receives the oldest message of a known source directly from its ring into `buffer`.
    /// Correct only while no message is unexpected and no other receive is posted, because then the oldest message in
    /// the ring is the next one to match.
    #[inline]
    pub(super) fn pop_now(
        &mut self,
        messages: &Messages,
        selector: &Selector,
        buffer: &mut [u8],
    ) -> Option<Envelope> {
        let rank = selector.source?;
        let source = self.place_of(rank);
        if !messages.unexpected.is_empty() || !messages.posted.is_empty() {
            return None;
        }
        let ring = self.inbound[source].ring.as_mut()?;
        let polls = if self.choices.every_rank_has_a_processor { FIRST_POLLS } else { 1 };
        let body = ring.await_message(polls)?;
        let whole = match body.kind {
            kind::SHORT => body.short_bytes()?,
            // A whole message in one cell.
            kind::EAGER if body.number(0) == body.number(2) && body.number(1).is(0) => {
                ring.payload_bytes(body, body.number(0))?
            }
            _ => return None,
        };
        let room = buffer.len();
        let envelope = Envelope { room, ..envelope_of(rank, body, whole) };
        if !selector.accepts(&envelope) {
            return None;
        }
        let kept = whole.min(room);
        let returned = if !body.has_lines() {
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

    /// Takes in the oldest message of a source, which is short, without copying its cell. Returns `None` if it is longer
    /// than that.
    #[inline(always)]
    fn take_short_from(&mut self, messages: &mut Messages, source: usize) -> Option<()> {
        self.idle_polls = 0;
        let Inbound { rank, ring, .. } = &mut self.inbound[source];
        let ring = ring.as_mut()?;
        let body = ring.peek()?;
        let envelope = envelope_of(*rank, body, body.short_bytes()?);
        match messages.posted.take(&envelope) {
            Some(request) => {
                let operation = &mut messages.transfers[request];
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
                messages.unexpected.add(Unexpected { envelope, contents: Contents::Copy(copy) });
            }
        }
        let cells = body.cells();
        if ring.pop_short(cells) {
            self.wake(source);
        }
        Some(())
    }

    fn arrive_eager(&mut self, messages: &mut Messages, source: usize, body: &Body) -> Option<()> {
        // No longer message is sent before its receive is known, so this bounds the memory of a copy.
        let longest = EAGER_LIMIT_BYTES.max(self.outbound[source].ring.byte_count());
        let whole = body.long_number(0).within(1..=longest)?;
        let envelope = envelope_of(self.inbound[source].rank, body, whole);
        let stream = match messages.match_receive(&envelope) {
            Some(request) => Stream::Receive(request),
            None => {
                let contents = Contents::Copy(Vec::with_capacity(envelope.bytes));
                messages.unexpected.add(Unexpected { envelope, contents });
                Stream::Unexpected { left: envelope.bytes }
            }
        };
        self.begin_stream(source, stream)?;
        self.arrive_more(messages, source, body, body.number(2))
    }

    fn arrive_more(
        &mut self,
        messages: &mut Messages,
        source: usize,
        body: &Body,
        bytes: Untrusted<u32>,
    ) -> Option<()> {
        let Inbound { rank, ring, stream } = &mut self.inbound[source];
        let ring = ring.as_mut()?;
        let bytes = Untrusted::new(ring.payload_bytes(body, bytes)?);
        match stream {
            Stream::None => return None,
            Stream::Receive(request) => {
                let operation = &mut messages.transfers[*request];
                let left = operation.envelope.bytes.saturating_sub(operation.moved);
                let bytes = bytes.within(1..=left)?;
                ring.read(body, bytes, |part| operation.append(part));
                if operation.done {
                    *stream = Stream::None;
                }
            }
            Stream::Unexpected { left } => {
                let bytes = bytes.within(1..=*left)?;
                if let Some(copy) = messages.unexpected.last_from(*rank) {
                    ring.read(body, bytes, |part| copy.extend_from_slice(part));
                }
                *left -= bytes;
                if *left == 0 {
                    *stream = Stream::None;
                }
            }
        }
        Some(())
    }

    /// Returns the number of bytes still to come of the message that a source has begun.
    fn left_bytes(&self, messages: &Messages, source: usize) -> usize {
        match self.inbound[source].stream {
            Stream::None => 0,
            Stream::Receive(request) => {
                let operation = &messages.transfers[request];
                operation.envelope.bytes.saturating_sub(operation.moved)
            }
            Stream::Unexpected { left } => left,
        }
    }

    fn arrive_rts(&mut self, messages: &mut Messages, source: usize, body: &Body) -> Option<()> {
        let bytes = body.long_number(0).at_most(isize::MAX as usize)?;
        let envelope = envelope_of(self.inbound[source].rank, body, bytes);
        let rts = Rts { request: body.number(2).sent_back(), location: location_in(body, 3) };
        match messages.match_receive(&envelope) {
            Some(request) => self.accept_rts(messages, request, rts),
            None => {
                messages.unexpected.add(Unexpected { envelope, contents: Contents::Rts(rts) });
                Some(())
            }
        }
    }

    /// Receives an unexpected message that a new receive has matched.
    pub(super) fn receive_unexpected(
        &mut self,
        messages: &mut Messages,
        request: Request,
        message: Unexpected,
    ) {
        match message.contents {
            Contents::Rts(rts) => {
                if self.accept_rts(messages, request, rts).is_none() {
                    let source = self.place_of(message.envelope.source);
                    self.refuse_because(messages, source, "an RTS for memory that is not there");
                }
            }
            Contents::Copy(copy) => {
                let operation = &mut messages.transfers[request];
                operation.append(&copy);
                if !operation.done {
                    // The rest of it is still in flight and goes directly to the receive.
                    let source = self.place_of(message.envelope.source);
                    self.inbound[source].stream = Stream::Receive(request);
                }
            }
            Contents::Own(_) | Contents::Arriving => unreachable!("no ring adds such messages"),
        }
    }
}

#[inline(always)]
fn envelope_of(source: u32, body: &Body, bytes: usize) -> Envelope {
    Envelope { context: body.context, source, tag: body.tag, bytes, room: bytes }
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
        copy_short(body.inline(), to, kept.min(INLINE_BYTES));
        if kept > INLINE_BYTES {
            let more = (kept - INLINE_BYTES).min(rest.len());
            copy_short(rest.as_ptr(), to.add(INLINE_BYTES), more);
        }
    }
}
