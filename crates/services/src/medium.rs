//! The two media between partners of buffers, and the two receive modes. They are below all other modules because
//! errors name them.

use std::fmt;

/// The medium of a buffer. On a machine with one kind of link the two media are only separate queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Medium {
    /// A link of these two ranks alone.
    Local,
    /// The bus of all ranks.
    Global,
}

/// The receive mode for the buffers of one partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReceiveMode {
    /// Buffers queue, and a receive waits for the first.
    Synchronous,
    /// The latest buffer replaces the one before, and a receive never waits.
    Asynchronous,
}

impl Medium {
    /// Both media.
    pub const ALL: [Medium; 2] = [Medium::Local, Medium::Global];

    pub(crate) const fn index(self) -> usize {
        self as usize
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

impl fmt::Display for ReceiveMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReceiveMode::Synchronous => "synchronous",
            ReceiveMode::Asynchronous => "asynchronous",
        })
    }
}
