//! Errors of a cluster.

use contract::TimeSpan;

/// The result of a call of the cluster's libraries.
pub type ClusterResult<T> = std::result::Result<T, ClusterError>;

/// The reason why a call failed. All but [`Fabric`](ClusterError::Fabric) leave the cluster unchanged, except as their
/// documentation says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The fabric failed, or a node died. The run cannot continue.
    #[error(transparent)]
    Fabric(#[from] contract::Error),
    /// An index is outside the array of nodes.
    #[error("there is no node {node}: the cluster has nodes 0 to {}", nodes - 1)]
    NoSuchNode {
        /// The requested index.
        node: usize,
        /// Number of nodes.
        nodes: usize,
    },
    /// This node has a receive port of that name already.
    #[error("port {name} of node {node} is in use")]
    PortInUse {
        /// This node.
        node: usize,
        /// The port's name.
        name: u32,
    },
    /// A receive port is connected already.
    #[error("port {name} of node {node} is connected to node {peer}")]
    PortTaken {
        /// The node of the port.
        node: usize,
        /// The port's name.
        name: u32,
        /// The node that transmits to it.
        peer: usize,
    },
    /// A receive port does not exist.
    #[error("node {node} has no port {name}")]
    NoSuchPort {
        /// The node that should have the port.
        node: usize,
        /// The port's name.
        name: u32,
    },
    /// A name is reserved for the library.
    #[error("{what} {number} is kept for the library: a program has 0 to {}", crate::hcs::OWN_MAX)]
    Reserved {
        /// The kind of the named object.
        what: &'static str,
        /// The name.
        number: u32,
    },
    /// A node's directory is full.
    #[error("node {node} has {count} {what}, and room for no more")]
    DirectoryFull {
        /// This node.
        node: usize,
        /// Number of objects.
        count: usize,
        /// The kind of the objects.
        what: &'static str,
    },
    /// A message is longer than the room for it. It is still there.
    #[error("a block of {bytes} bytes from node {from} does not fit a buffer of {room} bytes")]
    BlockTooLong {
        /// Its sender.
        from: usize,
        /// Its length.
        bytes: usize,
        /// Length of the room.
        room: usize,
    },
    /// This node has a segment with that key already.
    #[error("segment {key} of node {node} is in use")]
    SegmentInUse {
        /// This node.
        node: usize,
        /// The segment's key.
        key: u32,
    },
    /// A segment does not exist, or was removed.
    #[error("node {node} has no segment {key}")]
    NoSuchSegment {
        /// The node that should have the segment.
        node: usize,
        /// The segment's key.
        key: u32,
    },
    /// Other nodes still have a segment mapped.
    #[error("segment {key} is mapped {maps} times, and stays")]
    SegmentMapped {
        /// The segment's key.
        key: u32,
        /// Number of maps.
        maps: u32,
    },
    /// A segment was removed at a node that mapped it, or unmapped at the node that made it.
    #[error(
        "segment {key} belongs to node {owner}: who made it removes it, who mapped it unmaps it"
    )]
    NotYours {
        /// The segment's key.
        key: u32,
        /// The node that made it.
        owner: usize,
    },
    /// There is no memory for a segment.
    #[error(
        "no room for a segment of {bytes} bytes: the longest free part of node {node} has {free}"
    )]
    NoRoom {
        /// This node.
        node: usize,
        /// The requested length.
        bytes: usize,
        /// The available length.
        free: usize,
    },
    /// Memory is beyond the end of a segment.
    #[error(
        "{bytes} bytes at offset {offset} are outside of segment {key}, which has {segment_bytes} bytes"
    )]
    OutsideSegment {
        /// The segment's key.
        key: u32,
        /// Offset of the bytes.
        offset: usize,
        /// Number of bytes.
        bytes: usize,
        /// Length of the segment.
        segment_bytes: usize,
    },
    /// A node sent a signal to itself.
    #[error("node {node} cannot send a signal to itself")]
    SignalToOneself {
        /// The node.
        node: usize,
    },
    /// A node waited for its own broadcast.
    #[error("node {node} cannot get its own broadcast")]
    OwnBroadcast {
        /// The node.
        node: usize,
    },
    /// A semaphore does not exist.
    #[error("there is no semaphore {semaphore}: a node has 0 to {}", crate::hcs::SEMAPHORES - 1)]
    NoSuchSemaphore {
        /// The requested number.
        semaphore: u32,
    },
    /// An event did not happen in time.
    #[error("{what} within {} ms", after.as_us() / 1000.0)]
    TimedOut {
        /// The event that did not happen.
        what: String,
        /// Time of the wait.
        after: TimeSpan,
    },
}

impl ClusterError {
    /// Converts this to an error of the contract, for a program that ends with it.
    pub fn into_contract(self) -> contract::Error {
        match self {
            ClusterError::Fabric(error) => error,
            other => contract::Error::Program(other.to_string()),
        }
    }
}
