//! Safe calls for programs in Rust, on slices of numbers or on [`Outgoing`] and [`Incoming`] memory of any datatype.

mod collectives;
mod files;
mod messages;
mod neighbours;
mod scope;

pub use scope::{Scope, Started};
