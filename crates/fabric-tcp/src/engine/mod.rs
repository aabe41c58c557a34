//! Messages over connections: sends, receives, and the progress of both.
//!
//! There is no thread: everything moves in calls of the rank. All sockets are non-blocking. A waiting call reads and
//! writes as much as possible. If every rank has a processor it polls for a while before it sleeps in `poll`.
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
mod wait;
mod wait_reports;
mod watch;

use std::net::TcpStream;
use std::time::Duration;

use contract::{ContextPlace, Envelope, Error, Request, Result, Selector};

pub(crate) use connection::{CREDIT_BYTES, EAGER_MAX};
pub(crate) use stream::Stream;

use crate::reconnect::Reconnector;
use crate::supervision::Supervision;
use agreement::Agreement;
use connection::Connection;
use matching::Matching;
use operation::OperationTable;
use watch::Watch;

/// One rank's end of all connections.
pub(crate) struct Engine {
    rank: usize,
    /// Declared, and so dropped, before the connections: the others must be able to learn why these end.
    pub(crate) supervision: Supervision,
    /// One for each rank; `None` for this one.
    peers: Vec<Option<Connection>>,
    /// `None` if no connection is made again.
    reconnector: Option<Reconnector>,
    /// `None` until the first poll of all connections.
    watch: Option<Watch>,
    /// False if no connection waits until its socket accepts data. A poll then needs to visit none.
    may_wait_to_write: bool,
    operations: OperationTable,
    matching: Matching,
    agreement: Agreement,
    /// True if waits poll repeatedly before they sleep.
    pub(crate) spins: bool,
    polls: u32,
    /// Counts everything that may have changed the state of an operation.
    activity: u64,
    /// True if this rank has announced that it leaves.
    has_left: bool,
    /// Number of other ranks that have announced that.
    others_left: usize,
    /// Longest sleep, if something else must be polled.
    longest_sleep: Option<Duration>,
    /// The first error that ends the run; every later call returns it.
    failed: Option<Error>,
}

impl Engine {
    /// Creates the engine of rank `rank` with its connections to all others, and with the reconnector if any of these
    /// is a link.
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
            reconnector,
            watch: None,
            may_wait_to_write: false,
            operations: OperationTable::default(),
            matching: Matching::default(),
            agreement,
            spins: false,
            polls: 0,
            activity: 0,
            has_left: false,
            others_left: 0,
            longest_sleep: None,
            failed: None,
        }
    }

    /// Adds a connection to another process. Returns the rank by which this engine knows it.
    pub(crate) fn add(&mut self, stream: TcpStream) -> std::io::Result<usize> {
        self.peers.push(Some(Connection::new(Stream::one(stream)?)));
        let rank = self.peers.len() - 1;
        self.watch_rank(rank)?;
        Ok(rank)
    }

    /// Limits the duration of sleeps from now on.
    pub(crate) fn sleep_at_most(&mut self, limit: Duration) {
        self.longest_sleep = Some(limit);
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    pub(crate) fn size(&self) -> usize {
        self.peers.len()
    }

    /// Reports the outcome of this rank's part to the supervision, and returns the status that the process should exit
    /// with.
    pub(crate) fn close(mut self, outcome: Result<()>) -> i32 {
        self.acknowledge_all();
        // The connections are closed after that, so that the others can learn the reason.
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

    /// Returns the envelope of a request that is done.
    pub(crate) fn envelope(&self, request: Request) -> Envelope {
        self.operations.envelope(request)
    }

    /// Frees a request that is done, and returns its envelope.
    pub(crate) fn end(&mut self, request: Request) -> Envelope {
        self.operations.end(request)
    }

    /// Cancels a receive. Returns false if it has matched a message.
    pub(crate) fn cancel_receive(&mut self, request: Request) -> bool {
        let cancelled = self.matching.cancel(request);
        if cancelled {
            self.operations.forget(request);
        }
        cancelled
    }

    /// Returns the oldest unexpected message that `selector` accepts.
    pub(crate) fn probe(&mut self, selector: &Selector) -> Result<Option<Envelope>> {
        self.check()?;
        if let Some(found) = self.matching.probe(selector) {
            return Ok(Some(found));
        }
        self.poll_all()?;
        Ok(self.matching.probe(selector))
    }

    /// As `probe`, and moves the message to another context and tag.
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

    /// Returns whether a receive has matched a message.
    pub(crate) fn is_matched(&self, receive: Request) -> bool {
        self.operations.receive(receive).is_none_or(|one| one.envelope.is_some())
    }

    /// Returns whether there may be data that a socket has not accepted.
    pub(crate) fn has_outgoing(&self) -> bool {
        self.may_wait_to_write
    }

    /// Fails if the run was aborted.
    pub(crate) fn check_run(&mut self) -> Result<()> {
        match self.supervision.abort_reason() {
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

    /// Ends the run for this rank because of `error`, or because of its cause, if that becomes known in time.
    pub(crate) fn cause_of(&mut self, error: Error) -> Error {
        if let Some(known) = &self.failed {
            return known.clone();
        }
        let cause = self.supervision.wait_for_cause();
        self.fail(cause.unwrap_or(error))
    }

    /// Ends the run for this rank.
    fn fail(&mut self, error: Error) -> Error {
        self.failed.get_or_insert(error).clone()
    }
}

#[cfg(test)]
mod tests;
