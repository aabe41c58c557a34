//! One connection of a link.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::rc::Rc;
use std::time::{Duration, Instant};

use contract::Untrusted;

use super::arrival::Arrival;
use super::chunk::{CHUNK_HEADER_BYTES, ChunkHeader, ChunkKind};
use super::store::{Kept, Store};
use crate::socket::{Pieces, Socket};

/// Length of the buffer for headers and short bodies, of which one read returns many.
const STAGE_BYTES: usize = 8 << 10;
/// Missing part of a body below which it is read into the stage, together with what follows it.
const DIRECT_MIN: usize = STAGE_BYTES / 2;
/// Time without movement after which a connection stands still. TCP resends after 200 ms at the earliest.
pub(super) const STANDSTILL: Duration = Duration::from_millis(250);
/// Number of chunks of one write.
const CHUNKS_OF_A_WRITE: usize = 16;

pub(super) struct Lane {
    /// Number that distinguishes it from all other connections of the link.
    pub(super) number: u32,
    /// The pair of addresses that it joins.
    pub(super) path: usize,
    stream: TcpStream,
    outgoing: VecDeque<OutgoingChunk>,
    /// Number of bytes of the first of `outgoing` that were written.
    written: usize,
    /// Number of bytes of bodies that were given to it, and of those that the other side has read.
    sent: u64,
    read_there: u64,
    /// Number of bytes of bodies that were read from it, and of those that were reported to the other side.
    pub(super) read_here: u64,
    acknowledged: u64,
    /// Time since when the other side is owed a report.
    pub(super) owes_since: Option<Instant>,
    /// Time at which the other side last read something from it, or it began to carry something.
    moved: Instant,
    /// Time of the last arrival.
    heard: Instant,
    /// Time since when a question to the other side is unanswered.
    unanswered: Option<Instant>,
    /// True if it carries nothing new, because it stands still while another connection moves.
    pub(super) is_suspect: bool,
    stage: Box<[u8]>,
    begin: usize,
    end: usize,
    body: Option<ArrivingBody>,
    /// True if the last read found less than it had room for: another one would find nothing.
    is_empty: bool,
}

struct OutgoingChunk {
    header: [u8; CHUNK_HEADER_BYTES],
    body: Option<Rc<Vec<u8>>>,
}

/// A body that is being read.
struct ArrivingBody {
    /// Offset of its next byte in the stream, and of its end.
    at: u64,
    end: u64,
    /// All of a body that is ahead of the stream, as far as it has arrived.
    ahead: Option<Vec<u8>>,
}

/// The result of a reading step.
#[derive(Debug)]
pub(super) enum Step {
    /// This number of bytes of the stream, in order.
    Delivered(usize),
    /// A header.
    Header(ChunkHeader),
    /// Something else has moved.
    Moved,
    /// There is nothing to read.
    Idle,
}

impl Lane {
    pub(super) fn new(number: u32, path: usize, stream: TcpStream, now: Instant) -> Self {
        Lane {
            number,
            path,
            stream,
            outgoing: VecDeque::new(),
            written: 0,
            sent: 0,
            read_there: 0,
            read_here: 0,
            acknowledged: 0,
            owes_since: None,
            moved: now,
            heard: now,
            unanswered: None,
            is_suspect: false,
            stage: vec![0; STAGE_BYTES].into(),
            begin: 0,
            end: 0,
            body: None,
            is_empty: false,
        }
    }

    /// Makes the next step ask the system, even if there was nothing more before.
    pub(super) fn poll_again(&mut self) {
        self.is_empty = false;
    }

    pub(super) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Returns the number of bytes of bodies that were given to it and that the other side has not read.
    pub(super) fn in_flight(&self) -> u64 {
        self.sent - self.read_there
    }

    /// Returns the number of bytes read that were not reported to the other side.
    pub(super) fn owed(&self) -> u64 {
        self.read_here - self.acknowledged
    }

    pub(super) fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Records how much the other side has read. Returns false if that was never sent.
    pub(super) fn take_word(&mut self, read_there: u64, now: Instant) -> bool {
        let Some(read_there) = Untrusted::new(read_there).at_most(self.sent) else { return false };
        if read_there > self.read_there {
            self.moved = now;
            self.read_there = read_there;
        }
        true
    }

