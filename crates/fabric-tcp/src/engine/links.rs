//! Maintenance of links, in addition to reading and writing.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::epoll;

use super::{Connection, Engine};
use crate::link::Link;
use crate::reconnect::Reconnector;

/// Maximum interval at which a waiting rank checks its links while something is in progress.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The state of ranks whose connections may break.
pub(super) struct Links {
    pub(super) reconnector: Reconnector,
    /// Descriptor that notifies another fabric of arrivals, if there is one.
    watch: Option<OwnedFd>,
    /// Number of connections that all links have had.
    known: u32,
}

impl Links {
    pub(super) fn new(reconnector: Reconnector) -> Self {
        Links { reconnector, watch: None, known: 0 }
    }
}

impl Engine {
    /// Reconnects, and resends what was lost with broken connections. What has arrived was read before.
    pub(super) fn tend_links(&mut self) {
        let Some(links) = &mut self.links else { return };
        let now = Instant::now();
        if !links.reconnector.is_due(now) {
            return;
        }
        let mut all: Vec<(usize, &mut Link)> = Vec::with_capacity(self.peers.len());
        for (rank, peer) in self.peers.iter_mut().enumerate() {
            let open = peer.as_mut().filter(|peer| !peer.is_closed());
            all.extend(open.and_then(Connection::link_mut).map(|link| (rank, link)));
        }
        all.iter_mut().for_each(|(_, link)| link.tend(now));
        links.reconnector.step(&mut all, now);
        let known = all.iter().map(|(_, link)| link.lanes_ever()).sum();
        if let Some(watch) = links.watch.as_ref().filter(|_| links.known != known) {
            for (stream, _) in all.iter().flat_map(|(_, link)| link.streams()) {
                // An error means that it is watched already.
                let _ = watch_too(watch.as_fd(), stream.as_fd());
            }
        }
        links.known = known;
    }

    /// Keeps `watch`, which watches all present connections, up to date with later ones.
    pub(super) fn keep_watch(&mut self, watch: &OwnedFd) -> std::io::Result<()> {
        let Some(links) = &mut self.links else { return Ok(()) };
        for listener in links.reconnector.descriptors() {
            watch_too(watch.as_fd(), listener)?;
        }
        links.watch = Some(watch.try_clone()?);
        Ok(())
    }

    /// Returns whether links have unacknowledged data, whose loss must be detected.
    pub(crate) fn has_unacknowledged(&self) -> bool {
        self.links.is_some()
            && self.peers.iter().flatten().any(|peer| !peer.is_closed() && !peer.is_delivered())
    }

    /// Returns the longest sleep while nothing arrives.
    pub(super) fn limit_of_sleep(&self, wanted: Duration) -> Duration {
        if self.has_unacknowledged() { wanted.min(CHECK_INTERVAL) } else { wanted }
    }

    /// Acknowledges everything that has arrived to all others at once, because this rank ends.
    pub(super) fn acknowledge_all(&mut self) {
        let now = Instant::now();
        let links = self.peers.iter_mut().flatten().filter_map(Connection::link_mut);
        links.for_each(|link| link.acknowledge_all(now));
    }
}

/// Makes an epoll descriptor readable when another descriptor is.
pub(super) fn watch_too(watch: BorrowedFd<'_>, of: BorrowedFd<'_>) -> rustix::io::Result<()> {
    epoll::add(watch, of, epoll::EventData::new_u64(0), epoll::EventFlags::IN)
}
