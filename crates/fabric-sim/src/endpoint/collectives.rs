//! Which collectives of all ranks the machine carries out itself, and how.

use std::sync::Arc;

use collectives::plan::{Plan, Plans, Topology, Transport, select};
use contract::{CollectiveCall, Result};

use super::{Idle, SimEndpoint};
use crate::machine::{Board, RingCollectives};
use crate::world::World;
use crate::{board, ring};

/// Where the ranks of collectives over boards run.
const TOPOLOGY: Topology = Topology::OwnProcessors;

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
                let (board, plan) = self.plan(&call)?;
                Some(board::carry_out(self, idle, &board, plan, call))
            }
        }
    }

    fn ring_collectives(&self) -> Option<RingCollectives> {
        let world = self.world.borrow();
        let own = self.size > 1 && !world.shares_processors();
        world.machine.ring_collectives.clone().filter(|_| own)
    }

    /// The machine's boards and the plan of the fabric that has them, where a collective goes over them.
    fn plan(&self, call: &CollectiveCall<'_>) -> Option<(Arc<Board>, Plan)> {
        let world = self.world.borrow();
        let board = self.board(&world)?;
        let plan = select(call.shape(), self.size, TOPOLOGY, &board.capabilities());
        (plan.transport != Transport::Messages).then(|| (Arc::clone(board), plan))
    }

    /// The machine's boards, where collectives may go over them. They do not where ranks share processors: nobody
    /// knows what a switch between them costs there.
    fn board<'w>(&self, world: &'w World) -> Option<&'w Arc<Board>> {
        world.machine.board.as_ref().filter(|_| self.size > 1 && !world.shares_processors())
    }

    /// The plans of all collectives, where the machine has boards.
    pub(super) fn plans(&self, world: &World) -> Option<Plans> {
        let board = self.board(world)?;
        Some(Plans::of(self.size, TOPOLOGY, board.capabilities()))
    }
}
