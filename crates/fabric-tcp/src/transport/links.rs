//! Maintenance of links, in addition to reading and writing.

use std::time::{Duration, Instant};

use contract::Result;
use engine::Messages;

use super::{Connection, Connections};
use crate::link::Link;

/// Maximum interval at which a waiting rank checks its links while something is in progress.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

impl Connections {
    /// Reconnects, and resends what was lost with broken connections. What has arrived was read before. Returns whether
    /// anything was read.
    pub(super) fn tend_links(&mut self, messages: &mut Messages) -> Result<bool> {
        let Some(reconnector) = &mut self.reconnector else { return Ok(false) };
        let now = Instant::now();
        if !reconnector.is_due(now) {
            return Ok(false);
        }
        let mut all: Vec<(usize, &mut Link)> = Vec::with_capacity(self.peers.len());
        for (rank, peer) in self.peers.iter_mut().enumerate() {
            let open = peer.as_mut().filter(|peer| !peer.is_closed());
            all.extend(open.and_then(Connection::link_mut).map(|link| (rank, link)));
        }
        all.iter_mut().for_each(|(_, link)| link.tend(now));
        reconnector.step(&mut all, now);
        let lanes = all.iter().map(|(_, link)| link.lanes_ever()).sum();
        self.watch_links(lanes);
        self.may_wait_to_write = self.peers.iter().flatten().any(Connection::waits_to_write);
        self.serve_silent(messages)
    }

    /// Reads from links without a connection: only a read returns their failure.
    fn serve_silent(&mut self, messages: &mut Messages) -> Result<bool> {
        let mut moved = false;
        for rank in 0..self.peers.len() {
            let is_silent = |peer: &Connection| !peer.is_closed() && peer.has_failed();
            if self.peers[rank].as_ref().is_some_and(is_silent) {
                moved |= self.serve(messages, rank)?;
            }
        }
        Ok(moved)
    }

    /// Returns whether links have unacknowledged data, whose loss must be detected.
    pub(crate) fn has_unacknowledged(&self) -> bool {
        self.reconnector.is_some()
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
