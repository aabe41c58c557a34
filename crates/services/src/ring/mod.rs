//! The ring protocol of MPI-SHARC: nodes in a one-way ring, each of which sends to its right neighbour and receives
//! from its left one.
//!
//! After Kohout and George, *A high-performance communication service for parallel computing on distributed DSP
//! systems* (2002), section 3. `docs/services.md` lists the guarantees.
//!
//! * `packet`: the layout of a packet;
//! * `links`: the two links of a node, and the packets that it stores and passes on;
//! * `unicast`: messages to one node or several, each requested by its receivers;
//! * `collective`: barrier, broadcast and allgather, whose data have no headers.

mod collective;
mod links;
mod packet;
mod unicast;

use contract::{Context, Rank};

use crate::limits::RING_NODES_MAX;
use crate::{Error, Result};
use links::Links;

/// A node of the ring. To call it, [enter](SharcRing::enter) it.
pub struct SharcRing {
    context: Context,
    links: Links,
}

/// The calls of the ring protocol. It borrows the rank. Creating one costs an allocation.
pub struct RingNode<'a> {
    links: &'a mut Links,
    rank: Box<dyn Rank + 'a>,
}

impl SharcRing {
    /// Opens the ring among all ranks of `rank`, as a collective. Node numbers are ranks.
    ///
    /// # Errors
    /// [`Error::RingTooLong`] if there are more than [`RING_NODES_MAX`], on all ranks; and those of the fabric.
    pub fn open(rank: &mut dyn Rank) -> Result<Self> {
        let ranks = rank.size();
        if ranks > RING_NODES_MAX {
            return Err(Error::RingTooLong { ranks });
        }
        let context = rank.split(Some(0), 0)?.expect("this rank has given a colour");
        Ok(SharcRing { context, links: Links::default() })
    }

    /// Returns the calls. `rank` is the one with which the ring was opened.
    pub fn enter<'a>(&'a mut self, rank: &'a mut dyn Rank) -> RingNode<'a> {
        RingNode { links: &mut self.links, rank: rank.within(&self.context) }
    }

    /// Closes the ring on all nodes, as a collective.
    ///
    /// # Errors
    /// [`Error::RingCallsDiffer`] if another node has called another collective, and those of the fabric. The ring
    /// cannot be used afterwards in any case.
    pub fn close(mut self, rank: &mut dyn Rank) -> Result<()> {
        self.enter(rank).end()?;
        rank.close(self.context)?;
        Ok(())
    }
}

impl RingNode<'_> {
    /// Returns this node's number.
    pub fn me(&self) -> usize {
        self.rank.rank()
    }

    /// Returns the number of nodes of the ring.
    pub fn nodes(&self) -> usize {
        self.rank.size()
    }

    fn right(&self) -> usize {
        (self.me() + 1) % self.nodes()
    }

    fn left(&self) -> usize {
        (self.me() + self.nodes() - 1) % self.nodes()
    }
}
