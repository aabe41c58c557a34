//! Errors of a cluster.

use contract::TimeSpan;

/// The result of a call of the cluster's libraries.
pub type ClusterResult<T> = std::result::Result<T, ClusterError>;

/// Why a call failed. All but [`Fabric`](ClusterError::Fabric) leave the cluster as it was, but for what their
/// documentation says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The fabric failed, or a node died. The run cannot continue.
    #[error(transparent)]
    Fabric(#[from] contract::Error),
    /// An index outside the array of nodes.
    #[error("there is no node {node}: the cluster has nodes 0 to {}", nodes - 1)]
    NoSuchNode {
        /// The index asked for.
        node: usize,
        /// The number of nodes.
        nodes: usize,
    },
    /// A receive port that this node has already.
    #[error("port {name} of node {node} is in use")]
    PortInUse {
        /// This node.
        node: usize,
        /// The port's name.
        name: u32,
    },
    /// A receive port that is connected already.
    #[error("port {name} of node {node} is connected to node {peer}")]
    PortTaken {
        /// Whose port it is.
        node: usize,
        /// The port's name.
        name: u32,
        /// The node that transmits to it.
        peer: usize,
    },
    /// A receive port that does not exist.
    #[error("node {node} has no port {name}")]
    NoSuchPort {
        /// Whose port it would be.
        node: usize,
        /// The port's name.
        name: u32,
    },
    /// A name that the library keeps for itself.
    #[error("{what} {number} is kept for the library: a program has 0 to {}", crate::hcs::OWN_MAX)]
    Reserved {
        /// The kind of the named object.
        what: &'static str,
        /// The name.
        number: u32,
    },
    /// No room in a node's directory.
    #[error("node {node} has {count} {what}, and room for no more")]
    DirectoryFull {
        /// This node.
        node: usize,
        /// How many.
        count: usize,
        /// Of what.
        what: &'static str,
    },
    /// A message longer than the room for it. It is still there.
    #[error("a block of {bytes} bytes from node {from} does not fit a buffer of {room} bytes")]
    BlockTooLong {
        /// Its sender.
        from: usize,
        /// Its length.
        bytes: usize,
        /// The room there was.
        room: usize,
    },
    /// A segment that this node has already.
    #[error("segment {key} of node {node} is in use")]
    SegmentInUse {
        /// This node.
        node: usize,
        /// The segment's key.
        key: u32,
    },
    /// A segment that does not exist, or was removed.
    #[error("node {node} has no segment {key}")]
    NoSuchSegment {
        /// Whose segment it would be.
        node: usize,
        /// The segment's key.
        key: u32,
    },
    /// A segment that others still have mapped.
    #[error("segment {key} is mapped {maps} times, and stays")]
    SegmentMapped {
        /// The segment's key.
        key: u32,
        /// The number of times.
        maps: u32,
    },
    /// A segment that is removed where it was mapped, or unmapped where it was made.
    #[error(
        "segment {key} belongs to node {owner}: who made it removes it, who mapped it unmaps it"
    )]
    NotYours {
        /// The segment's key.
        key: u32,
        /// The node that made it.
        owner: usize,
    },
    /// No memory for a segment.
    #[error(
        "no room for a segment of {bytes} bytes: the longest free part of node {node} has {free}"
    )]
    NoRoom {
        /// This node.
        node: usize,
        /// The length asked for.
        bytes: usize,
        /// The available length.
        free: usize,
    },
    /// Memory beyond the end of a segment.
    #[error(
        "{bytes} bytes at offset {offset} are outside of segment {key}, which has {segment_bytes} bytes"
    )]
    OutsideSegment {
        /// The segment's key.
        key: u32,
        /// Their offset.
        offset: usize,
        /// Their number.
        bytes: usize,
        /// The length of the segment.
        segment_bytes: usize,
    },
    /// A signal to the node that sends it.
    #[error("node {node} cannot send a signal to itself")]
    SignalToOneself {
        /// The node.
        node: usize,
    },
    /// A node that waits for its own broadcast.
    #[error("node {node} cannot get its own broadcast")]
    OwnBroadcast {
        /// The node.
        node: usize,
    },
    /// A semaphore that does not exist.
    #[error("there is no semaphore {semaphore}: a node has 0 to {}", crate::hcs::SEMAPHORES - 1)]
    NoSuchSemaphore {
        /// The number asked for.
        semaphore: u32,
    },
    /// Something that did not happen in time.
    #[error("{what} within {} ms", after.as_us() / 1000.0)]
    TimedOut {
        /// The event that did not happen.
        what: String,
        /// The time waited.
        after: TimeSpan,
    },
}

impl ClusterError {
    /// The same as an error of the contract, for a program that ends with it.
    pub fn into_contract(self) -> contract::Error {
        match self {
            ClusterError::Fabric(error) => error,
            other => contract::Error::Program(other.to_string()),
        }
    }
}
