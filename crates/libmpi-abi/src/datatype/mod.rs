//! Datatypes: their handles, constructors and queries for C.

mod contents;
mod create;
mod life;
mod query;
mod table;

pub(crate) use create::*;
pub(crate) use life::*;
pub(crate) use mpi::Unit;
pub(crate) use query::*;
pub(crate) use table::{get, makers, memory, own_handle, plain_bytes, with_handle, with_plain};
