//! The connection to one other rank: the data to write to it, and the data read from it.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::TcpStream;

use contract::{Request, Untrusted};
use engine::Transfers;

use super::stream::Stream;
use crate::frame::{ArrivedHeader, HEADER_BYTES, Header, Kind};
use crate::link::Link;
use crate::socket::Pieces;

/// Length up to which messages are sent eagerly, while there is credit. Longer ones wait for their receive, so that
/// they go directly into its memory. Eager ones lose in a ping-pong from here on, and win in streams
/// (docs/measurements.md#eager-messages-over-tcp).
pub(crate) const EAGER_MAX: usize = 128 << 10;
/// Maximum length of the unexpected messages of one other rank that a rank keeps.
pub(crate) const CREDIT_BYTES: usize = 4 << 20;
/// Amount from which credit that no other frame has returned is sent in a frame of its own.
const CREDIT_STEP: usize = CREDIT_BYTES / 4;
/// Length of the buffer for headers and short messages, of which one read returns many. Long ones are read directly
/// into their place, except the part that came with the header.
const STAGE_BYTES: usize = 8 << 10;
/// Missing part of a body below which it is read into the stage, together with what follows it.
const DIRECT_MIN: usize = STAGE_BYTES / 2;
/// Number of pieces of one write: headers and bodies.
const PIECES: usize = 64;

pub(crate) struct Connection {
    /// `None` after it was closed.
    stream: Option<Stream>,
    /// Unprocessed bytes: `stage[begin..end]`.
    stage: Box<[u8]>,
    begin: usize,
    end: usize,
    pub(crate) body: Option<Body>,
    outgoing: VecDeque<Outgoing>,
    /// Number of bytes of the first of `outgoing` that were written.
    written: usize,
    /// Number of bytes that may still be sent without a CTS, and that the other side may still send.
    credit: usize,
    their_credit: usize,
    /// Number of bytes of credit to return to the other side.
    credit_to_return: usize,
    /// Numbers of all bytes written and read.
    pub(crate) traffic: [u64; 2],
    /// True if the other rank starts no messages of its own any more.
    pub(crate) has_left: bool,
    /// True if the other rank has ended its part.
    pub(crate) goodbye: bool,
    /// What the other rank has done that made this one close it.
    pub(crate) fault: Option<String>,
}

/// The body of a frame, as far as it has arrived.
pub(crate) struct Body {
    pub(crate) target: Target,
    pub(crate) bytes: usize,
    pub(crate) done: usize,
    /// True if it has used credit.
    pub(crate) eager: bool,
}

/// The destination of a body.
pub(crate) enum Target {
    /// The memory of a receive, as far as it has room.
    Receive(Request),
    /// Memory of its own, because there is no receive yet.
    Unexpected(Vec<u8>),
}

/// A frame to write.
struct Outgoing {
    header: [u8; HEADER_BYTES],
    /// The send whose bytes follow the header, and their number. The send is done when they are written.
    body: Option<(Request, usize)>,
}

impl Connection {
    pub(crate) fn new(stream: Stream) -> Self {
        Connection {
            stream: Some(stream),
            stage: vec![0; STAGE_BYTES].into(),
            begin: 0,
            end: 0,
            body: None,
            outgoing: VecDeque::new(),
            written: 0,
            credit: CREDIT_BYTES,
            their_credit: CREDIT_BYTES,
            credit_to_return: 0,
            traffic: [0; 2],
            has_left: false,
            goodbye: false,
            fault: None,
        }
    }

