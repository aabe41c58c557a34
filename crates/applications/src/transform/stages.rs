//! The form of 1996: all points go through the master after each stage.

use contract::{Buffer, Error, Rank, Result, Work, WorkKind};
use kernels::Complex64;
use kernels::fft::nominal_operations;

use super::points::{POINT, check, check_count, points, room, root};
use super::transpose::Transposed;
use crate::application::{Application, Timed};
use crate::link::{Library, Link, Linked, MASTER, MasterAndWorkers};

/// A transform in stages by a master and workers, in radix 2 and in time.
///
/// The vector is cut into two blocks for each rank. In the first stage every rank transforms its two, and in the second
/// it joins them. Then half of the ranks join the results of two each, and so on, until the master joins the last two.
/// After each stage the master has all points.
pub struct StagedTransform {
    count: usize,
    seed: u64,
    linked: Linked,
    /// The vector at the master, and the points of a stage at a worker.
    data: Buffer,
    /// The given points, at the master.
    input: Buffer,
    /// The roots of the transforms of a block, and of each joining stage of this rank.
    block_roots: Vec<Complex64>,
    stage_roots: Vec<Vec<Complex64>>,
    serial: Option<Transposed>,
}

impl StagedTransform {
    /// Prepares a transform of `count` points. All ranks must call it.
    ///
    /// # Errors
    /// [`Error::Program`] unless points and ranks are powers of two, and there are at least two points for each rank.
    pub fn new(rank: &mut dyn Rank, count: usize, library: Library, seed: u64) -> Result<Self> {
        check_count(count)?;
        let (me, ranks) = (rank.rank(), rank.size());
        if !ranks.is_power_of_two() || count < 2 * ranks {
            return Err(Error::Program(format!(
                "a transform of {count} points cannot be made in stages by {ranks} ranks: these must be a power of two, and \
                 half of the points at most"
            )));
        }
        let is_master = me == MASTER;
        // A rank works in the stages with more workers than its number.
        let stages = active(ranks).take_while(|&workers| me < workers);
        let longest = stages.clone().last().map_or(0, |workers| count / workers);
        let held = if is_master { count } else { 0 };
        Ok(StagedTransform {
            count,
            seed,
            linked: Linked::open(rank, library)?,
            data: room(if is_master { count } else { longest })?,
            input: points(seed, 0..held)?,
            block_roots: roots(count / (2 * ranks)),
            stage_roots: stages.map(|workers| roots(count / workers)).collect(),
            serial: is_master.then(|| Transposed::new((0, 1), count, seed)).transpose()?,
        })
    }
}

impl MasterAndWorkers for StagedTransform {
    fn linked(&mut self) -> &mut Linked {
        &mut self.linked
    }

    fn run_master(&mut self, mut link: Link<'_, '_>) -> Result<()> {
        let (count, blocks) = (self.count, 2 * link.ranks());
        let (data, input) = (self.data.elements_mut(), self.input.elements());
        let copy = Work::new(WorkKind::CopyBytes, (count * POINT) as u64);
        link.compute(copy, || in_blocks(input, data, blocks));
        self.through_workers(&mut link, count * 2 / blocks, |this, link| {
            this.transform_blocks(link, count * 2 / blocks);
        })?;
        for (stage, workers) in active(blocks / 2).enumerate() {
            let length = count / workers;
            self.through_workers(&mut link, length, |this, link| this.join(link, stage, length))?;
        }
        Ok(())
    }

    fn run_worker(&mut self, mut link: Link<'_, '_>) -> Result<()> {
        let (me, ranks) = (link.me(), link.ranks());
        let length = self.count / ranks;
        let bytes = length * POINT;
        link.receive(MASTER, &mut self.data[..bytes])?;
        self.transform_blocks(&mut link, length);
        link.send(MASTER, &self.data[..bytes])?;
        for (stage, workers) in active(ranks).enumerate().take_while(|(_, workers)| me < *workers) {
            let length = self.count / workers;
            let bytes = length * POINT;
            link.receive(MASTER, &mut self.data[..bytes])?;
            self.join(&mut link, stage, length);
            link.send(MASTER, &self.data[..bytes])?;
        }
        Ok(())
    }
}

impl StagedTransform {
    /// Sends each worker its points, does the master's own part, and receives the workers' results.
    fn through_workers(
        &mut self,
        link: &mut Link<'_, '_>,
        length: usize,
        own: impl FnOnce(&mut Self, &mut Link<'_, '_>),
    ) -> Result<()> {
        let (workers, bytes) = (self.count / length, length * POINT);
        for worker in 1..workers {
            link.send(worker, &self.data[worker * bytes..][..bytes])?;
        }
        own(self, link);
        for worker in 1..workers {
            link.receive(worker, &mut self.data[worker * bytes..][..bytes])?;
        }
        Ok(())
    }

