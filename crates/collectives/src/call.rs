//! Collective calls, and their schedules.

use crate::algorithm::{
    all_to_all, allgather, allreduce, barrier, broadcast, gather, reduce, reduce_scatter, scan,
    scatter, two_level,
};
use crate::{Algorithm, Blocks, Collective, HostMap, Membership, Order, Own, Schedule};

/// A call, the same at all members. Lengths are in units: elements of reductions, bytes of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A barrier.
    Barrier,
    /// A broadcast.
    Broadcast {
        /// Rank of the source.
        root: usize,
        /// Number of units.
        length: usize,
    },
    /// A scatter.
    Scatter {
        /// Rank of the source.
        root: usize,
        /// Blocks: at all members the same if they are equal; of arbitrary lengths at the root, where the others pass
        /// their own block alone.
        blocks: Blocks,
    },
    /// A gather.
    Gather {
        /// Rank of the destination.
        root: usize,
        /// Blocks, as for the scatter.
        blocks: Blocks,
    },
    /// An allgather.
    Allgather {
        /// Blocks, the same at all members.
        blocks: Blocks,
    },
    /// An all-to-all.
    AllToAll {
        /// Blocks that this member sends to each.
        input: Blocks,
        /// Blocks that it receives from each.
        output: Blocks,
    },
    /// A reduction to one member.
    Reduce {
        /// Rank of the destination.
        root: usize,
        /// Number of units.
        length: usize,
        /// Order in which operands may be combined.
        order: Order,
    },
    /// A reduction to all.
    Allreduce {
        /// Number of units.
        length: usize,
        /// Order in which operands may be combined.
        order: Order,
    },
    /// A reduction whose result is divided into a block for each member.
    ReduceScatter {
        /// Blocks, the same at all members.
        blocks: Blocks,
        /// Order in which operands may be combined.
        order: Order,
    },
    /// A scan.
    Scan {
        /// Number of units.
        length: usize,
        /// True if a member's own input is left out.
        exclusive: bool,
    },
}

impl Call {
    /// Returns the collective of the call.
    pub fn collective(&self) -> Collective {
        match self {
            Call::Barrier => Collective::Barrier,
            Call::Broadcast { .. } => Collective::Broadcast,
            Call::Scatter { .. } => Collective::Scatter,
            Call::Gather { .. } => Collective::Gather,
            Call::Allgather { .. } => Collective::Allgather,
            Call::AllToAll { .. } => Collective::AllToAll,
            Call::Reduce { .. } => Collective::Reduce,
            Call::Allreduce { .. } => Collective::Allreduce,
            Call::ReduceScatter { .. } => Collective::ReduceScatter,
            Call::Scan { exclusive: false, .. } => Collective::InclusiveScan,
            Call::Scan { exclusive: true, .. } => Collective::ExclusiveScan,
        }
    }

    /// Returns the root, if the collective has one.
    pub fn root(&self) -> Option<usize> {
        match self {
            Call::Broadcast { root, .. }
            | Call::Scatter { root, .. }
            | Call::Gather { root, .. }
            | Call::Reduce { root, .. } => Some(*root),
            _ => None,
        }
    }

    /// Returns the length on which all members agree in units: of one block if each member has its own, and 0 if members
    /// may have different lengths.
    pub fn agreed_length(&self) -> usize {
        match self {
            Call::Barrier => 0,
            Call::Broadcast { length, .. }
            | Call::Reduce { length, .. }
            | Call::Allreduce { length, .. }
            | Call::Scan { length, .. } => *length,
            // Blocks of arbitrary lengths are known to the root alone.
            Call::Scatter { blocks, .. } | Call::Gather { blocks, .. } => {
                match blocks.are_equal() {
                    true => blocks.longest(),
                    false => 0,
                }
            }
            Call::Allgather { blocks } | Call::ReduceScatter { blocks, .. } => {
                if blocks.are_equal() { blocks.longest() } else { blocks.total() }
            }
            Call::AllToAll { output, .. } if output.are_equal() => output.longest(),
            Call::AllToAll { .. } => 0,
        }
    }

    /// Returns whether an algorithm can carry out the call. The result is the same at all members.
    pub fn is_served_by(&self, algorithm: Algorithm) -> bool {
        let has_it = self.collective().algorithms().contains(&algorithm);
        let fits = match (self, algorithm) {
            // Inner members of the tree forward blocks of members whose lengths they do not have unless all are equal.
            (Call::Scatter { blocks, .. } | Call::Gather { blocks, .. }, Algorithm::Binomial) => {
                blocks.are_equal()
            }
            // A message contains a run of several blocks.
            (Call::Allgather { blocks }, Algorithm::Bruck) => blocks.are_equal(),
            (Call::AllToAll { input, output }, Algorithm::Bruck) => {
                input.are_equal() && output.are_equal()
            }
            (Call::Allreduce { order, .. }, Algorithm::Ring)
            | (Call::ReduceScatter { order, .. }, Algorithm::RecursiveHalving) => {
                *order == Order::Any
            }
            _ => true,
        };
        has_it && fits
    }

