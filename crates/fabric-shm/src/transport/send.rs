//! The sending side: what goes into the ring at once, and what waits for room.

use contract::{Arenas, Destination, Request, Untrusted};
use engine::{Messages, Transfer};

use super::Rings;
use super::limits::{ARENA_RENDEZVOUS_FROM_BYTES, CMA_RENDEZVOUS_FROM_BYTES, EAGER_LIMIT_BYTES};
use super::message::{halves, kind, location_words, numbers};
use crate::ring::{Body, SHORT_BYTES, lines_for};

/// Something for another rank that is not yet in its ring.
pub(super) enum Outgoing {
    /// A message of which nothing has been sent yet.
    Begin(Request),
    /// The rest of a message.
    Continue(Request),
    /// The data of a message whose RTS was answered by a CTS, for the receiver's request.
    Data(Request, u32),
    /// A control cell of the protocol.
    Control(Body),
}

impl Rings {
    /// Tries the shortest path: sends a message that fits one cell and its lines directly into the ring.
    #[inline(always)]
    pub(super) fn push_now(&mut self, messages: &Messages, to: Destination, data: &[u8]) -> bool {
        let Destination { rank: to, context, tag } = to;
        if data.len() > CMA_RENDEZVOUS_FROM_BYTES && self.uses_cma_early(messages, to) {
            return false;
        }
        let outbound = &mut self.outbound[to];
        if !outbound.queue.is_empty() {
            return false;
        }
        if data.len() > outbound.ring.fragment_bytes() {
            return self.push_fragments_now(messages, to, (context, tag), data);
        }
        if data.len() > ARENA_RENDEZVOUS_FROM_BYTES
            && self.segment.seat().place_of(data.as_ptr(), data.len()).is_some()
        {
            return false;
        }
        if data.len() <= SHORT_BYTES {
            if !outbound.ring.push_short((kind::SHORT, tag, context), data) {
                return false;
            }
        } else {
            let mut back = self.inbound[to].ring.as_mut().map(|ring| &mut ring.lines);
            if !outbound.ring.has_room_for(lines_for(data.len()), back.as_deref()) {
                return false;
            }
            let bytes = data.len() as u32;
            let body = numbers(kind::EAGER, [bytes, 0, bytes]).with_envelope(tag, context);
            outbound.ring.push(body, data, back.take());
        }
        self.after_push(to);
        true
    }

    /// As `push_now`, for a message of several fragments, if the ring has room for all of them. Then the message needs
    /// no request. See docs/measurements.md#fragments-and-rings.
    #[inline(never)]
    fn push_fragments_now(
        &mut self,
        messages: &Messages,
        to: usize,
        (context, tag): (u32, u32),
        data: &[u8],
    ) -> bool {
        if data.len() > self.eager_limit_bytes(messages, to)
            || self.segment.seat().place_of(data.as_ptr(), data.len()).is_some()
            || !self.outbound[to].ring.has_room_for_fragments(data.len())
        {
            return false;
        }
        let [low, high] = halves(data.len());
        let moved = self.push_fragments(to, data, 0, |bytes| {
            numbers(kind::EAGER, [low, high, bytes]).with_envelope(tag, context)
        });
        assert_eq!(moved, data.len(), "there was room for all fragments");
        true
    }

    /// Returns the length of the longest eager message to `to` from memory outside the arenas.
    fn eager_limit_bytes(&self, messages: &Messages, to: usize) -> usize {
        match self.uses_cma_early(messages, to) {
            true => CMA_RENDEZVOUS_FROM_BYTES,
            false => EAGER_LIMIT_BYTES.max(self.outbound[to].ring.byte_count()),
        }
    }

    /// Returns whether messages of medium length go by rendezvous with cross-memory attach instead of through the ring.
    fn uses_cma_early(&self, messages: &Messages, to: usize) -> bool {
        self.cma.is_fast() && (self.outbound[to].pending_rts == 0 || !messages.posted.is_empty())
    }

    /// Returns the send whose RTS another rank answers, by a CTS or a FIN; `None` if that rank was sent no such RTS.
    pub(super) fn take_answered(
        &mut self,
        messages: &mut Messages,
        from: usize,
        request: Untrusted<u32>,
    ) -> Option<Request> {
        let rank = self.rank_at(from);
        let send = messages.transfers.answered_send(request, rank)?;
        let pending = &mut self.outbound[from].pending_rts;
        *pending = pending.checked_sub(1)?;
        Some(send)
    }

    /// Sends a control cell, at once if nothing is queued before it.
    pub(super) fn send_control(&mut self, messages: &mut Messages, to: usize, body: Body) {
        let outbound = &mut self.outbound[to];
        if outbound.queue.is_empty() && outbound.ring.has_room() {
            self.push_cell(to, body, &[]);
        } else {
            self.enqueue(messages, to, Outgoing::Control(body));
        }
    }

    /// Queues something for `to`, and sends as much as there is room for.
    pub(super) fn enqueue(&mut self, messages: &mut Messages, to: usize, outgoing: Outgoing) {
        if self.outbound[to].queue.is_empty() {
            self.queued.push(to);
        }
        self.outbound[to].queue.push_back(outgoing);
        self.push_to(messages, to);
    }

    pub(super) fn push_queued(&mut self, messages: &mut Messages) {
        let mut index = 0;
        while index < self.queued.len() {
            let to = self.queued[index];
            self.push_to(messages, to);
            // `push_to` removes `to` from the list once its queue is empty, and the others move up.
            index += usize::from(self.queued.get(index) == Some(&to));
        }
    }

