//! Rings of the Scalable Coherent Interface (SCI, IEEE 1596), packet by packet.
//!
//! The model is that of the SCALE paper (1996): links without errors, an initialised ring, and every transaction that
//! is not coherent, except broadcasts. A packet moves from node to node around its ring. Its target strips it and sends
//! an echo back to the sender, which keeps the packet until then. A node passes on the packets for other nodes. Packets
//! that arrive while it sends one of its own wait in its bypass FIFO.
//!
//! * [`RingSettings`] has every parameter: [`Shape`] of the rings, [`Delays`] (the paper's table 3), queues, [`Access`]
//!   (the right to send), [`Retry`] and [`Urgency`].
//! * [`Engine`] carries transactions from node to node, and reports each that is complete.
//! * Networks of simulated machines use an engine, too, if their machine file has a section `[sci]`.
//! * [`study`] loads an engine with [`Traffic`] (the paper's tables 1 and 2), and measures throughput and delays.
//!
//! Packets have the lengths of the standard in symbols of 16 bits: 8 for a header with its check, 4 for an echo, and
//! the data. At least one idle symbol follows each packet.
//!
//! Definitions of the paper's four protocols for real time are in papers of the working group P1596.6, which it only
//! cites. The variants of [`Urgency`] and [`Retry`] with their names are our own readings.

mod agents;
mod engine;
mod error;
mod lanes;
mod links;
mod node;
mod packet;
mod serve;
mod settings;
mod shape;
pub mod study;
mod traffic;
mod transmit;

pub use engine::{Complete, Counts, Engine};
pub use error::SettingsError;
pub(crate) use links::Carried;
pub use packet::{ECHO_SYMBOLS, HEADER_SYMBOLS, LOCK_BYTES, SYMBOL_BYTES, TransactionKind};
pub(crate) use packet::{FULL_PACKET_BYTES, Slab};
pub use settings::{Access, Delays, Retry, RingSettings, TRAIN_SEATS, Urgency};
pub use shape::Shape;
pub use traffic::{Destination, Pace, Traffic};

#[cfg(test)]
mod tests;
