//! The connecting side.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt};

use super::{
    ACCEPTED, ANSWER_BYTES, Answer, CALLED, Caller, HELLO_BYTES, Hello, MEET_LIMIT,
    PROTOCOL_VERSION, REFUSED, WELCOME, is_proof, proof,
};
use crate::liveness::notice_loss;
use crate::secret::{Secret, random};
use crate::socket::Socket;

/// Time limit for the first answer of a host.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Time after which a system that has not answered is called anew, doubled with each of this number of tries, and then from
/// the beginning. The system itself would send only four times in [`CONNECT_LIMIT`], and during a flood the other one drops
/// most of what is sent. The longest time is more than the way there and back takes.
const FIRST_TRY: Duration = Duration::from_millis(25);
const TRIES: u32 = 5;
/// Time limit for each step of the handshake by the other process. With many more ranks than processors it may be busy
/// with connections of its own.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// The reason why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("{address} cannot be reached: {reason}")]
    Unreachable { address: SocketAddr, reason: String },
    #[error("{address} cannot be reached: no process listens there")]
    Refused { address: SocketAddr },
    #[error("the process that listens at {address} does not belong to this program")]
    NotOurs { address: SocketAddr },
    #[error(
        "{address} speaks version {theirs} of the protocol, this program version {PROTOCOL_VERSION}: use one release of \
         Cornerstone on all hosts"
    )]
    OtherVersion { address: SocketAddr, theirs: u32 },
    #[error(
        "{address} does not know this run's secret, or knows another: it belongs to another run"
    )]
    WrongSecret { address: SocketAddr },
    #[error(
        "{address} closed the connection before it had read this process's proof, again and again for {MEET_LIMIT:?}: \
         others call it without end"
    )]
    TurnedAway { address: SocketAddr },
    #[error("{address} refused the call: what it was called for is closed")]
    Refusal { address: SocketAddr },
    #[error("{address} stopped answering: {reason}")]
    Broken { address: SocketAddr, reason: String },
}

/// A connection that is being made, without blocking.
pub(crate) struct Call {
    stream: TcpStream,
    address: SocketAddr,
    caller: Caller,
    secret: Secret,
    state: CallState,
    /// Number of times that it has called, and when it calls anew if the other system has not answered.
    tries: u32,
    anew_at: Instant,
    /// Time until which it calls again if it loses its place, or anew if the other system does not answer. The system's
    /// own limit ends a call without an answer after that.
    again_until: Instant,
    hello: [u8; HELLO_BYTES],
    /// This side's description, which follows the proof.
    description: Vec<u8>,
    received: Vec<u8>,
}

/// The progress of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallState {
    /// The other system has not answered.
    Connecting,
    /// The hello was sent.
    Greeting,
    /// The proof was sent.
    Proving,
    /// It has lost its place, and calls again at this time.
    Pausing(Instant),
    /// Both sides know that the other belongs to this run.
    Accepted,
}

impl Call {
    /// Begins to connect as `caller`, which sends `description` once the other side has proved that it knows the secret.
    pub(crate) fn begin(
        address: SocketAddr,
        caller: Caller,
        secret: &Secret,
        description: &[u8],
    ) -> Result<Self, ConnectError> {
        let (stream, hello) = open(address, caller)?;
        let now = Instant::now();
        Ok(Call {
            stream,
            address,
            caller,
            secret: secret.clone(),
            state: CallState::Connecting,
            tries: 1,
            anew_at: now + FIRST_TRY,
            again_until: now + MEET_LIMIT,
            hello,
            description: description.to_vec(),
            received: Vec::new(),
        })
    }

    /// Returns whether the system of the other side has accepted the connection.
    pub(crate) fn is_connected(&self) -> bool {
        self.state != CallState::Connecting
    }

    /// Returns whether it has lost its place and will call again.
    #[cfg(test)]
    pub(super) fn is_pausing(&self) -> bool {
        matches!(self.state, CallState::Pausing(_))
    }

    /// Returns the own address of its present connection.
    #[cfg(test)]
    pub(super) fn own_address(&self) -> SocketAddr {
        self.stream.local_addr().unwrap()
    }

    /// Lets the time pass until which it calls again.
    #[cfg(test)]
    pub(super) fn calls_no_more(&mut self) {
        self.again_until = Instant::now();
    }

    /// Waits until the next step is possible, at most for `limit`.
    fn wait(&self, limit: Duration) {
        let left = |until: Instant| until.saturating_duration_since(Instant::now()).min(limit);
        let (events, limit) = match self.state {
            CallState::Pausing(until) => return std::thread::sleep(left(until)),
            CallState::Connecting => (PollFlags::OUT, left(self.anew_at)),
            _ => (PollFlags::IN, limit),
        };
        let limit =
            Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
        // An error only shortens the wait.
        let _ = poll(&mut [PollFd::new(&self.stream, events)], Some(&limit));
    }

    /// Makes progress without waiting. Returns whether the other side has accepted this one. If it has lost its place,
    /// it calls again after a pause.
    pub(crate) fn advance(&mut self) -> Result<bool, ConnectError> {
        let now = Instant::now();
        match self.state {
            CallState::Pausing(until) if now < until => return Ok(false),
            CallState::Pausing(_) => self.call_anew(now)?,
            _ => {}
        }
        match self.step() {
            Ok(false) if !self.is_connected() && now >= self.anew_at && now < self.again_until => {
                self.call_anew(now)?;
                Ok(false)
            }
            Err(ConnectError::TurnedAway { .. }) if now < self.again_until => {
                // The random number spreads callers that have lost their places together.
                let pause_ms = 5 + u64::from(self.hello[HELLO_BYTES - 1] % 16);
                self.state = CallState::Pausing(now + Duration::from_millis(pause_ms));
                Ok(false)
            }
            other => other,
        }
    }

