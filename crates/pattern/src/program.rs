//! A pattern for execution: a flat list of actions for every node.

use crate::mistake::TextPlace;

/// Maximum number of nodes of a pattern.
pub const NODES_MAX: u32 = 4096;
/// Longest message in bytes: 1 GiB.
pub const BYTES_MAX: u32 = 1 << 30;
/// Maximum depth of loops within loops.
pub const LOOP_DEPTH_MAX: usize = 8;
/// Maximum number of sends, receives and waits of one node in a period, with loops counted as often as they run.
pub const STEPS_MAX: u64 = 1_000_000;
/// Maximum for all nodes together, which bounds the time of a check.
pub(crate) const STEPS_OF_ALL_MAX: u64 = 20_000_000;

/// An instruction of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// `S`: send a message to a node.
    Send {
        /// Receiver of the message.
        to: u32,
        /// Length of the message in bytes.
        bytes: u32,
    },
    /// `R`: wait for the posted receive, and post the next.
    Receive,
    /// `W`: wait until this fraction of the period has passed.
    WaitUntil {
        /// Fraction from 0 to below 1.
        fraction: f64,
    },
    /// `L`: execute the following actions, up to the [`Action::Repeat`], `rounds` times.
    Loop {
        /// Number of repetitions, at least 1.
        rounds: u32,
    },
    /// The end of a loop's body: continue at `start` while there are rounds left.
    Repeat {
        /// Index of the first action of the body.
        start: u32,
    },
}

/// The next action of a node, with loops resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Send a message to a node.
    Send {
        /// Receiver of the message.
        to: u32,
        /// Length of the message in bytes.
        bytes: u32,
    },
    /// Wait for the posted receive, and post the next.
    Receive,
    /// Wait until this fraction of the period has passed.
    WaitUntil {
        /// Fraction from 0 to below 1.
        fraction: f64,
    },
}

/// The code sequence of one node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Its actions in a period.
    pub actions: Vec<Action>,
    /// The place of each action in the text.
    pub places: Vec<TextPlace>,
}

/// The sums of a node's actions in a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Number of messages sent.
    pub sends: u64,
    /// Number of bytes sent.
    pub sent_bytes: u64,
    /// Number of messages received.
    pub receives: u64,
    /// Length in bytes of the longest message sent.
    pub largest_bytes: u32,
}

/// A pattern that was read and checked: every message is received, and no node waits for ever.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Its name: that of its file, as given.
    pub name: String,
    /// The code of each node.
    pub nodes: Vec<Node>,
    /// The node from which each receive of each node takes its message, in the order of a period's receives.
    ///
    /// The language leaves it open. It is fixed when a pattern is read, by an execution of all nodes. A receive that
    /// took the first message to arrive could take one that is meant for a later receive, and the right sender might
    /// wait for ever.
    pub sources: Vec<Vec<u32>>,
}

impl Pattern {
    /// Returns the length of the longest message that arrives at `node`, which its receive buffers must hold.
    pub fn largest_received(&self, node: usize) -> u32 {
        let to_node = |action: &Action| match *action {
            Action::Send { to, bytes } if to as usize == node => Some(bytes),
            _ => None,
        };
        self.nodes.iter().flat_map(|node| &node.actions).filter_map(to_node).max().unwrap_or(0)
    }

    /// Returns the length of the longest message of all.
    pub fn largest_bytes(&self) -> u32 {
        (0..self.nodes.len()).map(|node| self.largest_received(node)).max().unwrap_or(0)
    }

    /// Returns the number of bytes that all nodes send in a period.
    pub fn bytes_a_period(&self) -> u64 {
        self.nodes.iter().map(|node| node.totals().sent_bytes).sum()
    }

    /// Returns the number of messages that all nodes send in a period.
    pub fn messages_a_period(&self) -> u64 {
        self.nodes.iter().map(|node| node.totals().sends).sum()
    }
}

impl Node {
    /// Returns the sums of its actions in a period.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        let mut cursor = Cursor::default();
        while let Some((_, step)) = cursor.next(&self.actions) {
            match step {
                Step::Send { bytes, .. } => {
                    totals.sends += 1;
                    totals.sent_bytes += u64::from(bytes);
                    totals.largest_bytes = totals.largest_bytes.max(bytes);
                }
                Step::Receive => totals.receives += 1,
                Step::WaitUntil { .. } => {}
            }
        }
        totals
    }
}

/// The position of a node in its actions. A new one is at the beginning of a period.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cursor {
    at: usize,
    /// Rounds left in each open loop, without the current one.
    rounds_left: [u32; LOOP_DEPTH_MAX],
    depth: usize,
}

impl Cursor {
    /// Returns the next step and the index of its action, or `None` at the end of the sequence.
    ///
    /// `actions` must be the same in every call, and as [`crate::read`] creates them: loops at most [`LOOP_DEPTH_MAX`]
    /// deep.
    #[inline]
    pub fn next(&mut self, actions: &[Action]) -> Option<(usize, Step)> {
        loop {
            let index = self.at;
            self.at += 1;
            match *actions.get(index)? {
                Action::Send { to, bytes } => return Some((index, Step::Send { to, bytes })),
                Action::Receive => return Some((index, Step::Receive)),
                Action::WaitUntil { fraction } => {
                    return Some((index, Step::WaitUntil { fraction }));
                }
                Action::Loop { rounds } => {
                    self.rounds_left[self.depth] = rounds - 1;
                    self.depth += 1;
                }
                Action::Repeat { start } => match &mut self.rounds_left[self.depth - 1] {
                    0 => self.depth -= 1,
                    left => {
                        *left -= 1;
                        self.at = start as usize;
                    }
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_runs_inner_loops_in_every_round_of_the_outer() {
        // L 2 (L 3 (R) S 1 8): 2 rounds of three receives and a send.
        let actions = [
            Action::Loop { rounds: 2 },
            Action::Loop { rounds: 3 },
            Action::Receive,
            Action::Repeat { start: 2 },
            Action::Send { to: 1, bytes: 8 },
            Action::Repeat { start: 1 },
        ];
        let mut cursor = Cursor::default();
        let indices: Vec<usize> =
            std::iter::from_fn(|| cursor.next(&actions)).map(|(index, _)| index).collect();
        assert_eq!(indices, [2, 2, 2, 4, 2, 2, 2, 4]);
        assert_eq!(cursor.next(&actions), None);
    }
}
