//! The current form: blocks over a grid of ranks, and panels that are under way while others are multiplied.

use std::collections::VecDeque;
use std::ops::Range;

use contract::{Buffer, Completed, Posted, Rank, Result, Source, Tag, TagSelector, Work, WorkKind};
use kernels::{Matrix, multiply_add};

use super::problem::{LEFT, RIGHT, Serial, check, element, filled, operations, room};
use crate::application::{Application, Timed};
use crate::split::part;

/// Number of terms of the product that a panel contributes: enough that the library works at its full rate, and few
/// enough that the first panel arrives soon.
const PANEL: usize = 256;
/// Number of panels that may be under way from one rank to another, in addition to the one that is multiplied.
const AHEAD: usize = 2;

const LEFT_TAG: Tag = Tag::new(4);
const RIGHT_TAG: Tag = Tag::new(5);

/// A piece of the sum over the terms of all dot products, and the owners of its panels.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    terms: Range<usize>,
    /// The column of the grid that has these columns of the first matrix.
    left_owner: usize,
    /// The row of the grid that has these rows of the second.
    right_owner: usize,
}

/// The distribution of the matrices over the ranks: rank r is at row r / columns, column r % columns of the grid.
#[derive(Clone, Debug)]
struct Grid {
    rows: usize,
    columns: usize,
    order: usize,
}

impl Grid {
    /// Returns the grid of all ranks that is nearest to a square.
    fn new(ranks: usize, order: usize) -> Self {
        let divides = |rows: &usize| ranks.is_multiple_of(*rows);
        let rows = (1..=ranks.isqrt()).rev().find(divides).unwrap_or(1);
        Grid { rows, columns: ranks / rows, order }
    }

    fn place(&self, rank: usize) -> (usize, usize) {
        (rank / self.columns, rank % self.columns)
    }

    /// Returns the rows of all matrices that a row of the grid has. `columns_of` returns the columns that a column has.
    fn rows_of(&self, row: usize) -> Range<usize> {
        part(self.order, self.rows, row)
    }

    fn columns_of(&self, column: usize) -> Range<usize> {
        part(self.order, self.columns, column)
    }

    /// Returns the steps in order. None crosses from one owner to the next.
    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut begin = 0;
        let (mut left_owner, mut right_owner) = (0, 0);
        while begin < self.order {
            while self.columns_of(left_owner).end <= begin {
                left_owner += 1;
            }
            while self.rows_of(right_owner).end <= begin {
                right_owner += 1;
            }
            let owned = self.columns_of(left_owner).end.min(self.rows_of(right_owner).end);
            let end = owned.min(begin + PANEL);
            steps.push(Step { terms: begin..end, left_owner, right_owner });
            begin = end;
        }
        steps
    }
}

/// The panels of one matrix that a rank sends and receives.
struct Panels {
    tag: Tag,
    /// The ranks in this rank's row or column of the grid, without itself.
    others: Vec<usize>,
    /// Buffers that are not in use.
    free: Vec<Buffer>,
    posted: VecDeque<Posted>,
    /// The receive for the next step, if its panel is another rank's.
    expected: Option<Posted>,
}

impl Panels {
    fn new(tag: Tag, others: Vec<usize>) -> Self {
        Panels { tag, others, free: Vec::new(), posted: VecDeque::new(), expected: None }
    }

    fn buffer(&mut self, bytes: usize) -> Result<Buffer> {
        match self.free.pop() {
            Some(mut buffer) => {
                buffer.resize(bytes);
                Ok(buffer)
            }
            None => Buffer::try_zeroed(bytes),
        }
    }

    /// Sends a panel of `bytes` bytes, which `fill` writes, to all others.
    fn send(
        &mut self,
        rank: &mut Timed<'_>,
        bytes: usize,
        fill: impl Fn(&mut [f64]),
    ) -> Result<()> {
        for to in self.others.clone() {
            let mut buffer = self.buffer(bytes)?;
            let copy = Work::new(WorkKind::CopyBytes, bytes as u64);
            rank.compute(copy, |_| fill(buffer.elements_mut()));
            self.posted.push_back(rank.rank.post_send(to, self.tag, buffer)?);
        }
        while self.posted.len() > AHEAD * self.others.len() {
            self.wait_for_one(rank)?;
        }
        Ok(())
    }