    fn call_anew(&mut self, now: Instant) -> Result<(), ConnectError> {
        (self.stream, self.hello) = open(self.address, self.caller)?;
        self.received.clear();
        self.state = CallState::Connecting;
        self.anew_at = now + FIRST_TRY * (1 << (self.tries % TRIES));
        self.tries += 1;
        Ok(())
    }

    fn step(&mut self) -> Result<bool, ConnectError> {
        let address = self.address;
        let broken = |error: io::Error| broken(address, &error);
        if self.state == CallState::Connecting {
            if !self.has_connected()? {
                return Ok(false);
            }
            self.stream.set_nodelay(true).map_err(broken)?;
            notice_loss(&self.stream).map_err(broken)?;
            // An empty socket accepts these few bytes at once.
            Socket(&self.stream).write_all(&self.hello).map_err(broken)?;
            self.state = CallState::Greeting;
        }
        if self.state == CallState::Greeting {
            if !self.has_received(ANSWER_BYTES)? {
                return Ok(false);
            }
            let answer = self.received.first_chunk().and_then(Answer::from_bytes);
            let answer = answer.ok_or(ConnectError::NotOurs { address })?;
            if answer.version != PROTOCOL_VERSION {
                return Err(ConnectError::OtherVersion { address, theirs: answer.version });
            }
            if !is_proof(&answer.proof, &self.secret, ACCEPTED, &self.hello, &answer.nonce) {
                return Err(ConnectError::WrongSecret { address });
            }
            let proof = proof(&self.secret, CALLED, &self.hello, &answer.nonce);
            Socket(&self.stream)
                .write_all(&[&proof[..], &self.description].concat())
                .map_err(broken)?;
            self.received.clear();
            self.state = CallState::Proving;
        }
        if self.state == CallState::Proving {
            if !self.has_received(1)? {
                return Ok(false);
            }
            self.state = match self.received[..] {
                [WELCOME] => CallState::Accepted,
                [REFUSED] => return Err(ConnectError::Refusal { address }),
                _ => return Err(ConnectError::NotOurs { address }),
            };
        }
        Ok(true)
    }

    fn has_connected(&self) -> Result<bool, ConnectError> {
        let failed = |error: io::Error| unreachable(self.address, error);
        let mut entry = [PollFd::new(&self.stream, PollFlags::OUT)];
        match poll(&mut entry, Some(&Timespec::default())) {
            Ok(1..) => {}
            Ok(_) | Err(Errno::INTR) => return Ok(false),
            Err(error) => return Err(failed(error.into())),
        }
        match sockopt::socket_error(self.stream.as_fd()) {
            Ok(Ok(())) => Ok(true),
            Ok(Err(error)) | Err(error) => Err(failed(error.into())),
        }
    }

    /// Reads up to `wanted` bytes in total, and never more: what follows is not part of the handshake.
    fn has_received(&mut self, wanted: usize) -> Result<bool, ConnectError> {
        let address = self.address;
        let mut room = [0; ANSWER_BYTES];
        while self.received.len() < wanted {
            match self.stream.read(&mut room[..wanted - self.received.len()]) {
                Ok(0) => return Err(ConnectError::TurnedAway { address }),
                Ok(bytes) => self.received.extend_from_slice(&room[..bytes]),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return Ok(false),
                    ErrorKind::Interrupted => {}
                    _ => return Err(broken(address, &error)),
                },
            }
        }
        Ok(true)
    }

    /// Returns the non-blocking connection, after both sides have verified each other.
    pub(crate) fn into_stream(self) -> TcpStream {
        self.stream
    }
}

/// Begins to connect to a system. Returns the socket and the hello to send.
fn open(
    address: SocketAddr,
    caller: Caller,
) -> Result<(TcpStream, [u8; HELLO_BYTES]), ConnectError> {
    let unreachable = |error: io::Error| unreachable(address, error);
    let nonce = random().map_err(unreachable)?;
    let hello = Hello { version: PROTOCOL_VERSION, caller, nonce }.to_bytes();
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, None)
        .map_err(|error| unreachable(error.into()))?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok((TcpStream::from(socket), hello)),
        Err(error) => Err(unreachable(error.into())),
    }
}

fn broken(address: SocketAddr, error: &io::Error) -> ConnectError {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => ConnectError::TurnedAway { address },
        _ => ConnectError::Broken { address, reason: error.to_string() },
    }
}

fn unreachable(address: SocketAddr, error: io::Error) -> ConnectError {
    match error.kind() {
        ErrorKind::ConnectionRefused => ConnectError::Refused { address },
        ErrorKind::ConnectionReset => ConnectError::TurnedAway { address },
        _ => ConnectError::Unreachable { address, reason: error.to_string() },
    }
}

/// Connects as `caller`, and ensures that both ends know the secret. The connection is blocking.
pub(crate) fn connect(
    address: SocketAddr,
    caller: Caller,
    secret: &Secret,
) -> Result<TcpStream, ConnectError> {
    let mut call = Call::begin(address, caller, secret, &[])?;
    let mut until = Instant::now() + CONNECT_LIMIT;
    loop {
        let before = call.state;
        if call.advance()? {
            break;
        }
        let now = Instant::now();
        if call.state != before {
            until = now + ANSWER_LIMIT;
        }
        if now >= until && call.is_connected() {
            let reason = format!("no answer within {ANSWER_LIMIT:?}");
            return Err(ConnectError::Broken { address, reason });
        }
        if now >= until {
            return Err(unreachable(address, ErrorKind::TimedOut.into()));
        }
        call.wait(until - now);
    }
    let stream = call.into_stream();
    stream.set_nonblocking(false).map_err(|error| broken(address, &error))?;
    Ok(stream)
}
