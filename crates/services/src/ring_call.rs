//! Collectives of the ring, which all nodes must call alike.

use std::fmt;

/// A collective of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingCall {
    /// All nodes meet.
    Barrier,
    /// A node's data go to all.
    Broadcast {
        /// The node.
        root: usize,
        /// Number of bytes.
        bytes: usize,
    },
    /// Each node's block goes to all.
    Allgather {
        /// Length of a block in bytes.
        bytes: usize,
    },
    /// The ring is closed.
    Close,
}

const KIND_SHIFT: u32 = 62;
const ROOT_SHIFT: u32 = 57;
const BYTES_MASK: u64 = (1 << ROOT_SHIFT) - 1;

impl RingCall {
    /// Returns the call as a word.
    pub(crate) fn code(self) -> u64 {
        let (kind, root, bytes) = match self {
            RingCall::Barrier => (0, 0, 0),
            RingCall::Broadcast { root, bytes } => (1, root, bytes),
            RingCall::Allgather { bytes } => (2, 0, bytes),
            RingCall::Close => (3, 0, 0),
        };
        kind << KIND_SHIFT | (root as u64) << ROOT_SHIFT | bytes as u64 & BYTES_MASK
    }

    /// Returns the call that a word encodes.
    pub(crate) fn of(code: u64) -> RingCall {
        let bytes = (code & BYTES_MASK) as usize;
        match code >> KIND_SHIFT {
            0 => RingCall::Barrier,
            1 => RingCall::Broadcast { root: (code >> ROOT_SHIFT & 31) as usize, bytes },
            2 => RingCall::Allgather { bytes },
            _ => RingCall::Close,
        }
    }
}

impl fmt::Display for RingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RingCall::Barrier => f.write_str("a barrier"),
            RingCall::Broadcast { root, bytes } => {
                write!(f, "a broadcast of {bytes} bytes from node {root}")
            }
            RingCall::Allgather { bytes } => write!(f, "an allgather of {bytes} bytes each"),
            RingCall::Close => f.write_str("the end of the ring"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_survives_as_a_word() {
        for call in [
            RingCall::Barrier,
            RingCall::Broadcast { root: 31, bytes: 1 << 40 },
            RingCall::Allgather { bytes: 5 },
            RingCall::Close,
        ] {
            assert_eq!(RingCall::of(call.code()), call);
        }
    }
}
