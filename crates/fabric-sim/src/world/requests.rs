//! Requests of ranks: sends and receives from their posts to their ends.

use contract::{
    Envelope, Error, Request, Result, Selector, Tag, Time, TimeSpan, WorkKind, Writable,
};

use super::matching::Arrived;
use super::message::Mode;
use super::operation::{State, Waiting};
use super::{Event, World};
use crate::machine::Announcement;

impl World {
    /// Returns the time that the sender's processor works on a message of `bytes` bytes before the message leaves. A
    /// message to a rank of the same processor is only copied.
    pub(crate) fn send_overhead(&self, rank: usize, to: usize, bytes: usize) -> TimeSpan {
        if self.processors.are_one(rank, to) {
            return self.machine.processor.time(WorkKind::CopyBytes, bytes as u64);
        }
        match self.machine.protocol.announcement {
            Announcement::Free => TimeSpan::ZERO,
            Announcement::Message => self.machine.endpoint.send.of(bytes as u64),
        }
    }

    /// Refuses a program's message to a node that its network does not forward to.
    ///
    /// # Errors
    /// [`Error::Unsupported`] names both nodes and the messages that are possible.
    pub(crate) fn check_route(&self, rank: usize, to: usize, tag: u32) -> Result<()> {
        let single_hop = self.machine.network.single_hop;
        if !single_hop || self.processors.are_one(rank, to) || Tag::from_wire(tag).is_reserved() {
            return Ok(());
        }
        let [from, to] = [rank, to].map(|rank| self.processors.node(rank));
        match self.network.hops(from, to) {
            0 | 1 => Ok(()),
            hops => Err(Error::Unsupported {
                fabric: format!("sim:{}", self.machine.name),
                what: format!(
                    "send from node {from} to node {to}, {hops} hops away: its operating system passes no messages on; \
                     use a program whose messages go to neighbours only, whose numbers differ in one bit"
                ),
            }),
        }
    }

    /// Starts to send, after the sender has spent its overhead.
    pub(crate) fn start_send(
        &mut self,
        rank: usize,
        to: usize,
        (context, tag): (u32, u32),
        data: &[u8],
        mode: Mode,
    ) -> Request {
        let (source, bytes) = (rank as u32, data.len());
        let envelope = Envelope { context, source, tag, bytes, room: bytes };
        let state = State::Sending { to: to as u32, envelope };
        let request = self.ranks[rank].operations.add(state);
        let message = self.new_message(to as u32, envelope, data, mode);
        self.depend(message, rank);
        self.dispatch(message, request);
        request
    }

    /// Posts a receive. Without a `room`, its message waits to be [collected](World::collect).
    pub(crate) fn start_receive(
        &mut self,
        rank: usize,
        selector: Selector,
        room: Option<Writable>,
    ) -> Request {
        let own = &mut self.ranks[rank];
        let request = own.operations.add(State::Receiving { selector, room });
        if let Some(message) = own.mailbox.post(request, selector) {
            self.depend(message, rank);
            self.match_receive(message, request);
        }
        request
    }

    /// Records that the program has lent `bytes` bytes of memory for a posted operation.
    pub(crate) fn note_posted_memory(&mut self, rank: usize, request: Request, bytes: usize) {
        let state = &mut self.ranks[rank];
        let before = state.posted_bytes;
        state.posted_bytes += bytes as u64;
        let peak = if before == 0 { 0 } else { state.posted_peak_bytes };
        state.posted_peak_bytes = peak.max(state.posted_bytes);
        state.operations.set_memory(request, bytes as u64);
    }

    /// Returns the index of the first of `requests` that is done. `None`: none is, and the rank must be suspended until
    /// one is.
    pub(crate) fn find_done_or_wait(
        &mut self,
        rank: usize,
        requests: &[Request],
    ) -> Result<Option<usize>> {
        self.check()?;
        let state = &mut self.ranks[rank];
        let is_done = |&request: &Request| state.operations.done(request).is_some();
        if let Some(index) = requests.iter().position(is_done) {
            return Ok(Some(index));
        }
        state.waiting = match requests {
            [request] => Waiting::Request(*request),
            several => Waiting::Requests(several.to_vec()),
        };
        Ok(None)
    }

