//! A case of the suite for endpoints.

use contract::Result;

/// One requirement on every endpoint, on two or more ranks.
pub struct EndpointCase<E> {
    /// Name: a group and a few words.
    pub name: &'static str,
    /// Program of one rank.
    pub program: fn(&mut E) -> Result<()>,
}
