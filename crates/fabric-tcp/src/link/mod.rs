//! A link: one stream of bytes each way between two processes, over several connections, each of which may break.
//!
//! Written data are divided into chunks, which are identified by their offset in the stream and kept until the other
//! side has acknowledged them. Short messages use the first connection that moves. If that has many bytes in flight,
//! chunks use the connection with the fewest, so that long messages use all of them. The reader reorders chunks and
//! drops duplicates.
//!
//! A link does not connect and has no clock: its owner adds connections, calls [`Link::tend`] regularly, and passes the
//! time. A process that computes does not acknowledge anything, so silence alone proves nothing:
//! * A connection that stands still while data arrive from the same process over another one is *suspect*: its chunks
//!   are resent over the others, and it gets new ones when it has caught up.
//! * If nothing arrives, [`Link::wants`] requests a new connection. If the system of the other host accepts one, the
//!   host and the process exist ([`Link::found_alive`]). If it accepts none for the duration of the limit, they are
//!   gone.

mod arrival;
mod chunk;
mod lane;
mod store;

use std::io::{self, ErrorKind, IoSlice};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use arrival::Arrival;
use chunk::{ChunkHeader, ChunkKind};
use lane::{Lane, Step};
use store::Store;

/// Number of bytes, or time, after which an acknowledgement that no chunk has carried is sent by itself.
const ACKNOWLEDGE_BYTES: u64 = 128 << 10;
const ACKNOWLEDGE_AFTER: Duration = Duration::from_millis(2);
/// Number of bytes in flight below which the first connection carries everything.
const SPILL_BYTES: u64 = 256 << 10;
/// Maximum number of bytes in flight on one connection.
const LANE_BYTES: u64 = 1 << 20;
/// Interval of the checks of the connections.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);
/// Time without a call of `tend` after which the state of the connections is unknown.
const ABSENCE: Duration = Duration::from_millis(150);

/// One end of a link.
pub(crate) struct Link {
    /// By path in ascending order; among those of a path, the older first.
    lanes: Vec<Lane>,
    lanes_ever: u32,
    paths: usize,
    store: Store,
    arrival: Arrival,
    /// Offset of the last acknowledgement, and the time since when more has arrived. Acknowledgements on a broken
    /// connection do not count.
    acknowledged: u64,
    untold_since: Option<Instant>,
    /// Time for which the other host may be unreachable.
    limit: Duration,
    /// Time of the last arrival from the other process.
    heard: Instant,
    /// Time of the last call of `tend`.
    tended: Instant,
    /// Reason why nothing more will arrive, once that is known.
    failed: Option<(ErrorKind, String)>,
}

impl Link {
    /// Creates a link without connections, which may have them over `paths` pairs of addresses.
    pub(crate) fn new(paths: usize, limit: Duration, now: Instant) -> Self {
        Link {
            lanes: Vec::new(),
            lanes_ever: 0,
            paths,
            store: Store::default(),
            arrival: Arrival::default(),
            acknowledged: 0,
            untold_since: None,
            limit,
            heard: now,
            tended: now,
            failed: None,
        }
    }

    /// Adds a non-blocking connection over a path. One of the same path that stands still is closed for it.
    pub(crate) fn add_lane(&mut self, path: usize, stream: TcpStream, now: Instant) {
        self.heard = now;
        let replaced = |lane: &Lane| lane.path == path && lane.stands_still(now);
        while let Some(index) = self.lanes.iter().position(replaced) {
            self.lose(index);
        }
        self.lanes_ever += 1;
        let place = self.lanes.partition_point(|lane| lane.path <= path);
        self.lanes.insert(place, Lane::new(self.lanes_ever, path, stream, now));
        self.push(now);
    }

    /// Returns the connections, and whether something waits to be written to each.
    pub(crate) fn streams(&self) -> impl Iterator<Item = (&TcpStream, bool)> {
        self.lanes.iter().map(|lane| (lane.stream(), lane.has_outgoing()))
    }

    /// Returns the number of connections so far, which changes with every new one.
    pub(crate) fn lanes_ever(&self) -> u32 {
        self.lanes_ever
    }

    /// Returns whether the other side has acknowledged everything.
    pub(crate) fn is_drained(&self) -> bool {
        self.store.is_empty()
    }

