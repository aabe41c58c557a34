//! The listening side. It handles several callers at once, and none can delay another.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use super::{
    ACCEPTED, Answer, CALLED, Caller, HELLO_BYTES, Hello, NONCE_BYTES, PROTOCOL_VERSION, REFUSED,
    WELCOME, is_proof, proof,
};
use crate::liveness::notice_loss;
use crate::secret::{PROOF_BYTES, Secret, random};
use crate::socket::Socket;

/// Time limit for a caller's proof, after which it is rejected.
const PROOF_LIMIT: Duration = Duration::from_secs(10);
/// Maximum number of unverified callers, and of connections that one step accepts: none loses its place before it was
/// read once.
pub(super) const UNVERIFIED_MAX: usize = 64;

/// Number of connections that may wait to be accepted. The standard library allows so few that during a flood the system
/// drops most callers, which try again after one second, three, and seven.
const WAITING_MAX: i32 = 4096;

/// Listens, and accepts callers that know the secret.
pub(crate) struct Acceptor {
    listeners: Vec<TcpListener>,
    secret: Secret,
    unverified: Vec<Unverified>,
}

/// A connection whose caller has not proved anything yet.
struct Unverified {
    stream: TcpStream,
    received: Vec<u8>,
    /// This side's random number, once the hello was answered.
    nonce: Option<[u8; NONCE_BYTES]>,
    until: Instant,
}

/// A caller that has proved that it knows the secret.
pub(crate) struct Verified {
    pub(crate) caller: Caller,
    /// The caller's description of itself.
    pub(crate) description: Vec<u8>,
    pub(crate) stream: TcpStream,
}

/// The progress of a caller.
enum Outcome {
    Pending,
    Verified(Caller),
    Rejected,
}

impl Acceptor {
    /// Listens only at `address`; port 0 lets the system choose.
    pub(crate) fn listen(address: SocketAddr, secret: Secret) -> io::Result<Self> {
        Acceptor::listen_at(&[address], secret)
    }

    /// Listens only at these addresses.
    pub(crate) fn listen_at(addresses: &[SocketAddr], secret: Secret) -> io::Result<Self> {
        let mut listeners = Vec::new();
        for address in addresses {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            rustix::net::listen(&listener, WAITING_MAX)?;
            listeners.push(listener);
        }
        Ok(Acceptor { listeners, secret, unverified: Vec::new() })
    }

