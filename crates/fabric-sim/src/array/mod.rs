//! The Finite Element Machine, word by word: processors with SEND and RECV over links and a bus, and the interrupts
//! behind them.
//!
//! After Knott, *A performance analysis of the PASLIB version 2.1X SEND and RECV routines on the Finite Element
//! Machine* (1983). A machine with an `[array]` in its file runs programs of ranks like any other, message by message;
//! [`run_array`] runs programs over [`ArrayNode`], in which each word, each entry of an interrupt and each FIFO counts.
//!
//! * `wiring`: how links are plugged;
//! * `media`: links and bus, with their FIFOs;
//! * `buffers`: what the receive interrupt leaves for RECV;
//! * `processor`: program and interrupts;
//! * `meeting`: the networks of flags, sums and maxima;
//! * `world`: all of it, and the events;
//! * `node`, `run`: programs.

mod buffers;
mod media;
mod meeting;
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

/// The most words of a buffer (section 5).
pub const BUFFER_WORDS_MAX: usize = 255;

/// The way of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Medium {
    /// The link that joins two processors.
    Local,
    /// The bus.
    Global,
}

/// What the receive interrupt does with complete buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReceiveMode {
    /// They queue.
    #[default]
    Synchronous,
    /// The last replaces the one before.
    Asynchronous,
}

/// How a program is to be run on an array.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayOptions {
    /// How many processors cooperate.
    pub nodes: usize,
    /// How links are plugged; as the machine says if not given.
    pub wiring: Option<Vec<Wiring>>,
    /// Whether the controller, on the bus alone, runs the program too.
    pub controller: bool,
}

impl ArrayOptions {
    /// So many processors, plugged as the machine says, and no controller.
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
