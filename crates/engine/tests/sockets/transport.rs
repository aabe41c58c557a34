//! Messages over UNIX sockets: a whole transport, as an example (docs/transports.md). Each pair of ranks of a host has a
//! socket. A frame is a header of eight words and, for messages and their data, the bytes.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use contract::{AgreedCall, CallId, Envelope, Error, Request, Result, Untrusted};
use engine::{
    CallNote, CallNoteKind, Contents, Location, MessageEngine, Messages, PeerState, Poll, Rts,
    Transport, Unexpected,
};
use launcher::{PollState, Seat};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Longer messages wait for their receive.
const EAGER_MAX: usize = 64 << 10;
const HEADER_BYTES: usize = 32;

/// The kinds of frames, in the first word of their headers. The others are a context, a tag, a request and the number of
/// bytes in two words.
mod kind {
    /// A whole message.
    pub(super) const MESSAGE: u32 = 0;
    /// A message that its sender keeps as this request.
    pub(super) const RTS: u32 = 1;
    /// Asks for the message kept as this request, for the receive whose request is the tag.
    pub(super) const CTS: u32 = 2;
    /// The bytes for the receive of this request.
    pub(super) const DATA: u32 = 3;
    pub(super) const LEFT: u32 = 4;
    pub(super) const GOODBYE: u32 = 5;
    /// What its sender tells about a collective: this, and the two after it.
    pub(super) const CALL: u32 = 6;
}

#[derive(Clone, Copy)]
struct Header {
    kind: u32,
    context: u32,
    tag: u32,
    request: u32,
    bytes: usize,
}

impl Header {
    fn new(kind: u32) -> Self {
        Header { kind, context: 0, tag: 0, request: 0, bytes: 0 }
    }

    fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let words = [self.kind, self.context, self.tag, self.request];
        let mut all = [0; HEADER_BYTES];
        for (place, word) in all.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        all[16..24].copy_from_slice(&(self.bytes as u64).to_le_bytes());
        all
    }

    fn from_bytes(all: &[u8]) -> Self {
        let word = |at: usize| u32::from_le_bytes([all[at], all[at + 1], all[at + 2], all[at + 3]]);
        let bytes = u64::from(word(16)) | u64::from(word(20)) << 32;
        Header {
            kind: word(0),
            context: word(4),
            tag: word(8),
            request: word(12),
            bytes: bytes as usize,
        }
    }

    /// Returns the number of bytes that follow.
    fn body_bytes(self) -> usize {
        if matches!(self.kind, kind::MESSAGE | kind::DATA) { self.bytes } else { 0 }
    }
}

/// The socket to another rank, and what is not yet written to it or processed of it.
struct Peer {
    socket: UnixStream,
    input: Vec<u8>,
    output: Vec<u8>,
    has_left: bool,
    has_ended: bool,
}

/// The sockets of a rank.
pub(crate) struct Sockets {
    seat: Seat,
    /// One for each rank; `None` for this one.
    peers: Vec<Option<Peer>>,
    activity: u64,
    has_said_goodbye: bool,
}

fn failed(what: &str, error: &std::io::Error) -> Error {
    Error::System { what: what.into(), reason: error.to_string() }
}

impl Sockets {
    /// Connects a rank with all others. The one with the greater number calls.
    pub(crate) fn connect(seat: Seat) -> Result<MessageEngine<Self>> {
        let (me, ranks, run) = (seat.rank(), seat.size(), seat.run_number());
        let address = |rank: usize| {
            SocketAddr::from_abstract_name(format!("cornerstone-{run:?}-{rank}"))
                .map_err(|error| failed("naming a socket", &error))
        };
        let listener =
            UnixListener::bind_addr(&address(me)?).map_err(|error| failed("listening", &error))?;
        // From here on all ranks listen.
        seat.meet()?;
        let mut peers: Vec<Option<Peer>> = (0..ranks).map(|_| None).collect();
        for (rank, place) in peers.iter_mut().enumerate().take(me) {
            let socket = UnixStream::connect_addr(&address(rank)?).and_then(|mut socket| {
                socket.write_all(&(me as u32).to_le_bytes())?;
                Ok(socket)
            });
            *place = Some(Peer::new(socket)?);
        }
        for _ in me + 1..ranks {
            let mut number = [0; 4];
            let socket = listener.accept().and_then(|(mut socket, _)| {
                socket.read_exact(&mut number)?;
                Ok(socket)
            });
            peers[u32::from_le_bytes(number) as usize] = Some(Peer::new(socket)?);
        }
        let own_processor = seat.choices().every_rank_has_a_processor;
        let sockets = Sockets { seat, peers, activity: 0, has_said_goodbye: false };
        Ok(MessageEngine::new(me, sockets, own_processor))
    }

