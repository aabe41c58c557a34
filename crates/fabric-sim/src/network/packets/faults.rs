//! Parts that break and are repaired. The sender sends again what was lost on a broken link, once nothing else of the
//! message is under way.

use super::Packets;
use crate::agenda::{Agenda, Event};
use crate::machine::Fault;
use crate::network::Outcome;
use crate::network::networks::Networks;

/// The state of faults and their consequences.
#[derive(Default)]
pub(super) struct Faults {
    /// Messages that no network carries until something is repaired.
    waiting: Vec<u32>,
    /// Number of faults that are yet to be repaired.
    repairs_due: usize,
    /// Number of lost packets. Their numbers are not reused, because a link may still carry them.
    lost_packets: usize,
}

impl Faults {
    pub(super) fn lost_packets(&self) -> usize {
        self.lost_packets
    }
}

impl Packets {
    /// Schedules the faults of the machine: fault f breaks at event 2 f and is repaired at event 2 f + 1.
    pub(crate) fn schedule_faults(&mut self, agenda: &mut Agenda) {
        for (Fault { at, until, .. }, number) in self.machine.faults.iter().zip(0..) {
            agenda.push(*at, Event::Fault(2 * number));
            if let Some(until) = until {
                agenda.push(*until, Event::Fault(2 * number + 1));
                self.faults.repairs_due += 1;
            }
        }
    }

    pub(super) fn handle_fault(
        &mut self,
        agenda: &mut Agenda,
        event: u32,
        outcomes: &mut Vec<Outcome>,
    ) {
        let Fault { broken, until, .. } = self.machine.faults[event as usize / 2].clone();
        let channels =
            self.networks.channels_of(&broken).expect("faults were checked at the start");
        if event % 2 == 1 {
            return self.repair_channels(agenda, &channels, outcomes);
        }
        self.break_channels(agenda, &channels, outcomes);
        if let Some(node) = Networks::node_of(&broken).filter(|_| until.is_none()) {
            outcomes.push(Outcome::NodeFailed(node as u32));
        }
    }

    fn break_channels(
        &mut self,
        agenda: &mut Agenda,
        channels: &[u32],
        outcomes: &mut Vec<Outcome>,
    ) {
        for &number in channels {
            let channel = &mut self.channels[number as usize];
            channel.broken += 1;
            if let Some(input) = channel.serves {
                let carried = *self.inputs[input as usize].front().expect("it is served there");
                self.packets[carried as usize].lost = true;
            }
            for request in self.channels[number as usize].merge.clear() {
                self.request(agenda, request.input, outcomes);
            }
        }
        // Data that wait for an engine are not lost, but need another path.
        for engine in 0..self.nodes.len() as u32 {
            let queued = self.nodes[engine as usize].to_send.iter().copied();
            let cut: Vec<u32> = queued.filter(|&message| self.is_cut(message)).collect();
            for message in cut {
                self.parcels[message as usize].is_broken = true;
                self.dequeue(message);
                self.schedule_retransmission(agenda, message);
            }
            self.work(agenda, engine, outcomes);
        }
    }

    /// Returns whether a broken channel is on the route of a message.
    fn is_cut(&self, message: u32) -> bool {
        let mut route = self.parcels[message as usize].route.iter();
        route.any(|&channel| self.channels[channel as usize].broken > 0)
    }

    fn repair_channels(
        &mut self,
        agenda: &mut Agenda,
        channels: &[u32],
        outcomes: &mut Vec<Outcome>,
    ) {
        for &number in channels {
            self.channels[number as usize].broken -= 1;
        }
        self.faults.repairs_due -= 1;
        for message in std::mem::take(&mut self.faults.waiting) {
            self.start_transfer(agenda, message, outcomes);
        }
    }

    /// Handles a message whose destination no network reaches. If nothing is repaired any more, none ever will.
    pub(super) fn await_repair(&mut self, message: u32, outcomes: &mut Vec<Outcome>) {
        if self.faults.repairs_due > 0 {
            self.faults.waiting.push(message);
        } else {
            outcomes.push(Outcome::Unreachable(message));
        }
    }

    /// Loses a packet on a broken link.
    pub(super) fn drop_packet(
        &mut self,
        agenda: &mut Agenda,
        number: u32,
        outcomes: &mut Vec<Outcome>,
    ) {
        let packet = &mut self.packets[number as usize];
        packet.lost = true;
        let (message, bytes) = (packet.message, packet.bytes);
        self.faults.lost_packets += 1;
        let state = &mut self.parcels[message as usize];
        state.inside -= 1;
        state.lost_bytes += u64::from(bytes);
        state.is_broken = true;
        self.dequeue(message);
        self.schedule_retransmission(agenda, message);
        let sender = self.engines(message).0;
        self.work(agenda, sender, outcomes);
    }

    /// Takes a message out of its engine's queue, unless the engine prepares its next packet.
    fn dequeue(&mut self, message: u32) {
        let engine = self.engines(message).0 as usize;
        let own = &mut self.nodes[engine];
        let Some(place) = own.to_send.iter().position(|&queued| queued == message) else { return };
        if place == 0 && own.sending {
            return;
        }
        own.to_send.remove(place);
        own.waiting_bytes -= self.parcels[message as usize].uncut;
    }

    /// Schedules a message whose route is broken to be sent again, some time after nothing more of it is inside.
    pub(super) fn schedule_retransmission(&mut self, agenda: &mut Agenda, message: u32) {
        let state = &self.parcels[message as usize];
        if !state.is_broken || state.inside > 0 {
            return;
        }
        let engine = self.engines(message).0 as usize;
        if self.nodes[engine].to_send.contains(&message) {
            return;
        }
        let state = &mut self.parcels[message as usize];
        state.is_broken = false;
        let notice = self.networks.network(state.network as usize).notice;
        agenda.push(agenda.now() + notice, Event::Retransmit(message));
    }

    /// Sends again the bytes of a message that were lost, after its sender has detected the loss.
    pub(super) fn retransmit(
        &mut self,
        agenda: &mut Agenda,
        message: u32,
        outcomes: &mut Vec<Outcome>,
    ) {
        let state = &mut self.parcels[message as usize];
        state.uncut += std::mem::take(&mut state.lost_bytes);
        state.is_started = false;
        self.start_transfer(agenda, message, outcomes);
    }

    /// Returns the names of the broken channels on all paths of a message.
    pub(crate) fn explain_unreachable(&self, message: u32) -> String {
        let parcel = self.parcel(message);
        let (from, to) = (parcel.from as usize, parcel.to as usize);
        let broken_on = |network: usize| {
            let mut route = Vec::new();
            self.networks.route(network, from, to, &mut route);
            let broken = route.into_iter().find(|&one| self.channels[one as usize].broken > 0);
            broken.map(|channel| self.networks.channel_name(channel))
        };
        let reaching =
            (0..self.networks.count()).filter(|&network| self.networks.reaches(network, from, to));
        reaching.filter_map(broken_on).collect::<Vec<_>>().join(", ")
    }
}
