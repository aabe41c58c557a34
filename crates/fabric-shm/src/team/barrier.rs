//! Barrier.

use contract::Result;

use super::call::Call;
use super::{Host, Team};

impl Team {
    /// Waits until all members have come here.
    pub(crate) fn barrier<H: Host>(&mut self, host: &mut H, call_id: u32) -> Result<()> {
        self.run(
            host,
            Call { call_id, bytes: 0, pieces: 1, window: 1, by_cma: false },
            |team, host, epoch, _| {
                team.put(epoch, 0, |_| {});
                team.arrive(host, epoch);
            },
            |team, host, epoch, _| team.wait_for_all(host, epoch),
        )
    }
}
