//! What a case of the suite for endpoints is.

use crate::Result;

/// One thing that every endpoint must do right, on two ranks or more.
pub struct EndpointCase<E> {
    /// Its name: a group and a sentence's worth of words.
    pub name: &'static str,
    /// The program of one rank.
    pub program: fn(&mut E) -> Result<()>,
}
