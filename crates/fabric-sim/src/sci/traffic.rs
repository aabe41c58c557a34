//! The requests of nodes, their times and their targets: tables 1 and 2 of the SCALE paper.

use contract::TimeSpan;

use super::error::SettingsError;
use super::packet::TransactionKind;
use super::shape::Shape;
use crate::random::Random;

/// The times of requests (table 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// One request after each such time.
    Uniform(TimeSpan),
    /// One request after times that are exponentially distributed with this mean.
    Poisson(TimeSpan),
    /// One request whenever the output queue has a free place.
    Available,
}

/// The target of requests (table 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One node, which is then congested.
    Fixed(u32),
    /// Any other node, each with the same probability.
    Random,
    /// The node itself, around the whole ring.
    Itself,
    /// The nearest node of its ring.
    Downstream,
    /// The farthest node of its ring.
    Upstream,
}

/// The requests of some nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// The nodes that make them. Empty: all nodes with a host, except a fixed destination.
    pub nodes: Vec<u32>,
    /// The times of the requests.
    pub pace: Pace,
    /// The target.
    pub destination: Destination,
    /// The operation.
    pub operation: TransactionKind,
    /// The priority: 0 is not urgent; 3 is the highest.
    pub priority: u8,
}

impl Traffic {
    /// Checks whether a shape can have this traffic.
    ///
    /// # Errors
    /// Names the part that is impossible.
    pub fn check(&self, shape: Shape) -> Result<(), SettingsError> {
        let hosts = shape.hosts();
        let target = match self.destination {
            Destination::Fixed(node) => Some(node),
            _ => None,
        };
        if let Some(node) = self.nodes.iter().copied().chain(target).find(|&node| node >= hosts) {
            return Err(SettingsError::new(format!("no node {node} among {hosts}")));
        }
        if hosts == 1 && self.destination == Destination::Random {
            return Err(SettingsError::new("a ring of one node has no other"));
        }
        if !self.operation.has_packets() {
            let what =
                format!("no packet holds {} bytes; 16, 64 or 256", self.operation.data_bytes());
            return Err(SettingsError::new(what));
        }
        if matches!(self.operation, TransactionKind::Join(..) | TransactionKind::Separate(..)) {
            return Err(SettingsError::new("joining rings is no traffic"));
        }
        if matches!(self.pace, Pace::Uniform(TimeSpan::ZERO) | Pace::Poisson(TimeSpan::ZERO)) {
            return Err(SettingsError::new("the time between two requests is zero"));
        }
        if self.priority > 3 {
            return Err(SettingsError::new(format!("priority {}; at most 3", self.priority)));
        }
        Ok(())
    }
}

impl Pace {
    /// Returns the time until the next request, or `None` if it is made when there is room.
    pub(super) fn draw(self, random: &mut Random) -> Option<TimeSpan> {
        match self {
            Pace::Uniform(interval) => Some(interval),
            Pace::Poisson(mean) => Some(exponential(mean, random)),
            Pace::Available => None,
        }
    }
}

impl Destination {
    /// Returns whether a node makes such requests if `nodes` is empty. A fixed destination does not.
    pub(super) fn is_of(self, node: u32) -> bool {
        self != Destination::Fixed(node)
    }

    pub(super) fn draw(self, node: u32, shape: Shape, random: &mut Random) -> u32 {
        let (first, count) = ring_of(node, shape);
        match self {
            Destination::Fixed(target) => target,
            Destination::Itself => node,
            Destination::Downstream => first + (node - first + 1) % count,
            Destination::Upstream => first + (node - first + count - 1) % count,
            Destination::Random => {
                let other = random.below(u64::from(shape.hosts() - 1)) as u32;
                other + u32::from(other >= node)
            }
        }
    }
}

/// Returns the first host of a node's ring, and the number of hosts of the ring.
fn ring_of(node: u32, shape: Shape) -> (u32, u32) {
    match shape {
        Shape::Ring { nodes } => (0, nodes),
        Shape::Bridge { left, .. } if node < left => (0, left),
        Shape::Bridge { left, right } => (left, right),
        Shape::InnerRing { nodes_each, .. } | Shape::MultiService { nodes_each, .. } => {
            (node / nodes_each * nodes_each, nodes_each)
        }
    }
}

/// Draws an exponentially distributed time by comparisons alone (von Neumann 1951). It is the same on every host, which
/// a logarithm need not be.
fn exponential(mean: TimeSpan, random: &mut Random) -> TimeSpan {
    let mut whole = 0u64;
    loop {
        let first = random.next_u64();
        let (mut last, mut falls) = (first, 1u32);
        loop {
            let next = random.next_u64();
            if next >= last {
                break;
            }
            last = next;
            falls += 1;
        }
        if falls % 2 == 1 {
            let fraction = (u128::from(mean.as_ps()) * u128::from(first)) >> 64;
            return TimeSpan::from_ps(mean.as_ps() * whole + fraction as u64);
        }
        whole += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_times_have_their_mean_and_their_tail() {
        let (mean, count) = (TimeSpan::from_ns(100), 100_000u64);
        let mut random = Random::new(5, 0);
        let times: Vec<u64> = (0..count).map(|_| exponential(mean, &mut random).as_ps()).collect();
        // The mean of 100,000 has a standard deviation of 0.3 %. The share over three means is e^-3 = 4.98 %, with a
        // deviation of 0.07 %. Five times these do not occur by chance.
        let average = times.iter().sum::<u64>() as f64 / count as f64;
        assert!((98_400.0..101_600.0).contains(&average), "{average}");
        let over = times.iter().filter(|&&ps| ps > 300_000).count() as f64 / count as f64;
        assert!((0.0463..0.0533).contains(&over), "{over}");
    }

    #[test]
    fn neighbours_are_those_of_the_ring() {
        let shape = Shape::InnerRing { rings: 2, nodes_each: 3 };
        let mut random = Random::new(1, 1);
        let mut draw = |rule: Destination, node| rule.draw(node, shape, &mut random);
        assert_eq!(draw(Destination::Downstream, 5), 3);
        assert_eq!(draw(Destination::Upstream, 3), 5);
        assert_eq!(draw(Destination::Downstream, 0), 1);
        assert_eq!(draw(Destination::Itself, 4), 4);
    }
}
