//! Making connections of links that are missing: those of further addresses at the start, and any that breaks.
//!
//! Both ends may call. The one of the lower rank waits a moment first, so that mostly one does; where both have called,
//! the path has two connections, which does no harm.

use std::net::{SocketAddr, TcpStream};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use crate::handshake::{Acceptor, Call, Caller, ConnectError, Purpose};
use crate::link::Link;
use crate::liveness::notice_silence;
use crate::secret::Secret;

/// How long the system of the other host may take to accept a connection before it is asked once more.
const CONNECT_LIMIT: Duration = Duration::from_millis(400);
/// The pause after a call that was refused or had no way to go.
const PAUSE: Duration = Duration::from_millis(100);
/// Nothing is done more often than this.
const STEP_INTERVAL: Duration = Duration::from_millis(1);

/// Listens, and calls others, for as long as the run takes.
pub(crate) struct Reconnector {
    rank: usize,
    /// Where each rank listens, this one too: the first address of one belongs with the first of another.
    addresses: Vec<Vec<SocketAddr>>,
    secret: Secret,
    acceptor: Acceptor,
    attempts: Vec<Attempt>,
    stepped: Instant,
}

/// A connection that is to be made.
struct Attempt {
    peer: usize,
    path: usize,
    /// None while it pauses.
    call: Option<Call>,
    /// When the call began, or when the pause ends.
    at: Instant,
}

/// What an attempt has come to.
enum Outcome {
    Pending,
    Alive,
    Gone,
    Connected(TcpStream),
}

impl Reconnector {
    pub(crate) fn new(
        rank: usize,
        addresses: Vec<Vec<SocketAddr>>,
        secret: Secret,
        acceptor: Acceptor,
    ) -> Self {
        let stepped = Instant::now();
        Reconnector { rank, addresses, secret, acceptor, attempts: Vec::new(), stepped }
    }

    /// Returns how many paths there are to a rank.
    pub(crate) fn paths(&self, peer: usize) -> usize {
        paths(&self.addresses[self.rank], &self.addresses[peer])
    }

    /// Returns what becomes readable when somebody calls.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.acceptor.descriptors()
    }

    /// Returns whether the next step is due.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now - self.stepped >= STEP_INTERVAL
    }

    /// Does what can be done without waiting for these links, each with its rank.
    pub(crate) fn step(&mut self, links: &mut [(usize, &mut Link)], now: Instant) {
        self.stepped = now;
        self.accept(links, now);
        for (peer, link) in links.iter_mut() {
            let wanted: Vec<usize> = link.wants(now).collect();
            self.attempts.retain(|one| one.peer != *peer || wanted.contains(&one.path));
            for path in wanted {
                if !self.attempts.iter().any(|one| (one.peer, one.path) == (*peer, path)) {
                    let at = if self.rank < *peer { now + PAUSE } else { now };
                    self.attempts.push(Attempt { peer: *peer, path, call: None, at });
                }
            }
        }
        let mut attempts = std::mem::take(&mut self.attempts);
        attempts.retain_mut(|attempt| {
            let outcome = self.advance(attempt, now);
            let link = links.iter_mut().find(|(peer, _)| *peer == attempt.peer);
            let Some((_, link)) = link else { return false };
            let is_connected = matches!(outcome, Outcome::Connected(_));
            match outcome {
                Outcome::Pending => {}
                Outcome::Alive => link.found_alive(now),
                Outcome::Gone => link.found_gone(),
                Outcome::Connected(stream) => add(link, attempt.path, stream, now),
            }
            !is_connected
        });
        self.attempts = attempts;
    }

    /// Takes the connections that others have made.
    fn accept(&mut self, links: &mut [(usize, &mut Link)], now: Instant) {
        // What fails here is tried again by who has called.
        for (caller, stream) in self.acceptor.step().unwrap_or_default() {
            let path = path_here(&self.addresses[self.rank], &stream);
            let link = links.iter_mut().find(|(peer, _)| *peer == caller.rank);
            let fits = caller.purpose == Purpose::Messages && caller.wanted == self.rank;
            if let Some((_, link)) = link.filter(|_| fits) {
                add(link, path, stream, now);
            }
        }
    }

    fn advance(&self, attempt: &mut Attempt, now: Instant) -> Outcome {
        let Some(call) = &mut attempt.call else {
            if attempt.at <= now {
                let caller =
                    Caller { purpose: Purpose::Messages, rank: self.rank, wanted: attempt.peer };
                let address = self.addresses[attempt.peer][attempt.path];
                attempt.call = Call::begin(address, caller, &self.secret, &[]).ok();
                attempt.at = if attempt.call.is_some() { now } else { now + PAUSE };
            }
            return Outcome::Pending;
        };
        match call.advance() {
            Ok(true) => attempt
                .call
                .take()
                .map_or(Outcome::Pending, |call| Outcome::Connected(call.into_stream())),
            // The system there accepts connections also while the process there computes.
            Ok(false) if call.is_connected() => Outcome::Alive,
            Ok(false) => {
                if now - attempt.at >= CONNECT_LIMIT {
                    attempt.call = None;
                }
                Outcome::Pending
            }
            Err(error) => {
                attempt.call = None;
                attempt.at = now + PAUSE;
                match error {
                    ConnectError::Refused { .. } => Outcome::Gone,
                    _ => Outcome::Pending,
                }
            }
        }
    }
}

/// Returns how many paths there are between two ranks that listen at these addresses.
pub(crate) fn paths(here: &[SocketAddr], there: &[SocketAddr]) -> usize {
    here.len().min(there.len())
}

/// Returns the path of a connection that another process has made to one of these addresses.
pub(crate) fn path_here(addresses: &[SocketAddr], stream: &TcpStream) -> usize {
    let called = stream.local_addr().map(|address| address.ip()).ok();
    addresses.iter().position(|address| Some(address.ip()) == called).unwrap_or(0)
}

/// Adds a connection to a link. One that breaks at once is missed by the link again.
pub(crate) fn add(link: &mut Link, path: usize, stream: TcpStream, now: Instant) {
    let prepared = stream
        .set_nonblocking(true)
        .and_then(|()| stream.set_nodelay(true))
        .and_then(|()| notice_silence(&stream));
    if prepared.is_ok() {
        link.add_lane(path, stream, now);
    }
}
