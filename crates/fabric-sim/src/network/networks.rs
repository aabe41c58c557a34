//! The networks of a machine as one set of channels, and the networks that lead from one node to another.

use crate::machine::{Broken, Machine, Network, Switching};
use crate::topology::{CHANNELS_MAX, Topology};

/// All networks of a machine, each with a copy for every group of nodes that it joins.
#[derive(Debug)]
pub(crate) struct Networks {
    nodes: usize,
    /// From the innermost outwards.
    copies: Vec<NetworkCopies>,
    /// The number of each channel's network.
    network_of_channel: Vec<u8>,
}

#[derive(Debug)]
struct NetworkCopies {
    network: Network,
    /// The network of one group, whose nodes are ports.
    topology: Topology,
    group_nodes: usize,
    first_channel: usize,
    groups: usize,
}

impl NetworkCopies {
    /// Returns the group of a node, and its port there.
    fn place(&self, node: usize) -> (usize, usize) {
        if self.groups == 1 && self.network.nodes_per_port == 1 {
            return (0, node);
        }
        (node / self.group_nodes, node % self.group_nodes / self.network.nodes_per_port)
    }

    fn channel(&self, group: usize, channel: u32) -> u32 {
        (self.first_channel + group * self.topology.channels()) as u32 + channel
    }

    /// Returns the group of a channel, and its number there.
    fn within(&self, channel: u32) -> (usize, u32) {
        let (all, each) = (channel as usize - self.first_channel, self.topology.channels());
        (all / each, (all % each) as u32)
    }

    /// Appends the channels of one group, from port `from` to port `to`.
    fn route(&self, group: usize, from: usize, to: usize, channels: &mut Vec<u32>) {
        if self.first_channel == 0 && group == 0 {
            return self.topology.route(from, to, channels);
        }
        let before = channels.len();
        self.topology.route(from, to, channels);
        for channel in &mut channels[before..] {
            *channel = self.channel(group, *channel);
        }
    }

    fn ports(&self) -> usize {
        self.topology.nodes()
    }
}

impl Networks {
    /// Builds the networks of a machine with `nodes` nodes.
    ///
    /// # Errors
    /// A sentence, if a network cannot have this number of nodes or a fault is outside of the machine.
    pub(crate) fn new(machine: &Machine, nodes: usize) -> Result<Self, String> {
        let mut all = Networks { nodes, copies: Vec::new(), network_of_channel: Vec::new() };
        for (group_nodes, network) in machine.networks(nodes) {
            let ejection = network.switching == Switching::CutThrough;
            // A group that is not full has as many ports as its nodes need.
            let ports = group_nodes.min(nodes).div_ceil(network.nodes_per_port);
            let topology = Topology::new(&network.shape, ports, ejection)?;
            let groups = nodes.div_ceil(group_nodes);
            let (number, first_channel) = (all.copies.len() as u8, all.network_of_channel.len());
            let channels = groups.saturating_mul(topology.channels()).saturating_add(first_channel);
            if channels > CHANNELS_MAX {
                return Err(format!("its networks have more than {CHANNELS_MAX} links and ports"));
            }
            all.network_of_channel.resize(channels, number);
            let network = network.clone();
            all.copies.push(NetworkCopies {
                network,
                topology,
                group_nodes,
                first_channel,
                groups,
            });
        }
        for (place, fault) in machine.faults.iter().enumerate() {
            let found = all.channels_of(&fault.broken);
            found.map_err(|why| format!("fault {} of the machine {why}", place + 1))?;
        }
        Ok(all)
    }

    pub(crate) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Returns the network that joins all nodes, by itself.
    pub(crate) fn into_outermost(mut self) -> Topology {
        self.copies.pop().expect("a machine has a network").topology
    }

    pub(crate) fn channels(&self) -> usize {
        self.network_of_channel.len()
    }

    /// Returns the number of networks.
    pub(crate) fn count(&self) -> usize {
        self.copies.len()
    }

    pub(crate) fn network(&self, network: usize) -> &Network {
        &self.copies[network].network
    }

    pub(crate) fn network_of(&self, channel: u32) -> &Network {
        &self.of(channel).network
    }

    fn of(&self, channel: u32) -> &NetworkCopies {
        &self.copies[usize::from(self.network_of_channel[channel as usize])]
    }

    /// Returns whether a network joins two nodes through ports of their own.
    pub(crate) fn reaches(&self, network: usize, from: usize, to: usize) -> bool {
        let copies = &self.copies[network];
        let (here, there) = (copies.place(from), copies.place(to));
        here.0 == there.0 && here.1 != there.1
    }

    /// Appends the channels of a network from a node to another one that it reaches.
    pub(crate) fn route(&self, network: usize, from: usize, to: usize, channels: &mut Vec<u32>) {
        let copies = &self.copies[network];
        let ((group, from), (_, to)) = (copies.place(from), copies.place(to));
        copies.route(group, from, to, channels);
    }

