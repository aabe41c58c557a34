//! The start and the end of the upper library.

use contract::{Rank, TimeSpan};

use super::error::ClusterResult;
use super::library::{ClusterOptions, Sci, SciLib, Wait, sci_init_lib};
use super::ports::{ReceivePort, TransmitPort};
use super::semaphores::Semaphores;
use super::signals::{Handlers, OWN_MAX, Signal};

/// The node that arbitrates semaphores, and the root of barriers.
pub const MASTER: usize = 0;

/// The state of the upper library at one node. To use it, [enter](Cluster::enter) it.
pub struct Cluster {
    lib: SciLib,
    state: State,
}

/// The state of the upper library in addition to the lower one.
pub(super) struct State {
    pub(super) handlers: Handlers,
    pub(super) semaphores: Semaphores,
    /// Number of signals that this node has sent.
    pub(super) sequence: u32,
    /// The number of this node's own wait for a semaphore that has been granted.
    pub(super) granted: Option<u32>,
    /// For each node below, true if it has come to the barrier.
    pub(super) arrived: Vec<bool>,
    /// True if this node has reported to the one above.
    pub(super) has_reported: bool,
    /// Number of barriers that were left.
    pub(super) barriers: u64,
    /// Buffer for reading the slots of signals.
    pub(super) slots: Vec<u8>,
    /// The ports by which every node is connected to every node.
    pub(super) receive: Vec<ReceivePort>,
    pub(super) transmit: Vec<TransmitPort>,
}

/// The objects left at a node when its cluster ended, for debugging.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Signals that the program has not taken.
    pub signals: Vec<Signal>,
    /// Number of blocks and messages that were not read.
    pub unread: u64,
    /// Number of receive ports and segments of the program that it has not removed.
    pub left: usize,
}

/// Creates a cluster of all ranks: its memory for signals, and a connection of every node with every other. Every rank
/// must call it, as a collective, with the same options. It returns when all nodes are ready.
///
/// # Errors
/// Those of the fabric, and [`TimedOut`](super::ClusterError::TimedOut).
pub fn cluster_init(rank: &mut dyn Rank, options: ClusterOptions) -> ClusterResult<Cluster> {
    let lib = sci_init_lib(rank, options)?;
    let nodes = rank.size();
    let state = State {
        handlers: Handlers::default(),
        semaphores: Semaphores::new(),
        sequence: 0,
        granted: None,
        arrived: vec![false; nodes],
        has_reported: false,
        barriers: 0,
        slots: Vec::new(),
        receive: Vec::new(),
        transmit: Vec::new(),
    };
    let mut cluster = Cluster { lib, state };
    cluster.enter(rank).connect_all()?;
    Ok(cluster)
}

impl Cluster {
    /// Returns the calls. `rank` is the one with which the cluster was made.
    pub fn enter<'a>(&'a mut self, rank: &'a mut dyn Rank) -> Node<'a> {
        Node { sci: self.lib.enter(rank), state: &mut self.state }
    }

    /// Ends the cluster on all nodes, as a collective. It waits until all have called it, and serves their signals
    /// until then. All ports and segments are gone then. Returns the objects that were left.
    ///
    /// # Errors
    /// [`TimedOut`](super::ClusterError::TimedOut) if a node does not call it. The cluster cannot be used then, and the
    /// program should end.
    pub fn safe_exit(mut self, rank: &mut dyn Rank) -> ClusterResult<Ended> {
        let mut node = self.enter(rank);
        node.barrier_sync()?;
        node.serve_signals()?;
        let signals = std::iter::from_fn(|| node.take_signal()).collect();
        let ports = node.sci.lib.ports.iter().flatten().filter(|(name, _)| *name <= OWN_MAX);
        let left = ports.count() + node.sci.lib.segments.iter().flatten().count();
        drop(node);
        let unread = self.lib.sci_close_lib(rank)?;
        Ok(Ended { signals, unread, left })
    }
}

/// The calls of the upper library.
///
/// Blocks, broadcasts, signals, semaphores and barriers between nodes, which have indices, by the names of HCS_LIB.
/// Handlers of signals run in every call that waits, and in no other. A wait ends with
/// [`TimedOut`](super::ClusterError::TimedOut) after the cluster's time-out.
pub struct Node<'a> {
    pub(super) sci: Sci<'a>,
    pub(super) state: &'a mut State,
}

impl<'a> Node<'a> {
    /// Returns the calls of the lower library.
    pub fn sci(&mut self) -> &mut Sci<'a> {
        &mut self.sci
    }

    /// Returns this node's index.
    pub fn node(&self) -> usize {
        self.sci.me()
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        self.sci.lib.layout.nodes
    }

    /// Connects this node with every node, including itself.
    fn connect_all(&mut self) -> ClusterResult<()> {
        let (me, timeout) = (self.node() as u32, self.timeout());
        for from in 0..self.nodes() as u32 {
            let port = self.sci.make_port(OWN_MAX + 1 + from)?;
            self.state.receive.push(port);
        }
        for to in 0..self.nodes() {
            let port = self.safe_connect_transmit_port(to, OWN_MAX + 1 + me, timeout)?;
            self.state.transmit.push(port);
        }
        self.barrier_sync()
    }

    pub(super) fn timeout(&self) -> TimeSpan {
        self.sci.lib.options.timeout
    }

    /// Continues a wait, in which handlers run.
    pub(super) fn advance_wait(
        &mut self,
        wait: Wait,
        what: impl FnOnce() -> String,
    ) -> ClusterResult<()> {
        self.serve_signals()?;
        wait.advance(&mut self.sci, what)
    }
}
