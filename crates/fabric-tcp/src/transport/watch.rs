//! The set of all connections, which the system keeps, so that a poll costs as much for many ranks as for few.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use contract::{Error, Result};
use engine::Messages;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};

use super::{Connection, Connections};
use crate::reconnect::Reconnector;

/// Mark of a descriptor that belongs to no rank: the connection to the starter, or where others call.
const OF_NO_RANK: u64 = u64::MAX;
/// Most connections that one poll serves. The next poll serves the rest.
const MOST_READY: usize = 64;

/// An epoll descriptor with the connections of an engine, and room for what it reports.
pub(super) struct Watch {
    all: OwnedFd,
    ready: Vec<epoll::Event>,
    /// Number of connections that all links have had.
    lanes: u32,
}

impl Watch {
    /// Reports `of` as one of `mark` whenever it is readable.
    fn add(&self, of: impl AsFd, mark: u64) -> rustix::io::Result<()> {
        epoll::add(&self.all, of, epoll::EventData::new_u64(mark), epoll::EventFlags::IN)
    }

    fn add_rank(&self, rank: usize, connection: &Connection) -> rustix::io::Result<()> {
        connection.sockets().try_for_each(|(stream, _)| self.add(stream, rank as u64))
    }
}

impl Connections {
    /// Returns a descriptor that is readable when a message has arrived, or when the run may have been aborted.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn descriptor(&mut self) -> Result<OwnedFd> {
        self.watched().and_then(|watch| watch.all.try_clone()).map_err(not_watched)
    }

    /// Returns the set, which the first call makes.
    fn watched(&mut self) -> std::io::Result<&mut Watch> {
        if self.watch.is_none() {
            let all = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            let watch = Watch { all, ready: Vec::with_capacity(MOST_READY), lanes: 0 };
            for (rank, peer) in self.peers.iter().enumerate() {
                peer.iter().try_for_each(|peer| watch.add_rank(rank, peer))?;
            }
            if let Some(control) = self.supervision.descriptor() {
                watch.add(control, OF_NO_RANK)?;
            }
            let mut callers = self.reconnector.iter().flat_map(Reconnector::descriptors);
            callers.try_for_each(|listener| watch.add(listener, OF_NO_RANK))?;
            self.watch = Some(watch);
        }
        Ok(self.watch.as_mut().expect("it was made above"))
    }

    /// Watches the connection to a rank that was added.
    pub(super) fn watch_rank(&self, rank: usize) -> std::io::Result<()> {
        let (Some(watch), Some(peer)) = (&self.watch, &self.peers[rank]) else { return Ok(()) };
        Ok(watch.add_rank(rank, peer)?)
    }

    /// Watches the new connections of links, of which there have been `lanes` so far.
    pub(super) fn watch_links(&mut self, lanes: u32) {
        let Some(watch) = self.watch.as_mut().filter(|watch| watch.lanes != lanes) else { return };
        watch.lanes = lanes;
        for (rank, peer) in self.peers.iter().enumerate() {
            for (stream, _) in peer.iter().flat_map(Connection::sockets) {
                // An error means that it is watched already.
                let _ = watch.add(stream, rank as u64);
            }
        }
    }

    /// Serves every connection that can move, for which it waits at most for `limit`. Returns whether anything was
    /// read.
    pub(super) fn poll_sockets(
        &mut self,
        messages: &mut Messages,
        limit: Duration,
    ) -> Result<bool> {
        if !limit.is_zero() {
            self.sleep_until_ready(limit)?;
        }
        let watch = self.watched().map_err(not_watched)?;
        let mut ready = std::mem::take(&mut watch.ready);
        ready.clear();
        // After an interruption nothing is ready.
        let _ = epoll::wait(&watch.all, spare_capacity(&mut ready), Some(&Timespec::default()));
        let served = self.serve_ready(messages, &ready);
        if let Some(watch) = &mut self.watch {
            watch.ready = ready;
        }
        served
    }

    fn serve_ready(&mut self, messages: &mut Messages, ready: &[epoll::Event]) -> Result<bool> {
        if self.may_wait_to_write {
            self.write_to_all(messages)?;
        }
        let (mut moved, mut is_reported) = (false, false);
        for event in ready {
            // A field of a packed structure has no address.
            match { event.data }.u64() {
                OF_NO_RANK => is_reported = true,
                rank => moved |= self.serve(messages, rank as usize)?,
            }
        }
        if is_reported {
            self.check_supervision(messages)?;
        }
        Ok(moved)
    }

    /// Writes to every connection whose socket has not accepted all before.
    fn write_to_all(&mut self, messages: &mut Messages) -> Result<()> {
        self.may_wait_to_write = false;
        for rank in 0..self.peers.len() {
            if self.peers[rank].as_ref().is_some_and(Connection::waits_to_write) {
                self.write_to(messages, rank)?;
            }
        }
        Ok(())
    }

    /// Sleeps until something can be read or written, at most for `limit`.
    fn sleep_until_ready(&mut self, limit: Duration) -> Result<()> {
        self.watched().map_err(not_watched)?;
        let limit = Timespec { tv_sec: 0, tv_nsec: limit.subsec_nanos().into() };
        let readable = self.watch.iter().map(|watch| PollFd::new(&watch.all, PollFlags::IN));
        let sockets = self.peers.iter().flatten().flat_map(Connection::sockets);
        let full = sockets.filter(|(_, waits)| *waits);
        let writable = full.map(|(stream, _)| PollFd::new(stream, PollFlags::OUT));
        let mut entries: Vec<PollFd<'_>> = readable.chain(writable).collect();
        // What has become of it, the poll that follows sees.
        let _ = poll(&mut entries, Some(&limit));
        Ok(())
    }
}

fn not_watched(error: std::io::Error) -> Error {
    Error::System { what: "watching the connections".into(), reason: error.to_string() }
}
