//! Chains with one part changed, for predictions of what limits a chain.

use super::definition::{Chain, Stage};
use super::geometry::{Level, levels};

/// Picoseconds in a microsecond.
const PS_PER_US: f64 = 1e6;

impl Chain {
    /// Returns the chain with a stage on processors that are `times` as fast as those of the machine.
    pub fn with_faster_stage(&self, stage: usize, times: f64) -> Chain {
        let mut chain = self.clone();
        chain.stages[stage].speed *= times;
        chain
    }

    /// Returns the chain with its source on twice as many ranks. `None` if they cannot share its rows.
    pub fn with_wider_source(&self) -> Option<Chain> {
        self.possible(Chain { source: self.twice(&self.source), ..self.clone() })
    }

    /// Returns the chain with its sink on twice as many ranks. `None` if they cannot share its rows.
    pub fn with_wider_sink(&self) -> Option<Chain> {
        self.possible(Chain { sink: self.twice(&self.sink), ..self.clone() })
    }

    /// Returns these ranks and as many further ones.
    fn twice(&self, ranks: &[usize]) -> Vec<usize> {
        let first = self.ranks();
        ranks.iter().copied().chain(first..first + ranks.len()).collect()
    }

    fn possible(&self, chain: Chain) -> Option<Chain> {
        chain.mistake().is_none().then_some(chain)
    }

    /// Returns the chain for a machine on which each operation and each byte of work takes a picosecond, and each rank of
    /// a stage computes this number of microseconds for a matrix. Stages without a time remain as they are.
    pub fn with_stage_times(&self, times_us: &[Option<f64>]) -> Chain {
        let mut chain = self.clone();
        let levels = levels(self);
        for ((stage, level), time_us) in chain.stages.iter_mut().zip(&levels[1..]).zip(times_us) {
            let work = work_of_a_rank(stage, level);
            if let Some(us) = time_us.filter(|us| *us > 0.0 && work > 0.0) {
                stage.speed = work / (us * PS_PER_US);
            }
        }
        chain
    }
}

/// Returns the operations and bytes of work of each rank of a stage on a matrix.
fn work_of_a_rank(stage: &Stage, level: &Level) -> f64 {
    let mut columns = level.columns;
    let mut of_a_block = 0;
    for function in &stage.functions {
        let work = function.kind().work(function, level.block_rows, columns);
        of_a_block += work.amount * work.times;
        columns = function.columns(columns).unwrap_or(columns);
    }
    (of_a_block * level.blocks() as u64) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage_functions::Function;

    /// Returns a chain of 8 x 16 elements in messages of 2 rows, with a stage on two ranks.
    fn chain() -> Chain {
        Chain::of((8, 16, 2), &[(&[Function::FFT, Function::CORNER_TURN], 2)])
    }

    #[test]
    fn a_stage_takes_the_time_that_it_is_given() {
        // A rank has 4 of the 8 rows: 4 x 5 x 16 x 4 operations, and 4 x 16 x 8 bytes turned: 1792 ps.
        let timed = chain().with_stage_times(&[Some(0.000896)]);
        assert!((timed.stages[0].speed - 2.0).abs() < 1e-9, "{}", timed.stages[0].speed);
        assert_eq!(timed.with_faster_stage(0, 2.0).stages[0].speed, 2.0 * timed.stages[0].speed);
        assert_eq!(chain().with_stage_times(&[None]), chain());
    }

    #[test]
    fn a_wider_end_has_further_ranks_if_they_can_share_its_rows() {
        let chain = chain();
        let wider = chain.with_wider_source().unwrap();
        assert_eq!((wider.source.as_slice(), wider.ranks()), ([0, 4].as_slice(), 5));
        // 16 rows after the turn: a rank each of 8.
        assert_eq!(chain.with_wider_sink().unwrap().sink, [3, 4]);
        // Four ranks would have 2 rows each, and eight 1, which is no whole message.
        let four = Chain { source: vec![0, 4, 5, 6], ..chain };
        assert_eq!(four.with_wider_source(), None);
    }
}
