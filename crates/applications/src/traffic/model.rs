//! What a program's traffic is like.

use contract::TimeSpan;

use super::Rule;

/// The model of a program's traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// How many messages all nodes send together; each of P sends a P-th of them, and the first ones one more of what
    /// is left over.
    pub messages: usize,
    /// The probabilities b_1, b_2 ... of the node at each position of the stack, which is as deep as there are of them.
    /// Their sum is at most 1.
    pub hits: Vec<f64>,
    /// Who is drawn after a miss.
    pub rule: Rule,
    /// The mean length of a message in bytes; lengths have a negative exponential distribution.
    pub mean_bytes: u64,
    /// The mean time between the moments at which a node makes two messages, with a negative exponential distribution;
    /// zero for as soon as it can.
    pub mean_gap: TimeSpan,
    /// After so many messages of a node its stack is emptied, as when another program gets the node; 0 for never.
    pub flush_every: usize,
    /// The seed of everything random.
    pub seed: u64,
}

impl Model {
    /// How many messages a node sends.
    pub(super) fn messages_of(&self, me: usize, nodes: usize) -> usize {
        self.messages / nodes + usize::from(me < self.messages % nodes)
    }
}
