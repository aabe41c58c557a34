//! The state of a node.

use std::collections::VecDeque;

use contract::Time;

use super::packet::Phase;

/// The state of idle symbols on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Idle {
    /// True if a node that sees it may send.
    pub(super) go: bool,
    /// Packets of lower priority may not be sent ([`Urgency::TwoBits`](super::Urgency::TwoBits)).
    pub(super) level: u8,
    /// The node that has raised the level.
    pub(super) by: u32,
}

impl Idle {
    pub(super) const FREE: Idle = Idle { go: true, level: 0, by: u32::MAX };
}

/// A node: its place in its ring, its transmitter and its queues, which contain the numbers of packets.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) next: u32,
    /// Time at which the transmitter will have sent its packet with the idle symbol.
    pub(super) free_at: Time,
    /// True if the transmitter sends a packet.
    pub(super) is_sending: bool,
    /// True if that packet is one of the node's own.
    pub(super) is_sending_own: bool,
    /// True if that packet is an event, whose place in the output queue is free when it is sent.
    pub(super) is_sending_event: bool,
    /// True if its bypass FIFO has filled while it sent, and is not empty again.
    pub(super) is_recovering: bool,
    /// The idle symbols that arrive, and those that it sends.
    pub(super) idle_in: Idle,
    pub(super) idle_out: Idle,
    /// The level to which it has raised the idle symbols, for a packet of its own.
    pub(super) raised: u8,
    pub(super) bypass: VecDeque<u32>,
    pub(super) bypass_symbols: u32,
    /// The output queues, by class. A packet stays until its echo has come.
    pub(super) output: [Output; 2],
    /// Echoes and resumptions that it must send. They have no queue of a class.
    pub(super) control: VecDeque<u32>,
    pub(super) input: [Input; 2],
    /// The class of the packet with which its host interface is busy.
    pub(super) serving: Option<usize>,
    /// Number of packets that it may still send while it holds the train.
    pub(super) train: Option<u32>,
    /// True if no packet of its own may start, because the crossbar waits until its ring is empty.
    pub(super) is_held_back: bool,
}

/// Packets of a class that a node must send.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// Packets that wait to be sent, or to be sent again.
    pub(super) waiting: VecDeque<u32>,
    /// Number of these packets and of those without an echo.
    pub(super) held: u32,
}

/// Packets of a class that have arrived.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub(super) taken: VecDeque<Taken>,
    /// Number of places that are kept for packets that were refused.
    pub(super) reserved: u32,
    /// Packets that were refused, first come first served.
    pub(super) refused: VecDeque<Refused>,
    /// The turn whose packets are taken, and for each turn the number of packets that were refused and are yet to be
    /// taken.
    pub(super) turn: Phase,
    pub(super) aged: [u32; 2],
    /// Number of packets that were refused since one was taken.
    pub(super) refused_in_turn: u32,
}

/// Number of packets in a row after whose refusal any packet gets a place. The packets whose turn it is may not be able
/// to be sent, for example behind a node that fills the link without go bits.
const REFUSED_MAX: u32 = 256;

impl Input {
    /// Returns whether it is the turn of a packet. It is the turn of all packets if none was refused before.
    pub(super) fn has_turn(&self, phase: Option<Phase>) -> bool {
        let is_open = self.aged[self.turn as usize] == 0 || self.refused_in_turn >= REFUSED_MAX;
        is_open || phase == Some(self.turn)
    }

    /// Records that a refused packet was taken. The turn passes on with the last packet that was refused in it.
    pub(super) fn leave_turn(&mut self, phase: Phase) {
        self.aged[phase as usize] -= 1;
        if self.aged[self.turn as usize] == 0 {
            self.turn = self.turn.other();
        }
    }

    /// Records that a packet without a turn was refused, and returns its turn: the present one if that is empty, or
    /// else the next.
    pub(super) fn join_turn(&mut self) -> Phase {
        let is_empty = self.aged[self.turn as usize] == 0;
        let phase = if is_empty { self.turn } else { self.turn.other() };
        self.aged[phase as usize] += 1;
        phase
    }
}

/// A packet in an input queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) transaction: u32,
    pub(super) to: u32,
    /// Time at which its last symbol has arrived.
    pub(super) whole_at: Time,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Refused {
    pub(super) packet: u32,
    pub(super) sender: u32,
}

/// A request to the crossbar to join two rings, or to separate them, as soon as nothing is under way in them.
#[derive(Clone, Copy, Debug)]
pub(super) struct CrossbarRequest {
    /// The transaction that requested it.
    pub(super) transaction: u32,
    pub(super) controller: u32,
    pub(super) rings: (u32, u32),
    pub(super) joins: bool,
}

impl Node {
    pub(super) fn new(next: u32) -> Self {
        Node {
            next,
            free_at: Time::ZERO,
            is_sending: false,
            is_sending_own: false,
            is_sending_event: false,
            is_recovering: false,
            idle_in: Idle::FREE,
            idle_out: Idle::FREE,
            raised: 0,
            bypass: VecDeque::new(),
            bypass_symbols: 0,
            output: Default::default(),
            control: VecDeque::new(),
            input: Default::default(),
            serving: None,
            train: None,
            is_held_back: false,
        }
    }

    /// Returns the number of packets that wait to be sent.
    pub(super) fn waiting(&self) -> usize {
        let of_own: usize = self.output.iter().map(|output| output.waiting.len()).sum();
        self.bypass.len() + self.control.len() + of_own
    }
}
