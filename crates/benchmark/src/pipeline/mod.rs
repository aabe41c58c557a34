//! Processing chains: a source that injects a matrix each period, stages that work on it, and a sink that checks what comes
//! out. After Games and others, *Real-time benchmarks* (MITRE 1995), section 5.
//!
//! # How a block travels
//! A rank has a part in one level of the chain or in several. Between parts of one rank a block changes hands without being
//! copied ([`swap_buffers`]). Otherwise every rank keeps its receives posted, into as many buffers as the chain gives it,
//! and sends a *data request* (an empty message) upstream for each; nobody sends a block that was not asked for, so
//! nothing is ever copied aside. While one block is worked on, the next ones come in and the last ones go out. A matrix
//! is cut into messages of whole rows, so a stage can begin long before the matrix is complete; a corner turn needs all
//! of it, and hands it on when all of it is there.
//!
//! # Where things are
//! [`chain`](crate::chain) says what a file describes, and who sends what to whom, [`inlet`] (with [`apart`]) and [`outgoing`] the two sides of a part, [`stage`], [`source`] and [`sink`] the three kinds of parts,
//! [`member`] a rank with its parts, [`function`] what stages compute, and [`expected`] the same computed directly.
//! [`results`] makes measurements of what was noted ([`stamps`]), [`rounds`] of what it takes back to back. The
//! benchmark itself is `programs::real_time::pipeline`.

mod apart;
mod expected;
mod flow;
mod function;
mod inlet;
mod member;
mod mode;
mod outgoing;
mod pending;
mod results;
mod rounds;
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
pub(crate) use results::profile;
pub(crate) use rounds::{WAYS, computing_us, in_rounds};