    /// Returns the addresses at which it listens, in the order of the request.
    pub(crate) fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        self.listeners.iter().map(TcpListener::local_addr).collect()
    }

    /// Returns the first of them.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        let first = self.listeners.first().ok_or(ErrorKind::NotConnected)?;
        first.local_addr()
    }

    /// Returns the descriptors to wait for until [`Acceptor::step`] can do something.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let callers = self.unverified.iter().map(|caller| caller.stream.as_fd());
        self.listeners.iter().map(AsFd::as_fd).chain(callers)
    }

    /// Makes progress without waiting. Returns the callers that have proved since that they know the secret.
    pub(crate) fn step(&mut self) -> io::Result<Vec<(Caller, TcpStream)>> {
        let verified = self.step_where(|_| true)?;
        Ok(verified.into_iter().map(|one| (one.caller, one.stream)).collect())
    }

    /// As [`step`](Acceptor::step), where a caller may also be rejected for what it wants.
    pub(crate) fn step_where(
        &mut self,
        is_welcome: impl Fn(&Caller) -> bool,
    ) -> io::Result<Vec<Verified>> {
        for index in 0..self.listeners.len() {
            self.accept_connections(index)?;
        }
        let mut verified = Vec::new();
        let now = Instant::now();
        let mut index = 0;
        while let Some(caller) = self.unverified.get_mut(index) {
            // An error of one caller must not end the run.
            let outcome = caller.advance(&self.secret, &is_welcome).unwrap_or(Outcome::Rejected);
            match outcome {
                Outcome::Pending if now < caller.until => index += 1,
                Outcome::Pending | Outcome::Rejected => drop(self.unverified.swap_remove(index)),
                Outcome::Verified(caller) => {
                    let Unverified { stream, mut received, .. } =
                        self.unverified.swap_remove(index);
                    let description = received.split_off(HELLO_BYTES + PROOF_BYTES);
                    verified.push(Verified { caller, description, stream });
                }
            }
        }
        Ok(verified)
    }

    fn accept_connections(&mut self, index: usize) -> io::Result<()> {
        for _ in 0..UNVERIFIED_MAX {
            match self.listeners[index].accept() {
                Ok((stream, _)) => {
                    let set = stream.set_nonblocking(true).and(stream.set_nodelay(true));
                    if set.and(notice_loss(&stream)).is_err() {
                        continue;
                    }
                    if self.unverified.len() == UNVERIFIED_MAX {
                        self.make_room();
                    }
                    let until = Instant::now() + PROOF_LIMIT;
                    self.unverified.push(Unverified {
                        stream,
                        received: Vec::new(),
                        nonce: None,
                        until,
                    });
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                // The caller has closed the connection again.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Rejects the oldest caller that has not even sent a hello, or else the oldest. A process of this run that loses its
    /// place calls again.
    fn make_room(&mut self) {
        let silent = self.unverified.iter().position(|caller| caller.nonce.is_none());
        self.unverified.remove(silent.unwrap_or(0));
    }
}

impl Unverified {
    /// Reads until there are `wanted` bytes. Returns false if nothing more will arrive.
    fn read_to(&mut self, wanted: usize) -> io::Result<bool> {
        let mut room = [0; HELLO_BYTES + PROOF_BYTES];
        while let Some(missing @ 1..) = wanted.checked_sub(self.received.len()) {
            match self.stream.read(&mut room[..missing.min(HELLO_BYTES + PROOF_BYTES)]) {
                Ok(0) => return Ok(false),
                Ok(bytes) => self.received.extend_from_slice(&room[..bytes]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn advance(
        &mut self,
        secret: &Secret,
        is_welcome: &impl Fn(&Caller) -> bool,
    ) -> io::Result<Outcome> {
        if !self.read_to(HELLO_BYTES + PROOF_BYTES)? {
            return Ok(Outcome::Rejected);
        }
        let Some((hello, rest)) = self.received.split_first_chunk::<HELLO_BYTES>() else {
            return Ok(Outcome::Pending);
        };
        let Some(Hello { version, caller, .. }) = Hello::from_bytes(hello) else {
            return Ok(Outcome::Rejected);
        };
        let nonce = match self.nonce {
            Some(nonce) => nonce,
            None => {
                let nonce = random()?;
                let proof = proof(secret, ACCEPTED, hello, &nonce);
                let answer = Answer { version: PROTOCOL_VERSION, nonce, proof };
                // An empty socket accepts these few bytes at once. A caller whose socket does not is rejected.
                Socket(&self.stream).write_all(&answer.to_bytes())?;
                if version != PROTOCOL_VERSION {
                    // The answer contains this side's version.
                    return Ok(Outcome::Rejected);
                }
                self.nonce = Some(nonce);
                nonce
            }
        };
        let Some(found) = rest.first_chunk::<PROOF_BYTES>() else { return Ok(Outcome::Pending) };
        if !is_proof(found, secret, CALLED, hello, &nonce) {
            return Ok(Outcome::Rejected);
        }
        if !is_welcome(&caller) {
            Socket(&self.stream).write_all(&[REFUSED])?;
            return Ok(Outcome::Rejected);
        }
        let whole = HELLO_BYTES + PROOF_BYTES + caller.purpose.description_bytes();
        if !self.read_to(whole)? {
            return Ok(Outcome::Rejected);
        }
        if self.received.len() < whole {
            return Ok(Outcome::Pending);
        }
        Socket(&self.stream).write_all(&[WELCOME])?;
        Ok(Outcome::Verified(caller))
    }
}
