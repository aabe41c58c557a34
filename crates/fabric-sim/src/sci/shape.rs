//! Rings, their nodes, and the agents between them.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use super::error::SettingsError;

/// Maximum number of nodes, agents included.
const NODES_MAX: u32 = 1 << 16;

/// Rings and the agents between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One ring.
    Ring {
        /// Number of its nodes.
        nodes: u32,
    },
    /// Two rings with a dual-ported bridge between them, which consists of two nodes back to back.
    Bridge {
        /// Number of nodes of the first ring, without the bridge.
        left: u32,
        /// Number of nodes of the second ring.
        right: u32,
    },
    /// Outer rings, each with an agent on an inner ring.
    InnerRing {
        /// Number of outer rings.
        rings: u32,
        /// Number of nodes of each, without its agent.
        nodes_each: u32,
    },
    /// As `InnerRing`, with a crossbar that can join two outer rings into one. Its controller is a node of the inner
    /// ring.
    MultiService {
        /// Number of outer rings.
        rings: u32,
        /// Number of nodes of each, without its agent.
        nodes_each: u32,
    },
}

/// A shape as built: for each node its place, and the other node of an agent.
#[derive(Debug)]
pub(super) struct Rings {
    /// Number of nodes with a host. These come first, then agents.
    pub(super) hosts: u32,
    pub(super) places: Vec<Place>,
    /// For each ring, the ring with which the crossbar has joined it, or itself.
    pub(super) group: Vec<u32>,
    /// The inner ring, if there is one. It is the last.
    pub(super) inner: Option<u32>,
    pub(super) controller: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) ring: u32,
    pub(super) next: u32,
    /// The other side of an agent.
    pub(super) other_side: Option<u32>,
}

impl FromStr for Shape {
    type Err = String;

    /// Parses the words of the command line and of machine files.
    fn from_str(text: &str) -> Result<Self, String> {
        let pair = |text: &str, sign: char| {
            let (one, other) = text.split_once(sign)?;
            Some((one.parse().ok()?, other.parse().ok()?))
        };
        let parse = || {
            let (kind, rest) = text.split_once(':')?;
            let levels = || pair(rest, 'x');
            Some(match kind {
                "ring" => Shape::Ring { nodes: rest.parse().ok()? },
                "bridge" => pair(rest, '+').map(|(left, right)| Shape::Bridge { left, right })?,
                "inner-ring" => {
                    levels().map(|(rings, nodes_each)| Shape::InnerRing { rings, nodes_each })?
                }
                "multi-service" => {
                    levels().map(|(rings, nodes_each)| Shape::MultiService { rings, nodes_each })?
                }
                _ => return None,
            })
        };
        parse().ok_or_else(|| {
            "write a shape such as ring:8, bridge:4+4, inner-ring:4x8 or multi-service:4x8".into()
        })
    }
}

impl Display for Shape {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Shape::Ring { nodes } => write!(f, "ring:{nodes}"),
            Shape::Bridge { left, right } => write!(f, "bridge:{left}+{right}"),
            Shape::InnerRing { rings, nodes_each } => write!(f, "inner-ring:{rings}x{nodes_each}"),
            Shape::MultiService { rings, nodes_each } => {
                write!(f, "multi-service:{rings}x{nodes_each}")
            }
        }
    }
}

impl Shape {
    /// Returns the number of nodes with a host.
    pub fn hosts(self) -> u32 {
        match self {
            Shape::Ring { nodes } => nodes,
            Shape::Bridge { left, right } => left.saturating_add(right),
            Shape::InnerRing { rings, nodes_each } | Shape::MultiService { rings, nodes_each } => {
                rings.saturating_mul(nodes_each)
            }
        }
    }

    pub(super) fn check(self) -> Result<(), SettingsError> {
        let hosts = self.hosts();
        let rings = match self {
            Shape::Ring { .. } => 1,
            Shape::Bridge { left, right } if left == 0 || right == 0 => 0,
            Shape::Bridge { .. } => 2,
            Shape::InnerRing { rings, .. } | Shape::MultiService { rings, .. } => rings,
        };
        if hosts == 0 || rings == 0 {
            return Err(SettingsError::new("a ring has no node"));
        }
        if hosts.saturating_add(rings.saturating_mul(2)) >= NODES_MAX {
            return Err(SettingsError::new(format!(
                "{hosts} nodes in {rings} rings; at most {NODES_MAX}"
            )));
        }
        if rings == 1 && matches!(self, Shape::InnerRing { .. } | Shape::MultiService { .. }) {
            return Err(SettingsError::new("one ring has no other to be joined with; use ring:N"));
        }
        if rings > 256 {
            return Err(SettingsError::new(format!("{rings} rings; at most 256")));
        }
        Ok(())
    }

