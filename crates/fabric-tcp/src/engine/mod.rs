//! Messages over connections: sends, receives, and the progress of both.
//!
//! There is no thread: whatever moves, moves in a call of the rank. All sockets are non-blocking; a call that waits reads
//! and writes whatever can be, and where every rank has a processor looks again for a while before it sleeps in `poll`.
//!
//! A blocking call lends its memory to every step of it ([`Lent`]), and a posted operation owns its buffer, so messages are
//! written from and read into the program's own memory without unsafe code. A blocking call returns only when all that it
//! started is done, or with an error after which nothing moves any more.

mod connection;
mod matching;
mod operation;
mod progress;
mod start;
mod wait;
mod window;

use std::net::TcpStream;

use contract::{Error, Held, Posted, Result, Source, Status, TagSelector};

pub(crate) use connection::{CREDIT_BYTES, EAGER_MAX};
pub(crate) use operation::{Lent, Memory, Operation};

use crate::supervision::Supervision;
use connection::Connection;
use matching::Matching;

/// One rank's end of all connections.
pub(crate) struct Engine {
    rank: usize,
    /// Dropped before the connections: the others must be able to learn why these end.
    pub(crate) supervision: Supervision,
    /// One for each rank; none for this one.
    peers: Vec<Option<Connection>>,
    held: Held<Operation>,
    matching: Matching,
    /// Whether to look again and again before sleeping.
    pub(crate) spins: bool,
    looks: u32,
    /// After the first error that ends the run, every call returns it.
    failed: Option<Error>,
    /// Room for the operations of a window, kept so that no allocation falls into a measurement.
    window: Vec<Posted>,
}

impl Engine {
    /// The engine of rank `rank`, with a connection to every other.
    pub(crate) fn new(
        rank: usize,
        streams: Vec<Option<TcpStream>>,
        supervision: Supervision,
    ) -> std::io::Result<Self> {
        let connected = |stream: Option<TcpStream>| stream.map(Connection::new).transpose();
        let peers = streams.into_iter().map(connected).collect::<std::io::Result<_>>()?;
        Ok(Engine {
            rank,
            peers,
            held: Held::default(),
            matching: Matching::default(),
            spins: false,
            looks: 0,
            supervision,
            failed: None,
            window: Vec::new(),
        })
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    pub(crate) fn size(&self) -> usize {
        self.peers.len()
    }

    /// Tells whoever watches how this rank's part ended; the process's status.
    pub(crate) fn leave(self, outcome: Result<()>) -> i32 {
        // The connections are closed after that, so that the others can learn why.
        let Engine { supervision, peers: _peers, .. } = self;
        supervision.finish(outcome)
    }

    /// The message that a receive would get now.
    pub(crate) fn probe(&mut self, from: Source, tag: TagSelector) -> Result<Option<Status>> {
        self.check()?;
        if let Some(found) = self.matching.probe(from, tag) {
            return Ok(Some(found));
        }
        self.look_everywhere(&mut Lent::nothing())?;
        Ok(self.matching.probe(from, tag))
    }

    /// The error that has ended the run, if one has.
    fn check(&self) -> Result<()> {
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
