//! The network between the end points, at two levels of detail or as rings of SCI, behind one interface.

mod loggp;
mod merge;
mod networks;
mod order;
mod packets;
mod rings;

use std::rc::Rc;

use contract::{RemoteAccess, Time, TimeSpan};

use crate::agenda::{Agenda, Event};
use crate::machine::{Level, Machine};
use crate::message_kind::MessageKind;

pub(crate) use networks::Networks;
pub(crate) use rings::{Transfer, unloaded_time as unloaded_on_rings};

/// A transfer for a network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parcel {
    /// The number of its message, which each [`Outcome`] returns. A message has one parcel under way at a time.
    pub(crate) message: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) bytes: u64,
    pub(crate) kind: MessageKind,
    /// The access of which it is the request, if any.
    pub(crate) access: Option<RemoteAccess>,
}

/// An event of a parcel, with the number of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The sender's engine has started it.
    Started(u32),
    /// Its last byte has left the sender.
    Left(u32),
    /// Its last byte has left the receiver's engine.
    Arrived(u32),
    /// No network leads to its destination, and none will.
    Unreachable(u32),
    /// A node is broken for ever. The number is the node's.
    NodeFailed(u32),
    /// A node's processor must forward a packet, which takes it `span`.
    Forwards { node: u32, packet: u32, span: TimeSpan },
}

/// A network at one of the levels, or rings of SCI.
pub(crate) enum Network {
    LogGp(loggp::LogGp),
    Packets(packets::Packets),
    Rings(Box<rings::Rings>),
}

/// The use of a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelUse {
    /// The channel's name.
    pub name: String,
    /// Time in which it carried packets.
    pub busy: TimeSpan,
    /// Number of packets that it carried.
    pub packets: u64,
    /// Sum of the times that packets waited for it at the nodes.
    pub waited: TimeSpan,
    /// Maximum number of packets that waited at once, since the use was last read.
    pub queue_max: u64,
}

impl Network {
    pub(crate) fn new(machine: &Rc<Machine>, networks: Networks, level: Level) -> Self {
        let machine = Rc::clone(machine);
        if let Some(settings) = &machine.sci {
            return Network::Rings(Box::new(rings::Rings::new(settings, &machine)));
        }
        match level {
            Level::LogGp => Network::LogGp(loggp::LogGp::new(machine, networks.into_outermost())),
            Level::Packets => Network::Packets(packets::Packets::new(machine, networks)),
        }
    }

    /// Schedules the faults of the machine and their repair.
    pub(crate) fn schedule_faults(&mut self, agenda: &mut Agenda) {
        if let Network::Packets(network) = self {
            network.schedule_faults(agenda);
        }
    }

    /// Describes the broken channels on all paths of a message whose destination is unreachable.
    pub(crate) fn explain_unreachable(&self, message: u32) -> String {
        match self {
            Network::LogGp(_) | Network::Rings(_) => String::new(),
            Network::Packets(network) => network.explain_unreachable(message),
        }
    }

    /// Starts a parcel. Appends its immediate events to `outcomes`.
    pub(crate) fn launch(
        &mut self,
        agenda: &mut Agenda,
        parcel: Parcel,
        outcomes: &mut Vec<Outcome>,
    ) {
        match self {
            Network::LogGp(network) => network.launch(agenda, parcel, outcomes),
            Network::Packets(network) => network.launch(agenda, parcel, outcomes),
            Network::Rings(network) => network.launch(agenda, parcel, outcomes),
        }
    }

    /// Handles one of the network's own events.
    pub(crate) fn handle(
        &mut self,
        agenda: &mut Agenda,
        event: Event,
        outcomes: &mut Vec<Outcome>,
    ) {
        match self {
            Network::LogGp(network) => network.handle(agenda, event, outcomes),
            Network::Packets(network) => network.handle(agenda, event, outcomes),
            Network::Rings(network) => network.handle(agenda, outcomes),
        }
    }

    /// Returns the transfer of an access that has come over rings. The responses of the transfer bring the answer back.
    pub(crate) fn transfer_of(&self, message: u32) -> Option<Transfer> {
        match self {
            Network::LogGp(_) | Network::Packets(_) => None,
            Network::Rings(network) => Some(network.transfer_of(message)),
        }
    }

    /// Records the answer of an access. Returns whether the responses of its transfer bring the answer back. If there
    /// are no responses or all of them have come before, the answer must be a message of its own.
    pub(crate) fn set_answer(&mut self, transfer: Transfer, answer: Option<u32>) -> bool {
        match self {
            Network::LogGp(_) | Network::Packets(_) => false,
            Network::Rings(network) => network.set_answer(transfer, answer),
        }
    }

    /// Returns the number of links that a message passes from one node to another.
    pub(crate) fn hops(&self, from: usize, to: usize) -> usize {
        match self {
            Network::LogGp(network) => network.hops(from, to),
            Network::Packets(network) => network.hops(from, to),
            Network::Rings(network) => network.hops(from, to),
        }
    }

    /// Returns whether a decision of this instant is open.
    pub(crate) fn must_arbitrate(&self) -> bool {
        match self {
            Network::LogGp(_) | Network::Rings(_) => false,
            Network::Packets(network) => network.must_arbitrate(),
        }
    }

    /// Makes the decisions of this instant. All their requests have arrived.
    pub(crate) fn arbitrate(&mut self, agenda: &mut Agenda) {
        if let Network::Packets(network) = self {
            network.arbitrate(agenda);
        }
    }

    /// Returns the number of packets in the network.
    pub(crate) fn packets_inside(&self) -> usize {
        match self {
            Network::LogGp(_) => 0,
            Network::Packets(network) => network.packets_inside(),
            Network::Rings(network) => network.packets_inside(),
        }
    }

    /// Returns the use of each channel that was used, up to `now`.
    pub(crate) fn channel_use(&mut self, now: Time) -> Vec<ChannelUse> {
        match self {
            Network::LogGp(_) => Vec::new(),
            Network::Packets(network) => network.channel_use(now),
            Network::Rings(network) => network.channel_use(),
        }
    }

    /// Returns the times in which channels were busy, if they were recorded.
    pub(crate) fn take_busy_spans(&mut self) -> Vec<(String, Time, Time)> {
        match self {
            Network::LogGp(_) => Vec::new(),
            Network::Packets(network) => network.take_busy_spans(),
            Network::Rings(network) => network.take_busy_spans(),
        }
    }

    /// Records the times in which channels are busy, from now on.
    pub(crate) fn keep_busy_spans(&mut self) {
        match self {
            Network::LogGp(_) => {}
            Network::Packets(network) => network.keep_busy_spans(),
            Network::Rings(network) => network.keep_busy_spans(),
        }
    }
}
