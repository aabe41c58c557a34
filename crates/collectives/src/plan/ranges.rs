//! Plans of all lengths as ranges.

use serde::{Deserialize, Serialize};

use super::{CallShape, Capabilities, Collective, Owners, Plan, Topology, Transport, select};

/// Longest data in bytes for which plans are listed.
const MOST_BYTES: u64 = 64 << 20;
/// Length of an element of reductions in bytes.
const ELEMENT_BYTES: u64 = 8;

impl Collective {
    /// Returns the unit of the lengths in ranges: an element, or a byte.
    pub fn unit_bytes(self) -> u64 {
        match self {
            Collective::Reduce | Collective::Allreduce => ELEMENT_BYTES,
            _ => 1,
        }
    }
}

/// A range of lengths for which a collective has the same plan, from its first length on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRange {
    /// Collective.
    pub collective: Collective,
    /// Shortest data of the range in bytes, or shortest block of each member.
    pub from_bytes: u64,
    /// Carrier of the data.
    pub transport: Transport,
    /// Members that combine the operands; of the last piece, if it is long enough.
    pub owners: Owners,
    /// Longest piece in bytes, if data are divided into pieces. Elements have 8 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece_bytes: Option<u64>,
    /// True if a member copies its own block before it provides the blocks of the others.
    pub own_block_first: bool,
    /// Number of members that arrive together, if they arrive in groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_ranks: Option<usize>,
}

/// Plans of all collectives for a number of ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plans {
    /// Number of ranks.
    pub ranks: usize,
    /// Placement of the ranks on processors.
    pub topology: Topology,
    /// Facilities that the ranks share.
    pub capabilities: Capabilities,
    /// Plans by collective and length.
    pub ranges: Vec<PlanRange>,
}

impl Plans {
    /// Returns the plans of a number of ranks.
    pub fn of(ranks: usize, topology: Topology, capabilities: Capabilities) -> Self {
        let mut plans = Plans { ranks, topology, capabilities, ranges: Vec::new() };
        for collective in Collective::with_plans() {
            let most = if collective == Collective::Barrier { 0 } else { MOST_BYTES };
            plans.add(collective, most);
        }
        plans
    }

    /// Adds the ranges of a collective. Within a factor of two of a length, no plan occurs twice.
    fn add(&mut self, collective: Collective, most_bytes: u64) {
        let mut range = self.range_at(collective, 0);
        self.ranges.push(range);
        let mut bytes = ELEMENT_BYTES;
        while bytes <= most_bytes {
            while !self.range_at(collective, bytes).goes_as(&range) {
                range = self.next_range(&range, bytes);
                self.ranges.push(range);
            }
            bytes *= 2;
        }
    }

    /// Returns the next range by bisection. The plan of `other_bytes` differs from that of `range`.
    fn next_range(&self, range: &PlanRange, other_bytes: u64) -> PlanRange {
        let (collective, unit) = (range.collective, range.collective.unit_bytes());
        let (mut same, mut other) = (range.from_bytes.max(other_bytes / 2), other_bytes);
        while same + unit < other {
            let middle = (same + other) / 2 / unit * unit;
            match self.range_at(collective, middle).goes_as(range) {
                true => same = middle,
                false => other = middle,
            }
        }
        self.range_at(collective, other)
    }

    fn range_at(&self, collective: Collective, bytes: u64) -> PlanRange {
        let element_bytes = collective.unit_bytes() as usize;
        let shape = CallShape { collective, bytes: bytes as usize, element_bytes };
        let plan = select(shape, self.ranks, self.topology, &self.capabilities);
        let Plan { transport, owners, own_block_first, group_ranks, .. } = plan;
        let goes_in_pieces = matches!(transport, Transport::Boards | Transport::BoardByBoard)
            && collective != Collective::Barrier;
        let piece_bytes = goes_in_pieces.then_some(plan.pieces.piece_bytes as u64);
        let group_ranks = group_ranks.filter(|_| transport != Transport::Messages);
        PlanRange {
            collective,
            from_bytes: bytes,
            transport,
            owners,
            piece_bytes,
            own_block_first,
            group_ranks,
        }
    }
}

impl PlanRange {
    /// Returns whether another length has the same plan. The windows of an all-to-all are of equal length, so its
    /// pieces have many lengths.
    fn goes_as(&self, other: &PlanRange) -> bool {
        let pieces = |one: &PlanRange| match one.collective {
            Collective::AllToAll => None,
            _ => one.piece_bytes,
        };
        let key = |one: &PlanRange| (one.transport, one.owners, one.own_block_first, pieces(one));
        key(self) == key(other)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Boards, THRESHOLDS};
    use super::*;

    #[test]
    fn ranges_begin_where_plans_change() {
        let boards = Boards {
            most_ranks: 32,
            most_bytes: THRESHOLDS.boards_most_bytes,
            slots: 16,
            slot_bytes: 72 << 10,
            piece_bytes: THRESHOLDS.piece_bytes,
        };
        let capabilities = Capabilities { boards, cma: false };
        let plans = Plans::of(2, Topology::OwnProcessors, capabilities);
        let of = |collective| {
            let ranges = plans.ranges.iter().filter(|range| range.collective == collective);
            ranges
                .map(|range| (range.from_bytes, range.transport, range.owners))
                .collect::<Vec<_>>()
        };
        let (boards, messages) = (Transport::Boards, Transport::Messages);
        let (nobody, mib) = (Owners::Nobody, 1 << 20);
        assert_eq!(of(Collective::Barrier), [(0, boards, nobody)]);
        let expected =
            [(0, boards, nobody), ((512 << 10) + 1, boards, nobody), (mib + 1, messages, nobody)];
        assert_eq!(of(Collective::Broadcast), expected);
        let expected = [
            (0, boards, Owners::Receivers),
            (96 << 10, boards, Owners::Members),
            (mib + 8, messages, nobody),
        ];
        assert_eq!(of(Collective::Allreduce), expected);
        // Two blocks of each member; short ones of its own first.
        let expected =
            [(0, boards, nobody), (513, boards, nobody), (mib / 2 + 1, messages, nobody)];
        assert_eq!(of(Collective::AllToAll), expected);
    }
}