    fn wait_for_one(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        if let Some(posted) = self.posted.pop_front() {
            self.free.push(rank.rank.wait(posted)?.buffer);
        }
        Ok(())
    }

    fn expect(&mut self, rank: &mut Timed<'_>, from: usize, bytes: usize) -> Result<()> {
        let (buffer, tag) = (self.buffer(bytes)?, TagSelector::Is(self.tag));
        self.expected = Some(rank.rank.post_receive_in_place(Source::Rank(from), tag, buffer)?);
        Ok(())
    }

    /// Waits for the expected panel, if there is one.
    fn take(&mut self, rank: &mut Timed<'_>) -> Result<Option<Completed>> {
        self.expected.take().map(|posted| rank.rank.wait(posted)).transpose()
    }

    fn release(&mut self, rank: &mut Timed<'_>, panel: Option<Completed>) -> Result<()> {
        if let Some(panel) = panel {
            self.free.push(rank.rank.release(panel)?);
        }
        Ok(())
    }
}

/// Three matrices in blocks over a grid of ranks.
pub struct Blocks {
    order: usize,
    seed: u64,
    grid: Grid,
    rows: Range<usize>,
    columns: Range<usize>,
    left: Buffer,
    right: Buffer,
    product: Buffer,
    left_panels: Panels,
    right_panels: Panels,
    steps: Vec<Step>,
    serial: Option<Serial>,
}

impl Blocks {
    /// Prepares the product of two matrices of `order` rows. All ranks must call it. The number of ranks need not
    /// divide the order: the blocks then differ by a row or a column, and may be empty.
    pub fn new(rank: &mut dyn Rank, order: usize, seed: u64) -> Result<Self> {
        let (me, ranks) = (rank.rank(), rank.size());
        let grid = Grid::new(ranks, order);
        let (row, column) = grid.place(me);
        let (rows, columns) = (grid.rows_of(row), grid.columns_of(column));
        let others = |same: &dyn Fn(usize) -> bool| {
            (0..ranks).filter(|&one| one != me && same(one)).collect::<Vec<_>>()
        };
        let in_row = others(&|one| grid.place(one).0 == row);
        let in_column = others(&|one| grid.place(one).1 == column);
        let of = |which| move |row, column| element(seed, which, row, column);
        Ok(Blocks {
            order,
            seed,
            left: filled(rows.clone(), columns.clone(), of(LEFT))?,
            right: filled(rows.clone(), columns.clone(), of(RIGHT))?,
            product: room(rows.len(), columns.len())?,
            left_panels: Panels::new(LEFT_TAG, in_row),
            right_panels: Panels::new(RIGHT_TAG, in_column),
            steps: grid.steps(),
            serial: (me == 0).then(|| Serial::new(order, seed)).transpose()?,
            rows,
            columns,
            grid,
        })
    }

    /// Sends the panels of a step that this rank has, and posts receives for the others.
    fn begin(&mut self, rank: &mut Timed<'_>, step: &Step) -> Result<()> {
        let (row, column) = self.grid.place(rank.me());
        let (width, terms) = (self.columns.len(), step.terms.len());
        let left_bytes = self.rows.len() * terms * size_of::<f64>();
        if step.left_owner == column {
            let (left, first) = (&self.left, step.terms.start - self.columns.start);
            self.left_panels.send(rank, left_bytes, |panel| {
                let lines = left.elements::<f64>().chunks_exact(width.max(1));
                for (to, line) in panel.chunks_exact_mut(terms).zip(lines) {
                    to.copy_from_slice(&line[first..][..terms]);
                }
            })?;
        } else {
            let from = row * self.grid.columns + step.left_owner;
            self.left_panels.expect(rank, from, left_bytes)?;
        }
        let right_bytes = terms * width * size_of::<f64>();
        if step.right_owner == row {
            let (right, first) = (&self.right, step.terms.start - self.rows.start);
            self.right_panels.send(rank, right_bytes, |panel| {
                panel.copy_from_slice(&right.elements::<f64>()[first * width..][..terms * width]);
            })
        } else {
            let from = step.right_owner * self.grid.columns + column;
            self.right_panels.expect(rank, from, right_bytes)
        }
    }

