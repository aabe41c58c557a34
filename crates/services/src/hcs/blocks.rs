//! Blocks of data from node to node and from one node to all, and the lower library's calls with time-outs.

use collectives::Membership;
use contract::{Source, Tag, TimeSpan};

use super::cluster::Node;
use super::error::{ClusterError, ClusterResult};
use super::ports::ReceivePort;
use super::segments::Segment;
use super::{Sci, TransmitPort};

impl Node<'_> {
    /// Creates a segment of `bytes` zeros. The outcome is known at once, so this call does not wait.
    ///
    /// # Errors
    /// As of [`sci_create_shm`](Sci::sci_create_shm).
    pub fn safe_shared_memory_make(&mut self, key: u32, bytes: usize) -> ClusterResult<Segment> {
        self.sci.sci_create_shm(key, bytes)
    }

    /// Maps segment `key` of a node, repeatedly until there is one.
    ///
    /// # Errors
    /// [`TimedOut`](ClusterError::TimedOut), and [`NoSuchNode`](ClusterError::NoSuchNode) at once.
    pub fn safe_shared_memory_map(
        &mut self,
        node: usize,
        key: u32,
        timeout: TimeSpan,
    ) -> ClusterResult<Segment> {
        self.retry(timeout, |sci| sci.sci_map_shm(node, key))
    }

    /// Creates a receive port. The outcome is known at once, so this call does not wait.
    ///
    /// # Errors
    /// As of [`sci_create_receive_port`](Sci::sci_create_receive_port).
    pub fn safe_create_receive_port(&mut self, name: u32) -> ClusterResult<ReceivePort> {
        self.sci.sci_create_receive_port(name)
    }

    /// Connects to receive port `name` of a node, repeatedly until there is one without a connection.
    ///
    /// # Errors
    /// [`TimedOut`](ClusterError::TimedOut), and [`NoSuchNode`](ClusterError::NoSuchNode) at once.
    pub fn safe_connect_transmit_port(
        &mut self,
        node: usize,
        name: u32,
        timeout: TimeSpan,
    ) -> ClusterResult<TransmitPort> {
        self.retry(timeout, |sci| sci.sci_connect_transmit_port(node, name))
    }

    /// Waits until a transmit port is connected. Returns the node that has it.
    ///
    /// # Errors
    /// [`TimedOut`](ClusterError::TimedOut).
    pub fn safe_wait_for_connection(
        &mut self,
        port: &ReceivePort,
        timeout: TimeSpan,
    ) -> ClusterResult<usize> {
        let wait = self.sci.wait(timeout);
        loop {
            if let Some(node) = self.sci.sci_receive_port_connected(port)? {
                return Ok(node);
            }
            self.advance_wait(wait, || format!("nobody connected to port {}", port.name()))?;
        }
    }

    /// Repeats an attempt until it succeeds, as long as another node may remove the cause of its failure.
    fn retry<T>(
        &mut self,
        timeout: TimeSpan,
        mut attempt: impl FnMut(&mut Sci<'_>) -> ClusterResult<T>,
    ) -> ClusterResult<T> {
        use ClusterError::{NoSuchPort, NoSuchSegment, PortTaken};
        let wait = self.sci.wait(timeout);
        loop {
            match attempt(&mut self.sci) {
                Err(error @ (NoSuchPort { .. } | NoSuchSegment { .. } | PortTaken { .. })) => {
                    self.advance_wait(wait, || error.to_string())?;
                }
                outcome => return outcome,
            }
        }
    }

    /// Sends a block to a node, over the connection that the cluster has made.
    ///
    /// # Errors
    /// [`NoSuchNode`](ClusterError::NoSuchNode), and those of [`sci_write_msg`](Sci::sci_write_msg).
    pub fn send_block(&mut self, node: usize, data: &[u8]) -> ClusterResult<()> {
        self.sci.check_node(node)?;
        self.sci.start_message(&self.state.transmit[node], data)?;
        if node == self.node() { Ok(()) } else { self.finish_sending() }
    }

    /// Waits for the next block of a node. Returns its length.
    ///
    /// # Errors
    /// [`NoSuchNode`](ClusterError::NoSuchNode), [`BlockTooLong`](ClusterError::BlockTooLong),
    /// [`TimedOut`](ClusterError::TimedOut).
    pub fn get_block(&mut self, node: usize, room: &mut [u8]) -> ClusterResult<usize> {
        self.sci.check_node(node)?;
        let wait = self.sci.wait(self.timeout());
        loop {
            if let Some(bytes) = self.sci.try_read(&self.state.receive[node], room)? {
                return Ok(bytes);
            }
            self.advance_wait(wait, || format!("no block came from node {node}"))?;
        }
    }

    /// Sends a block to all other nodes, down a binomial tree: this node sends it to the nodes below, and they pass it
    /// on.
    ///
    /// # Errors
    /// As of [`send_block`](Node::send_block).
    pub fn send_broadcast(&mut self, data: &[u8]) -> ClusterResult<()> {
        self.send_below(self.node(), data)
    }

    /// Waits for a block that node `from` sends to all, and passes it on to the nodes below this one. Returns its
    /// length.
    ///
    /// # Errors
    /// As of [`get_block`](Node::get_block), and [`OwnBroadcast`](ClusterError::OwnBroadcast).
    pub fn get_broadcast(&mut self, from: usize, room: &mut [u8]) -> ClusterResult<usize> {
        self.sci.check_node(from)?;
        let Some(above) = self.members().parent_from(from) else {
            return Err(ClusterError::OwnBroadcast { node: from });
        };
        let wait = self.sci.wait(self.timeout());
        loop {
            let tag = Tag::new(from as u32);
            if let Some(bytes) = self.sci.try_receive(Source::Rank(above), tag, room)? {
                self.send_below(from, &room[..bytes])?;
                return Ok(bytes);
            }
            self.advance_wait(wait, || {
                format!("no broadcast of node {from} came from node {above}")
            })?;
        }
    }

    pub(super) fn members(&self) -> Membership {
        Membership { me: self.node(), size: self.nodes() }
    }

    fn send_below(&mut self, from: usize, data: &[u8]) -> ClusterResult<()> {
        for child in self.members().children_from(from) {
            self.sci.send(child, Tag::new(from as u32), data)?;
        }
        self.finish_sending()
    }

    /// Waits until all long blocks have been taken.
    fn finish_sending(&mut self) -> ClusterResult<()> {
        let wait = self.sci.wait(self.timeout());
        while self.sci.is_sending()? {
            self.advance_wait(wait, || "a block was not taken, and stays under way".into())?;
        }
        Ok(())
    }
}
