//! The execution of a pattern without time, which finds the messages that can be under way together, and deadlocks.
//!
//! Every node has one receive posted, which takes messages from any node. A message enters it if it is free. Otherwise
//! a short message is buffered, and the sender of a long message waits.
//!
//! If all messages are buffered, the stuck nodes do not depend on the order in which nodes run: each node's code is
//! fixed, and all messages are equal. If long messages wait, they do depend on it, so [`Interleaving`] is a choice. An
//! order that completes also determines the message of each receive. With that fixed, nothing depends on the order any
//! more.

use crate::program::{Cursor, Pattern, Step};
use random::SplitMix64;

/// Treatment of a message without a free receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffering {
    /// Every message is buffered: the most generous machine.
    All,
    /// Messages up to this many bytes are buffered; longer ones make their sender wait.
    UpTo(u32),
    /// No message is buffered: the strictest machine.
    None,
}

/// Order in which nodes advance if several can.
#[derive(Clone, Debug)]
pub(crate) enum Interleaving {
    /// In step: in each stage every node that can, in the order of their numbers.
    InStep,
    /// At random, as on a machine with other work.
    Random(SplitMix64),
}

/// A message in a stage of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its sender.
    pub from: u32,
    /// Its receiver.
    pub to: u32,
    /// Its length in bytes.
    pub bytes: u32,
}

/// A node that waits for ever.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stuck {
    pub(crate) node: usize,
    /// Index of the action in which it waits.
    pub(crate) action: usize,
    /// The action in which it waits.
    pub(crate) step: Step,
    /// The action at which it would continue.
    pub(crate) cursor: Cursor,
}

/// The outcome of an execution.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ending {
    /// Nodes that wait for ever, in the order of their numbers.
    pub(crate) stuck: Vec<Stuck>,
    /// Number of messages that arrived at each node and were not received.
    pub(crate) left_over: Vec<u64>,
}

/// Runs a period of `pattern`, and calls `on_message` with each message and the stage in which it is under way. The
/// messages to a node are in the order in which it receives them.
pub(crate) fn execute(
    pattern: &Pattern,
    buffering: Buffering,
    mut order: Interleaving,
    on_message: &mut dyn FnMut(usize, Message),
) -> Ending {
    let mut machine = Execution::new(pattern, buffering);
    let mut ready: Vec<usize> = (0..pattern.nodes.len()).collect();
    for &node in &ready {
        machine.advance(node);
    }
    ready.retain(|&node| machine.settles(node));
    let mut stage = 0;
    while !ready.is_empty() {
        let held_back = order.arrange(&mut ready);
        ready = machine.stage(&ready, &mut |message| on_message(stage, message));
        ready.extend(held_back);
        // A node that was held back may have received meanwhile. Then it is in both lists.
        ready.sort_unstable();
        ready.dedup();
        stage += 1;
    }
    machine.ending()
}

impl Interleaving {
    /// Puts `ready` in order, and takes out and returns the nodes that must wait.
    fn arrange(&mut self, ready: &mut Vec<usize>) -> Vec<usize> {
        match self {
            Interleaving::InStep => Vec::new(),
            Interleaving::Random(random) => {
                random.shuffle(ready);
                ready.split_off(1 + random.below(ready.len()))
            }
        }
    }
}

struct Execution<'a> {
    pattern: &'a Pattern,
    buffering: Buffering,
    cursors: Vec<Cursor>,
    /// The current action of each node; `None` at the end of the period. Waits take no time here, so this is a send or
    /// a receive.
    steps: Vec<Option<(usize, Step)>>,
    /// Number of messages that have arrived and were not yet received.
    arrived: Vec<u64>,
    /// Nodes that wait for a receive of each node.
    waiting: Vec<Vec<usize>>,
    /// True if a node is in one of these lists.
    is_waiting: Vec<bool>,
}

impl<'a> Execution<'a> {
    fn new(pattern: &'a Pattern, buffering: Buffering) -> Self {
        let nodes = pattern.nodes.len();
        Execution {
            pattern,
            buffering,
            cursors: vec![Cursor::default(); nodes],
            steps: vec![None; nodes],
            arrived: vec![0; nodes],
            waiting: vec![Vec::new(); nodes],
            is_waiting: vec![false; nodes],
        }
    }

    /// Advances `node` to its next send or receive.
    fn advance(&mut self, node: usize) {
        let actions = &self.pattern.nodes[node].actions;
        let cursor = &mut self.cursors[node];
        self.steps[node] = std::iter::from_fn(|| cursor.next(actions))
            .find(|(_, step)| !matches!(step, Step::WaitUntil { .. }));
    }

    /// Lets `node` receive the messages that have arrived. Returns whether its next action is a send.
    fn settles(&mut self, node: usize) -> bool {
        while matches!(self.steps[node], Some((_, Step::Receive))) && self.arrived[node] > 0 {
            self.arrived[node] -= 1;
            self.advance(node);
        }
        matches!(self.steps[node], Some((_, Step::Send { .. })))
    }

    fn has_room(&self, to: usize, bytes: u32) -> bool {
        self.arrived[to] == 0
            || match self.buffering {
                Buffering::All => true,
                Buffering::UpTo(most) => bytes <= most,
                Buffering::None => false,
            }
    }

    /// Lets each of the `ready` nodes send, if there is room for its message. Returns the nodes that are ready
    /// afterwards.
    fn stage(&mut self, ready: &[usize], on_message: &mut dyn FnMut(Message)) -> Vec<usize> {
        let mut sent = Vec::new();
        for &node in ready {
            let Some((_, Step::Send { to, bytes })) = self.steps[node] else { continue };
            if self.has_room(to as usize, bytes) {
                self.arrived[to as usize] += 1;
                sent.push((node, to as usize));
                on_message(Message { from: node as u32, to, bytes });
            } else {
                self.waiting[to as usize].push(node);
                self.is_waiting[node] = true;
            }
        }
        // No node continues before the stage is over; otherwise a chain of nodes would pass a message along within one
        // stage.
        for &(node, _) in &sent {
            self.advance(node);
        }
        let mut next = Vec::new();
        for node in sent.into_iter().flat_map(|(from, to)| [from, to]) {
            let before = self.arrived[node];
            let wants_to_send = self.settles(node);
            if wants_to_send && !self.is_waiting[node] {
                next.push(node);
            }
            if self.arrived[node] < before {
                for woken in std::mem::take(&mut self.waiting[node]) {
                    self.is_waiting[woken] = false;
                    next.push(woken);
                }
            }
        }
        next
    }

    fn ending(self) -> Ending {
        let places = self.steps.into_iter().zip(self.cursors).enumerate();
        let stuck = places.filter_map(|(node, (step, cursor))| {
            step.map(|(action, step)| Stuck { node, action, step, cursor })
        });
        Ending { stuck: stuck.collect(), left_over: self.arrived }
    }
}
