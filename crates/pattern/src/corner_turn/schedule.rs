//! The senders and receivers in each stage of a corner turn.

use super::{balanced, recursive};
use crate::execution::Message;
use crate::program::NODES_MAX;

/// Order of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// The published one (MITRE 1995, section 6.3): swaps and quads, halves within halves. Up to n/4 messages share a
    /// link.
    Recursive,
    /// Ours: in every stage the messages cross each link as evenly as possible in both directions. About n/8 messages
    /// share a link, and no pattern with so few stages has less.
    Balanced,
}

/// The pairs of sender and receiver in each stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub(super) design: Design,
    pub(super) nodes: usize,
    pub(super) stages: Vec<Vec<(usize, usize)>>,
    pub(super) held_in_step: bool,
}

/// A number of nodes for which a design does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDesign {
    /// The recursion halves the line until two nodes are left.
    #[error("the recursive corner turn takes 2, 4, 8, 16 ... nodes, not {0}")]
    NoPowerOfTwo(usize),
    /// Nodes work in pairs, so their number must be even.
    #[error("the balanced corner turn takes an even number of nodes, not {0}")]
    Odd(usize),
    /// It is more than a pattern may have.
    #[error("a corner turn over {0} nodes is too large: the most are {most}", most = NODES_MAX_HERE)]
    TooMany(usize),
}

/// Maximum number of nodes. The pattern for more has more steps than a pattern may have.
const NODES_MAX_HERE: usize = 1024;

impl Design {
    /// All designs, in the order in which they are listed.
    pub const ALL: [Design; 2] = [Design::Recursive, Design::Balanced];

    /// Returns its name, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Design::Recursive => "recursive",
            Design::Balanced => "balanced",
        }
    }

    /// Returns the stages of a corner turn over a line of `nodes`.
    ///
    /// # Errors
    /// [`NoDesign`] if there is none for so many.
    pub fn schedule(self, nodes: usize) -> Result<Schedule, NoDesign> {
        const { assert!(NODES_MAX_HERE <= NODES_MAX as usize) };
        if nodes > NODES_MAX_HERE {
            return Err(NoDesign::TooMany(nodes));
        }
        let stages = match self {
            Design::Recursive if nodes < 2 || !nodes.is_power_of_two() => {
                return Err(NoDesign::NoPowerOfTwo(nodes));
            }
            Design::Balanced if nodes < 2 || !nodes.is_multiple_of(2) => {
                return Err(NoDesign::Odd(nodes));
            }
            Design::Recursive => recursive::stages(nodes),
            Design::Balanced => balanced::stages(nodes),
        };
        Ok(Schedule { design: self, nodes, stages, held_in_step: false })
    }
}

impl Schedule {
    /// Returns the number of participating nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Returns sender and receiver of each message, stage by stage.
    pub fn stages(&self) -> &[Vec<(usize, usize)>] {
        &self.stages
    }

    /// Returns, for each stage, the maximum number of messages that share a link of the line in one direction.
    pub fn link_contention(&self) -> Vec<usize> {
        let message =
            |&(from, to): &(usize, usize)| Message { from: from as u32, to: to as u32, bytes: 1 };
        let of_stage = |stage: &Vec<(usize, usize)>| {
            crate::stages::link_contention(&stage.iter().map(message).collect::<Vec<_>>())
        };
        self.stages.iter().map(of_stage).collect()
    }

    /// Returns the same schedule, with stages held in step when it is a pattern: each has a part of the period in
    /// proportion to the messages that share its busiest link, and no message is sent before its stage begins. If
    /// stages overlap, messages of different stages share links (the discussion of table 4.9 in the paper).
    pub fn held_in_step(self) -> Schedule {
        Schedule { held_in_step: true, ..self }
    }
}
