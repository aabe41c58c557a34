//! What a rank's program asks of the world. Each call either does its part at once or leaves the rank waiting.

use contract::{
    Buffer, Error, Posted, Priority, Result, Source, Status, Tag, TagSelector, Time, TimeSpan,
    WorkKind,
};

use super::matching::Wanted;
use super::operation::{Finished, State, Waiting};
use super::{Event, World};
use crate::machine::Announcement;

/// Whether the rank goes on, or is to be suspended until it is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Turn {
    GoOn,
    Suspend,
}

impl World {
    /// The rank's processor works for `span`.
    pub(crate) fn work(&mut self, rank: usize, span: TimeSpan) -> Turn {
        if span == TimeSpan::ZERO {
            return Turn::GoOn;
        }
        if self.processors.are_shared() {
            if self.has_failed() {
                self.agenda.drift(self.now() + span);
                return Turn::GoOn;
            }
            self.ranks[rank].waiting = Waiting::Time;
            self.occupy(rank, span, Event::Wake(rank as u32));
            return Turn::Suspend;
        }
        let end = self.processors.end(rank, self.now(), span);
        self.wait_for_time(rank, end, Event::Wake(rank as u32))
    }

    /// What a processor has to do for a rank: after it, `done` happens.
    pub(super) fn occupy(&mut self, rank: usize, span: TimeSpan, done: Event) {
        let priority = self.ranks[rank].priority;
        self.processors.occupy(&mut self.agenda, rank, priority, span, done);
    }

    /// A rank that waited for a moment goes on once it gets its processor.
    pub(super) fn give_processor(&mut self, rank: u32) {
        self.occupy(rank as usize, TimeSpan::ZERO, Event::Wake(rank));
    }

    /// Gives a rank a priority on its processor.
    pub(crate) fn set_priority(&mut self, rank: usize, priority: Priority) {
        self.ranks[rank].priority = priority;
    }

    /// The processor that a rank runs on.
    pub(crate) fn processor(&self, rank: usize) -> usize {
        self.processors.node(rank)
    }

    /// How many ranks each processor has, but for the last.
    pub(crate) fn ranks_per_processor(&self) -> u32 {
        self.processors.ranks_per_processor()
    }

    /// Whether ranks share processors.
    pub(crate) fn shares_processors(&self) -> bool {
        self.processors.are_shared()
    }

    /// The rank waits for a moment.
    pub(crate) fn wait_until(&mut self, rank: usize, time: Time) -> Turn {
        let shared = self.processors.are_shared();
        let event = if shared { Event::Ready(rank as u32) } else { Event::Wake(rank as u32) };
        self.wait_for_time(rank, time, event)
    }

    fn wait_for_time(&mut self, rank: usize, time: Time, event: Event) -> Turn {
        if self.has_failed() {
            self.agenda.drift(time);
            return Turn::GoOn;
        }
        let may_jump = event == Event::Wake(rank as u32) && !self.network.is_unsettled();
        if time <= self.now() || (may_jump && self.agenda.jump(time, rank as u32)) {
            return Turn::GoOn;
        }
        self.ranks[rank].waiting = Waiting::Time;
        self.agenda.push(time, event);
        Turn::Suspend
    }

    /// The rank reads its clock. A read takes no time of its own, so that a timed event is not longer for being timed; but
    /// a second read while nothing else has happened takes a poll, so that a program that waits by reading the clock does
    /// not wait for ever.
    pub(crate) fn read_clock(&mut self, rank: usize) -> Turn {
        let now = self.now();
        let again = self.ranks[rank].clock_read == Some(now);
        let polling = self.machine.processor.polling;
        let turn = if again { self.work(rank, polling) } else { Turn::GoOn };
        self.ranks[rank].clock_read = Some(if again { now + polling } else { now });
        turn
    }

    /// What sending a message of `bytes` bytes takes the sender's processor before the message goes. On the processor
    /// itself it is copied, and that is all.
    pub(crate) fn send_overhead(&self, rank: usize, to: usize, bytes: usize) -> TimeSpan {
        if self.processors.are_one(rank, to) {
            return self.machine.processor.time(WorkKind::CopyBytes, bytes as u64);
        }
        match self.machine.protocol.announcement {
            Announcement::Free => TimeSpan::ZERO,
            Announcement::Message => self.machine.endpoint.send.of(bytes as u64),
        }
    }

