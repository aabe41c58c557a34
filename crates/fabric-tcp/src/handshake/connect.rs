//! The side that connects.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::{
    ACCEPTED, ANSWER_BYTES, Answer, CALLED, Caller, Hello, PROTOCOL_VERSION, WELCOME, is_proof,
    proof,
};
use crate::liveness::notice_loss;
use crate::secret::{Secret, random};

/// How long a host may take to answer at all.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long the process there may take for a step of the handshake. With many more ranks than processors it may be busy
/// with connections of its own.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

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

/// Connects as `caller`, and makes sure that both ends know the secret.
pub(crate) fn connect(
    address: SocketAddr,
    caller: Caller,
    secret: &Secret,
) -> Result<TcpStream, ConnectError> {
    let broken =
        |error: std::io::Error| ConnectError::Broken { address, reason: error.to_string() };
    let unreachable =
        |error: std::io::Error| ConnectError::Unreachable { address, reason: error.to_string() };
    let mut stream = TcpStream::connect_timeout(&address, CONNECT_LIMIT).map_err(unreachable)?;
    stream.set_nodelay(true).and_then(|()| notice_loss(&stream)).map_err(broken)?;
    stream.set_read_timeout(Some(ANSWER_LIMIT)).map_err(broken)?;
    stream.set_write_timeout(Some(ANSWER_LIMIT)).map_err(broken)?;
    let nonce = random().map_err(broken)?;
    let hello = Hello { version: PROTOCOL_VERSION, caller, nonce }.to_bytes();
    stream.write_all(&hello).map_err(broken)?;
    let mut bytes = [0; ANSWER_BYTES];
    read(&mut stream, &mut bytes, address)?;
    let answer = Answer::from_bytes(&bytes).ok_or(ConnectError::NotOurs { address })?;
    if answer.version != PROTOCOL_VERSION {
        return Err(ConnectError::OtherVersion { address, theirs: answer.version });
    }
    if !is_proof(&answer.proof, secret, ACCEPTED, &hello, &answer.nonce) {
        return Err(ConnectError::WrongSecret { address });
    }
    stream.write_all(&proof(secret, CALLED, &hello, &answer.nonce)).map_err(broken)?;
    let mut wait_for_cause = [0];
    read(&mut stream, &mut wait_for_cause, address)?;
    if wait_for_cause != [WELCOME] {
        return Err(ConnectError::TurnedAway { address });
    }
    stream.set_read_timeout(None).map_err(broken)?;
    stream.set_write_timeout(None).map_err(broken)?;
    Ok(stream)
}

fn read(stream: &mut TcpStream, bytes: &mut [u8], address: SocketAddr) -> Result<(), ConnectError> {
    stream.read_exact(bytes).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => {
            ConnectError::TurnedAway { address }
        }
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            ConnectError::Broken { address, reason: format!("no answer within {ANSWER_LIMIT:?}") }
        }
        _ => ConnectError::Broken { address, reason: error.to_string() },
    })
}
