//! The side that connects.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{
    ACCEPTED, ANSWER_BYTES, Answer, CALLED, Caller, HELLO_BYTES, Hello, PROTOCOL_VERSION, WELCOME,
    is_proof, proof,
};
use crate::liveness::notice_loss;
use crate::secret::{Secret, random};

/// How long a host may take to answer at all.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long the process there may take for a step of the handshake. With many more ranks than processors it may be busy
/// with connections of its own.
const ANSWER_LIMIT: Timespec = Timespec { tv_sec: 30, tv_nsec: 0 };

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("{address} cannot be reached: {reason}")]
    Unreachable { address: SocketAddr, reason: String },
    #[error("whoever listens at {address} is no process of this program")]
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

/// A call that is under way.
pub(crate) struct Call {
    address: SocketAddr,
    secret: Secret,
    stream: TcpStream,
    hello: [u8; HELLO_BYTES],
    /// What the other side is told behind the proof.
    told: Vec<u8>,
    received: Vec<u8>,
    has_proved: bool,
}

impl Call {
    /// Calls as `caller`, who tells `told` of itself once the other side has proved that it knows the secret.
    pub(crate) fn begin(
        address: SocketAddr,
        caller: Caller,
        secret: &Secret,
        told: &[u8],
    ) -> Result<Self, ConnectError> {
        let broken =
            |error: std::io::Error| ConnectError::Broken { address, reason: error.to_string() };
        let unreachable = |error: std::io::Error| ConnectError::Unreachable {
            address,
            reason: error.to_string(),
        };
        let mut stream =
            TcpStream::connect_timeout(&address, CONNECT_LIMIT).map_err(unreachable)?;
        stream.set_nodelay(true).and_then(|()| notice_loss(&stream)).map_err(broken)?;
        let nonce = random().map_err(broken)?;
        let hello = Hello { version: PROTOCOL_VERSION, caller, nonce }.to_bytes();
        // An empty socket takes these few bytes at once.
        stream.write_all(&hello).map_err(broken)?;
        stream.set_nonblocking(true).map_err(broken)?;
        let (secret, told) = (secret.clone(), told.to_vec());
        let received = Vec::new();
        Ok(Call { address, secret, stream, hello, told, received, has_proved: false })
    }

    /// Goes as far as it can without waiting. Returns whether both ends know now that they belong together.
    pub(crate) fn step(&mut self) -> Result<bool, ConnectError> {
        let address = self.address;
        let is_closed = self.read()?;
        if !self.has_proved
            && let Some(bytes) = self.received.first_chunk::<ANSWER_BYTES>()
        {
            let answer = Answer::from_bytes(bytes).ok_or(ConnectError::NotOurs { address })?;
            if answer.version != PROTOCOL_VERSION {
                return Err(ConnectError::OtherVersion { address, theirs: answer.version });
            }
            if !is_proof(&answer.proof, &self.secret, ACCEPTED, &self.hello, &answer.nonce) {
                return Err(ConnectError::WrongSecret { address });
            }
            let proof = proof(&self.secret, CALLED, &self.hello, &answer.nonce);
            let written = self.stream.write_all(&[&proof[..], &self.told].concat());
            written.map_err(|error| self.broken(&error))?;
            self.has_proved = true;
        }
        match self.received.get(ANSWER_BYTES) {
            None if is_closed => Err(ConnectError::TurnedAway { address }),
            None => Ok(false),
            Some(&WELCOME) => Ok(true),
            Some(_) => Err(ConnectError::TurnedAway { address }),
        }
    }

    /// Takes in what has come, but for what follows the handshake. Returns whether nothing more will come.
    fn read(&mut self) -> Result<bool, ConnectError> {
        let mut room = [0; ANSWER_BYTES + 1];
        while self.received.len() < room.len() {
            let missing = room.len() - self.received.len();
            match self.stream.read(&mut room[..missing]) {
                Ok(0) => return Ok(true),
                Ok(bytes) => self.received.extend_from_slice(&room[..bytes]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(&error)),
            }
        }
        Ok(false)
    }

    fn broken(&self, error: &std::io::Error) -> ConnectError {
        let address = self.address;
        match error.kind() {
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                ConnectError::TurnedAway { address }
            }
            _ => ConnectError::Broken { address, reason: error.to_string() },
        }
    }

    /// The connection, once both ends know that they belong together.
    pub(crate) fn into_stream(self) -> TcpStream {
        self.stream
    }
}

/// Connects as `caller`, and makes sure that both ends know the secret.
pub(crate) fn connect(
    address: SocketAddr,
    caller: Caller,
    secret: &Secret,
) -> Result<TcpStream, ConnectError> {
    let mut call = Call::begin(address, caller, secret, &[])?;
    while !call.step()? {
        let mut entry = [PollFd::new(&call.stream, PollFlags::IN)];
        if matches!(poll(&mut entry, Some(&ANSWER_LIMIT)), Ok(0)) {
            let reason = format!("no answer within {} seconds", ANSWER_LIMIT.tv_sec);
            return Err(ConnectError::Broken { address, reason });
        }
    }
    call.stream.set_nonblocking(false).map_err(|error| call.broken(&error))?;
    Ok(call.into_stream())
}
