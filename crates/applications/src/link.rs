//! The operations that a master and its workers need from the library for their messages, over the fabric's own
//! messages and over the library of the cluster of 1996.

use contract::{Error, Rank, Result, Source, Tag, TagSelector, TimeSpan, Work};
use services::hcs::{Cluster, ClusterError, ClusterOptions, cluster_init};

use crate::application::Timed;

/// The rank that distributes the work.
pub(crate) const MASTER: usize = 0;

/// The library that carries the messages of a program of 1996.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// The fabric's own messages.
    Messages,
    /// HCS_LIB: blocks and signals.
    Hcs,
}

/// The state of the library at one rank.
pub(crate) enum Linked {
    Messages,
    Hcs(Box<Cluster>),
}

/// A program of a master, which distributes work, and of workers.
pub(crate) trait MasterAndWorkers {
    /// Returns the state of the library that carries their messages.
    fn linked(&mut self) -> &mut Linked;

    /// Runs the master's part.
    fn run_master(&mut self, link: Link<'_, '_>) -> Result<()>;

    /// Runs a worker's part.
    fn run_worker(&mut self, link: Link<'_, '_>) -> Result<()>;

    /// Runs the part of this rank.
    fn run_part(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        let mut linked = std::mem::replace(self.linked(), Linked::Messages);
        let is_master = rank.me() == MASTER;
        let link = linked.enter(rank);
        let outcome = if is_master { self.run_master(link) } else { self.run_worker(link) };
        *self.linked() = linked;
        outcome
    }
}

/// The tag of requests and results to the master, and the tag of all other messages.
const REQUEST: Tag = Tag::new(1);
const ANSWER: Tag = Tag::new(2);
/// The signal by which a worker requests work.
const WORK_REQUEST: u32 = 1;
/// Maximum time that a call of HCS_LIB waits for another node: so long that only a wrong program reaches it. The death
/// of a node ends every call at once.
const TIMEOUT: TimeSpan = TimeSpan::from_us(3_600_000_000);

impl Linked {
    /// Opens the library. All ranks must call it.
    pub(crate) fn open(rank: &mut dyn Rank, library: Library) -> Result<Self> {
        match library {
            Library::Messages => Ok(Linked::Messages),
            Library::Hcs => {
                let options = ClusterOptions { timeout: TIMEOUT, ..ClusterOptions::default() };
                let cluster = cluster_init(rank, options).map_err(ClusterError::into_contract)?;
                Ok(Linked::Hcs(Box::new(cluster)))
            }
        }
    }

    /// Closes the library. All ranks must call it.
    ///
    /// # Errors
    /// [`Error::Program`] if signals or blocks are left that were not received.
    pub(crate) fn close(self, rank: &mut dyn Rank) -> Result<()> {
        let Linked::Hcs(cluster) = self else { return Ok(()) };
        let ended = cluster.safe_exit(rank).map_err(ClusterError::into_contract)?;
        match (ended.signals.len(), ended.unread) {
            (0, 0) => Ok(()),
            (signals, blocks) => Err(Error::Program(format!(
                "{signals} signals and {blocks} blocks were left at rank {}",
                rank.rank()
            ))),
        }
    }

    /// Returns the calls of the library.
    pub(crate) fn enter<'a, 'b>(&'a mut self, rank: &'a mut Timed<'b>) -> Link<'a, 'b> {
        Link { linked: self, timed: rank }
    }
}

/// The calls of the library.
pub(crate) struct Link<'a, 'b> {
    linked: &'a mut Linked,
    timed: &'a mut Timed<'b>,
}

impl Link<'_, '_> {
    pub(crate) fn me(&self) -> usize {
        self.timed.me()
    }

    pub(crate) fn ranks(&self) -> usize {
        self.timed.ranks()
    }

    pub(crate) fn compute(&mut self, work: Work, body: impl FnOnce()) {
        self.timed.compute(work, |_| body());
    }

    /// Sends a block to a rank.
    pub(crate) fn send(&mut self, to: usize, data: &[u8]) -> Result<()> {
        match self.linked {
            Linked::Messages => self.timed.rank.send(to, ANSWER, data),
            Linked::Hcs(cluster) => cluster
                .enter(self.timed.rank)
                .send_block(to, data)
                .map_err(ClusterError::into_contract),
        }
    }

    /// Waits for a block of a rank. Returns its length.
    pub(crate) fn receive(&mut self, from: usize, room: &mut [u8]) -> Result<usize> {
        match self.linked {
            Linked::Messages => {
                let (from, tag) = (Source::Rank(from), TagSelector::Is(ANSWER));
                self.timed.rank.receive(from, tag, room).map(|status| status.bytes)
            }
            Linked::Hcs(cluster) => cluster
                .enter(self.timed.rank)
                .get_block(from, room)
                .map_err(ClusterError::into_contract),
        }
    }

    /// Copies `data` of the master to all ranks.
    pub(crate) fn broadcast(&mut self, data: &mut [u8]) -> Result<()> {
        match self.linked {
            Linked::Messages => self.timed.rank.broadcast(MASTER, data),
            Linked::Hcs(cluster) => {
                let is_master = self.timed.me() == MASTER;
                let mut node = cluster.enter(self.timed.rank);
                let outcome = match is_master {
                    true => node.send_broadcast(data),
                    false => node.get_broadcast(MASTER, data).map(drop),
                };
                outcome.map_err(ClusterError::into_contract)
            }
        }
    }

    /// Requests work from the master, for a worker, and sends it the result of the work before.
    pub(crate) fn request_work(&mut self, result: &[u8]) -> Result<()> {
        match self.linked {
            Linked::Messages => self.timed.rank.send(MASTER, REQUEST, result),
            Linked::Hcs(cluster) => {
                let mut node = cluster.enter(self.timed.rank);
                let requested = node.send_signal(MASTER, WORK_REQUEST);
                requested
                    .and_then(|()| node.send_block(MASTER, result))
                    .map_err(ClusterError::into_contract)
            }
        }
    }

    /// Waits until any worker requests work, for the master. Returns the worker and the length of its result.
    pub(crate) fn receive_request(&mut self, room: &mut [u8]) -> Result<(usize, usize)> {
        match self.linked {
            Linked::Messages => {
                let tag = TagSelector::Is(REQUEST);
                let status = self.timed.rank.receive(Source::Any, tag, room)?;
                Ok((status.source, status.bytes))
            }
            Linked::Hcs(cluster) => {
                let mut node = cluster.enter(self.timed.rank);
                let mut taken = || {
                    let signal = loop {
                        match node.take_signal() {
                            Some(signal) => break signal,
                            None => node.service_signals(TIMEOUT).map(drop)?,
                        }
                    };
                    let bytes = node.get_block(signal.from, room)?;
                    Ok((signal.from, bytes))
                };
                taken().map_err(ClusterError::into_contract)
            }
        }
    }
}