    /// Sends as much to `to` as there is room for.
    fn push_to(&mut self, messages: &mut Messages, to: usize) {
        while let Some(outgoing) = self.outbound[to].queue.pop_front() {
            if let Some(rest) = self.push_one(messages, to, outgoing) {
                self.outbound[to].queue.push_front(rest);
                if self.outbound[to].ring.has_wrong_credits() {
                    self.refuse_credits(messages, to);
                }
                return;
            }
        }
        self.queued.retain(|&queued| queued != to);
    }

    /// Sends one item. Returns what is left of it if the ring is full.
    fn push_one(
        &mut self,
        messages: &mut Messages,
        to: usize,
        outgoing: Outgoing,
    ) -> Option<Outgoing> {
        match outgoing {
            Outgoing::Control(body) => {
                if !self.outbound[to].ring.has_room() {
                    return Some(outgoing);
                }
                self.push_cell(to, body, &[]);
                None
            }
            Outgoing::Begin(request) => self.push_begin(messages, to, request),
            Outgoing::Data(request, theirs) => {
                self.push_fragment(messages, (to, request), outgoing, |bytes| {
                    numbers(kind::DATA, [theirs, bytes])
                })
            }
            Outgoing::Continue(request) => {
                self.push_fragment(messages, (to, request), outgoing, |bytes| {
                    numbers(kind::MORE, [bytes])
                })
            }
        }
    }

    /// Sends the first cell of a message. Returns what is left of it.
    fn push_begin(
        &mut self,
        messages: &mut Messages,
        to: usize,
        request: Request,
    ) -> Option<Outgoing> {
        let operation = messages.transfers[request];
        let Transfer { envelope, memory, room, is_synchronous, .. } = operation;
        let (tag, context) = (envelope.tag, envelope.context);
        if room <= SHORT_BYTES && !is_synchronous {
            if !self.outbound[to].ring.push_short((kind::SHORT, tag, context), operation.data()) {
                return Some(Outgoing::Begin(request));
            }
            self.after_push(to);
            messages.transfers[request].done = true;
            return None;
        }
        let [low, high] = halves(room);
        let place = self.segment.seat().place_of(memory, room);
        let limit = match place {
            Some(_) => ARENA_RENDEZVOUS_FROM_BYTES,
            None => self.eager_limit_bytes(messages, to),
        };
        if room <= limit && !is_synchronous {
            let unbegun = Outgoing::Begin(request);
            return self.push_fragment(messages, (to, request), unbegun, |bytes| {
                numbers(kind::EAGER, [low, high, bytes]).with_envelope(tag, context)
            });
        }
        if !self.outbound[to].ring.has_room() {
            return Some(Outgoing::Begin(request));
        }
        self.outbound[to].pending_rts += 1;
        messages.transfers.announce(request);
        let [flag, location_low, location_high] = location_words(place, memory);
        let rts = [low, high, request.0, flag, location_low, location_high];
        self.push_cell(to, numbers(kind::RTS, rts).with_envelope(tag, context), &[]);
        None
    }

    /// Pushes as much of a message as there is room for, of which `before` bytes were pushed already. Returns the
    /// number of bytes pushed now. `first` makes the first cell, from the number of bytes in it.
    #[inline]
    fn push_fragments(
        &mut self,
        to: usize,
        data: &[u8],
        before: usize,
        first: impl Fn(u32) -> Body,
    ) -> usize {
        let mut moved = before;
        let far_ahead = self.outbound[to].ring.is_far_ahead();
        while moved < data.len() {
            let ring = &mut self.outbound[to].ring;
            let bytes = ring.next_fragment_bytes(far_ahead, moved, data.len() - moved);
            let back = self.inbound[to].ring.as_ref().map(|ring| &ring.lines);
            if !ring.has_room_for(lines_for(bytes), back) {
                break;
            }
            let body = if moved == before {
                first(bytes as u32)
            } else {
                numbers(kind::MORE, [bytes as u32])
            };
            self.push_cell(to, body, &data[moved..moved + bytes]);
            moved += bytes;
        }
        moved
    }

    /// Pushes as much of a request's data as there is room for. `first` makes the first cell, from the number of bytes
    /// in it. Returns what is left of it: `unbegun` if nothing was pushed.
    fn push_fragment(
        &mut self,
        messages: &mut Messages,
        (to, request): (usize, Request),
        unbegun: Outgoing,
        first: impl Fn(u32) -> Body,
    ) -> Option<Outgoing> {
        let operation = &mut messages.transfers[request];
        let before = operation.moved;
        let moved = self.push_fragments(to, operation.data(), before, &first);
        if moved > before {
            // A rank that waits for its own sends need not copy incoming messages yet.
            self.idle_polls = 0;
        }
        operation.moved = moved;
        operation.done = moved == operation.room;
        if operation.done {
            None
        } else if moved > before {
            Some(Outgoing::Continue(request))
        } else {
            Some(unbegun)
        }
    }

    fn push_cell(&mut self, to: usize, body: Body, data: &[u8]) {
        let back = self.inbound[to].ring.as_mut().map(|ring| &mut ring.lines);
        self.outbound[to].ring.push(body, data, back);
        self.after_push(to);
    }

    #[inline(always)]
    fn after_push(&mut self, to: usize) {
        if !self.outbound[to].receiver_knows {
            self.outbound[to].receiver_knows = true;
            self.segment.block(to).add_sender(self.me);
        }
        self.wake(to);
    }
}