    /// Returns whether the call can use two levels among members on these hosts.
    pub fn fits_hosts(&self, hosts: &HostMap) -> bool {
        let any = match self {
            Call::Reduce { order, .. } | Call::Allreduce { order, .. } => *order == Order::Any,
            _ => true,
        };
        self.is_served_by(Algorithm::TwoLevel) && (any || hosts.is_in_order())
    }

    /// Returns the schedule of one member whose own data are at `own`. Two-level algorithms use the hosts of the
    /// members; if no host is known, or the call does not [fit](Call::fits_hosts) the hosts, they form groups of their
    /// own.
    ///
    /// # Panics
    /// If the algorithm [cannot carry out](Call::is_served_by) the call.
    pub fn schedule(
        &self,
        algorithm: Algorithm,
        group: Membership,
        own: Own,
        hosts: Option<&HostMap>,
    ) -> Schedule {
        assert!(self.is_served_by(algorithm), "{algorithm:?} cannot do {self:?}");
        match (self, algorithm) {
            (_, Algorithm::TwoLevel) => self.in_two_levels(group, hosts, own),
            (Call::Barrier, _) => barrier::dissemination(group),
            (&Call::Broadcast { root, length }, Algorithm::Binomial) => {
                broadcast::binomial(group, root, length)
            }
            (&Call::Broadcast { root, length }, _) => {
                let ring = algorithm == Algorithm::ScatterRing;
                broadcast::scatter_allgather(group, root, length, ring)
            }
            (Call::Scatter { root, blocks }, Algorithm::Binomial) => {
                scatter::binomial(group, *root, blocks.longest(), own)
            }
            (Call::Scatter { root, blocks }, _) => scatter::linear(group, *root, blocks, own),
            (Call::Gather { root, blocks }, Algorithm::Binomial) => {
                gather::binomial(group, *root, blocks.longest(), own)
            }
            (Call::Gather { root, blocks }, _) => gather::linear(group, *root, blocks, own),
            (Call::Allgather { blocks }, Algorithm::Bruck) => allgather::bruck(group, blocks, own),
            (Call::Allgather { blocks }, Algorithm::Ring) => allgather::ring(group, blocks, own),
            (Call::Allgather { blocks }, _) => allgather::linear(group, blocks, own),
            (Call::AllToAll { input, .. }, Algorithm::Bruck) => {
                all_to_all::bruck(group, input.longest(), own)
            }
            (Call::AllToAll { input, output }, Algorithm::Pairwise) => {
                all_to_all::pairwise(group, input, output, own)
            }
            (Call::AllToAll { input, output }, _) => all_to_all::linear(group, input, output, own),
            (&Call::Reduce { root, length, order }, Algorithm::Binomial) => {
                reduce::binomial(group, root, length, order, own)
            }
            (&Call::Reduce { root, length, order }, _) => {
                reduce::rabenseifner(group, root, length, order, own)
            }
            (&Call::Allreduce { length, order }, Algorithm::RecursiveDoubling) => {
                allreduce::recursive_doubling(group, length, order, own)
            }
            (&Call::Allreduce { length, order }, Algorithm::Rabenseifner) => {
                allreduce::rabenseifner(group, length, order, own)
            }
            (&Call::Allreduce { length, .. }, _) => allreduce::ring(group, length, own),
            (Call::ReduceScatter { blocks, order }, Algorithm::RecursiveDoubling) => {
                reduce_scatter::recursive_doubling(group, blocks, *order, own)
            }
            (Call::ReduceScatter { blocks, .. }, Algorithm::RecursiveHalving) => {
                reduce_scatter::recursive_halving(group, blocks, own)
            }
            (Call::ReduceScatter { blocks, .. }, _) => reduce_scatter::pairwise(group, blocks, own),
            (&Call::Scan { length, exclusive: false }, _) => scan::inclusive(group, length, own),
            (&Call::Scan { length, exclusive: true }, _) => scan::exclusive(group, length, own),
        }
    }

    fn in_two_levels(&self, group: Membership, hosts: Option<&HostMap>, own: Own) -> Schedule {
        let squares;
        let map = match hosts.filter(|hosts| self.fits_hosts(hosts)) {
            Some(hosts) => hosts,
            None => {
                squares = HostMap::squares(group.size);
                &squares
            }
        };
        match *self {
            Call::Barrier => two_level::barrier(group, map),
            Call::Broadcast { root, length } => two_level::broadcast(group, map, root, length),
            Call::Reduce { root, length, order } => {
                two_level::reduce((group, map), root, length, order, own)
            }
            Call::Allreduce { length, order } => {
                two_level::allreduce((group, map), length, order, own)
            }
            _ => unreachable!("{self:?} has no algorithm in two levels"),
        }
    }
}