    /// Records an arrival.
    pub(super) fn hear(&mut self, now: Instant) {
        self.heard = now;
        self.unanswered = None;
    }

    /// Returns whether something has arrived since `then`.
    pub(super) fn was_heard_since(&self, then: Instant) -> bool {
        self.heard >= then
    }

    /// Returns whether it carries something and has not moved for long, or has brought no answer for long.
    pub(super) fn stands_still(&self, now: Instant) -> bool {
        let has_not_moved = self.in_flight() > 0 && now - self.moved >= STANDSTILL;
        has_not_moved || self.unanswered.is_some_and(|requested| now - requested >= STANDSTILL)
    }

    /// Returns the time from which it stands still if nothing moves.
    pub(super) fn due(&self) -> Instant {
        self.moved + STANDSTILL
    }

    /// Restarts its times, because nothing that arrived before `now` was read for a while.
    pub(super) fn forget_time(&mut self, now: Instant) {
        self.moved = now;
        self.unanswered = self.unanswered.map(|_| now);
    }

    /// Sends a question to the other side, unless an answer is awaited. `about` is the path that stands still, counted
    /// from 1, or 0.
    pub(super) fn send_question(&mut self, about: u64, received: u64, now: Instant) {
        if self.unanswered.is_none() {
            self.unanswered = Some(now);
            self.queue(ChunkKind::Question, about, None, received);
        }
    }

    /// Queues a chunk of the stream.
    pub(super) fn send(&mut self, chunk: &Kept, received: u64, now: Instant) {
        if self.in_flight() == 0 {
            self.moved = now;
        }
        self.sent += chunk.body.len() as u64;
        self.queue(ChunkKind::Data, chunk.offset, Some(Rc::clone(&chunk.body)), received);
    }

    /// Queues a header only.
    pub(super) fn say(&mut self, kind: ChunkKind, received: u64) {
        self.queue(kind, 0, None, received);
    }

    fn queue(&mut self, kind: ChunkKind, offset: u64, body: Option<Rc<Vec<u8>>>, received: u64) {
        self.acknowledged = self.read_here;
        self.owes_since = None;
        let bytes = body.as_ref().map_or(0, |body| body.len() as u32);
        let header = ChunkHeader { kind, bytes, offset, received, read_here: self.read_here };
        self.outgoing.push_back(OutgoingChunk { header: header.to_bytes(), body });
    }

    /// Stops sending over it, and has everything that was given to it resent over others.
    pub(super) fn make_suspect(&mut self, store: &mut Store) {
        self.is_suspect = true;
        let kept = usize::from(self.written > 0);
        for chunk in self.outgoing.drain(kept.min(self.outgoing.len())..) {
            self.sent -= chunk.body.map_or(0, |body| body.len() as u64);
        }
        store.send_again(self.number);
    }

