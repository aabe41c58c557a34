//! The conversion of a rank's ticks to the time that all ranks share.

use crate::layout::head;

/// The clock of a rank: seconds of MPI_Wtime for its ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    ticks: u64,
    time_s: f64,
    s_per_tick: f64,
}

impl Clock {
    /// Creates the clock of a rank whose ticks are seconds times `per_s`, with both zeros at the same moment.
    pub fn ideal(per_s: f64) -> Self {
        Clock { ticks: 0, time_s: 0.0, s_per_tick: 1.0 / per_s }
    }

    /// Creates a clock from the head of a region. The rate follows from MPI_Wtime at both ends. For a rank that has not
    /// finalized it follows from the system's clock around MPI_Init.
    pub(crate) fn read(words: &[u64]) -> Self {
        let time = |index: usize| f64::from_bits(words[index]);
        let (begin, begin_s) = (words[head::BEGIN_TICKS], time(head::BEGIN_TIME));
        let between = |from: usize, to: usize| words[to].saturating_sub(words[from]) as f64;
        let s_per_tick = if words[head::SYSTEM_CLOCK] == 1 {
            1e-9
        } else if words[head::END_TICKS] > begin {
            (time(head::END_TIME) - begin_s) / between(head::BEGIN_TICKS, head::END_TICKS)
        } else {
            let ticks = between(head::INIT_TICKS, head::BEGIN_TICKS);
            between(head::INIT_NS, head::BEGIN_NS) * 1e-9 / ticks.max(1.0)
        };
        Clock { ticks: begin, time_s: begin_s, s_per_tick }
    }

    /// Returns the time of a tick in seconds of MPI_Wtime.
    pub fn seconds(&self, ticks: u64) -> f64 {
        let since = ticks.wrapping_sub(self.ticks) as i64;
        self.time_s + since as f64 * self.s_per_tick
    }

    /// Returns the length of a number of ticks, in seconds.
    pub fn span_s(&self, ticks: u64) -> f64 {
        ticks as f64 * self.s_per_tick
    }
}