    /// Returns the channel that shares a simplex link with this one.
    pub(crate) fn other_direction(&self, channel: u32) -> Option<u32> {
        let copies = self.of(channel);
        let (group, local) = copies.within(channel);
        let link = copies.topology.link_of(local).filter(|_| copies.network.simplex_links);
        link.map(|(_, reverse)| copies.channel(group, reverse))
    }

    /// Returns the node from which a channel leads. The processors of the machine forward, so its network is one
    /// hypercube.
    pub(crate) fn node_before(&self, channel: u32) -> u32 {
        let link = self.of(channel).topology.link_of(channel);
        link.expect("files with processors that forward have a hypercube").0
    }

    /// Returns whether a packet that comes over channel `from`, or from a node's engine, enters a closed ring with
    /// `channel`.
    pub(crate) fn enters_ring(&self, from: Option<u32>, channel: u32) -> bool {
        let copies = self.of(channel);
        if !copies.topology.is_closed() {
            return false;
        }
        let local = copies.within(channel).1;
        copies.topology.in_ring(local)
            && from.is_none_or(|from| !copies.topology.same_ring(copies.within(from).1, local))
    }

    /// Returns the channels from which packets only leave a network and are never forwarded.
    pub(crate) fn last_channels(&self) -> impl Iterator<Item = usize> {
        let of_network = |copies: &NetworkCopies| {
            let last = copies.topology.last_channels();
            let groups = 0..copies.groups;
            let of_group = |group| last.clone().map(move |one| (group, one as u32));
            let all =
                groups.flat_map(of_group).map(|(group, one)| copies.channel(group, one) as usize);
            all.collect::<Vec<_>>()
        };
        self.copies.iter().flat_map(of_network).collect::<Vec<_>>().into_iter()
    }

    /// Returns a channel's name for users. The name of its network comes first if there are several networks.
    pub(crate) fn channel_name(&self, channel: u32) -> String {
        let copies = self.of(channel);
        let (group, local) = copies.within(channel);
        let link = copies.topology.channel_name(local);
        let name = &copies.network.name;
        match (self.count(), copies.groups) {
            (1, _) => link,
            (_, 1) => format!("{name}: {link}"),
            _ => format!("{name} {group}: {link}"),
        }
    }

    /// Returns the node that is dead if `broken` never works again.
    pub(crate) fn node_of(broken: &Broken) -> Option<usize> {
        match broken {
            Broken::Node(node) => Some(*node),
            Broken::Link { .. } | Broken::Port { .. } | Broken::Switch { .. } => None,
        }
    }

    /// Returns the channels that carry nothing while this part is broken.
    ///
    /// # Errors
    /// The end of a sentence, which names the part that the machine does not have.
    pub(crate) fn channels_of(&self, broken: &Broken) -> Result<Vec<u32>, String> {
        let has = |node: usize| match node < self.nodes {
            true => Ok(()),
            false => Err(format!(
                "names node {node}, but these ranks are on nodes 0 to {}: it needs {} nodes",
                self.nodes - 1,
                node + 1
            )),
        };
        match *broken {
            Broken::Node(node) => {
                has(node)?;
                Ok((0..self.count())
                    .flat_map(|network| self.channels_of_port(network, node))
                    .collect())
            }
            Broken::Port { network, node } => {
                has(node)?;
                Ok(self.channels_of_port(network, node))
            }
            Broken::Switch { network } => {
                let all = 0..self.channels() as u32;
                Ok(all
                    .filter(|&one| usize::from(self.network_of_channel[one as usize]) == network)
                    .collect())
            }
            Broken::Link { network, between: (a, b) } => {
                has(a)?;
                has(b)?;
                self.channels_between(network, a, b)
            }
        }
    }

    /// Returns the channels that lead to and from the port of a node.
    fn channels_of_port(&self, network: usize, node: usize) -> Vec<u32> {
        let copies = &self.copies[network];
        let (group, port) = copies.place(node);
        let mut found = Vec::new();
        let mut route = Vec::new();
        for other in (0..copies.ports()).filter(|&other| other != port) {
            for (from, to) in [(port, other), (other, port)] {
                route.clear();
                copies.route(group, from, to, &mut route);
                found.extend(if from == port { route.first() } else { route.last() });
                // A port through which packets leave comes after the link that leads to the node.
                let before = route.len().checked_sub(2).filter(|_| copies.topology.has_ejection());
                found.extend(before.filter(|_| to == port).map(|place| route[place]));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the channels of the link that joins two nodes.
    fn channels_between(&self, number: usize, a: usize, b: usize) -> Result<Vec<u32>, String> {
        let copies = &self.copies[number];
        let mut found = Vec::new();
        if self.reaches(number, a, b) {
            for (from, to) in [(a, b), (b, a)] {
                let mut route = Vec::new();
                self.route(number, from, to, &mut route);
                if copies.topology.has_ejection() {
                    route.pop();
                }
                if route.len() == 1 && copies.topology.is_direct() {
                    found.extend(route);
                }
            }
        }
        match found.is_empty() {
            false => Ok(found),
            true => Err(format!(
                "names a link between nodes {a} and {b}, which `{}` does not have",
                copies.network.name
            )),
        }
    }
}
