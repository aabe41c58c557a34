//! Level L1: LogGP end points (Alexandrov et al. 1995) and an unloaded network between them.
//!
//! The port of a node sends one parcel after the other and takes in one after the other. Between the ports a parcel
//! takes the time of the closed form. The gap and the Gap per byte of LogGP belong to the port, and the latency follows
//! from the route. Messages therefore wait for each other at their ends and never on the way.

use std::collections::HashMap;
use std::rc::Rc;

use contract::{Time, TimeSpan};

use super::{Outcome, Parcel};
use crate::agenda::{Agenda, Event};
use crate::machine::{Machine, Switching};
use crate::message_kind::MessageKind;
use crate::topology::Topology;
use crate::unloaded;

pub(crate) struct LogGp {
    machine: Rc<Machine>,
    topology: Topology,
    /// For each node, the time from which its port can send the next parcel, and the time at which it has taken in the
    /// last one.
    ports: Vec<Port>,
    /// Parcels by message.
    parcels: Vec<Parcel>,
    route: Vec<u32>,
    times: Box<[Option<Times>; TIMES]>,
    /// Arrival time of the last parcel of each pair. `None` if a short parcel cannot overtake a long one.
    last: Option<HashMap<(u32, u32), Time>>,
}

#[derive(Clone, Copy, Default)]
struct Port {
    send_free_at: Time,
    receive_free_at: Time,
    /// End of the gap after the last parcel that it took in.
    gap_until: Time,
}

/// Number of closed forms that are kept. A power of two.
const TIMES: usize = 256;

/// The closed form for a length and a distance. It is kept because most programs repeat their messages.
#[derive(Clone, Copy)]
struct Times {
    kind: MessageKind,
    bytes: u64,
    links: u64,
    transfer: TimeSpan,
    occupation: TimeSpan,
    reception: TimeSpan,
}

impl LogGp {
    pub(crate) fn new(machine: Rc<Machine>, topology: Topology) -> Self {
        // A short parcel cannot overtake a long one if no time after the sending port depends on the length.
        let one_stage = machine.network.switching == Switching::CutThrough
            && machine.endpoint.packet_send.is_zero()
            && machine.endpoint.packet_receive.is_zero();
        LogGp {
            ports: vec![Port::default(); topology.nodes()],
            machine,
            topology,
            parcels: Vec::new(),
            route: Vec::new(),
            times: Box::new([None; TIMES]),
            last: (!one_stage).then(HashMap::new),
        }
    }

    pub(crate) fn launch(
        &mut self,
        agenda: &mut Agenda,
        parcel: Parcel,
        outcomes: &mut Vec<Outcome>,
    ) {
        let now = agenda.now();
        let times = self.times(parcel);
        let port = &mut self.ports[parcel.from as usize];
        let start = now.max(port.send_free_at);
        port.send_free_at =
            start + times.occupation.max(self.machine.endpoint.gap.of(parcel.bytes));
        if self.machine.endpoint.is_simplex(parcel.bytes) {
            port.receive_free_at = port.receive_free_at.max(port.send_free_at);
        }

        let message = parcel.message;
        if start == now {
            outcomes.push(Outcome::Started(message));
        } else {
            agenda.push(start, Event::Started(message));
        }
        if self.machine.endpoint.send_waits_for_link
            || parcel.kind == MessageKind::Bare
            || !self.machine.protocol.sends_at_once(parcel.bytes)
        {
            agenda.push(start + times.occupation, Event::Left(message));
        }
        let mut arrival = start + times.transfer;
        if let Some(last) = &mut self.last {
            let before = last.entry((parcel.from, parcel.to)).or_default();
            arrival = arrival.max(*before);
            *before = arrival;
        }
        agenda.push(arrival, Event::AtPort(message));

        let index = message as usize;
        if index >= self.parcels.len() {
            self.parcels.resize(index + 1, parcel);
        }
        self.parcels[index] = parcel;
    }

    pub(crate) fn handle(
        &mut self,
        agenda: &mut Agenda,
        event: Event,
        outcomes: &mut Vec<Outcome>,
    ) {
        match event {
            Event::Started(message) => outcomes.push(Outcome::Started(message)),
            Event::Left(message) => outcomes.push(Outcome::Left(message)),
            Event::Arrived(message) => outcomes.push(Outcome::Arrived(message)),
            Event::AtPort(message) => {
                let parcel = self.parcels[message as usize];
                let times = self.times(parcel);
                let port = &mut self.ports[parcel.to as usize];
                // The time of the parcel in this port is part of the closed form, so the parcel only waits for other
                // parcels. If the arrival of the last one is due at this moment, that one must come first.
                let in_order = port.receive_free_at < agenda.now() || agenda.now() == Time::ZERO;
                let endpoint = &self.machine.endpoint;
                let simplex = endpoint.is_simplex(parcel.bytes);
                let taken_in = port.receive_free_at + times.reception;
                let through = agenda.now().max(taken_in).max(port.gap_until);
                port.receive_free_at = through;
                // A message that occupies both ends needs no gap beyond its own time.
                if simplex {
                    port.send_free_at = port.send_free_at.max(through);
                } else {
                    port.gap_until = through + endpoint.gap.of(parcel.bytes);
                }
                if through == agenda.now() && in_order {
                    outcomes.push(Outcome::Arrived(message));
                } else {
                    agenda.push(through, Event::Arrived(message));
                }
            }
            other => unreachable!("no event of this level: {other:?}"),
        }
    }

    pub(crate) fn hops(&self, from: usize, to: usize) -> usize {
        let mut route = Vec::new();
        self.topology.route(from, to, &mut route);
        route.len()
    }

    fn times(&mut self, parcel: Parcel) -> Times {
        self.route.clear();
        self.topology.route(parcel.from as usize, parcel.to as usize, &mut self.route);
        let (bytes, links) = (parcel.bytes, self.route.len() as u64);
        let key = bytes << 16 | links << 2 | parcel.kind as u64;
        let slot = random::finalise(key) as usize % TIMES;
        match self.times[slot] {
            Some(times)
                if times.bytes == bytes && times.links == links && times.kind == parcel.kind =>
            {
                times
            }
            _ => {
                let times = Times {
                    kind: parcel.kind,
                    bytes,
                    links,
                    transfer: unloaded::transfer(&self.machine, bytes, links, parcel.kind),
                    occupation: unloaded::occupation(&self.machine, bytes, parcel.kind),
                    reception: unloaded::reception(&self.machine, bytes, parcel.kind),
                };
                self.times[slot] = Some(times);
                times
            }
        }
    }
}