    /// Accepts bytes to send, as many as there is room for. Returns [`ErrorKind::WouldBlock`] if there is none.
    pub(crate) fn write(&mut self, pieces: &[IoSlice<'_>], now: Instant) -> io::Result<usize> {
        self.check()?;
        let taken = self.store.take(pieces);
        self.push(now);
        if taken == 0 && pieces.iter().any(|piece| !piece.is_empty()) {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(taken)
    }

    /// Reads bytes of the stream. If they do not fill `room`, nothing more is there. Returns [`ErrorKind::WouldBlock`]
    /// if there are none.
    pub(crate) fn read(&mut self, room: &mut [u8], now: Instant) -> io::Result<usize> {
        self.check()?;
        self.lanes.iter_mut().for_each(Lane::poll_again);
        let mut done = self.arrival.take_held(room);
        let mut index = 0;
        while done < room.len()
            && let Some(lane) = self.lanes.get_mut(index)
        {
            match lane.step(&mut self.arrival, &mut room[done..], now) {
                Ok(Step::Idle) => index += 1,
                Ok(Step::Header(header)) => {
                    self.hear(index, now);
                    if !self.take_header(index, header, now) {
                        self.lose(index);
                    }
                }
                Ok(Step::Delivered(count)) => {
                    done += count;
                    self.hear(index, now);
                }
                Ok(Step::Moved) => self.hear(index, now),
                Err(_) => self.lose(index),
            }
            let held = self.arrival.take_held(&mut room[done..]);
            done += held;
            // The next bytes of the stream may lie in a connection that had none at its turn.
            if held > 0 {
                index = 0;
            }
        }
        self.acknowledge(now);
        self.push(now);
        if done == 0 { Err(ErrorKind::WouldBlock.into()) } else { Ok(done) }
    }

    /// Records an arrival on a connection.
    fn hear(&mut self, index: usize, now: Instant) {
        self.heard = now;
        self.lanes[index].hear(now);
    }

    /// Processes a header. Returns false if it is invalid.
    fn take_header(&mut self, index: usize, header: ChunkHeader, now: Instant) -> bool {
        let lane = &mut self.lanes[index];
        if !self.store.acknowledge(header.received) || !lane.take_word(header.read_here, now) {
            return false;
        }
        if lane.in_flight() == 0 {
            lane.is_suspect = false;
        }
        match header.kind {
            ChunkKind::Data => lane.expect_body(header, &self.arrival).is_ok(),
            ChunkKind::Acknowledgement => true,
            ChunkKind::Question => {
                lane.say(ChunkKind::Acknowledgement, self.arrival.expected());
                self.avoid(header.offset, now);
                true
            }
        }
    }

    /// Avoids a path, counted from 1, on which the other side sees no movement: this side sends nothing over it either
    /// until something arrives there.
    fn avoid(&mut self, path: u64, now: Instant) {
        let received = self.arrival.expected();
        for lane in self.lanes.iter_mut().filter(|lane| lane.path as u64 + 1 == path) {
            lane.make_suspect(&mut self.store);
            lane.send_question(0, received, now);
        }
    }

    /// Queues the acknowledgements that are due.
    fn acknowledge(&mut self, now: Instant) {
        let received = self.arrival.expected();
        let is_late =
            |since: Option<Instant>| since.is_some_and(|at| now - at >= ACKNOWLEDGE_AFTER);
        for lane in &mut self.lanes {
            if lane.owed() >= ACKNOWLEDGE_BYTES || is_late(lane.owes_since) {
                lane.say(ChunkKind::Acknowledgement, received);
                self.acknowledged = received;
            }
        }
        if self.acknowledged == received {
            self.untold_since = None;
            return;
        }
        // Early data were reported as read, not as a part of the stream.
        self.untold_since.get_or_insert(now);
        let lane = self.lanes.iter_mut().min_by_key(|lane| lane.stands_still(now));
        if let Some(lane) = lane.filter(|_| is_late(self.untold_since)) {
            lane.say(ChunkKind::Acknowledgement, received);
            self.acknowledged = received;
        }
    }

    /// Acknowledges everything that has arrived at once.
    pub(crate) fn acknowledge_all(&mut self, now: Instant) {
        let received = self.arrival.expected();
        self.lanes.iter_mut().for_each(|lane| lane.say(ChunkKind::Acknowledgement, received));
        self.push(now);
    }

    /// Gives waiting chunks to connections, and writes what they accept.
    fn push(&mut self, now: Instant) {
        loop {
            while let Some(chunk) = self.store.next_waiting()
                && let Some(lane) = choose(&mut self.lanes)
            {
                self.acknowledged = self.arrival.expected();
                lane.send(chunk, self.acknowledged, now);
                let number = lane.number;
                self.store.assign(number);
            }
            let broken = self.lanes.iter_mut().position(|lane| lane.flush().is_err());
            match broken {
                Some(index) => self.lose(index),
                None => return,
            }
        }
    }

    /// Removes a broken connection.
    fn lose(&mut self, index: usize) {
        let lane = self.lanes.remove(index);
        self.store.send_again(lane.number);
        self.acknowledged = 0;
    }

    /// Does everything that depends on time: acknowledges, detects connections that stand still, and fails the link.
    pub(crate) fn tend(&mut self, now: Instant) {
        let since = now - self.tended;
        if since < CHECK_INTERVAL {
            return;
        }
        self.tended = now;
        if since >= ABSENCE {
            // What has arrived meanwhile was not read yet.
            self.lanes.iter_mut().for_each(|lane| lane.forget_time(now));
            self.heard = now;
        }
        self.acknowledge(now);
        self.suspect(now);
        self.push(now);
        let is_cut_off = self.lanes.iter().all(|lane| lane.stands_still(now));
        if is_cut_off && now - self.heard >= self.limit {
            let how = format!("was out of reach for {:.1?}", self.limit);
            self.failed.get_or_insert((ErrorKind::TimedOut, how));
        }
    }

    /// Resends the chunks of connections that stand still over others that move.
    fn suspect(&mut self, now: Instant) {
        for index in 0..self.lanes.len() {
            let lane = &self.lanes[index];
            if lane.is_suspect || lane.in_flight() == 0 || !lane.stands_still(now) {
                continue;
            }
            let (due, path) = (lane.due(), lane.path as u64);
            let others = || (0..self.lanes.len()).filter(|&other| other != index);
            let moves = |other: &usize| self.lanes[*other].was_heard_since(due);
            if others().any(|other| moves(&other)) {
                self.lanes[index].make_suspect(&mut self.store);
                continue;
            }
            let received = self.arrival.expected();
            let other = others().find(|&other| !self.lanes[other].stands_still(now));
            if let Some(other) = other {
                self.lanes[other].send_question(path + 1, received, now);
            }
        }
    }

    /// Returns the paths without a connection that moves.
    pub(crate) fn wants(&self, now: Instant) -> impl Iterator<Item = usize> {
        let moves = move |path: usize| {
            self.lanes.iter().any(|lane| lane.path == path && !lane.stands_still(now))
        };
        (0..self.paths).filter(move |&path| !moves(path))
    }

    /// Records that the system of the other host has accepted a connection of this process.
    pub(crate) fn found_alive(&mut self, now: Instant) {
        self.heard = now;
    }

    /// Records that nobody listens on the other host any more. While a connection is left, something may arrive.
    pub(crate) fn found_gone(&mut self) {
        if self.lanes.is_empty() {
            let how = "has closed its connections and listens no more".into();
            self.failed.get_or_insert((ErrorKind::ConnectionRefused, how));
        }
    }

    /// Returns whether nothing more will arrive. A read returns the reason.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    fn check(&self) -> io::Result<()> {
        match &self.failed {
            Some((kind, how)) => Err(io::Error::new(*kind, how.clone())),
            None => Ok(()),
        }
    }
}

/// Returns the connection for the next chunk: the first, while it has few bytes in flight, otherwise the one with the
/// fewest.
fn choose(lanes: &mut [Lane]) -> Option<&mut Lane> {
    let first = lanes.iter().position(|lane| !lane.is_suspect)?;
    let index = if lanes[first].in_flight() < SPILL_BYTES {
        first
    } else {
        let open = (0..lanes.len()).filter(|&index| !lanes[index].is_suspect);
        open.min_by_key(|&index| lanes[index].in_flight())?
    };
    Some(&mut lanes[index]).filter(|lane| lane.in_flight() < LANE_BYTES)
}

#[cfg(test)]
mod corrupt;
#[cfg(test)]
mod tests;