    fn queue(&mut self, to: usize, header: Header, body: &[u8]) {
        self.activity += 1;
        if let Some(peer) = &mut self.peers[to] {
            peer.output.extend(header.to_bytes());
            peer.output.extend(body);
        }
    }

    fn queue_to_all(&mut self, kind: u32) {
        (0..self.peers.len()).for_each(|rank| self.queue(rank, Header::new(kind), &[]));
    }

    /// Processes the frames that have arrived completely from a rank.
    fn take_frames(&mut self, messages: &mut Messages, from: usize) -> Result<()> {
        let Some(peer) = &mut self.peers[from] else { return Ok(()) };
        let input = std::mem::take(&mut peer.input);
        let mut rest = &input[..];
        while let Some((header, behind)) = rest.split_at_checked(HEADER_BYTES) {
            let header = Header::from_bytes(header);
            let Some((body, next)) = behind.split_at_checked(header.body_bytes()) else { break };
            self.activity += 1;
            if self.take_frame(messages, from, header, body).is_none() {
                let reason = format!("rank {from} sent what no rank sends");
                let what = "reading from another rank".into();
                return Err(messages.fail(Error::System { what, reason }));
            }
            rest = next;
        }
        if let Some(peer) = &mut self.peers[from] {
            peer.input.splice(..0, rest.iter().copied());
        }
        Ok(())
    }

    /// Processes a frame. Returns `None` if it names a transfer that is not in progress with its sender.
    fn take_frame(
        &mut self,
        messages: &mut Messages,
        from: usize,
        header: Header,
        body: &[u8],
    ) -> Option<()> {
        let Header { kind, context, tag, request, bytes } = header;
        let envelope = Envelope { context, source: from as u32, tag, bytes, room: bytes };
        match kind {
            kind::MESSAGE => match messages.match_receive(&envelope) {
                Some(receive) => messages.transfers[receive].append(body),
                None => {
                    let contents = Contents::Copy(body.to_vec());
                    messages.unexpected.add(Unexpected { envelope, contents });
                }
            },
            kind::RTS => match messages.match_receive(&envelope) {
                Some(receive) => {
                    messages.transfers.announce(receive);
                    self.send_cts(from, receive, request);
                }
                None => {
                    let contents = Contents::Rts(Rts { request, location: Location::Remote });
                    messages.unexpected.add(Unexpected { envelope, contents });
                }
            },
            kind::CTS => {
                let send = messages.transfers.answered_send(Untrusted::new(request), from)?;
                let send = &mut messages.transfers[send];
                let (bytes, request) = (send.room, tag);
                send.done = true;
                let data = Header { request, bytes, ..Header::new(kind::DATA) };
                self.queue(from, data, send.data());
            }
            kind::DATA => {
                let receive = messages.transfers.answered_receive(Untrusted::new(request), from)?;
                messages.transfers[receive].append(body);
            }
            kind::LEFT => self.peers[from].as_mut()?.has_left = true,
            kind::GOODBYE => self.peers[from].as_mut()?.has_ended = true,
            _ => {
                let kinds = [CallNoteKind::Report, CallNoteKind::Question, CallNoteKind::Answer];
                let kind = *kinds.get((kind - kind::CALL) as usize)?;
                let call = AgreedCall { id: CallId::from_bits(request), bytes };
                let call = Some(call).filter(|call| call.id != CallId::NONE);
                let note = CallNote { kind, context, number: tag, call };
                if let Some(reply) = messages.take_call_note(from, note) {
                    self.send_reply(from, reply);
                }
            }
        }
        Some(())
    }

    fn send_cts(&mut self, to: usize, receive: Request, request: u32) {
        self.queue(to, Header { request, tag: receive.0, ..Header::new(kind::CTS) }, &[]);
    }

    fn send_reply(&mut self, to: usize, note: CallNote) {
        let AgreedCall { id, bytes } =
            note.call.unwrap_or(AgreedCall { id: CallId::NONE, bytes: 0 });
        let kind = kind::CALL + note.kind as u32;
        let (context, tag, request) = (note.context, note.number, id.bits());
        self.queue(to, Header { kind, context, tag, request, bytes }, &[]);
    }
}

impl Peer {
    fn new(socket: std::io::Result<UnixStream>) -> Result<Self> {
        let socket = socket.and_then(|socket| {
            socket.set_nonblocking(true)?;
            Ok(socket)
        });
        let socket = socket.map_err(|error| failed("connecting with another rank", &error))?;
        let (input, output) = (Vec::new(), Vec::new());
        Ok(Peer { socket, input, output, has_left: false, has_ended: false })
    }

