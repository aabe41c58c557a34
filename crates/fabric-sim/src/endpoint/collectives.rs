//! Which collectives of all ranks the machine carries out itself, and how.

use std::sync::Arc;

use contract::{CollectiveCall, Result};

use super::{Idle, SimEndpoint};
use crate::machine::{Board, RingCollectives};
use crate::{board, ring};

impl<'a> SimEndpoint<'a> {
    /// Carries a collective out, if the machine has something better than messages for it.
    pub(super) fn own_collective(
        &mut self,
        call: CollectiveCall<'_>,
        idle: Idle<'_, 'a>,
    ) -> Option<Result<()>> {
        match self.ring_collectives() {
            Some(costs) if ring::carries(&call) => Some(ring::carry_out(self, idle, &costs, call)),
            _ => {
                let board = self.board(&call)?;
                Some(board::carry_out(self, idle, &board, call))
            }
        }
    }

    fn ring_collectives(&self) -> Option<RingCollectives> {
        let world = self.world.borrow();
        let own = self.size > 1 && !world.shares_processors();
        world.machine.ring_collectives.clone().filter(|_| own)
    }

    /// The machine's boards, where a collective goes over them.
    fn board(&self, call: &CollectiveCall<'_>) -> Option<Arc<Board>> {
        let world = self.world.borrow();
        let board = world.machine.board.as_ref()?;
        let own = (2..=board.ranks_max).contains(&self.size) && !world.shares_processors();
        let fits = deciding_bytes(call) as u64 <= board.bytes_max
            && element_bytes(call) as u64 <= board.piece_bytes;
        (own && fits).then(|| Arc::clone(board))
    }
}

/// The length that decides whether a collective goes over boards.
fn deciding_bytes(call: &CollectiveCall<'_>) -> usize {
    match call {
        CollectiveCall::Barrier => 0,
        CollectiveCall::Broadcast { data, .. } => data.bytes(),
        CollectiveCall::Scatter { each, .. } | CollectiveCall::Gather { each, .. } => *each,
        CollectiveCall::Allgather { receive, .. } | CollectiveCall::AllToAll { receive, .. } => {
            receive.bytes()
        }
        CollectiveCall::Reduce { send, .. } | CollectiveCall::Allreduce { send, .. } => {
            send.bytes()
        }
    }
}

/// The length of what cannot be cut.
fn element_bytes(call: &CollectiveCall<'_>) -> usize {
    match call {
        CollectiveCall::Reduce { combine, .. } | CollectiveCall::Allreduce { combine, .. } => {
            combine.element_bytes
        }
        _ => 1,
    }
}
