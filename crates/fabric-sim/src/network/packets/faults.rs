//! Parts that break and are repaired. The sender sends again what was lost on a broken link, once nothing else of the
//! message is under way.

use super::Packets;
use crate::agenda::{Agenda, Event};
use crate::machine::Fault;
use crate::network::Outcome;
use crate::network::ways::Ways;

/// The state of faults and their consequences.
#[derive(Default)]
pub(super) struct Faults {
    /// Messages that no network carries until something is repaired.
    waiting: Vec<u32>,
    /// Number of faults that are yet to be repaired.
    to_mend: usize,
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
                self.faults.to_mend += 1;
            }
        }
    }

    pub(super) fn breaks_or_mends(
        &mut self,
        agenda: &mut Agenda,
        event: u32,
        outcomes: &mut Vec<Outcome>,
    ) {
        let Fault { broken, until, .. } = self.machine.faults[event as usize / 2].clone();
        let channels = self.ways.channels_of(&broken).expect("faults were checked at the start");
        if event % 2 == 1 {
            return self.mends(agenda, &channels, outcomes);
        }
        self.breaks(agenda, &channels, outcomes);
        if let Some(node) = Ways::node_of(&broken).filter(|_| until.is_none()) {
            outcomes.push(Outcome::Died(node as u32));
        }
    }

    fn breaks(&mut self, agenda: &mut Agenda, channels: &[u32], outcomes: &mut Vec<Outcome>) {
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
                self.travels[message as usize].is_broken = true;
                self.leaves_engine(message);
                self.sends_again_later(agenda, message);
            }
            self.work(agenda, engine, outcomes);
        }
    }

    /// Returns whether a broken channel is on the route of a message.
    fn is_cut(&self, message: u32) -> bool {
        let mut route = self.travels[message as usize].route.iter();
        route.any(|&channel| self.channels[channel as usize].broken > 0)
    }

    fn mends(&mut self, agenda: &mut Agenda, channels: &[u32], outcomes: &mut Vec<Outcome>) {
        for &number in channels {
            self.channels[number as usize].broken -= 1;
        }
        self.faults.to_mend -= 1;
        for message in std::mem::take(&mut self.faults.waiting) {
            self.sets_out(agenda, message, outcomes);
        }
    }

    /// Handles a message whose destination no network reaches. If nothing is repaired any more, none ever will.
    pub(super) fn waits_for_repair(&mut self, message: u32, outcomes: &mut Vec<Outcome>) {
        if self.faults.to_mend > 0 {
            self.faults.waiting.push(message);
        } else {
            outcomes.push(Outcome::CutOff(message));
        }
    }

    /// Loses a packet on a broken link.
    pub(super) fn drops(&mut self, agenda: &mut Agenda, number: u32, outcomes: &mut Vec<Outcome>) {
        let packet = &mut self.packets[number as usize];
        packet.lost = true;
        let (message, bytes) = (packet.message, packet.bytes);
        self.faults.lost_packets += 1;
        let travel = &mut self.travels[message as usize];
        travel.inside -= 1;
        travel.lost_bytes += u64::from(bytes);
        travel.is_broken = true;
        self.leaves_engine(message);
        self.sends_again_later(agenda, message);
        let sender = self.engines(message).0;
        self.work(agenda, sender, outcomes);
    }

    /// Takes a message out of its engine's queue, unless the engine prepares its next packet.
    fn leaves_engine(&mut self, message: u32) {
        let engine = self.engines(message).0 as usize;
        let own = &mut self.nodes[engine];
        let Some(place) = own.to_send.iter().position(|&queued| queued == message) else { return };
        if place == 0 && own.sending {
            return;
        }
        own.to_send.remove(place);
        own.waiting_bytes -= self.travels[message as usize].uncut;
    }

    /// Schedules a message whose route is broken to be sent again, some time after nothing more of it is inside.
    pub(super) fn sends_again_later(&mut self, agenda: &mut Agenda, message: u32) {
        let travel = &self.travels[message as usize];
        if !travel.is_broken || travel.inside > 0 {
            return;
        }
        let engine = self.engines(message).0 as usize;
        if self.nodes[engine].to_send.contains(&message) {
            return;
        }
        let travel = &mut self.travels[message as usize];
        travel.is_broken = false;
        let notice = self.ways.network(travel.way as usize).notice;
        agenda.push(agenda.now() + notice, Event::Again(message));
    }

    /// Sends again the bytes of a message that were lost, after its sender has detected the loss.
    pub(super) fn sends_again(
        &mut self,
        agenda: &mut Agenda,
        message: u32,
        outcomes: &mut Vec<Outcome>,
    ) {
        let travel = &mut self.travels[message as usize];
        travel.uncut += std::mem::take(&mut travel.lost_bytes);
        travel.cut_any = false;
        self.sets_out(agenda, message, outcomes);
    }

    /// Returns the names of the broken channels on all paths of a message.
    pub(crate) fn explain_cut(&self, message: u32) -> String {
        let parcel = self.parcel(message);
        let (from, to) = (parcel.from as usize, parcel.to as usize);
        let broken_on = |way: usize| {
            let mut route = Vec::new();
            self.ways.route(way, from, to, &mut route);
            let broken = route.into_iter().find(|&one| self.channels[one as usize].broken > 0);
            broken.map(|channel| self.ways.channel_name(channel))
        };
        let reaching = (0..self.ways.count()).filter(|&way| self.ways.reaches(way, from, to));
        reaching.filter_map(broken_on).collect::<Vec<_>>().join(", ")
    }
}
