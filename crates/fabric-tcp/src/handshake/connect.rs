//! The connecting side.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt};

use super::{
    ACCEPTED, ANSWER_BYTES, Answer, CALLED, Caller, HELLO_BYTES, Hello, PROTOCOL_VERSION, WELCOME,
    is_proof, proof,
};
use crate::liveness::notice_loss;
use crate::secret::{Secret, random};
use crate::socket::Socket;

/// Time limit for the first answer of a host.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
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
    #[error("{address} closed the connection: it has another secret, or is ending")]
    TurnedAway { address: SocketAddr },
    #[error("{address} stopped answering: {reason}")]
    Broken { address: SocketAddr, reason: String },
}

/// A connection that is being made, without blocking.
pub(crate) struct Call {
    stream: TcpStream,
    address: SocketAddr,
    secret: Secret,
    state: CallState,
    hello: [u8; HELLO_BYTES],
    /// This side's description, which follows the proof.
    told: Vec<u8>,
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
    /// Both sides know that the other belongs to this run.
    Accepted,
}

impl Call {
    /// Begins to connect as `caller`, which sends `told` once the other side has proved that it knows the secret.
    pub(crate) fn begin(
        address: SocketAddr,
        caller: Caller,
        secret: &Secret,
        told: &[u8],
    ) -> Result<Self, ConnectError> {
        let unreachable = |error: io::Error| unreachable(address, error);
        let nonce = random().map_err(unreachable)?;
        let hello = Hello { version: PROTOCOL_VERSION, caller, nonce }.to_bytes();
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(family, SocketType::STREAM, flags, None)
            .map_err(|error| unreachable(error.into()))?;
        match rustix::net::connect(&socket, &address) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(unreachable(error.into())),
        }
        Ok(Call {
            stream: TcpStream::from(socket),
            address,
            secret: secret.clone(),
            state: CallState::Connecting,
            hello,
            told: told.to_vec(),
            received: Vec::new(),
        })
    }

    /// Returns whether the system of the other side has accepted the connection.
    pub(crate) fn is_connected(&self) -> bool {
        self.state != CallState::Connecting
    }

    /// Returns the events for which the socket must be polled.
    fn waits_for(&self) -> PollFlags {
        if self.is_connected() { PollFlags::IN } else { PollFlags::OUT }
    }

    /// Waits until the next step is possible, at most for `limit`.
    fn wait(&self, limit: Duration) {
        let limit =
            Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
        // An error only shortens the wait.
        let _ = poll(&mut [PollFd::new(&self.stream, self.waits_for())], Some(&limit));
    }

    /// Makes progress without waiting. Returns whether the other side has accepted this one.
    pub(crate) fn advance(&mut self) -> Result<bool, ConnectError> {
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
            Socket(&self.stream).write_all(&[&proof[..], &self.told].concat()).map_err(broken)?;
            self.received.clear();
            self.state = CallState::Proving;
        }
        if self.state == CallState::Proving {
            if !self.has_received(1)? {
                return Ok(false);
            }
            if self.received != [WELCOME] {
                return Err(ConnectError::TurnedAway { address });
            }
            self.state = CallState::Accepted;
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

fn broken(address: SocketAddr, error: &io::Error) -> ConnectError {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => ConnectError::TurnedAway { address },
        _ => ConnectError::Broken { address, reason: error.to_string() },
    }
}

fn unreachable(address: SocketAddr, error: io::Error) -> ConnectError {
    match error.kind() {
        ErrorKind::ConnectionRefused => ConnectError::Refused { address },
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