    /// Starts to send; the overhead was spent. `bare` messages are steps of the machine's own collectives.
    pub(crate) fn start_send(
        &mut self,
        rank: usize,
        to: usize,
        tag: Tag,
        data: &[u8],
        bare: bool,
    ) -> u32 {
        let state = State::Sending { to: to as u32, tag, bytes: data.len() };
        let operation = self.ranks[rank].operations.add(state);
        let message = self.new_message(rank as u32, to as u32, tag, data);
        self.messages[message as usize].bare = bare;
        self.dispatch(message, operation);
        operation
    }

    /// Posts a receive.
    pub(crate) fn start_receive(&mut self, rank: usize, from: Source, tag: TagSelector) -> u32 {
        let own = &mut self.ranks[rank];
        let operation = own.operations.add(State::Receiving { from, tag });
        if let Some(message) = own.mailbox.want(Wanted { operation, from, tag }) {
            self.meet(message, operation);
        }
        operation
    }

    /// The first of some operations to have finished, taken out, with its place among them. `None`: none has, and the
    /// rank is to be suspended until one does.
    pub(crate) fn take_or_wait(
        &mut self,
        rank: usize,
        numbers: &[u32],
    ) -> Result<Option<(usize, Finished, Option<Buffer>)>> {
        self.check()?;
        for (index, &number) in numbers.iter().enumerate() {
            if let Some((finished, buffer)) = self.take(rank, number) {
                return Ok(Some((index, finished, buffer)));
            }
        }
        self.ranks[rank].waiting = match numbers {
            [number] => Waiting::Operation(*number),
            several => Waiting::Operations(several.to_vec()),
        };
        Ok(None)
    }

    /// What became of an operation, if it has finished.
    pub(crate) fn take(&mut self, rank: usize, number: u32) -> Option<(Finished, Option<Buffer>)> {
        let state = &mut self.ranks[rank];
        let taken = state.operations.take(number)?;
        if let Some(buffer) = &taken.1 {
            state.posted_bytes -= buffer.len() as u64;
        }
        Some(taken)
    }

    /// What a posted message of `bytes` bytes takes the receiver longer for all the memory that it has posted: as much as
    /// there was at once since there was none.
    pub(crate) fn beyond_caches(&self, rank: usize, bytes: usize) -> TimeSpan {
        if !self.machine.endpoint.posted_in_memory {
            return TimeSpan::ZERO;
        }
        let footprint = self.ranks[rank].posted_peak_bytes;
        self.machine.processor.beyond_caches(bytes as u64, footprint)
    }

    /// Keeps the buffer of a posted operation until it is taken, and gives the operation's handle.
    pub(crate) fn keep_buffer(&mut self, rank: usize, operation: u32, buffer: Buffer) -> Posted {
        let state = &mut self.ranks[rank];
        let before = state.posted_bytes;
        state.posted_bytes += buffer.len() as u64;
        let peak = if before == 0 { 0 } else { state.posted_peak_bytes };
        state.posted_peak_bytes = peak.max(state.posted_bytes);
        state.operations.keep(operation, buffer);
        state.operations.handle(operation)
    }

    /// The number of a posted operation; refuses one that was completed before, or is another rank's.
    pub(crate) fn number(&self, rank: usize, posted: &Posted) -> Result<u32> {
        self.ranks[rank].operations.number(posted)
    }

    /// Copies a received message's data into `buffer`, as far as there is room, and gives the message back.
    pub(crate) fn collect(&mut self, finished: Finished, buffer: &mut [u8]) -> Result<Status> {
        let Finished { source, tag, bytes, .. } = finished;
        let room = buffer.len();
        if let Some(number) = finished.message {
            let data = &self.messages[number as usize].data;
            let count = bytes.min(room);
            buffer[..count].copy_from_slice(&data[..count]);
            self.forget(number);
            if bytes > room {
                let (from, tag) = (source as usize, tag.value());
                return Err(Error::Truncated {
                    from,
                    tag,
                    message_bytes: bytes,
                    buffer_bytes: room,
                });
            }
        }
        Ok(Status { source: source as usize, tag, bytes })
    }

    /// The first message that such a receive would take.
    pub(crate) fn probe(&self, rank: usize, from: Source, tag: TagSelector) -> Option<Status> {
        let envelope = self.ranks[rank].mailbox.probe(from, tag)?;
        let bytes = self.messages[envelope.message as usize].data.len();
        Some(Status { source: envelope.from as usize, tag: envelope.tag, bytes })
    }
}