    /// Returns whether a request is done.
    pub(crate) fn is_done(&self, rank: usize, request: Request) -> bool {
        self.ranks[rank].operations.done(request).is_some()
    }

    /// As [`is_done`](World::is_done), and if it is not, the rank is woken once it is, also in a collective of the
    /// machine's own.
    pub(crate) fn watch(&mut self, rank: usize, request: Request) -> bool {
        self.ranks[rank].operations.watch(request)
    }

    /// Returns the envelope of a request that is done.
    pub(crate) fn envelope(&self, rank: usize, request: Request) -> Envelope {
        let done = self.ranks[rank].operations.done(request);
        done.expect("only a request that is done is asked for its message").envelope
    }

    /// Returns the time that the rank's processor has yet to work for a request that is done. Zero when called again.
    pub(crate) fn take_due(&mut self, rank: usize, request: Request) -> TimeSpan {
        self.ranks[rank].operations.take_due(request)
    }

    /// Returns the additional time that a posted message takes the receiver because of all the memory that it has
    /// posted: the most at once since there was none. Zero when called again.
    pub(crate) fn take_memory_time(&mut self, rank: usize, request: Request) -> TimeSpan {
        let state = &mut self.ranks[rank];
        match state.operations.take_memory(request) {
            Some(bytes) if self.machine.endpoint.posted_in_memory => {
                let footprint = state.posted_peak_bytes;
                self.machine.processor.time_beyond_caches(bytes as u64, footprint)
            }
            _ => TimeSpan::ZERO,
        }
    }

    /// Removes a request that is done, and frees the place of its message.
    pub(crate) fn end_request(&mut self, rank: usize, request: Request) -> Envelope {
        let state = &mut self.ranks[rank];
        let done = *state.operations.done(request).expect("only a request that is done is ended");
        state.posted_bytes -= state.operations.forget(request);
        if let Some(message) = done.message {
            self.forget(message);
        }
        done.envelope
    }

    /// As [`end_request`](World::end_request), for a blocking receive. Its message is copied into `buffer` as far as it
    /// fits.
    pub(crate) fn collect(
        &mut self,
        rank: usize,
        request: Request,
        buffer: &mut [u8],
    ) -> Result<Envelope> {
        let message = self.ranks[rank].operations.done(request).and_then(|done| done.message);
        let data = &self.messages[message.ok_or(Error::UnknownRequest)? as usize].data;
        let count = data.len().min(buffer.len());
        buffer[..count].copy_from_slice(&data[..count]);
        Ok(Envelope { room: buffer.len(), ..self.end_request(rank, request) })
    }

    /// Ends a receive that no message has matched. Returns false if one has.
    pub(crate) fn cancel_receive(&mut self, rank: usize, request: Request) -> bool {
        let state = &mut self.ranks[rank];
        let cancelled = state.mailbox.withdraw(request);
        if cancelled {
            state.posted_bytes -= state.operations.forget(request);
        }
        cancelled
    }

    /// Returns the oldest message that has arrived, has no receive, and that `selector` accepts. If there is none, the
    /// next message wakes the rank, also in a collective of the machine's own.
    pub(crate) fn probe(&mut self, rank: usize, selector: Selector) -> Option<Envelope> {
        let state = &mut self.ranks[rank];
        let found = state.mailbox.find(&selector);
        state.polls |= found.is_none();
        found
    }

    /// Records that the rank waits for requests only, and does not poll for messages meanwhile.
    pub(crate) fn stop_polling(&mut self, rank: usize) {
        self.ranks[rank].polls = false;
    }

    /// Moves such a message to another context and tag. Returns its envelope before.
    pub(crate) fn claim(
        &mut self,
        rank: usize,
        selector: Selector,
        context: u32,
        tag: u32,
    ) -> Option<Envelope> {
        let Arrived { message, envelope } = self.ranks[rank].mailbox.take(&selector)?;
        let moved = &mut self.messages[message as usize].envelope;
        (moved.context, moved.tag) = (context, tag);
        let moved = Arrived { message, envelope: *moved };
        if let Some(receive) = self.ranks[rank].mailbox.arrive(moved) {
            self.depend(message, rank);
            self.match_receive(message, receive);
        }
        Some(envelope)
    }

    /// Returns the number of events that this rank may wait for: a message arrived, a request was done, a rank left.
    pub(crate) fn event_count(&self, rank: usize) -> u64 {
        self.ranks[rank].event_count + self.departures
    }

