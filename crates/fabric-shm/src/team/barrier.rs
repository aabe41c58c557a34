//! Barrier.

use contract::Result;

use super::{Call, Host, Team};

impl Team {
    /// Waits until all members have come here.
    pub(crate) fn barrier<H: Host>(&mut self, host: &mut H, call: Call) -> Result<()> {
        self.run(
            host,
            &call,
            |team, host, epoch, _| {
                team.put(epoch, 0, |_| {});
                team.arrive(host, epoch);
            },
            |team, host, epoch, _| team.wait_for_all(host, epoch),
        )
    }
}
