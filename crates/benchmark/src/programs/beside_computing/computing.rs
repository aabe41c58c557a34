//! Computing for a requested time.

use contract::{Rank, Result, TimeSpan};

use crate::data::{Blocks, Received};
use crate::program::Program;
use crate::programs::common::{COLLECTIVE, compute};
use crate::timed_loop::Outcome;

/// An event that keeps and checks its data itself, and that all ranks begin together.
pub(super) const BESIDE_COMPUTING: Program =
    Program { blocks: |_| Blocks::NONE, received: Received::Nothing, moved: |_| 0, ..COLLECTIVE };

/// Minimum number of operations. The time of fewer would be less than that of a clock reading.
const OPERATIONS_MIN: u64 = 1 << 10;
const OPERATIONS_MAX: u64 = 1 << 24;
/// Minimum time for which computing is timed to determine its rate.
const TRIED: TimeSpan = TimeSpan::from_us(50);
/// Number of repetitions, because disturbances make it longer.
const TRIES: usize = 5;

/// Returns the median that rank 0 has measured, at all ranks. Collective.
pub(super) fn median_for_all(rank: &mut dyn Rank, outcome: Option<&Outcome>) -> Result<TimeSpan> {
    let mut words = (outcome.map_or(0.0, Outcome::median_ps) as u64).to_le_bytes();
    rank.broadcast(0, &mut words)?;
    Ok(TimeSpan::from_ps(u64::from_le_bytes(words)))
}

/// Returns the number of operations that take `wanted` on rank 0; `None` if the machine has no rate of computing.
/// Collective.
pub(super) fn operations_in(rank: &mut dyn Rank, wanted: TimeSpan) -> Result<Option<u64>> {
    let mut words = [0; 8];
    if rank.rank() == 0 {
        words =
            per_second(rank).map_or(0, |rate| (rate * wanted.as_s()).max(1.0) as u64).to_le_bytes();
    }
    rank.broadcast(0, &mut words)?;
    let operations = u64::from_le_bytes(words);
    Ok((operations > 0).then_some(operations))
}

/// Returns the operations in a second, by the shortest of some times.
fn per_second(rank: &mut dyn Rank) -> Option<f64> {
    let mut operations = OPERATIONS_MIN;
    loop {
        let mut time_once = || {
            let begin = rank.now();
            compute(rank, operations);
            rank.now().since(begin)
        };
        let shortest = (0..TRIES).map(|_| time_once()).min().unwrap_or_default();
        if shortest >= TRIED {
            return Some(operations as f64 / shortest.as_s());
        }
        if operations == OPERATIONS_MAX {
            return None;
        }
        operations *= 2;
    }
}
