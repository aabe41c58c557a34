//! The cost of measuring itself.

use contract::{Rank, Result, TimeSpan};

use super::start::latest_arrival;

/// The cost of measuring, determined once a job, before the first measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Overheads {
    /// The time of a call of `now()` in picoseconds; 0 on a virtual clock.
    pub(crate) clock_cost_ps: f64,
    /// The smallest step of the clock, in picoseconds.
    pub(crate) clock_step_ps: f64,
    /// Time of the ranks' agreement on an instant, from the arrival of the last one.
    pub(crate) agreement: TimeSpan,
}

const CLOCK_ROUNDS: usize = 31;
const CLOCK_READINGS: usize = 64;
const AGREEMENT_ROUNDS: usize = 9;

impl Overheads {
    /// Measures them. Collective; rank 0's values count.
    pub(crate) fn measure(rank: &mut dyn Rank) -> Result<Self> {
        Ok(Overheads {
            clock_cost_ps: clock_cost_ps(rank),
            clock_step_ps: rank.clock().resolution.as_ps() as f64,
            agreement: agreement(rank)?,
        })
    }
}

/// Returns the median over several rounds of readings in a row, so that an interrupted round has no effect.
fn clock_cost_ps(rank: &dyn Rank) -> f64 {
    let mut rounds: Vec<u64> = (0..CLOCK_ROUNDS)
        .map(|_| {
            let begin = rank.now();
            let mut end = begin;
            for _ in 0..CLOCK_READINGS {
                end = rank.now();
            }
            end.since(begin).as_ps()
        })
        .collect();
    rounds.sort_unstable();
    rounds[CLOCK_ROUNDS / 2] as f64 / CLOCK_READINGS as f64
}

fn agreement(rank: &mut dyn Rank) -> Result<TimeSpan> {
    let mut rounds = Vec::with_capacity(AGREEMENT_ROUNDS);
    for _ in 0..AGREEMENT_ROUNDS {
        let latest = latest_arrival(rank)?;
        rounds.push(rank.now().since(latest));
    }
    rounds.sort_unstable();
    Ok(rounds[AGREEMENT_ROUNDS / 2])
}
