//! The libraries of a cluster of 1996: SCI_LIB, for ports and shared memory, and HCS_LIB above it, for nodes, signals
//! and broadcasts.
//!
//! After George and others, *SCI and the scalable cluster architecture latency-hiding environment (SCALE) project*
//! (1996), tables 4 and 5, whose names the functions have. `docs/services.md` distinguishes the paper's definitions
//! from ours.
//!
//! * `layout`, `pool`: the layout of a node's memory;
//! * `library`, `ports`, `segments`: SCI_LIB;
//! * `signals`, `semaphores`: the meaning of signals;
//! * `cluster`, `blocks`, `signalling`: HCS_LIB.

mod blocks;
mod cluster;
mod error;
mod layout;
mod library;
mod pool;
mod ports;
mod segments;
mod semaphores;
mod signalling;
mod signals;

pub use cluster::{Cluster, Ended, MASTER, Node, cluster_init};
pub use error::{ClusterError, ClusterResult};
pub use library::{ClusterOptions, Sci, SciInfo, SciLib, sci_init_lib};
pub use ports::{ReceivePort, TransmitPort};
pub use segments::Segment;
pub use semaphores::SEMAPHORES;
pub use signals::{
    OWN_MAX, Signal, SignalHandler, default_signal_handler, ignore_signal_handler, p_signal,
    v_signal,
};
