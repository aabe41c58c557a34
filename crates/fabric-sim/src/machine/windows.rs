//! The costs of accesses to memory of other ranks.

use contract::{AccessKind, TimeSpan};

use crate::quantity::Piecewise;

/// The part of the machine that carries out an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessPath {
    /// The network: a request over the links, the target's adapter, and an answer back.
    #[default]
    Network,
    /// The origin's processor, by loads and stores in memory that all ranks see.
    Processor,
}

/// Costs of accesses to memory of other ranks, in which the target's processor does not participate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Windows {
    /// The part of the machine that carries them out.
    pub path: AccessPath,
    /// Time of the origin's processor to start a put, or to carry it out, by the bytes of data.
    pub put: Piecewise,
    /// As `put`, for a get.
    pub get: Piecewise,
    /// As `put`, for atomic updates, locks and notices.
    pub update: Piecewise,
    /// Time of the target's adapter for a put or get. It serves one access after the other.
    pub target: Piecewise,
    /// As `target`, for an atomic update, a lock or a notice.
    pub target_update: Piecewise,
    /// Time of the origin's processor to detect that an access is done.
    pub done: TimeSpan,
    /// Time until a processor that waits for a notice sees it.
    pub see: TimeSpan,
    /// Length of a request on the links without its data, in bytes.
    pub request_bytes: u64,
    /// Length of an answer on the links without its data, in bytes.
    pub answer_bytes: u64,
}

impl Windows {
    /// Returns the time of the origin's processor to start an access.
    pub fn start(&self, kind: AccessKind) -> &Piecewise {
        match kind {
            AccessKind::Put => &self.put,
            AccessKind::Get => &self.get,
            AccessKind::Update => &self.update,
        }
    }
}