    /// Transforms the two blocks of this rank.
    fn transform_blocks(&mut self, link: &mut Link<'_, '_>, length: usize) {
        let (roots, data) = (&self.block_roots, self.data.elements_mut());
        let operations = 2.0 * nominal_operations(length / 2);
        link.compute(Work::new(WorkKind::FloatingPoint, operations as u64), || {
            data[..length].chunks_exact_mut(length / 2).for_each(|block| transform(block, roots));
        });
    }

    /// Joins the two transforms of this rank.
    fn join(&mut self, link: &mut Link<'_, '_>, stage: usize, length: usize) {
        let (roots, data) = (&self.stage_roots[stage], self.data.elements_mut());
        let work = Work::new(WorkKind::FloatingPoint, 5 * length as u64);
        link.compute(work, || butterflies(&mut data[..length], roots));
    }
}

/// Returns the number of ranks that work in each of the joining stages.
fn active(ranks: usize) -> impl Iterator<Item = usize> + Clone {
    std::iter::successors(Some(ranks), |&workers| (workers > 1).then_some(workers / 2))
}

/// Returns the first half of the roots of unity of a transform.
fn roots(length: usize) -> Vec<Complex64> {
    (0..length / 2).map(|place| root(place, length)).collect()
}

/// Returns a number of `bits` bits with its bits in reverse.
fn reversed(number: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { number.reverse_bits() >> (usize::BITS - bits) }
}

/// Puts the points in the order in which neighbouring blocks are joined: block b has every `blocks`-th point, from b
/// with its bits in reverse on.
fn in_blocks(input: &[Complex64], data: &mut [Complex64], blocks: usize) {
    let length = input.len() / blocks;
    for (block, points) in data.chunks_exact_mut(length).enumerate() {
        let first = reversed(block, blocks.ilog2());
        let from = input.iter().skip(first).step_by(blocks);
        points.iter_mut().zip(from).for_each(|(to, point)| *to = *point);
    }
}

/// Transforms a block in place.
fn transform(block: &mut [Complex64], roots: &[Complex64]) {
    let bits = block.len().ilog2();
    for place in 0..block.len() {
        let other = reversed(place, bits);
        if place < other {
            block.swap(place, other);
        }
    }
    for bit in 0..bits {
        let length = 2 << bit;
        let stride = block.len() / length;
        for part in block.chunks_exact_mut(length) {
            let (even, odd) = part.split_at_mut(length / 2);
            for (place, (even, odd)) in even.iter_mut().zip(odd).enumerate() {
                let turned = *odd * roots[place * stride];
                (*even, *odd) = (*even + turned, *even - turned);
            }
        }
    }
}

/// Carries out one stage of butterflies: the transform of the whole from those of its halves.
fn butterflies(data: &mut [Complex64], roots: &[Complex64]) {
    let (even, odd) = data.split_at_mut(data.len() / 2);
    for ((even, odd), root) in even.iter_mut().zip(odd).zip(roots) {
        let turned = *odd * root;
        (*even, *odd) = (*even + turned, *even - turned);
    }
}

impl Application for StagedTransform {
    fn kinds(&self) -> &[WorkKind] {
        use WorkKind::{CopyBytes, CornerTurnBytes, Fft, FloatingPoint};
        &[FloatingPoint, CopyBytes, Fft, CornerTurnBytes]
    }

    fn run(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        self.run_part(rank)
    }

    fn run_serial(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        self.serial.as_mut().map_or(Ok(()), |serial| serial.run(rank))
    }

    fn check(&mut self, rank: &mut dyn Rank) -> Result<()> {
        let is_master = rank.rank() == MASTER;
        let places = if is_master { 0..self.count } else { 0..0 };
        let found = if is_master { self.data.elements() } else { &[] };
        check(rank, found, places, (self.count, self.seed))
    }

    fn finish(self: Box<Self>, rank: &mut dyn Rank) -> Result<()> {
        self.linked.close(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the order of 8 points in 4 blocks with one derived by hand.
    #[test]
    fn blocks_hold_every_so_manyth_point_with_bits_in_reverse() {
        let input: Vec<Complex64> = (0..8).map(|at| Complex64::new(f64::from(at), 0.0)).collect();
        let mut data = input.clone();
        in_blocks(&input, &mut data, 4);
        let order: Vec<f64> = data.iter().map(|point| point.re).collect();
        assert_eq!(order, [0.0, 4.0, 2.0, 6.0, 1.0, 5.0, 3.0, 7.0]);
    }

    #[test]
    fn half_of_the_workers_drop_out_from_stage_to_stage() {
        assert_eq!(active(8).collect::<Vec<_>>(), [8, 4, 2, 1]);
        assert_eq!(active(1).collect::<Vec<_>>(), [1]);
    }
}
