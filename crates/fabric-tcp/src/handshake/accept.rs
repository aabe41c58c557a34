//! The side that listens: several callers at once, none of whom can hold up another.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use super::{
    ACCEPTED, Answer, CALLED, Caller, HELLO_BYTES, Hello, NONCE_BYTES, PROTOCOL_VERSION, WELCOME,
    is_proof, proof,
};
use crate::secret::{PROOF_BYTES, Secret, random};

/// A caller that has not proved itself by then is sent away.
const PATIENCE: Duration = Duration::from_secs(10);
/// So many callers may be unproved at a time; of more, those that came first are sent away.
const UNPROVED_MAX: usize = 64;

/// Listens, and lets in who knows the secret.
pub(crate) struct Acceptor {
    listener: TcpListener,
    secret: Secret,
    unproved: Vec<Unproved>,
}

/// A connection of somebody who may be a stranger.
struct Unproved {
    stream: TcpStream,
    heard: Vec<u8>,
    /// Our random number, once the hello was answered.
    nonce: Option<[u8; NONCE_BYTES]>,
    until: Instant,
}

/// What has become of a caller.
enum Fate {
    Waits,
    Proved(Caller),
    Away,
}

impl Acceptor {
    /// Listens at `address` and nowhere else; port 0 lets the system choose.
    pub(crate) fn listen(address: SocketAddr, secret: Secret) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Acceptor { listener, secret, unproved: Vec::new() })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// What to wait on until [`Acceptor::step`] can do something.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let callers = self.unproved.iter().map(|caller| caller.stream.as_fd());
        std::iter::once(self.listener.as_fd()).chain(callers)
    }

    /// Does what can be done without waiting; those that have proved themselves by now.
    pub(crate) fn step(&mut self) -> io::Result<Vec<(Caller, TcpStream)>> {
        self.take_calls()?;
        let mut proved = Vec::new();
        let now = Instant::now();
        let mut index = 0;
        while let Some(caller) = self.unproved.get_mut(index) {
            // A stranger's errors are nobody's concern.
            let fate = caller.listen(&self.secret).unwrap_or(Fate::Away);
            match fate {
                Fate::Waits if now < caller.until => index += 1,
                Fate::Waits | Fate::Away => drop(self.unproved.swap_remove(index)),
                Fate::Proved(who) => proved.push((who, self.unproved.swap_remove(index).stream)),
            }
        }
        Ok(proved)
    }

    fn take_calls(&mut self) -> io::Result<()> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if stream.set_nonblocking(true).and(stream.set_nodelay(true)).is_err() {
                        continue;
                    }
                    if self.unproved.len() == UNPROVED_MAX {
                        self.unproved.remove(0);
                    }
                    let until = Instant::now() + PATIENCE;
                    self.unproved.push(Unproved { stream, heard: Vec::new(), nonce: None, until });
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                // The caller has gone again.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Unproved {
    fn listen(&mut self, secret: &Secret) -> io::Result<Fate> {
        let wanted = HELLO_BYTES + PROOF_BYTES;
        let mut room = [0; HELLO_BYTES + PROOF_BYTES];
        while self.heard.len() < wanted {
            match self.stream.read(&mut room[self.heard.len()..]) {
                Ok(0) => return Ok(Fate::Away),
                Ok(bytes) => {
                    let at = self.heard.len();
                    self.heard.extend_from_slice(&room[at..at + bytes]);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        let Some((hello, rest)) = self.heard.split_first_chunk::<HELLO_BYTES>() else {
            return Ok(Fate::Waits);
        };
        let Some(Hello { version, caller, .. }) = Hello::from_bytes(hello) else {
            return Ok(Fate::Away);
        };
        let nonce = match self.nonce {
            Some(nonce) => nonce,
            None => {
                let nonce = random()?;
                let proof = proof(secret, ACCEPTED, hello, &nonce);
                let answer = Answer { version: PROTOCOL_VERSION, nonce, proof };
                // A few bytes into an empty socket: they go in whole, or the caller is none that we want.
                self.stream.write_all(&answer.to_bytes())?;
                if version != PROTOCOL_VERSION {
                    // Now it knows why.
                    return Ok(Fate::Away);
                }
                self.nonce = Some(nonce);
                nonce
            }
        };
        let Some(found) = rest.first_chunk::<PROOF_BYTES>() else { return Ok(Fate::Waits) };
        if !is_proof(found, secret, CALLED, hello, &nonce) {
            return Ok(Fate::Away);
        }
        self.stream.write_all(&[WELCOME])?;
        Ok(Fate::Proved(caller))
    }
}
