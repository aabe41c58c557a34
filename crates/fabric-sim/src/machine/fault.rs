//! The parts of a machine that break, and when.

use contract::Time;

/// A part that is broken for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Time at which it breaks.
    pub at: Time,
    /// Time at which it works again; `None` if it never does.
    pub until: Option<Time>,
    /// The broken part.
    pub broken: Broken,
}

/// A part of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The link between two nodes of a network, in both directions.
    Link {
        /// Number of the network, counted from the innermost.
        network: usize,
        /// The nodes at its ends.
        between: (usize, usize),
    },
    /// The port of a node to a network, with all nodes that share it.
    Port {
        /// Number of the network, counted from the innermost.
        network: usize,
        /// The node.
        node: usize,
    },
    /// All of a network: its switch, or its bus.
    Switch {
        /// Number of the network, counted from the innermost.
        network: usize,
    },
    /// All ports of a node. If they never work again, the node is dead, and so are its ranks.
    Node(usize),
}
