//! Ports. A receive port has a name at its node, and one transmit port may be connected to it.

use contract::{Source, Tag};

use super::error::{ClusterError, ClusterResult};
use super::layout::{Link, OWN_PORTS, present};
use super::library::Sci;
use super::signals::OWN_MAX;

/// Number of words of a port in the directory.
const WIDTH: usize = 2;

/// A port at which this node receives.
#[derive(Debug, PartialEq, Eq)]
pub struct ReceivePort {
    index: usize,
    name: u32,
    serial: u32,
}

/// A port from which this node sends to another's receive port.
#[derive(Debug, PartialEq, Eq)]
pub struct TransmitPort {
    node: usize,
    index: usize,
    serial: u32,
}

impl ReceivePort {
    /// Returns its name.
    pub fn name(&self) -> u32 {
        self.name
    }
}

impl TransmitPort {
    /// Returns the node to which it sends.
    pub fn node(&self) -> usize {
        self.node
    }
}

impl Sci<'_> {
    /// Returns the tag of a port's messages. The tags of broadcasts are the numbers of the nodes. The tags of ports
    /// follow, one for each port that was ever made at a node.
    fn tag(&self, serial: u32) -> Tag {
        Tag::new(self.lib.layout.nodes as u32 + serial)
    }

    /// Creates a receive port.
    ///
    /// # Errors
    /// [`PortInUse`](ClusterError::PortInUse), [`Reserved`](ClusterError::Reserved), and
    /// [`DirectoryFull`](ClusterError::DirectoryFull) with 64 ports.
    pub fn sci_create_receive_port(&mut self, name: u32) -> ClusterResult<ReceivePort> {
        if name > OWN_MAX {
            return Err(ClusterError::Reserved { what: "port", number: name });
        }
        let own = self.lib.ports.iter().flatten().filter(|(name, _)| *name <= OWN_MAX).count();
        if own == OWN_PORTS {
            let (node, what) = (self.me(), "ports");
            return Err(ClusterError::DirectoryFull { node, count: own, what });
        }
        self.make_port(name)
    }

    /// As [`sci_create_receive_port`](Self::sci_create_receive_port), also for names of the library.
    pub(super) fn make_port(&mut self, name: u32) -> ClusterResult<ReceivePort> {
        let me = self.me();
        if self.lib.ports.iter().flatten().any(|(other, _)| *other == name) {
            return Err(ClusterError::PortInUse { node: me, name });
        }
        let index = self.lib.ports.iter().position(Option::is_none);
        let index = index.expect("there is room for the library's own ports and for the program's");
        let (serial, place) = (self.next_serial(), self.lib.layout.port(index));
        // The name must be written last, so that a reader that finds it finds a port without a connection.
        self.store(me, place + 8, 0, Link { serial, held: 0 }.to_word())?;
        self.store(me, place, 0, present(name))?;
        self.lib.ports[index] = Some((name, serial));
        Ok(ReceivePort { index, name, serial })
    }

    /// Returns the node whose transmit port is connected, if one is.
    pub fn sci_receive_port_connected(
        &mut self,
        port: &ReceivePort,
    ) -> ClusterResult<Option<usize>> {
        let place = self.lib.layout.port(port.index) + 8;
        let link = self.link(self.me(), place)?;
        Ok((link.held as usize).checked_sub(1))
    }

    /// Connects a transmit port to receive port `name` of a node.
    ///
    /// # Errors
    /// [`NoSuchPort`](ClusterError::NoSuchPort), [`PortTaken`](ClusterError::PortTaken),
    /// [`NoSuchNode`](ClusterError::NoSuchNode).
    pub fn sci_connect_transmit_port(
        &mut self,
        node: usize,
        name: u32,
    ) -> ClusterResult<TransmitPort> {
        self.check_node(node)?;
        let layout = self.lib.layout;
        let directory = (layout.port(0), layout.ports(), WIDTH);
        let Some((index, entry)) = self.find_entry(node, directory, present(name))? else {
            return Err(ClusterError::NoSuchPort { node, name });
        };
        let seen = Link::from_word(entry[1]);
        let ours = Link { held: self.me() as u32 + 1, ..seen };
        let free = Link { held: 0, ..seen };
        let found = self.swap(node, layout.port(index) + 8, free.to_word(), ours.to_word())?;
        match Link::from_word(found) {
            found if found == free => Ok(TransmitPort { node, index, serial: seen.serial }),
            found if found.serial != seen.serial => Err(ClusterError::NoSuchPort { node, name }),
            found => Err(ClusterError::PortTaken { node, name, peer: found.held as usize - 1 }),
        }
    }

    /// Waits for a message at a port. Returns its length.
    ///
    /// # Errors
    /// [`BlockTooLong`](ClusterError::BlockTooLong), and [`TimedOut`](ClusterError::TimedOut).
    pub fn sci_read_msg(&mut self, port: &ReceivePort, room: &mut [u8]) -> ClusterResult<usize> {
        let wait = self.wait(self.lib.options.timeout);
        loop {
            if let Some(bytes) = self.try_read(port, room)? {
                return Ok(bytes);
            }
            wait.advance(self, || format!("nothing came at port {}", port.name))?;
        }
    }

    /// As [`sci_read_msg`](Self::sci_read_msg), without waiting.
    pub(super) fn try_read(
        &mut self,
        port: &ReceivePort,
        room: &mut [u8],
    ) -> ClusterResult<Option<usize>> {
        let tag = self.tag(port.serial);
        self.try_receive(Source::Any, tag, room)
    }

    /// Sends a message. Messages of a port arrive in order. A message to a port that was removed is dropped in the end.
    ///
    /// # Errors
    /// [`TimedOut`](ClusterError::TimedOut) if the message is longer than 1 KiB and the other node did not take it. It
    /// is still under way then, and must not be sent again.
    pub fn sci_write_msg(&mut self, port: &TransmitPort, data: &[u8]) -> ClusterResult<()> {
        self.start_message(port, data)?;
        let wait = self.wait(self.lib.options.timeout);
        while self.is_sending()? {
            let what = || format!("node {} did not take a block, which stays under way", port.node);
            wait.advance(self, what)?;
        }
        Ok(())
    }

    /// Sends a message without waiting until it is taken.
    pub(super) fn start_message(&mut self, port: &TransmitPort, data: &[u8]) -> ClusterResult<()> {
        let tag = self.tag(port.serial);
        self.send(port.node, tag, data)
    }

    /// Removes a receive port, connected or not. Messages that have not been read are dropped in the end.
    pub fn sci_remove_receive_port(&mut self, port: ReceivePort) -> ClusterResult<()> {
        let (me, place) = (self.me(), self.lib.layout.port(port.index));
        self.store(me, place, present(port.name), 0)?;
        let (old, serial) = (Link { serial: port.serial, held: 0 }, self.next_serial());
        self.store(me, place + 8, old.to_word(), Link { serial, held: 0 }.to_word())?;
        self.lib.ports[port.index] = None;
        Ok(())
    }

    /// Disconnects a transmit port, so that another may be connected to the receive port. Has no effect if the receive
    /// port was removed before.
    pub fn sci_remove_transmit_port(&mut self, port: TransmitPort) -> ClusterResult<()> {
        let ours = Link { serial: port.serial, held: self.me() as u32 + 1 };
        let free = Link { held: 0, ..ours };
        let place = self.lib.layout.port(port.index) + 8;
        self.swap(port.node, place, ours.to_word(), free.to_word()).map(drop)
    }
}
