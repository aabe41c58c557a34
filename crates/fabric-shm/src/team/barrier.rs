//! Barrier over boards.

use collectives::CallId;
use collectives::plan::Plan;

use super::{Call, CompiledCaller, Result, Team};

impl Team {
    /// Waits until all members have reached the barrier.
    pub(crate) fn barrier<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call_id: CallId,
    ) -> Result<()> {
        self.run(
            caller,
            &Call { call_id, plan: Plan::BARRIER },
            |team, caller, epoch, _| {
                team.put(epoch, 0, |_| {});
                team.arrive(caller, epoch);
            },
            |team, caller, epoch, _| team.wait_for_all(caller, epoch),
        )
    }
}
