//! Reconnection of links: makes the missing connections, those of further addresses at the start, and any that breaks.
//!
//! Both ends may call. The one of the lower rank waits a moment first, so that mostly one does. If both have called,
//! the path has two connections, which is harmless.

use std::net::{SocketAddr, TcpStream};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use crate::handshake::{Acceptor, Call, Caller, ConnectError, Purpose};
use crate::link::Link;
use crate::liveness::notice_silence;
use crate::secret::Secret;

/// Time limit for the system of the other host to accept a connection before it is called again.
const CONNECT_LIMIT: Duration = Duration::from_millis(400);
/// Pause after a call that was refused or had no route.
const PAUSE: Duration = Duration::from_millis(100);
/// Minimum interval of all actions.
const STEP_INTERVAL: Duration = Duration::from_millis(1);

/// Listens, and calls others, for the duration of the run.
pub(crate) struct Reconnector {
    rank: usize,
    /// Addresses of each rank, including this one: the first of one rank forms a path with the first of another.
    addresses: Vec<Vec<SocketAddr>>,
    secret: Secret,
    acceptor: Acceptor,
    attempts: Vec<Attempt>,
    stepped: Instant,
}

/// A connection to make.
struct Attempt {
    peer: usize,
    path: usize,
    /// `None` during a pause.
    call: Option<Call>,
    /// Beginning of the call, or end of the pause.
    at: Instant,
}

/// The outcome of an attempt.
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

    /// Returns the number of paths to a rank.
    pub(crate) fn paths(&self, peer: usize) -> usize {
        paths(&self.addresses[self.rank], &self.addresses[peer])
    }

    /// Returns the descriptors that become readable when a process calls.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.acceptor.descriptors()
    }

    /// Returns whether the next step is due.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now - self.stepped >= STEP_INTERVAL
    }

    /// Makes progress on these links without waiting, each with its rank.
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

    /// Accepts the connections that others have made.
    fn accept(&mut self, links: &mut [(usize, &mut Link)], now: Instant) {
        // If that fails, the caller tries again.
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
            // The system there accepts connections even while the process computes.
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

/// Returns the number of paths between two ranks that listen at these addresses.
pub(crate) fn paths(here: &[SocketAddr], there: &[SocketAddr]) -> usize {
    here.len().min(there.len())
}

/// Returns the path of a connection that another process has made to one of these addresses.
pub(crate) fn path_here(addresses: &[SocketAddr], stream: &TcpStream) -> usize {
    let called = stream.local_addr().map(|address| address.ip()).ok();
    addresses.iter().position(|address| Some(address.ip()) == called).unwrap_or(0)
}

/// Adds a connection to a link. If it breaks at once, the link requests another.
pub(crate) fn add(link: &mut Link, path: usize, stream: TcpStream, now: Instant) {
    let prepared = stream
        .set_nonblocking(true)
        .and_then(|()| stream.set_nodelay(true))
        .and_then(|()| notice_silence(&stream));
    if prepared.is_ok() {
        link.add_lane(path, stream, now);
    }
}