    pub(super) fn build(self) -> Rings {
        let hosts = self.hosts();
        let outer: Vec<u32> = match self {
            Shape::Ring { nodes } => vec![nodes],
            Shape::Bridge { left, right } => vec![left, right],
            Shape::InnerRing { rings, nodes_each } | Shape::MultiService { rings, nodes_each } => {
                vec![nodes_each; rings as usize]
            }
        };
        let has_inner = matches!(self, Shape::InnerRing { .. } | Shape::MultiService { .. });
        let mut rings: Vec<Vec<u32>> = Vec::new();
        let mut agents: Vec<(u32, u32)> = Vec::new();
        let (mut host, mut agent, mut inside) = (0, hosts, Vec::new());
        for nodes in outer {
            let mut ring: Vec<u32> = (host..host + nodes).collect();
            host += nodes;
            if !matches!(self, Shape::Ring { .. }) {
                ring.push(agent);
                agent += 1;
            }
            if has_inner {
                agents.push((agent - 1, agent));
                inside.push(agent);
                agent += 1;
            }
            rings.push(ring);
        }
        if matches!(self, Shape::Bridge { .. }) {
            agents.push((hosts, hosts + 1));
        }
        let controller = matches!(self, Shape::MultiService { .. }).then_some(agent);
        inside.extend(controller);
        let inner = has_inner.then_some(rings.len() as u32);
        rings.extend(has_inner.then_some(inside));
        Rings::new(hosts, &rings, &agents, inner, controller)
    }
}

impl Rings {
    fn new(
        hosts: u32,
        rings: &[Vec<u32>],
        agents: &[(u32, u32)],
        inner: Option<u32>,
        controller: Option<u32>,
    ) -> Self {
        let count = rings.iter().map(Vec::len).sum();
        let mut places = vec![Place { ring: 0, next: 0, other_side: None }; count];
        for (number, ring) in rings.iter().enumerate() {
            for (at, &node) in ring.iter().enumerate() {
                places[node as usize].ring = number as u32;
                places[node as usize].next = ring[(at + 1) % ring.len()];
            }
        }
        for &(one, other) in agents {
            places[one as usize].other_side = Some(other);
            places[other as usize].other_side = Some(one);
        }
        Rings { hosts, places, group: (0..rings.len() as u32).collect(), inner, controller }
    }

    /// Returns whether a node strips a request or response for `to`.
    pub(super) fn strips(&self, node: u32, to: u32) -> bool {
        if node == to {
            return true;
        }
        let here = self.places[node as usize];
        let Some(other_side) = here.other_side else { return false };
        let home = self.places[to as usize].ring;
        if Some(here.ring) == self.inner {
            // This is the agent of the destination's ring.
            return self.places[other_side as usize].ring == home;
        }
        self.group[here.ring as usize] != self.group[home as usize]
    }

    /// Returns the name of the link between two nodes that follow each other. Nodes without a host are agents.
    pub(super) fn link_name(&self, from: u32, to: u32) -> String {
        let kind = |node: u32| if node < self.hosts { "node" } else { "agent" };
        let link = match kind(from) == kind(to) {
            true => format!("{} {from} to {to}", kind(from)),
            false => format!("{} {from} to {} {to}", kind(from), kind(to)),
        };
        match self.group.len() {
            1 => link,
            _ => format!("ring {}: {link}", self.places[from as usize].ring),
        }
    }

    /// Returns the agent of an outer ring.
    pub(super) fn agent_of(&self, ring: u32) -> Option<u32> {
        let is_it = |node: &u32| {
            let place = self.places[*node as usize];
            place.ring == ring && place.other_side.is_some()
        };
        (self.hosts..self.places.len() as u32).find(is_it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read_as_they_are_shown() {
        for words in ["ring:8", "bridge:3+5", "inner-ring:2x4", "multi-service:2x4"] {
            assert_eq!(words.parse::<Shape>().unwrap().to_string(), words);
        }
        assert_eq!("bridge:3+5".parse(), Ok(Shape::Bridge { left: 3, right: 5 }));
        for wrong in ["ring", "ring:x", "ring:-1", "bridge:4", "bridge:4x4", "star:4", ""] {
            assert!(wrong.parse::<Shape>().unwrap_err().contains("ring:8"), "{wrong}");
        }
    }
}
