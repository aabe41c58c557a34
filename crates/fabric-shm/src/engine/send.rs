//! The sending side: what goes into the ring at once, and what waits for room.

use contract::{Completion, Destination, Envelope, Readable, Request, Result};

use super::Engine;
use super::limits::{ARENA_RENDEZVOUS_FROM_BYTES, CMA_RENDEZVOUS_FROM_BYTES, EAGER_LIMIT_BYTES};
use super::matching::{Contents, Unexpected};
use super::message::{Location, halves, kind, location_words, numbers};
use super::operation::{Direction, Operation};
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

impl Engine {
    /// Starts a send. A synchronous request ends only once a receive has matched the message, at any length.
    pub(crate) fn start_send(
        &mut self,
        to: Destination,
        data: Readable,
        until: Completion,
    ) -> Result<Request> {
        let Destination { rank: to, context, tag } = to;
        self.check_alive()?;
        let bytes = data.bytes();
        let envelope = Envelope { context, source: self.me as u32, tag, bytes, room: bytes };
        let request = self.operations.start(Operation {
            direction: Direction::Send { to: to as u32 },
            memory: data.as_ptr().cast_mut(),
            room: bytes,
            moved: 0,
            envelope,
            done: false,
            rendezvous: until == Completion::Synchronous,
            in_place: false,
        });
        if to == self.me {
            self.send_to_self(request);
        } else {
            self.enqueue(to, Outgoing::Begin(request));
        }
        Ok(request)
    }

    /// Tries the shortest path: sends a message that fits one cell and its lines directly into the ring.
    #[inline(always)]
    pub(super) fn send_now(&mut self, to: Destination, data: &[u8]) -> bool {
        let Destination { rank: to, context, tag } = to;
        if data.len() > CMA_RENDEZVOUS_FROM_BYTES && self.uses_cma_early(to) {
            return false;
        }
        let outbound = &mut self.outbound[to];
        if !outbound.queue.is_empty() {
            return false;
        }
        if data.len() > outbound.ring.fragment_bytes() {
            return self.send_fragments_now(to, context, tag, data);
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
            let body = Body { tag, context, ..numbers(kind::EAGER, [bytes, 0, bytes]) };
            outbound.ring.push(body, data, back.take());
        }
        self.after_push(to);
        true
    }

    /// As `send_now`, for a message of several fragments, if the ring has room for all of them. Then the message needs
    /// no request. See docs/measurements.md#fragments-without-a-request.
    #[inline(never)]
    fn send_fragments_now(&mut self, to: usize, context: u32, tag: u32, data: &[u8]) -> bool {
        if data.len() > self.eager_limit_bytes(to)
            || self.segment.seat().place_of(data.as_ptr(), data.len()).is_some()
            || !self.outbound[to].ring.has_room_for_fragments(data.len())
        {
            return false;
        }
        let [low, high] = halves(data.len());
        let moved = self.push_fragments(to, data, 0, |bytes| Body {
            tag,
            context,
            ..numbers(kind::EAGER, [low, high, bytes])
        });
        assert_eq!(moved, data.len(), "there was room for all fragments");
        true
    }

    /// Returns the length of the longest eager message to `to` from memory outside the arenas.
    fn eager_limit_bytes(&self, to: usize) -> usize {
        match self.uses_cma_early(to) {
            true => CMA_RENDEZVOUS_FROM_BYTES,
            false => EAGER_LIMIT_BYTES.max(self.outbound[to].ring.byte_count()),
        }
    }

    /// Returns whether messages of medium length go by rendezvous with cross-memory attach instead of through the ring.
    fn uses_cma_early(&self, to: usize) -> bool {
        self.cma.is_fast() && (self.outbound[to].pending_rts == 0 || !self.posted.is_empty())
    }

    /// Records that an RTS was answered by a CTS or a FIN.
    pub(super) fn rts_answered(&mut self, request: Request) {
        if let Direction::Send { to } = self.operations[request].direction {
            self.outbound[to as usize].pending_rts -= 1;
        }
    }

    /// Sends a control cell, at once if nothing is queued before it.
    pub(super) fn send_control(&mut self, to: usize, body: Body) {
        let outbound = &mut self.outbound[to];
        if outbound.queue.is_empty() && outbound.ring.has_room() {
            self.push_cell(to, body, &[]);
        } else {
            self.enqueue(to, Outgoing::Control(body));
        }
    }

    /// Queues something for `to`, and sends as much as there is room for.
    pub(super) fn enqueue(&mut self, to: usize, outgoing: Outgoing) {
        if self.outbound[to].queue.is_empty() {
            self.queued.push(to);
        }
        self.outbound[to].queue.push_back(outgoing);
        self.push_to(to);
    }

    pub(super) fn push_queued(&mut self) {
        let mut index = 0;
        while index < self.queued.len() {
            let to = self.queued[index];
            self.push_to(to);
            // `push_to` removes `to` from the list once its queue is empty, and the others move up.
            index += usize::from(self.queued.get(index) == Some(&to));
        }
    }

