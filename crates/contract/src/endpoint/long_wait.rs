//! Reports of long waits to the launcher of a rank: the waits that they are about, and the events that may end these.

use std::time::Duration;

/// Time after which a wait counts as long, and interval of its reports.
pub const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// Something other than messages and collectives that may end a wait of a rank, such as another thread of the program.
/// It is called only after a wait has become long.
pub trait OtherEnds {
    /// Returns a number if nothing of this kind can end any wait of this rank as long as a later call returns the same
    /// number, and `None` otherwise.
    fn ruled_out(&self) -> Option<u64>;

    /// Returns a line of text about what may end the waits, if anything may.
    fn describe(&self) -> Option<String>;
}

/// The place of a wait among the waits of a rank, of which each thread of the program may have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitPlace {
    /// Number of the wait.
    pub wait: u64,
    /// Number of waits of the rank.
    pub waits: usize,
    /// True if all of them have had an idle poll since this was last true.
    pub have_all_polled: bool,
}

impl WaitPlace {
    /// The place of the only wait of a rank.
    pub const ALONE: WaitPlace = WaitPlace { wait: 0, waits: 1, have_all_polled: true };
}
