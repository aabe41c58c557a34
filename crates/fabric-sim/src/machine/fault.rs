//! What of a machine breaks, and when.

use contract::Time;

/// A part that is broken for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From when on.
    pub at: Time,
    /// Until when; `None`: for ever.
    pub until: Option<Time>,
    /// What is broken.
    pub broken: Broken,
}

/// A part of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The link between two nodes of a network, both ways.
    Link {
        /// The network, counted from the innermost.
        network: usize,
        /// The nodes that it joins.
        between: (usize, usize),
    },
    /// The port of a node to a network, with all nodes that share it.
    Port {
        /// The network, counted from the innermost.
        network: usize,
        /// The node.
        node: usize,
    },
    /// All of a network: its switch, or its bus.
    Switch {
        /// The network, counted from the innermost.
        network: usize,
    },
    /// All ports of a node. One that is broken for ever is dead, and so are its ranks.
    Node(usize),
}