    /// Writes what the system accepts.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while !self.outgoing.is_empty() {
            let mut pieces = Pieces::<{ 2 * CHUNKS_OF_A_WRITE }>::behind(self.written);
            for chunk in self.outgoing.iter().take(CHUNKS_OF_A_WRITE) {
                pieces.push(&chunk.header);
                chunk.body.iter().for_each(|body| pieces.push(body));
            }
            let wanted = pieces.bytes();
            match Socket(&self.stream).write_vectored(pieces.as_slice()) {
                Ok(bytes) => {
                    self.advance(bytes);
                    if bytes < wanted {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn advance(&mut self, bytes: usize) {
        self.written += bytes;
        while let Some(chunk) = self.outgoing.front() {
            let whole = CHUNK_HEADER_BYTES + chunk.body.as_ref().map_or(0, |body| body.len());
            if self.written < whole {
                return;
            }
            self.written -= whole;
            self.outgoing.pop_front();
        }
    }

    /// Makes one reading step. Bytes that are next in the stream go to `room`, which must not be empty.
    pub(super) fn step(
        &mut self,
        arrival: &mut Arrival,
        room: &mut [u8],
        now: Instant,
    ) -> io::Result<Step> {
        let Some(body) = &mut self.body else { return self.next_header() };
        let left = (body.end - body.at) as usize;
        if body.ahead.is_none() && body.at == arrival.expected() {
            let room_bytes = left.min(room.len());
            let count = self.take(&mut room[..room_bytes])?;
            arrival.deliver(count);
            return self.took(count, arrival, now, Step::Delivered(count));
        }
        // Bytes that are ahead of the stream, and bytes that arrived before.
        let mut ahead = body.ahead.take();
        let count = match &mut ahead {
            Some(bytes) => {
                let filled = bytes.len() - left;
                self.take(&mut bytes[filled..])
            }
            None => {
                let repeated = (arrival.expected() - body.at).min(left as u64) as usize;
                self.take(&mut vec![0; repeated])
            }
        };
        if let Some(body) = &mut self.body {
            body.ahead = ahead;
        }
        self.took(count?, arrival, now, Step::Moved)
    }

    /// Records that `count` bytes of the body have arrived.
    fn took(
        &mut self,
        count: usize,
        arrival: &mut Arrival,
        now: Instant,
        step: Step,
    ) -> io::Result<Step> {
        if count == 0 {
            return Ok(Step::Idle);
        }
        self.read_here += count as u64;
        self.owes_since.get_or_insert(now);
        if let Some(body) = &mut self.body {
            body.at += count as u64;
            if body.at == body.end {
                if let Some(ahead) = body.ahead.take()
                    && !arrival.hold(body.end, ahead)
                {
                    return Err(no_link_sends());
                }
                self.body = None;
            }
        }
        Ok(step)
    }

    fn next_header(&mut self) -> io::Result<Step> {
        let Some(bytes) = self.stage[self.begin..self.end].first_chunk::<CHUNK_HEADER_BYTES>()
        else {
            return Ok(if self.fill_stage()? == 0 { Step::Idle } else { Step::Moved });
        };
        let header = ChunkHeader::from_bytes(bytes).ok_or_else(no_link_sends)?;
        self.begin += CHUNK_HEADER_BYTES;
        Ok(Step::Header(header))
    }

    /// Prepares for the body of the data that `header` has begun.
    pub(super) fn expect_body(&mut self, header: ChunkHeader, arrival: &Arrival) -> io::Result<()> {
        let end = header.offset.checked_add(header.bytes.into()).ok_or_else(no_link_sends)?;
        if !arrival.has_room_until(end) {
            return Err(no_link_sends());
        }
        let is_ahead = header.offset > arrival.expected();
        let ahead = is_ahead.then(|| vec![0; header.bytes as usize]);
        self.body = Some(ArrivingBody { at: header.offset, end, ahead });
        Ok(())
    }

    /// Takes bytes from the stage, or reads directly if many are wanted. Returns 0 if nothing is there.
    fn take(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.begin == self.end {
            if room.len() >= DIRECT_MIN {
                return read_from(&self.stream, room, &mut self.is_empty);
            }
            self.fill_stage()?;
        }
        let count = room.len().min(self.end - self.begin);
        room[..count].copy_from_slice(&self.stage[self.begin..self.begin + count]);
        self.begin += count;
        Ok(count)
    }

    fn fill_stage(&mut self) -> io::Result<usize> {
        self.stage.copy_within(self.begin..self.end, 0);
        (self.begin, self.end) = (0, self.end - self.begin);
        let count = read_from(&self.stream, &mut self.stage[self.end..], &mut self.is_empty)?;
        self.end += count;
        Ok(count)
    }
}

/// Reads once, unless the stream `is_empty`, and says whether it is now. Returns 0 if nothing is there; the end of the
/// stream is an error.
fn read_from(mut stream: &TcpStream, room: &mut [u8], is_empty: &mut bool) -> io::Result<usize> {
    while !*is_empty {
        match stream.read(room) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => {
                *is_empty = bytes < room.len();
                return Ok(bytes);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => *is_empty = true,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(0)
}

/// Returns the error of a connection whose other end is not a link.
pub(super) fn no_link_sends() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "it sent what no link sends")
}
