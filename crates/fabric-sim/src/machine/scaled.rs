//! Machines with faster processors or links, nearer nodes, or without pauses.

use contract::TimeSpan;

use super::{AccessPath, Board, Machine, Network, Windows, sci};
use crate::quantity::{Cost, PerUnit, Piecewise};

/// A time that can be divided.
trait Faster {
    /// Returns the time at `times` times the speed.
    fn faster(&self, times: f64) -> Self;
}

impl Faster for TimeSpan {
    fn faster(&self, times: f64) -> Self {
        TimeSpan::from_ps((self.as_ps() as f64 / times).round() as u64)
    }
}

impl Faster for PerUnit {
    fn faster(&self, times: f64) -> Self {
        PerUnit::from_fs((self.as_fs() as f64 / times).round() as u64)
    }
}

impl Faster for Cost {
    fn faster(&self, times: f64) -> Self {
        Cost { fixed: self.fixed.faster(times), per_byte: self.per_byte.faster(times) }
    }
}

impl Faster for Piecewise {
    fn faster(&self, times: f64) -> Self {
        let piece = |(from, cost): &(u64, Cost)| (*from, cost.faster(times));
        Piecewise::new(self.pieces().iter().map(piece).collect())
            .expect("the lengths are those of a piecewise cost")
    }
}

impl Network {
    fn scale(&mut self, clock: f64, links: f64) {
        self.message = self.message.faster(clock);
        self.forward = self.forward.faster(clock);
        self.forward_control = self.forward_control.faster(clock);
        self.byte_time = self.byte_time.faster(links);
        self.packet = self.packet.faster(links);
        self.slot = self.slot.faster(links);
    }
}

impl Windows {
    /// Scales loads and stores with the rate of memory. The start of an access over the network is software, so it
    /// scales with the clock.
    fn scale(&mut self, clock: f64, links: f64) {
        let start = if self.path == AccessPath::Processor { links } else { clock };
        for cost in [&mut self.put, &mut self.get, &mut self.update] {
            *cost = cost.faster(start);
        }
        for cost in [&mut self.target, &mut self.target_update] {
            *cost = cost.faster(links);
        }
        (self.done, self.see) = (self.done.faster(clock), self.see.faster(links));
    }
}

impl Machine {
    /// Returns the same machine with processors `clock` times and links `links` times as fast (MPI-SHARC section 6).
    /// The times of processors shrink with their clock: their work, all overheads at the ends of a message and the time
    /// to forward one. The times of links and shared memory shrink with their rate. The time from one end of a link to
    /// the other, time slices and the pauses of the operating system do not change.
    ///
    /// # Panics
    /// If a factor is not above 0.
    pub fn scaled(&self, clock: f64, links: f64) -> Machine {
        assert!(
            clock > 0.0 && links > 0.0,
            "a machine cannot be {clock} and {links} times as fast"
        );
        let mut machine = self.clone();
        for (_, cost) in &mut machine.processor.work {
            *cost = cost.faster(clock);
        }
        let endpoint = &mut machine.endpoint;
        for cost in [
            &mut endpoint.send,
            &mut endpoint.receive,
            &mut endpoint.unexpected,
            &mut endpoint.setup,
            &mut endpoint.gap,
        ] {
            *cost = cost.faster(clock);
        }
        endpoint.packet_send = endpoint.packet_send.faster(clock);
        endpoint.packet_receive = endpoint.packet_receive.faster(clock);
        let processor = &mut machine.processor;
        for span in [
            &mut processor.polling,
            &mut processor.switch,
            &mut endpoint.post,
            &mut machine.protocol.answer,
        ] {
            *span = span.faster(clock);
        }
        if let Some(ring) = &mut machine.ring_collectives {
            for span in [
                &mut ring.barrier_entry,
                &mut ring.barrier_hop,
                &mut ring.forward,
                &mut ring.packet,
                &mut ring.allgather_entry,
                &mut ring.allgather_step,
            ] {
                *span = span.faster(clock);
            }
        }
        let inner = machine.inner_networks.iter_mut().map(|inner| &mut inner.network);
        inner.chain([&mut machine.network]).for_each(|network| network.scale(clock, links));
        machine.sci = machine.sci.map(|sci| sci::faster(&sci, |span| span.faster(links)));
        if let Some(board) = &mut machine.board {
            let mut faster = (**board).clone();
            faster.see = faster.see.faster(links);
            faster.further_board = faster.further_board.faster(links);
            faster.put = faster.put.faster(links);
            faster.take = faster.take.faster(links);
            faster.combine = faster.combine.faster(clock);
            *board = faster.into();
        }
        if let Some(windows) = &mut machine.windows {
            windows.scale(clock, links);
        }
        machine
    }
}

