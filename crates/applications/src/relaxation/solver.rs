//! The solver: sweeps of both colours, edges, and checks.

use contract::{Error, Rank, Result, WorkKind};
use random::mix;

use super::convergence::{Check, Convergence, EVERY};
use super::edges::Edges;
use super::problem::{Problem, TOLERANCE};
use super::tile::{COLOURS, Tile};
use super::tiling::{Cut, Tiling};
use crate::application::{Application, Quantity, Timed};

/// The division of the square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partitions {
    /// Their shape.
    pub cut: Cut,
    /// Number of partitions of each rank.
    pub per_rank: usize,
}

/// A solver of one problem.
pub struct Relaxation {
    problem: Problem,
    check: Check,
    tiles: Vec<Tile>,
    edges: Edges,
    iterations: u64,
    serial: Serial,
}

/// The best serial program: the whole square as one partition.
struct Serial {
    tile: Tile,
    iterations: u64,
}

impl Relaxation {
    /// Prepares a problem of `order` by `order` inner points. All ranks must call it.
    ///
    /// # Errors
    /// [`Error::Program`] if there are more partitions than points to cut.
    pub fn new(
        rank: &mut dyn Rank,
        order: usize,
        partitions: Partitions,
        check: Check,
    ) -> Result<Self> {
        let (me, ranks) = (rank.rank(), rank.size());
        let problem = Problem::new(order);
        let count = partitions.per_rank.saturating_mul(ranks);
        let tiling = Tiling::new(order, partitions.cut, count, ranks)?;
        let tile = |tile| Tile::new(tiling.place(tile), &problem);
        let tiles: Vec<Tile> = tiling.tiles_of(me).map(tile).collect();
        let whole = if me == 0 { 0..order } else { 0..0 };
        Ok(Relaxation {
            edges: Edges::new(&tiling, me, &tiles)?,
            tiles,
            check,
            iterations: 0,
            serial: Serial { tile: Tile::new((whole.clone(), whole), &problem), iterations: 0 },
            problem,
        })
    }

    /// Sweeps one colour over all partitions of this rank. Returns the greatest change if it is measured.
    fn sweep(&mut self, rank: &mut Timed<'_>, colour: usize, measures: bool) -> f64 {
        let points: usize = self.tiles.iter().map(Tile::points).sum();
        let (tiles, problem) = (&mut self.tiles, &self.problem);
        rank.compute_always(Problem::sweeping(points / 2), |_| {
            let changes = tiles.iter_mut().map(|tile| tile.sweep(colour, problem, measures));
            changes.fold(0.0, f64::max)
        })
    }

    /// Carries out an iteration over both colours. Returns the greatest change if it is measured.
    fn iterate(&mut self, rank: &mut Timed<'_>, measures: bool) -> Result<f64> {
        let mut greatest = 0.0f64;
        for colour in COLOURS {
            greatest = greatest.max(self.sweep(rank, colour, measures));
            self.edges.exchange(rank.rank, &mut self.tiles)?;
        }
        Ok(greatest)
    }
}

impl Serial {
    fn run(&mut self, rank: &mut Timed<'_>, problem: &Problem) -> Result<()> {
        self.tile.reset(problem);
        for iteration in 1..=problem.iterations_max() {
            let measures = iteration.is_multiple_of(EVERY);
            let work = Problem::sweeping(self.tile.points());
            let change = rank.compute_always(work, |_| self.iterate(problem, measures));
            if measures && change < TOLERANCE {
                self.iterations = iteration;
                return Ok(());
            }
        }
        Err(endless(problem))
    }

    fn iterate(&mut self, problem: &Problem, measures: bool) -> f64 {
        COLOURS.iter().fold(0.0f64, |greatest, &colour| {
            greatest.max(self.tile.sweep(colour, problem, measures))
        })
    }

    /// Carries out this number of iterations, unless the last run had the same number.
    fn repeat(&mut self, problem: &Problem, iterations: u64) {
        if self.iterations != iterations {
            self.tile.reset(problem);
            for _ in 0..iterations {
                self.iterate(problem, false);
            }
            self.iterations = iterations;
        }
    }
}

fn endless(problem: &Problem) -> Error {
    let (order, most) = (problem.order, problem.iterations_max());
    Error::Program(format!("the grid of {order} x {order} did not converge in {most} iterations"))
}

/// Returns a sum over points that is the same in any order, and different if a bit of a point differs.
fn sum<'a>(tiles: impl Iterator<Item = &'a Tile>) -> u64 {
    let of_point = |((row, column), value): ((usize, usize), f64)| {
        mix(mix((row as u64) << 32 | column as u64) ^ value.to_bits())
    };
    tiles.flat_map(Tile::places).map(of_point).fold(0, u64::wrapping_add)
}

impl Application for Relaxation {
    fn kinds(&self) -> &[WorkKind] {
        &[WorkKind::FloatingPoint]
    }

    fn run(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        let problem = self.problem;
        self.tiles.iter_mut().for_each(|tile| tile.reset(&problem));
        (self.edges.stop_after, self.edges.messages) = (0, 0);
        let mut convergence = Convergence::new(self.check);
        // An answer that comes with edges has reached the last rank after this number of further iterations.
        let farthest = rank.ranks() as u64 - 1;
        for iteration in 1..=problem.iterations_max() {
            let measures = convergence.measures(iteration);
            let change = self.iterate(rank, measures)?;
            let edges = &mut self.edges;
            let stops = rank.checking(|rank| {
                let agreed = measures && convergence.take(rank.rank, iteration, change)?;
                if convergence.poll(rank.rank)? && edges.stop_after == 0 {
                    edges.stop_after = iteration + farthest;
                }
                Ok(agreed || edges.stop_after == iteration)
            })?;
            if stops {
                self.iterations = iteration;
                return rank.checking(|rank| convergence.finish(rank.rank, iteration));
            }
        }
        Err(endless(&problem))
    }

    fn run_serial(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        self.serial.run(rank, &self.problem)
    }

    fn check(&mut self, rank: &mut dyn Rank) -> Result<()> {
        for ((row, column), value) in self.tiles.iter().flat_map(Tile::places) {
            let exact = self.problem.solution(row, column);
            let error = (value - exact).abs();
            if error.is_nan() || error > self.problem.error_max() {
                return Err(Error::Program(format!(
                    "wrong solution: row {row}, column {column} is {value} where {exact} is right"
                )));
            }
        }
        let mut sums = vec![0u64; rank.size()];
        let own = [sum(self.tiles.iter())];
        rank.allgather(bytemuck::cast_slice(&own), bytemuck::cast_slice_mut(&mut sums))?;
        if rank.rank() != 0 {
            return Ok(());
        }
        self.serial.repeat(&self.problem, self.iterations);
        let serial = sum(std::iter::once(&self.serial.tile));
        match sums.into_iter().fold(0, u64::wrapping_add) == serial {
            true => Ok(()),
            false => Err(Error::Program(format!(
                "wrong solution: after {} iterations some bits differ from those of the serial program",
                self.iterations
            ))),
        }
    }

    fn quantities(&self) -> Vec<Quantity> {
        vec![
            Quantity { name: "iterations", unit: "", value: self.iterations as f64 },
            Quantity { name: "messages", unit: "", value: self.edges.messages as f64 },
        ]
    }
}
