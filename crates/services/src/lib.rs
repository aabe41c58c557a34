//! Services over the ranks of any fabric.
//!
//! * [`ActiveMessages`]: messages that name the function to be called on arrival;
//! * [`TupleSpace`]: tuples that ranks put, read and take by their contents;
//! * [`Paslib`]: SEND and RECV of buffers, as a queue or only the latest;
//! * [`SharcRing`]: messages, broadcast and allgather around a one-way ring;
//! * [`hcs`]: the libraries of a cluster of 1996, SCI_LIB and HCS_LIB.
//!
//! A service opens its own [context](contract::Context), so its messages are separate from all others. It uses a
//! [`Rank`](contract::Rank) and depends on no fabric. A rank is one thread, so a service makes progress inside its
//! calls. `docs/services.md` states the guarantees of each service.
#![forbid(unsafe_code)]

mod active;
mod error;
mod field_kind;
pub mod hcs;
mod limits;
mod medium;
mod paslib;
mod ring;
mod ring_call;
mod tuple;

pub use active::{ActiveMessages, Body, CREDITS, Call, Handler, Handlers, Session};
pub use error::{Error, Result};
pub use field_kind::FieldKind;
pub use limits::{
    BUFFER_WORDS_MAX, MEDIUM_BYTES_MAX, RING_NODES_MAX, RING_PACKET_BYTES, RING_TRANSIT_PACKETS,
    WORDS_MAX,
};
pub use medium::{Medium, ReceiveMode};
pub use paslib::{Calls, Expected, LATEST_UNDER_WAY, Latest, Paslib};
pub use ring::{RingNode, SharcRing};
pub use ring_call::RingCall;
pub use tuple::{Field, Function, Leased, Template, Tuple, TupleOperations, TupleSpace, Wanted};
