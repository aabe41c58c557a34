//! Processing chains: a source that injects a matrix each period, stages that process it, and a sink that checks the
//! results. After Games and others, *Real-time benchmarks* (MITRE 1995), section 5.
//!
//! # How a block travels
//! A rank has a part in one level of the chain or in several. Between parts of one rank buffers are swapped, and
//! nothing is copied ([`swap_buffers`]). Between ranks, each receiver keeps its receives posted, into as many buffers
//! as the chain specifies, and sends a *data request* (an empty message) upstream for each. A block that was not
//! requested is never sent, so no message is unexpected. While one block is processed, the next ones arrive and the
//! previous ones leave. A matrix is cut into messages of whole rows, so a stage can begin long before the matrix is
//! complete. A corner turn needs the whole matrix, and passes it on when it is complete.
//!
//! # Modules
//! [`chain`](crate::chain) describes a chain, and its messages. [`inlet`] (with [`remote_pieces`]) and [`outgoing`] are
//! the two sides of a part; [`stage`], [`source`] and [`sink`] are the three kinds of parts; [`member`] is a rank with
//! its parts. [`function`] applies the [functions of stages](crate::stage_functions), and [`expected`] does the same
//! directly, to the matrices of a [`scene`] or to random ones. [`results`] makes measurements of the recorded
//! [`stamps`] and [`detection`]s, [`rounds`] of the times back to back. The benchmark is
//! `programs::real_time::pipeline`.

mod detection;
mod expected;
mod flow;
mod function;
mod inlet;
mod member;
mod mode;
mod outgoing;
mod pending;
mod predicted;
mod remote_pieces;
mod results;
mod rounds;
mod scene;
mod sink;
mod source;
mod stage;
mod stamps;
mod swap_buffers;
#[cfg(test)]
mod tests;
mod trend;

pub(crate) use member::Member;
pub(crate) use mode::Mode;
pub use predicted::matrix_us;
pub(crate) use results::{Profile, profile};
pub(crate) use rounds::{VARIANTS, computing_us, in_rounds};
pub(crate) use sink::SETTLING;
