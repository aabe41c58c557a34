//! Services over the ranks of any fabric.
//!
//! * [`ActiveMessages`]: messages that name the function to be called on arrival.
//!
//! A service opens a [context](contract::Context) of its own, so that its messages meet no others. It knows a [`Rank`](contract::Rank) and no
//! fabric. A rank is one thread: a service makes progress inside its calls. `docs/services.md` states what each service guarantees.
#![forbid(unsafe_code)]

mod active;
mod error;

pub use active::{
    ActiveMessages, Body, CREDITS, Call, Handler, Handlers, MEDIUM_BYTES_MAX, Session, WORDS_MAX,
};
pub use error::{Error, Result};
