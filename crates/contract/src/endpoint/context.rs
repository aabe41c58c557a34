//! Contexts, as fabrics and their faces name them to each other.

/// A context as one endpoint knows it: what [`Endpoint::open_context`](crate::Endpoint::open_context) gave for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextPlace(pub u32);

impl ContextPlace {
    /// The context of all ranks, which is open from the beginning.
    pub const WORLD: ContextPlace = ContextPlace(0);
}

/// What the members of a context to come tell each other before [`Endpoint::open_context`](crate::Endpoint::open_context).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextOffer(pub u64);

impl ContextOffer {
    /// A member that has nothing to offer.
    pub const NOTHING: ContextOffer = ContextOffer(u64::MAX);
}
