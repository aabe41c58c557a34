//! Processing chains: a source that injects a matrix each period, stages that work on it, and a sink that checks what comes
//! out. After Games and others, *Real-time benchmarks* (MITRE 1995), section 5.
//!
//! # How a block travels
//! A rank has a part in one level of the chain or in several. Between parts of one rank a block changes hands without being
//! copied ([`handover`]). Otherwise every rank keeps its receives posted, into as many buffers as the chain gives it,
//! and sends a *data request* (an empty message) upstream for each; nobody sends a block that was not asked for, so
//! nothing is ever copied aside. While one block is worked on, the next ones come in and the last ones go out. A matrix
//! is cut into messages of whole rows, so a stage can begin long before the matrix is complete; a corner turn needs all
//! of it, and hands it on when all of it is there.
//!
//! # Where things are
//! [`Chain`] is what a file says ([`file`], [`placement`]), [`geometry`] who sends what to whom, [`inlet`] (with
//! [`apart`]) and [`outgoing`] the two sides of a part, [`stage`], [`source`] and [`sink`] the three kinds of parts,
//! [`member`] a rank with its parts, [`function`] what stages compute, and [`expected`] the same computed directly.
//! [`results`] makes measurements of what was noted ([`stamps`]), [`turns`] of what it takes back to back. The
//! benchmark itself is `programs::real_time::pipeline`.

mod apart;
mod chain;
mod choice;
mod describe;
mod expected;
mod file;
mod flow;
mod function;
mod geometry;
mod handover;
mod inlet;
mod member;
mod outgoing;
mod placement;
mod results;
mod sink;
mod source;
mod stage;
mod stamps;
#[cfg(test)]
mod tests;
mod trend;
mod turns;
mod waiting;

pub use chain::{Chain, Function, Stage};
pub use choice::{Pacing, Pipeline};
pub(crate) use member::Member;
pub(crate) use results::profile;
pub(crate) use turns::{WAYS, computing_us, in_turns};

/// How a chain is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Every stage works as soon as it has something to work on.
    SelfTimed,
    /// Every stage works on a matrix one period after the stage before, by the clock that all ranks share.
    Synchronised,
    /// Every stage computes, and nothing flows.
    FunctionsOnly,
    /// Everything flows, and nothing is computed.
    MessagesOnly,
}

impl Mode {
    /// What measurements call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::SelfTimed => "self-timed",
            Mode::Synchronised => "synchronised",
            Mode::FunctionsOnly => "functions only",
            Mode::MessagesOnly => "messages only",
        }
    }
}
