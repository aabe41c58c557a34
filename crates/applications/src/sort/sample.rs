//! The current form: every number is sent to the rank of its range, and is sorted there.

use std::ops::Range;

use contract::{Buffer, Rank, Result, WorkKind};

use super::numbers::{NUMBER, Serial, check, copying, in_parts, numbers, room, sort, sorting};
use crate::application::{Application, Timed};
use crate::exchange::Exchange;
use crate::split::part;

/// Number of samples that every rank sends to all. Among P ranks the largest part is then larger than the mean by a
/// share of about the root of P over this.
const SAMPLES: usize = 2048;

/// A sort of numbers that are distributed over the ranks.
pub struct SampleSort {
    count: usize,
    seed: u64,
    mine: Range<usize>,
    input: Buffer,
    exchange: Exchange,
    sorted: Vec<f64>,
    serial: Option<Serial>,
}

impl SampleSort {
    /// Prepares the sort of `count` numbers. All ranks must call it. Every rank has a part of about the same length
    /// before, and about as many numbers afterwards.
    pub fn new(rank: &mut dyn Rank, count: usize, seed: u64) -> Result<Self> {
        let (me, ranks) = (rank.rank(), rank.size());
        let mine = part(count, ranks, me);
        room(count)?;
        let expected = mine.len() / ranks * NUMBER;
        Ok(SampleSort {
            count,
            seed,
            input: numbers(seed, mine.clone())?,
            exchange: Exchange::new((me, ranks), |_| expected, |_| expected)?,
            sorted: Vec::with_capacity(mine.len() + mine.len() / 8),
            serial: (me == 0).then(|| Serial::new(count, seed)).transpose()?,
            mine,
        })
    }

    /// Returns the least number of each part but the first, the same at all ranks.
    fn splitters(&self, rank: &mut Timed<'_>) -> Result<Vec<f64>> {
        let ranks = rank.ranks();
        let input = self.input.elements::<f64>();
        let samples = (self.count / ranks).clamp(1, SAMPLES);
        let sample = |index: usize| {
            let place = part(input.len(), samples, index).start;
            input.get(place).copied().unwrap_or(f64::INFINITY)
        };
        let own: Vec<f64> = (0..samples).map(sample).collect();
        let mut all = vec![0.0; samples * ranks];
        rank.rank.allgather(bytemuck::cast_slice(&own), bytemuck::cast_slice_mut(&mut all))?;
        rank.compute_always(sorting(all.len()), |_| sort(&mut all));
        Ok((1..ranks).map(|index| all[index * samples]).collect())
    }

    /// Puts each number into the block of the rank to which it belongs. Returns the number of numbers for each rank.
    fn divide(&mut self, rank: &mut Timed<'_>, splitters: &[f64]) -> Vec<u64> {
        let (input, blocks) = (self.input.elements::<f64>(), &mut self.exchange.outgoing);
        rank.compute_always(in_parts(input.len(), splitters.len() + 1), |_| {
            let splitters: Vec<i64> = splitters.iter().copied().map(key).collect();
            let mut counts = vec![0u64; splitters.len() + 1];
            input.iter().for_each(|&number| counts[owner(&splitters, number)] += 1);
            for (block, &count) in blocks.iter_mut().zip(&counts) {
                block.resize(count as usize * NUMBER);
            }
            let mut places: Vec<_> =
                blocks.iter_mut().map(|block| block.elements_mut::<f64>().iter_mut()).collect();
            for &number in input {
                if let Some(place) = places[owner(&splitters, number)].next() {
                    *place = number;
                }
            }
            counts
        })
    }
}

/// Returns a number as an integer, in the same order.
fn key(number: f64) -> i64 {
    let bits = number.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// Returns the part to which a number belongs: the number of splitters that are not greater.
fn owner(splitters: &[i64], number: f64) -> usize {
    /// Maximum number of splitters for which comparing one by one is faster than halving.
    const FEW: usize = 16;
    let number = key(number);
    if splitters.len() > FEW {
        return splitters.partition_point(|&splitter| splitter <= number);
    }
    splitters.iter().map(|&splitter| usize::from(splitter <= number)).sum()
}

impl Application for SampleSort {
    fn kinds(&self) -> &[WorkKind] {
        &[WorkKind::Sort, WorkKind::CopyBytes]
    }

    fn run(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        let splitters = self.splitters(rank)?;
        let counts = self.divide(rank, &splitters);
        let mut arriving = vec![0u64; counts.len()];
        let (sent, received) = (bytemuck::cast_slice(&counts), &mut arriving);
        rank.rank.all_to_all(sent, bytemuck::cast_slice_mut(received))?;
        for (from, &count) in arriving.iter().enumerate() {
            self.exchange.expect(from, count as usize * NUMBER);
        }
        self.exchange.start(rank.rank, |to| counts[to] as usize * NUMBER)?;
        let total = arriving.iter().sum::<u64>() as usize;
        let (exchange, sorted) = (&self.exchange, &mut self.sorted);
        rank.compute(copying(total), |rank| {
            sorted.clear();
            for from in 0..arriving.len() {
                sorted.extend_from_slice(bytemuck::cast_slice(exchange.block(rank, from)));
            }
        });
        self.exchange.end(rank.rank)?;
        rank.compute(sorting(total), |_| sort(&mut self.sorted));
        Ok(())
    }

    fn run_serial(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        self.serial.iter_mut().for_each(|serial| serial.run(rank));
        Ok(())
    }

    fn check(&mut self, rank: &mut dyn Rank) -> Result<()> {
        check(rank, &self.sorted, (self.count, self.seed), self.mine.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_order_of_the_numbers() {
        let ordered = [
            -f64::NAN,
            f64::NEG_INFINITY,
            -1.5,
            -f64::MIN_POSITIVE,
            -0.0,
            0.0,
            1e-300,
            2.0,
            f64::INFINITY,
            f64::NAN,
        ];
        assert!(ordered.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
    }

    #[test]
    fn a_number_belongs_to_the_part_that_begins_at_or_below_it() {
        let few: Vec<i64> = [0.0, 1.0].map(key).to_vec();
        assert_eq!([-1.0, 0.0, 0.5, 1.0, 9.0].map(|number| owner(&few, number)), [0, 1, 1, 2, 2]);
        let many: Vec<i64> = (0..40).map(|index| key(f64::from(index))).collect();
        assert_eq!([-1.0, 0.0, 38.5, 39.0].map(|number| owner(&many, number)), [0, 1, 39, 40]);
    }
}
