//! MPI's objects and their semantics, over any fabric, for programs in Rust.
//!
//! The crate contains no C and no global state: no handles, no constants of an ABI, no error handlers. Errors are
//! values ([`Error`]). The crate `libmpi-abi` adds what C needs.
//!
//! The rooms, each of which uses only those before it:
//! * `error`: the classes of errors;
//! * `info`, `attribute`: what programs hang on objects;
//! * `datatype`: which bytes of memory an element is made of;
//! * `memory`: a program's memory, seen through a datatype;
//! * `operation`: how elements become one;
//! * `group`, `status`, `cartesian`, `topology`: lists of ranks, what is known of a message, grids and graphs of ranks;
//! * `engine`: a process's endpoint, all that is under way, and contexts;
//! * `request`: what is under way, and its end;
//! * `schedule`, `collective`: rounds of messages, and the collectives that are made of them;
//! * `communicator`: contexts with what programs hang on them, and how they are made;
//! * `point`: messages, also by the shortest way;
//! * `port`: where processes of several runs meet;
//! * `window`: memory that other processes put to, get from and update;
//! * `file`: files that several processes read and write;
//! * `universe`: a process's part in a run, from the beginning to the end;
//! * `typed`: calls on slices, for programs in Rust.
// Unsafe code is in `memory`, where programs promise the lifetime of memory, and in `operation::arithmetic`, which
// operates on it.
#![deny(unsafe_code)]

mod attribute;
mod cartesian;
mod collective;
mod communicator;
mod datatype;
mod engine;
mod error;
mod file;
mod group;
mod info;
mod memory;
mod operation;
mod point;
mod port;
mod request;
mod schedule;
mod status;
mod topology;
mod typed;
mod universe;
mod window;

pub use collectives::RootBetween;
pub use contract::Endpoint;

pub use attribute::{Attributes, Key, KeyFunctions};
pub use cartesian::{Cartesian, CartesianPart, balanced_dimensions};
pub use collective::*;
pub use communicator::{Bridge, Communicator};
pub use datatype::{
    Construction, Datatype, Distribution, Element, Kind, Order, Run, Signature, Spread, Unit,
};
pub use engine::{Capacity, Context, Engine, MessageLog, OtherThreads, SendBuffer, SendBuffers};
pub use error::{Error, ErrorClass, ErrorDetails, Result};
pub use file::{
    Access, AccessMode, Direction, File, Members, Position, Representation, View, Whence,
    delete_file,
};
pub use group::{Comparison, Group, RankRange};
pub use info::Info;
pub use memory::{Exposed, Incoming, Memory, Outgoing};
pub use operation::{Operation, Predefined, Reduction, UserOperation};
pub use point::{
    Claimed, ExchangeCall, Mode, Partitioned, ProbeManner, ReceiveCall, SendCall, claim, probe,
};
pub use port::Port;
pub use request::*;
pub use status::{Peer, Status};
pub use topology::{Edge, Exchanges, Graph, Neighbourhood, RankTopology};
pub use typed::{Scope, Started};
pub use universe::{Universe, run};
pub use window::{Flavor, Lock, Place, Promise, Window};
