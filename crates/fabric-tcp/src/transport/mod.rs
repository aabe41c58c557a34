//! Messages over connections.
//!
//! There is no thread: everything moves in calls of the rank. All sockets are non-blocking. A poll reads and writes as
//! much as possible. A rank with a processor of its own polls for a while before it sleeps in `poll`.
//!
//! Messages are written from and read into the program's own memory.

mod carry;
mod connection;
mod ending;
mod links;
mod progress;
mod start;
mod stream;
mod watch;

use std::net::TcpStream;

pub(crate) use connection::{CREDIT_BYTES, EAGER_MAX};
pub(crate) use stream::Stream;

use crate::Reporter;
use crate::reconnect::Reconnector;
use crate::supervision::Supervision;
use connection::Connection;
use watch::Watch;

/// The engine of one rank over this transport.
pub(crate) type Engine = engine::MessageEngine<Connections>;

/// One rank's end of all connections.
pub struct Connections {
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
    polls: u32,
    /// Counts everything that may have changed the state of an operation.
    activity: u64,
    /// Number of other ranks that have announced that they leave.
    others_left: usize,
    /// True if this rank has said goodbye to all others.
    has_said_goodbye: bool,
}

impl Connections {
    /// Creates the engine of rank `rank` with its connections to all others, and with the reconnector if any of these
    /// is a link.
    pub(crate) fn begin(
        rank: usize,
        streams: Vec<Option<Stream>>,
        supervision: Supervision,
        reconnector: Option<Reconnector>,
    ) -> Engine {
        let peers: Vec<_> = streams.into_iter().map(|one| one.map(Connection::new)).collect();
        let connections = Connections {
            rank,
            supervision,
            peers,
            reconnector,
            watch: None,
            may_wait_to_write: false,
            polls: 0,
            activity: 0,
            others_left: 0,
            has_said_goodbye: false,
        };
        Engine::new(rank, connections, false)
    }

    /// Adds a connection to another process. Returns the rank by which this engine knows it.
    pub(crate) fn add(&mut self, stream: TcpStream) -> std::io::Result<usize> {
        self.peers.push(Some(Connection::new(Stream::one(stream)?)));
        let rank = self.peers.len() - 1;
        self.watch_rank(rank)?;
        Ok(rank)
    }

    fn ranks(&self) -> usize {
        self.peers.len()
    }

    /// Returns whether there may be data that a socket has not accepted.
    pub fn has_outgoing(&self) -> bool {
        self.may_wait_to_write
    }

    /// Returns why the run was aborted, which may take a moment to become known, or `None` if it does not.
    pub fn wait_for_cause(&mut self) -> Option<contract::Error> {
        self.supervision.wait_for_cause()
    }

    /// Returns a handle that passes reports to the process that started the run, also while a program holds this rank.
    pub fn reporter(&self) -> Reporter {
        self.supervision.reporter()
    }
}

#[cfg(test)]
mod tests;
