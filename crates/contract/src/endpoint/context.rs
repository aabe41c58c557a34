//! The names of contexts between fabrics and their faces.

/// A context as one endpoint knows it: the value that [`Endpoint::open_context`](crate::Endpoint::open_context)
/// returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextPlace(pub u32);

impl ContextPlace {
    /// The context of all ranks, which is always open.
    pub const WORLD: ContextPlace = ContextPlace(0);
}

/// The value that the members of a new context exchange before
/// [`Endpoint::open_context`](crate::Endpoint::open_context).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextOffer(pub u64);

impl ContextOffer {
    /// The offer of a member without any memory to share.
    pub const NOTHING: ContextOffer = ContextOffer(u64::MAX);
}