impl Machine {
    /// Returns the same machine with its latencies divided by `times`: the time from one end of a link to the other,
    /// and the time until others see new data on a board.
    ///
    /// # Panics
    /// If `times` is not above 0.
    pub fn nearer(&self, times: f64) -> Machine {
        assert!(times > 0.0, "no latency is the {times}-th part of another");
        let mut machine = self.clone();
        let inner = machine.inner_networks.iter_mut().map(|inner| &mut inner.network);
        for network in inner.chain([&mut machine.network]) {
            network.latency = network.latency.faster(times);
        }
        if let Some(sci) = &mut machine.sci {
            sci.delays.transmission = sci.delays.transmission.faster(times);
        }
        if let Some(board) = &mut machine.board {
            let see = board.see.faster(times);
            *board = Board { see, ..(**board).clone() }.into();
        }
        machine
    }

    /// Returns the same machine without the pauses of its operating system, or `None` if it has none.
    pub fn without_noise(&self) -> Option<Machine> {
        (!self.pauses.is_empty()).then(|| Machine { pauses: Vec::new(), ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    /// Returns whether two times are equal, up to the rounding of the files of section 6, which have six digits after
    /// the microsecond's point.
    fn close(a: TimeSpan, b: TimeSpan) -> bool {
        a.as_ps().abs_diff(b.as_ps()) <= 2
    }

    #[test]
    fn the_ring_of_section_6_is_the_ring_scaled() {
        let ring = find("sharc-ring").unwrap();
        let systems = [
            ("sharc-fast-clock", 3.75, 1.0),
            ("sharc-fast-links", 1.0, 3.75),
            ("tigersharc", 3.75, 3.75),
        ];
        for (name, clock, links) in systems {
            let (scaled, written) = (ring.scaled(clock, links), find(name).unwrap());
            let pairs = |of: fn(&Machine) -> TimeSpan| (of(&scaled), of(&written));
            let spans = [
                pairs(|m| m.processor.polling),
                pairs(|m| m.endpoint.send.of(0)),
                pairs(|m| m.endpoint.receive.of(1000)),
                pairs(|m| m.endpoint.packet_send.fixed),
                pairs(|m| m.network.forward),
                pairs(|m| m.network.forward_control),
                pairs(|m| m.network.byte_time.times(1)),
                pairs(|m| m.ring_collectives.clone().unwrap_or_default().barrier_hop),
                pairs(|m| m.ring_collectives.clone().unwrap_or_default().allgather_step),
            ];
            for (at, (scaled, written)) in spans.into_iter().enumerate() {
                assert!(close(scaled, written), "{name}, {at}: {scaled:?} and not {written:?}");
            }
        }
        assert_eq!(ring.scaled(1.0, 1.0), ring);
    }

    #[test]
    fn nearer_nodes_have_the_same_processors_and_links() {
        let cluster = find("cluster").unwrap();
        let nearer = cluster.nearer(2.0);
        // It is 0.15 us in the machine's file.
        assert_eq!(nearer.network.latency, TimeSpan::from_ps(75_000));
        let latency = cluster.network.latency;
        let network = Network { latency, ..nearer.network.clone() };
        assert_eq!(Machine { network, ..nearer }, cluster);
    }

    #[test]
    fn only_a_machine_with_pauses_can_lose_them() {
        assert_eq!(find("cluster").unwrap().without_noise(), None);
        let quiet = find("paragon-osf1").unwrap().without_noise().unwrap();
        assert_eq!((quiet.pauses.len(), quiet.without_noise()), (0, None));
    }
}
