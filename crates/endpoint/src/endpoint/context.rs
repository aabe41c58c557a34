//! The names of contexts between fabrics and their faces.

use serde::{Deserialize, Serialize};

/// A context of one endpoint: the value that [`Endpoint::open_context`](crate::Endpoint::open_context) returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPlace(pub u32);

impl ContextPlace {
    /// The context of all ranks, which is always open.
    pub const WORLD: ContextPlace = ContextPlace(0);
}

/// A context that its members are about to open.
#[derive(Clone, Copy, Debug)]
pub struct NewContext<'a> {
    /// Its number, which the members have agreed on.
    pub number: u32,
    /// The members, as ranks of the run.
    pub members: &'a [usize],
    /// This rank's place among the members.
    pub me: usize,
    /// The members' offers, in their order.
    pub offers: &'a [ContextOffer],
}

/// The value that the members of a new context exchange before
/// [`Endpoint::open_context`](crate::Endpoint::open_context).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextOffer(pub u64);

impl ContextOffer {
    /// The offer of a member without any memory to share.
    pub const NOTHING: ContextOffer = ContextOffer(u64::MAX);
}
