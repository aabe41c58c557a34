//! What accesses to memory of other ranks cost.

use contract::{AccessKind, TimeSpan};

use crate::quantity::Piecewise;

/// What carries an access out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessPath {
    /// The network: a request over the links, the target's adapter, and an answer back.
    #[default]
    Network,
    /// The origin's processor, by loads and stores in memory that all ranks see.
    Processor,
}

/// Accesses to memory of other ranks, in which the target's processor takes no part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Windows {
    /// What carries them out.
    pub path: AccessPath,
    /// The time of the origin's processor to start one, or to do all of it, by the bytes of data.
    pub put: Piecewise,
    /// The same for data that are fetched.
    pub get: Piecewise,
    /// The same for atomic updates, locks and notices.
    pub update: Piecewise,
    /// The time of the target's adapter for a put or get. It serves one access after the other.
    pub target: Piecewise,
    /// The same for an atomic update, a lock or a notice.
    pub target_update: Piecewise,
    /// The time of the origin's processor to learn that one is done.
    pub done: TimeSpan,
    /// The time until a processor that waits for a notice sees it.
    pub see: TimeSpan,
    /// Bytes of a request on the links besides its data.
    pub request_bytes: u64,
    /// Bytes of an answer on the links besides its data.
    pub answer_bytes: u64,
}

impl Windows {
    /// The time of the origin's processor to start an access.
    pub fn start(&self, kind: AccessKind) -> &Piecewise {
        match kind {
            AccessKind::Put => &self.put,
            AccessKind::Get => &self.get,
            AccessKind::Update => &self.update,
        }
    }
}