    /// Writes as much as possible. The launcher tells why a rank that is gone has died.
    fn write(&mut self) {
        while !self.output.is_empty() {
            match self.socket.write(&self.output) {
                Ok(written) => drop(self.output.drain(..written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.output.clear(),
            }
        }
    }

    /// Writes and reads as much as possible. Returns whether anything has arrived.
    fn exchange(&mut self) -> bool {
        self.write();
        let before = self.input.len();
        let _ = (&self.socket).take(1 << 20).read_to_end(&mut self.input);
        self.input.len() > before
    }
}

impl Transport for Sockets {
    const COPIED_TO_ITSELF_BYTES: usize = EAGER_MAX;
    const POSTS_WINDOWS: bool = true;
    const FAILS_WAITS_FOR_ITSELF: bool = true;

    fn size(&self) -> usize {
        self.peers.len()
    }

    fn seat(&self) -> Option<&Seat> {
        Some(&self.seat)
    }

    fn start_send(&mut self, messages: &mut Messages, to: usize, request: Request) -> Result<()> {
        let send = &mut messages.transfers[request];
        let (Envelope { context, tag, .. }, bytes) = (send.envelope, send.room);
        let header = Header { context, tag, request: request.0, bytes, ..Header::new(kind::RTS) };
        if send.is_synchronous || bytes > EAGER_MAX {
            messages.transfers.announce(request);
            self.queue(to, header, &[]);
        } else {
            send.done = true;
            self.queue(to, Header { kind: kind::MESSAGE, ..header }, send.data());
        }
        Ok(())
    }

    fn flush(&mut self, _messages: &mut Messages, to: usize) -> Result<()> {
        self.peers[to].iter_mut().for_each(Peer::write);
        Ok(())
    }

    fn accept(
        &mut self,
        messages: &mut Messages,
        request: Request,
        message: Unexpected,
    ) -> Result<()> {
        match message.contents {
            Contents::Copy(data) => messages.transfers[request].append(&data),
            Contents::Rts(rts) => {
                messages.transfers.announce(request);
                self.send_cts(message.envelope.source as usize, request, rts.request);
            }
            Contents::Arriving | Contents::Own(_) => unreachable!("it adds no such messages"),
        }
        Ok(())
    }

    fn poll(&mut self, messages: &mut Messages, _poll: Poll) -> Result<()> {
        for from in 0..self.peers.len() {
            if self.peers[from].as_mut().is_some_and(Peer::exchange) {
                self.take_frames(messages, from)?;
            }
        }
        Ok(())
    }

    fn activity(&self) -> u64 {
        self.activity
    }

    fn sleep(&mut self, _messages: &mut Messages, limit: Duration) -> Result<Option<Duration>> {
        let interest = |peer: &Peer| match peer.output.is_empty() {
            true => PollFlags::IN,
            false => PollFlags::IN | PollFlags::OUT,
        };
        let peers = self.peers.iter().flatten().filter(|peer| !peer.has_ended);
        let mut all: Vec<PollFd<'_>> = peers
            .map(|peer| PollFd::from_borrowed_fd(peer.socket.as_fd(), interest(peer)))
            .collect();
        let time = Timespec { tv_sec: 0, tv_nsec: limit.subsec_nanos().into() };
        Ok(matches!(poll(&mut all, Some(&time)), Ok(0)).then_some(limit))
    }

    fn abort_reason(&mut self) -> Option<Error> {
        self.seat.abort_reason()
    }

    fn state(&self, rank: usize) -> PeerState {
        match &self.peers[rank] {
            Some(peer) if peer.has_ended => PeerState::Ended,
            Some(peer) if peer.has_left => PeerState::Left,
            _ => PeerState::Running,
        }
    }

    fn any_has_left(&self) -> bool {
        self.peers.iter().flatten().any(|peer| peer.has_left)
    }

    fn is_writing(&self, to: usize) -> bool {
        self.peers[to].as_ref().is_some_and(|peer| !peer.output.is_empty())
    }

    fn leave(&mut self, _messages: &mut Messages) -> Result<()> {
        self.queue_to_all(kind::LEFT);
        Ok(())
    }

    fn send_call_note(
        &mut self,
        _messages: &mut Messages,
        to: usize,
        note: CallNote,
    ) -> Result<()> {
        self.send_reply(to, note);
        Ok(())
    }

    fn advance_end(&mut self, _messages: &mut Messages) -> Result<bool> {
        if !std::mem::replace(&mut self.has_said_goodbye, true) {
            self.queue_to_all(kind::GOODBYE);
        }
        Ok(self.peers.iter().flatten().all(|peer| peer.has_ended && peer.output.is_empty()))
    }

    fn close(self, outcome: Result<()>) -> i32 {
        self.seat.finish(outcome)
    }

    fn poll_state(&self) -> PollState {
        let output = self.peers.iter().flatten().map(|peer| peer.output.len() as u64).sum::<u64>();
        PollState { state: self.activity ^ output << 32, ..PollState::default() }
    }
}