    /// Returns its sockets, and whether something waits to be written to each. Empty after it was closed.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = (&TcpStream, bool)> {
        self.stream.iter().flat_map(|stream| stream.sockets(self.has_outgoing()))
    }

    fn link(&self) -> Option<&Link> {
        self.stream.as_ref().and_then(Stream::link)
    }

    /// Returns its link, if it is one and not closed.
    pub(crate) fn link_mut(&mut self) -> Option<&mut Link> {
        self.stream.as_mut().and_then(Stream::link_mut)
    }

    /// Returns whether its link has detected that nothing more will arrive.
    pub(crate) fn has_failed(&self) -> bool {
        self.link().is_some_and(Link::has_failed)
    }

    /// Returns whether there are data that a socket has not accepted.
    pub(crate) fn waits_to_write(&self) -> bool {
        self.sockets().any(|(_, waits)| waits)
    }

    /// Returns whether the other rank has everything that this one has written, as far as that must be known.
    pub(crate) fn is_delivered(&self) -> bool {
        self.link().is_none_or(Link::is_drained)
    }

    /// Closes it, after the end of the stream or an error.
    pub(crate) fn close(&mut self) {
        self.forget_outgoing();
        (self.stream, self.stage, self.body) = (None, Box::default(), None);
        (self.begin, self.end) = (0, 0);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.stream.is_none()
    }

    /// Returns whether it was closed before the other rank had ended its part.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_closed() && !self.goodbye
    }

    pub(crate) fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Returns whether a message of this length may be sent eagerly. If so, uses its credit.
    pub(crate) fn use_credit(&mut self, bytes: usize) -> bool {
        let cost = bytes + HEADER_BYTES;
        let may = bytes <= EAGER_MAX && cost <= self.credit;
        if may {
            self.credit -= cost;
        }
        may
    }

    /// Returns whether a message of this length would be eager with more credit.
    pub(crate) fn lacks_credit(&self, bytes: usize) -> bool {
        bytes <= EAGER_MAX && bytes + HEADER_BYTES > self.credit
    }

    /// Adds returned credit. Returns `None` if that is more than was used.
    pub(crate) fn add_credit(&mut self, credit: Untrusted<u32>) -> Option<()> {
        self.credit += credit.at_most((CREDIT_BYTES - self.credit) as u32)? as usize;
        Some(())
    }

    /// Uses the other side's credit for an eager message. Returns its length, or `None` if that is more than the other
    /// side may send.
    pub(crate) fn use_their_credit(&mut self, bytes: Untrusted<u64>) -> Option<usize> {
        let left = self.their_credit.checked_sub(HEADER_BYTES)?;
        let bytes = bytes.at_most(left.min(EAGER_MAX) as u64)? as usize;
        self.their_credit -= bytes + HEADER_BYTES;
        Some(bytes)
    }

    /// Returns the credit of an eager message that has reached its receive.
    pub(crate) fn return_credit(&mut self, bytes: usize) {
        self.credit_to_return += bytes + HEADER_BYTES;
        if self.credit_to_return >= CREDIT_STEP && !self.goodbye {
            self.queue(Header::new(Kind::Credit), None);
        }
    }

    /// Queues a frame.
    pub(crate) fn queue(&mut self, header: Header, body: Option<(Request, usize)>) {
        if self.is_closed() {
            return;
        }
        let credit = std::mem::take(&mut self.credit_to_return);
        self.their_credit += credit;
        let credit = credit as u32;
        let header = Header { credit, ..header }.to_bytes();
        self.outgoing.push_back(Outgoing { header, body });
    }

    /// Drops the queue to a rank that no longer reads.
    pub(crate) fn forget_outgoing(&mut self) {
        self.outgoing.clear();
        self.written = 0;
    }

    /// Writes what the system accepts. Returns whether anything was written.
    pub(crate) fn flush(&mut self, transfers: &mut Transfers) -> io::Result<bool> {
        let mut moved = false;
        while !self.is_closed() && !self.outgoing.is_empty() {
            let (wanted, result) = self.write_once(transfers);
            match result {
                Ok(bytes) => {
                    moved |= bytes > 0;
                    self.advance(bytes, transfers);
                    if bytes < wanted {
                        break;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(moved)
    }

    /// Makes one write of as many frames as it can hold. Returns their length, and the length written.
    fn write_once(&mut self, transfers: &Transfers) -> (usize, io::Result<usize>) {
        let mut pieces = Pieces::<PIECES>::behind(self.written);
        for frame in self.outgoing.iter().take(PIECES / 2) {
            pieces.push(&frame.header);
            if let Some((request, bytes)) = frame.body {
                // A send stays in the table until its body is written.
                pieces.push(&transfers[request].data()[..bytes]);
            }
        }
        let stream = self.stream.as_mut().ok_or(ErrorKind::NotConnected);
        let written = stream.map_err(Into::into).and_then(|stream| stream.write(pieces.as_slice()));
        (pieces.bytes(), written)
    }

    fn advance(&mut self, bytes: usize, transfers: &mut Transfers) {
        self.written += bytes;
        self.traffic[0] += bytes as u64;
        while let Some(frame) = self.outgoing.front() {
            let whole = HEADER_BYTES + frame.body.map_or(0, |(_, bytes)| bytes);
            if self.written < whole {
                break;
            }
            self.written -= whole;
            if let Some((request, _)) = frame.body {
                transfers[request].done = true;
            }
            self.outgoing.pop_front();
        }
    }

    /// Returns the next header, if it has arrived completely, or its bytes if they are invalid.
    pub(crate) fn next_header(&mut self) -> Option<Result<ArrivedHeader, [u8; HEADER_BYTES]>> {
        let bytes = *self.stage[self.begin..self.end].first_chunk::<HEADER_BYTES>()?;
        self.begin += HEADER_BYTES;
        Some(ArrivedHeader::from_bytes(&bytes).ok_or(bytes))
    }

    /// Copies the part of the body in the stage to its place. Returns whether the body is complete.
    pub(crate) fn fill_body(&mut self, transfers: &mut Transfers) -> bool {
        let Some(body) = &mut self.body else { return false };
        let count = (body.bytes - body.done).min(self.end - self.begin);
        let from = &self.stage[self.begin..self.begin + count];
        let place = body.place(transfers);
        let used = place.len().min(count);
        place[..used].copy_from_slice(&from[..used]);
        self.begin += count;
        body.done += count;
        body.done == body.bytes
    }

    /// Reads once: into the place of the current body if much of it is missing, otherwise into the stage. Returns the
    /// room and the number of bytes read: 0 at the end of the stream, `None` if nothing was there.
    pub(crate) fn read(&mut self, transfers: &mut Transfers) -> io::Result<Option<(usize, usize)>> {
        let Some(stream) = &mut self.stream else { return Ok(None) };
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
            if let Some(body) = &mut self.body {
                let place = body.place(transfers);
                if place.len() >= DIRECT_MIN {
                    let room = place.len();
                    let got = read_from(stream, place)?;
                    body.done += got.unwrap_or(0);
                    self.traffic[1] += got.unwrap_or(0) as u64;
                    return Ok(got.map(|bytes| (room, bytes)));
                }
            }
        } else if self.begin > 0 {
            self.stage.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        let room = STAGE_BYTES - self.end;
        let got = read_from(stream, &mut self.stage[self.end..])?;
        self.end += got.unwrap_or(0);
        self.traffic[1] += got.unwrap_or(0) as u64;
        Ok(got.map(|bytes| (room, bytes)))
    }
}

impl Body {
    /// Returns the room for the next bytes of the body; empty for those that do not fit the receive.
    fn place<'a>(&'a mut self, transfers: &'a mut Transfers) -> &'a mut [u8] {
        match &mut self.target {
            Target::Unexpected(memory) => &mut memory[self.done..],
            Target::Receive(request) => {
                // A receive stays in the table until its message has come.
                transfers[*request].room_mut(self.done..self.bytes)
            }
        }
    }
}

fn read_from(stream: &mut Stream, room: &mut [u8]) -> io::Result<Option<usize>> {
    loop {
        match stream.read(room) {
            Ok(bytes) => return Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
