//! The model of a program's traffic.

use contract::TimeSpan;

use super::Rule;

/// The model of a program's traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Number of messages that all nodes send together. Each of P nodes sends a P-th of them, and the first ones send
    /// one more of the remainder.
    pub messages: usize,
    /// The probabilities b_1, b_2 ... of the node at each position of the stack. Their number is the depth of the
    /// stack. Their sum is at most 1.
    pub hits: Vec<f64>,
    /// The rule by which a node is drawn after a miss.
    pub rule: Rule,
    /// Mean length of a message in bytes. Lengths have a negative exponential distribution.
    pub mean_bytes: u64,
    /// Mean time between two messages of a node, with a negative exponential distribution. Zero: as soon as possible.
    pub mean_gap: TimeSpan,
    /// Number of messages of a node after which its stack is emptied, as when another program gets the node; 0 for
    /// never.
    pub flush_every: usize,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Model {
    /// Returns the number of messages that a node sends.
    pub(super) fn messages_of(&self, me: usize, nodes: usize) -> usize {
        self.messages / nodes + usize::from(me < self.messages % nodes)
    }
}
