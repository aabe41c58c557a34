//! Barrier over boards.

use collectives::plan::Plan;

use super::{Call, Host, Result, Team};

impl Team {
    /// Waits until all members have reached the barrier.
    pub(crate) fn barrier<H: Host>(&mut self, host: &mut H, call_id: u32) -> Result<()> {
        self.run(
            host,
            &Call { call_id, plan: Plan::BARRIER },
            |team, host, epoch, _| {
                team.put(epoch, 0, |_| {});
                team.arrive(host, epoch);
            },
            |team, host, epoch, _| team.wait_for_all(host, epoch),
        )
    }
}