    /// Multiplies the panels of a step.
    fn multiply(
        &mut self,
        rank: &mut Timed<'_>,
        step: &Step,
        (left_panel, right_panel): (&Option<Completed>, &Option<Completed>),
    ) -> Result<()> {
        let (height, width, terms) = (self.rows.len(), self.columns.len(), step.terms.len());
        let work = Work::new(WorkKind::MatrixMultiply, operations(height, width, terms));
        rank.try_compute(work, |rank| {
            let left = match left_panel {
                Some(panel) => Matrix::new(bytemuck::cast_slice(rank.view(panel)), height, terms),
                None => {
                    let first = (step.terms.start - self.columns.start).min(self.left.len());
                    let left = self.left.elements().get(first..).unwrap_or_default();
                    Matrix::new(left, height, terms).pitched(width)
                }
            };
            let right = match right_panel {
                Some(panel) => bytemuck::cast_slice(rank.view(panel)),
                None => &self.right.elements()[(step.terms.start - self.rows.start) * width..],
            };
            let right = Matrix::new(right, terms, width);
            multiply_add(left, right, self.product.elements_mut(), width)
        })
    }
}

impl Application for Blocks {
    fn kinds(&self) -> &[WorkKind] {
        &[WorkKind::MatrixMultiply, WorkKind::CopyBytes]
    }

    fn run(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        self.product.fill(0);
        let steps = std::mem::take(&mut self.steps);
        if let Some(first) = steps.first() {
            self.begin(rank, first)?;
        }
        for (at, step) in steps.iter().enumerate() {
            let panels = (self.left_panels.take(rank)?, self.right_panels.take(rank)?);
            if let Some(next) = steps.get(at + 1) {
                self.begin(rank, next)?;
            }
            self.multiply(rank, step, (&panels.0, &panels.1))?;
            self.left_panels.release(rank, panels.0)?;
            self.right_panels.release(rank, panels.1)?;
        }
        self.steps = steps;
        for panels in [&mut self.left_panels, &mut self.right_panels] {
            while !panels.posted.is_empty() {
                panels.wait_for_one(rank)?;
            }
        }
        Ok(())
    }

    fn run_serial(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        self.serial.as_mut().map_or(Ok(()), |serial| serial.run(rank))
    }

    fn check(&mut self, _rank: &mut dyn Rank) -> Result<()> {
        let place = (self.rows.clone(), self.columns.clone());
        check(self.product.elements(), place, self.order, self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_as_square_as_the_ranks_allow() {
        let shape = |ranks| {
            let grid = Grid::new(ranks, 10);
            (grid.rows, grid.columns)
        };
        assert_eq!(
            [1, 2, 4, 6, 7, 8, 12].map(shape),
            [(1, 1), (1, 2), (2, 2), (2, 3), (1, 7), (2, 4), (3, 4)]
        );
    }

    /// By hand: there are 2 x 3 ranks and order 1000. Columns end at 333, 666 and 1000, rows at 500 and 1000. Panels
    /// have at most 256 terms.
    #[test]
    fn steps_cross_no_owner() {
        let steps = Grid::new(6, 1000).steps();
        let ends: Vec<usize> = steps.iter().map(|step| step.terms.end).collect();
        assert_eq!(ends, [256, 333, 500, 666, 922, 1000]);
        let owners: Vec<_> = steps.iter().map(|step| (step.left_owner, step.right_owner)).collect();
        assert_eq!(owners, [(0, 0), (0, 0), (1, 0), (1, 1), (2, 1), (2, 1)]);
    }

    #[test]
    fn more_ranks_than_rows_have_steps_too() {
        let steps = Grid::new(7, 3).steps();
        assert_eq!(steps.iter().map(|step| step.terms.len()).sum::<usize>(), 3);
    }
}
