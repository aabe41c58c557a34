//! The collectives of all ranks that the machine executes itself.

use std::sync::Arc;

use collectives::plan::{Plan, Plans, Topology, Transport, select};
use contract::{AgreedCall, CollectiveCall, ContextPlace, Result};

use super::{Idle, SimEndpoint};
use crate::machine::{Board, RingCollectives};
use crate::world::World;
use crate::{board, ring};

/// Placement of the ranks of collectives over boards.
const TOPOLOGY: Topology = Topology::OwnProcessors;

impl<'a> SimEndpoint<'a> {
    /// Executes a collective, if the machine has something better than messages for it.
    pub(super) fn own_collective(
        &mut self,
        call: CollectiveCall<'_>,
        idle: Idle<'_, 'a>,
    ) -> Option<Result<()>> {
        match self.ring_collectives() {
            Some(costs) if ring::carries(&call) => {
                Some(self.announce(&call).and_then(|()| ring::carry_out(self, idle, &costs, call)))
            }
            _ => {
                let (board, plan) = self.plan(&call)?;
                Some(
                    self.announce(&call)
                        .and_then(|()| board::carry_out(self, idle, &board, plan, call)),
                )
            }
        }
    }

    /// Compares the call with those of the other ranks. Its length is compared with the data.
    fn announce(&self, call: &CollectiveCall<'_>) -> Result<()> {
        let call = AgreedCall { id: call.id(), bytes: 0 };
        self.world.borrow_mut().announce(self.rank, ContextPlace::WORLD, call)
    }

    fn ring_collectives(&self) -> Option<RingCollectives> {
        let world = self.world.borrow();
        let own = self.size > 1 && !world.shares_processors();
        world.machine.ring_collectives.clone().filter(|_| own)
    }

    /// Returns the machine's boards and the plan of the fabric that has them, if a collective uses them.
    fn plan(&self, call: &CollectiveCall<'_>) -> Option<(Arc<Board>, Plan)> {
        let world = self.world.borrow();
        let board = self.board(&world)?;
        let plan = select(call.shape(), self.size, TOPOLOGY, &board.capabilities());
        (plan.transport != Transport::Messages).then(|| (Arc::clone(board), plan))
    }

    /// Returns the machine's boards, if collectives may use them. They may not if ranks share processors, because the
    /// cost of a context switch is unknown there.
    fn board<'w>(&self, world: &'w World) -> Option<&'w Arc<Board>> {
        world.machine.board.as_ref().filter(|_| self.size > 1 && !world.shares_processors())
    }

    /// Returns the plans of all collectives, if the machine has boards.
    pub(super) fn plans(&self, world: &World) -> Option<Plans> {
        let board = self.board(world)?;
        Some(Plans::of(self.size, TOPOLOGY, board.capabilities()))
    }
}