    /// Sends as much to `to` as there is room for.
    fn push_to(&mut self, to: usize) {
        while let Some(outgoing) = self.outbound[to].queue.pop_front() {
            if let Some(rest) = self.push_one(to, outgoing) {
                self.outbound[to].queue.push_front(rest);
                return;
            }
        }
        self.queued.retain(|&queued| queued != to);
    }

    /// Sends one item. Returns what is left of it if the ring is full.
    fn push_one(&mut self, to: usize, outgoing: Outgoing) -> Option<Outgoing> {
        match outgoing {
            Outgoing::Control(body) => {
                if !self.outbound[to].ring.has_room() {
                    return Some(outgoing);
                }
                self.push_cell(to, body, &[]);
                None
            }
            Outgoing::Begin(request) => self.begin(to, request),
            Outgoing::Data(request, theirs) => {
                self.push_fragment(to, request, |bytes| numbers(kind::DATA, [theirs, bytes]))
            }
            Outgoing::Continue(request) => {
                self.push_fragment(to, request, |bytes| numbers(kind::MORE, [bytes]))
            }
        }
    }

    /// Sends the first cell of a message. Returns what is left of it.
    fn begin(&mut self, to: usize, request: Request) -> Option<Outgoing> {
        let Operation { envelope, memory, room, rendezvous, .. } = self.operations[request];
        // SAFETY: whoever lent the memory promised `room` readable bytes.
        let data = unsafe { std::slice::from_raw_parts(memory, room) };
        let (tag, context) = (envelope.tag, envelope.context);
        if room <= SHORT_BYTES && !rendezvous {
            if !self.outbound[to].ring.push_short((kind::SHORT, tag, context), data) {
                return Some(Outgoing::Begin(request));
            }
            self.after_push(to);
            self.operations[request].done = true;
            return None;
        }
        let [low, high] = halves(room);
        let location = self.location_of(memory, room);
        let limit = match location {
            Location::Arena(_) => ARENA_RENDEZVOUS_FROM_BYTES,
            Location::Address(_) => self.eager_limit_bytes(to),
        };
        if room <= limit && !rendezvous {
            return self.push_fragment(to, request, |bytes| Body {
                tag,
                context,
                ..numbers(kind::EAGER, [low, high, bytes])
            });
        }
        if !self.outbound[to].ring.has_room() {
            return Some(Outgoing::Begin(request));
        }
        self.outbound[to].pending_rts += 1;
        let [flag, location_low, location_high] = location_words(location);
        let rts = [low, high, request.0, flag, location_low, location_high];
        self.push_cell(to, Body { tag, context, ..numbers(kind::RTS, rts) }, &[]);
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
    /// in it.
    fn push_fragment(
        &mut self,
        to: usize,
        request: Request,
        first: impl Fn(u32) -> Body,
    ) -> Option<Outgoing> {
        let Operation { memory, room, moved: before, .. } = self.operations[request];
        // SAFETY: whoever lent the memory promised `room` readable bytes.
        let data = unsafe { std::slice::from_raw_parts(memory, room) };
        let moved = self.push_fragments(to, data, before, &first);
        if moved > before {
            // A rank that waits for its own sends need not copy incoming messages yet.
            self.idle_polls = 0;
        }
        let operation = &mut self.operations[request];
        operation.moved = moved;
        operation.done = moved == room;
        if operation.done {
            None
        } else if moved > before {
            Some(Outgoing::Continue(request))
        } else if let kind::MORE = first(0).kind {
            Some(Outgoing::Continue(request))
        } else if let Body { kind: kind::DATA, payload, .. } = first(0) {
            Some(Outgoing::Data(request, payload[0]))
        } else {
            Some(Outgoing::Begin(request))
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

    fn send_to_self(&mut self, request: Request) {
        self.count_move();
        let Operation { envelope, memory, room, rendezvous, .. } = self.operations[request];
        if let Some(receive) = self.posted.take(&envelope) {
            self.copy_to_self(request, receive);
            return;
        }
        let contents = if room <= EAGER_LIMIT_BYTES && !rendezvous {
            self.operations[request].done = true;
            // SAFETY: whoever lent the memory promised `room` readable bytes.
            Contents::Copy(unsafe { std::slice::from_raw_parts(memory, room) }.to_vec())
        } else {
            Contents::Own(request)
        };
        self.unexpected.add(Unexpected { envelope, contents });
    }

    /// Completes a send of this rank to itself and its receive.
    pub(super) fn copy_to_self(&mut self, send: Request, receive: Request) {
        let source = self.operations[send];
        let target = &mut self.operations[receive];
        let bytes = source.room.min(target.room);
        // SAFETY: both callers promised their memory, and nothing else uses a receive's.
        unsafe { std::ptr::copy(source.memory, target.memory, bytes) };
        target.envelope = Envelope { room: target.room, ..source.envelope };
        target.done = true;
        self.operations[send].done = true;
    }
}