    /// Returns whether the rank must be suspended until such an event. It must not if one has happened since it counted
    /// `seen`.
    pub(crate) fn wait_for_anything(&mut self, rank: usize, seen: u64) -> Result<bool> {
        self.check()?;
        if self.event_count(rank) != seen {
            return Ok(false);
        }
        self.ranks[rank].waiting = Waiting::Anything;
        self.waiting_for_anything += 1;
        Ok(true)
    }

    /// Returns whether the rank must be suspended until such an event, at most for `longest`. It must not if one has
    /// happened since the last such call.
    pub(crate) fn sleep_a_while(&mut self, rank: usize, longest: TimeSpan) -> Result<bool> {
        let (seen, until) = (self.event_count(rank), self.now() + longest);
        let before = std::mem::replace(&mut self.ranks[rank].events_before_sleep, seen);
        if !self.wait_for_anything(rank, before)? {
            return Ok(false);
        }
        self.ranks[rank].sleeps_until = Some(until);
        self.agenda.push(until, Event::SleepOver(rank as u32));
        Ok(true)
    }

    /// Returns whether the rank must be suspended until such an event, at most until `time`, because its polls would find
    /// nothing until then. It continues at the last poll before the next pause of its processor. Ranks that share a
    /// processor take it from each other by polling, so that their polls are not skipped.
    pub(crate) fn skip_idle_polls(&mut self, rank: usize, time: Time) -> Result<bool> {
        self.check()?;
        if self.processors.are_scheduled() {
            return Ok(false);
        }
        let longest = time.since(self.now());
        let polling = self.machine.processor.polling;
        let whole_polls = |quiet: TimeSpan| polling.times(quiet.as_ps() / polling.as_ps());
        let quiet = self.processors.quiet_after(rank, self.now()).map_or(longest, whole_polls);
        let span = longest.min(quiet);
        Ok(span > TimeSpan::ZERO && self.sleep_a_while(rank, span)?)
    }

    /// Ends the sleep of a rank at its end. The event is out of date if something has woken the rank before.
    pub(super) fn end_sleep(&mut self, rank: usize) {
        let state = &mut self.ranks[rank];
        if state.waiting == Waiting::Anything && state.sleeps_until == Some(self.agenda.now()) {
            state.sleeps_until = None;
            self.wake_after(rank, TimeSpan::ZERO);
        }
    }

    /// Prepares to suspend a rank until others do something, and returns `None`. If something has happened to it since
    /// the count `seen_events`, the rank must continue instead and check again; returns the new count then.
    pub(crate) fn begin_idling(&mut self, rank: usize, seen_events: Option<u64>) -> Option<u64> {
        let events = Some(self.event_count(rank));
        if !self.ranks[rank].waiting.is_for_others() || events == seen_events {
            return None;
        }
        self.ranks[rank].waiting = Waiting::Running;
        events
    }

    /// Records that a message has arrived that no receive has taken.
    pub(super) fn note_arrival(&mut self, rank: usize, message: u32) {
        let state = &mut self.ranks[rank];
        state.event_count += 1;
        let polls = std::mem::take(&mut state.polls) && state.waiting.is_for_others();
        if polls || state.waiting == Waiting::Anything {
            self.follow(rank, message);
            self.wake_after(rank, TimeSpan::ZERO);
        }
    }

    /// Records that a message depends on a rank's current activity.
    pub(super) fn depend(&mut self, message: u32, rank: usize) {
        let now = self.now();
        if let Some(paths) = &mut self.paths {
            paths.depend(message, rank, now);
        }
    }

    /// Records that a rank that waited continues because of a message.
    pub(super) fn follow(&mut self, rank: usize, message: u32) {
        let now = self.now();
        if let Some(paths) = &mut self.paths {
            paths.wake_by_message(rank, message, now);
        }
    }

    /// Continues a rank after its processor has worked for `span`, because what it waits for has happened.
    pub(super) fn wake_after(&mut self, rank: usize, span: TimeSpan) {
        let waited_for = std::mem::replace(&mut self.ranks[rank].waiting, Waiting::Time);
        self.waiting_for_anything -= usize::from(waited_for == Waiting::Anything);
        self.spend(rank, span, Event::Wake(rank as u32));
    }
}
