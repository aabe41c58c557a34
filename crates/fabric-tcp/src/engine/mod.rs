//! Messages over connections: sends, receives, and the progress of both.
//!
//! There is no thread: whatever moves, moves in a call of the rank. All sockets are non-blocking. A call that waits
//! reads and writes whatever can be. Where every rank has a processor it polls for a while before it sleeps in
//! `poll`.
//!
//! Messages are written from and read into the program's own memory. [`operation`] says how long that memory is used.

mod agreement;
mod connection;
mod ending;
mod links;
mod matching;
mod mismatch;
mod operation;
mod progress;
mod start;
mod stream;
mod telling;
mod wait;

use std::net::TcpStream;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use contract::{ContextPlace, Envelope, Error, Request, Result, Selector};
use rustix::event::epoll;

pub(crate) use connection::{CREDIT_BYTES, EAGER_MAX};
pub(crate) use stream::Stream;
pub(crate) use wait::{Backoff, Pause};

use crate::reconnect::Reconnector;
use crate::supervision::Supervision;
use agreement::Agreement;
use connection::Connection;
use links::{Links, watch_too};
use matching::Matching;
use operation::OperationTable;
use telling::Telling;

/// One rank's end of all connections.
pub(crate) struct Engine {
    rank: usize,
    /// Declared, and so dropped, before the connections: the others must be able to learn why these end.
    pub(crate) supervision: Supervision,
    /// One for each rank; none for this one.
    peers: Vec<Option<Connection>>,
    /// None where no connection is made again.
    links: Option<Links>,
    operations: OperationTable,
    matching: Matching,
    agreement: Agreement,
    /// Whether to poll again and again before sleeping.
    pub(crate) spins: bool,
    polls: u32,
    /// Counts everything that may have changed the state of an operation.
    activity: u64,
    telling: Telling,
    /// True if this rank has said that it leaves.
    has_left: bool,
    /// How many other ranks have said so.
    others_left: usize,
    /// How long a sleep may last at most, if something else must be looked at.
    longest_sleep: Option<Duration>,
    /// After the first error that ends the run, every call returns it.
    failed: Option<Error>,
}

impl Engine {
    /// Returns the engine of rank `rank`, with what connects it with every other; and with what makes connections
    /// again, if any of these is a link.
    pub(crate) fn new(
        rank: usize,
        streams: Vec<Option<Stream>>,
        supervision: Supervision,
        reconnector: Option<Reconnector>,
    ) -> Self {
        let peers: Vec<_> = streams.into_iter().map(|one| one.map(Connection::new)).collect();
        let mut agreement = Agreement::default();
        agreement.open(ContextPlace::WORLD.0, (0..peers.len()).collect());
        Engine {
            rank,
            supervision,
            peers,
            links: reconnector.map(Links::new),
            operations: OperationTable::default(),
            matching: Matching::default(),
            agreement,
            spins: false,
            polls: 0,
            activity: 0,
            telling: Telling::default(),
            has_left: false,
            others_left: 0,
            longest_sleep: None,
            failed: None,
        }
    }

    /// Adds a connection to another process. Returns the rank by which this engine knows it.
    pub(crate) fn add(&mut self, stream: TcpStream) -> std::io::Result<usize> {
        self.peers.push(Some(Connection::new(Stream::one(stream)?)));
        Ok(self.peers.len() - 1)
    }

    /// How long a sleep may last from now on.
    pub(crate) fn sleep_at_most(&mut self, limit: Duration) {
        self.longest_sleep = Some(limit);
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    pub(crate) fn size(&self) -> usize {
        self.peers.len()
    }

    /// Tells the supervision how this rank's part ended, and gives the status that the process should exit with.
    pub(crate) fn close(mut self, outcome: Result<()>) -> i32 {
        self.acknowledge_all();
        // The connections are closed after that, so that the others can learn why.
        let Engine { supervision, peers: _peers, .. } = self;
        supervision.finish(outcome)
    }

    /// Returns a number that changes whenever the state of an operation may have changed.
    pub(crate) fn activity(&self) -> u64 {
        self.activity
    }

    pub(crate) fn is_done(&self, request: Request) -> bool {
        self.operations.get(request).is_done()
    }

    /// Returns the message of a request that is done.
    pub(crate) fn envelope(&self, request: Request) -> Envelope {
        self.operations.envelope(request)
    }

    /// Forgets a request that is done, and returns its message.
    pub(crate) fn end(&mut self, request: Request) -> Envelope {
        self.operations.end(request)
    }

    /// Forgets a receive that has found no message; false if it has found one.
    pub(crate) fn cancel_receive(&mut self, request: Request) -> bool {
        let cancelled = self.matching.cancel(request);
        if cancelled {
            self.operations.forget(request);
        }
        cancelled
    }

    /// Returns the oldest message that has arrived without a receive and that `selector` accepts.
    pub(crate) fn probe(&mut self, selector: &Selector) -> Result<Option<Envelope>> {
        self.check()?;
        if let Some(found) = self.matching.probe(selector) {
            return Ok(Some(found));
        }
        self.poll_all()?;
        Ok(self.matching.probe(selector))
    }

    /// The same, and moves the message to another context and tag.
    pub(crate) fn claim(
        &mut self,
        selector: &Selector,
        context: u32,
        tag: u32,
    ) -> Result<Option<Envelope>> {
        match self.probe(selector)? {
            Some(_) => Ok(self.matching.claim(selector, context, tag)),
            None => Ok(None),
        }
    }

    /// Returns whether a receive has found its message.
    pub(crate) fn is_matched(&self, receive: Request) -> bool {
        self.operations.receive(receive).is_none_or(|one| one.envelope.is_some())
    }

    /// Returns whether anything waits to be written that a socket did not take.
    pub(crate) fn has_outgoing(&self) -> bool {
        self.peers.iter().flatten().any(Connection::waits_to_write)
    }

    /// Returns what is readable when a message has come, or word that the run may have been given up.
    pub(crate) fn descriptor(&mut self) -> std::io::Result<OwnedFd> {
        let all = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (stream, _) in self.peers.iter().flatten().flat_map(Connection::sockets) {
            watch_too(all.as_fd(), stream.as_fd())?;
        }
        if let Some(control) = self.supervision.descriptor() {
            watch_too(all.as_fd(), control)?;
        }
        self.keep_watch(&all)?;
        Ok(all)
    }

    /// Fails if the run was given up.
    pub(crate) fn check_run(&mut self) -> Result<()> {
        match self.supervision.given_up() {
            None => Ok(()),
            Some(error) => Err(self.fail(error)),
        }
    }

    /// Fails with the error that has ended the run, if one has. Every call that may use the memory of requests begins
    /// with it.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.failed {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }

    /// Ends the run for this rank.
    fn fail(&mut self, error: Error) -> Error {
        self.failed.get_or_insert(error).clone()
    }
}

#[cfg(test)]
mod tests;
