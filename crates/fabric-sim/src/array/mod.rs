//! The Finite Element Machine, word by word: processors with SEND and RECV over links and a bus, and the interrupts
//! behind them.
//!
//! After Knott, *A performance analysis of the PASLIB version 2.1X SEND and RECV routines on the Finite Element
//! Machine* (1983). A machine with an `[array]` in its file runs programs of ranks like any other, message by message;
//! [`run_array`] runs programs over [`ArrayNode`], which simulates each word, each entry of an interrupt and each FIFO.
//!
//! * `wiring`: how links are plugged;
//! * `media`: links and bus, with their FIFOs;
//! * `buffers`: the results of the receive interrupt for RECV;
//! * `processor`: program and interrupts;
//! * `global_operation`: the networks of flags, sums and maxima;
//! * `world`: all of it, and the events;
//! * `node`, `run`: programs.

mod buffers;
mod global_operation;
mod media;
mod node;
mod processor;
mod run;
mod wiring;
mod world;

use std::fmt;

pub use media::BusUse;
pub use node::ArrayNode;
pub use processor::InterruptCounts;
pub use run::{ArrayOutcome, run_array};
pub use wiring::Wiring;

/// Largest number of words in a buffer (section 5).
pub const BUFFER_WORDS_MAX: usize = 255;

/// Medium of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Medium {
    /// The link that joins two processors.
    Local,
    /// The bus.
    Global,
}

/// Treatment of complete buffers by the receive interrupt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReceiveMode {
    /// Buffers queue.
    #[default]
    Synchronous,
    /// Each buffer replaces the one before.
    Asynchronous,
}

/// Options of a run on an array.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayOptions {
    /// Number of processors that cooperate.
    pub nodes: usize,
    /// Wiring of the links; the machine's own if `None`.
    pub wiring: Option<Vec<Wiring>>,
    /// True if the controller, which is connected only to the bus, runs the program, too.
    pub controller: bool,
}

impl ArrayOptions {
    /// Creates options for this number of processors, with the machine's wiring and no controller.
    pub fn new(nodes: usize) -> Self {
        ArrayOptions { nodes, wiring: None, controller: false }
    }
}

impl fmt::Display for Medium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Medium::Local => "local links",
            Medium::Global => "the global bus",
        })
    }
}

#[cfg(test)]
mod tests;
