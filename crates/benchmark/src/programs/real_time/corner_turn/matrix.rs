//! The matrix that is turned: its shape, its distribution, and its elements.

use contract::{Buffer, Error, Result};
use std::marker::PhantomData;

/// An element of 4, 8 or 16 bytes. A corner turn does not interpret its content.
pub(super) trait MatrixElement: bytemuck::Pod + PartialEq + std::fmt::LowerHex {
    /// Returns the element at a place of the matrix. It differs at each place, as far as its bytes permit.
    fn at(seed: u64, place: u64) -> Self;
}

/// An odd number, so that the product is a bijection; from the golden ratio, so that products of neighbours are far
/// apart.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl MatrixElement for u32 {
    fn at(seed: u64, place: u64) -> u32 {
        ((place ^ seed) as u32).wrapping_mul(SPREAD as u32)
    }
}

impl MatrixElement for u64 {
    fn at(seed: u64, place: u64) -> u64 {
        (place ^ seed).wrapping_mul(SPREAD)
    }
}

impl MatrixElement for u128 {
    fn at(seed: u64, place: u64) -> u128 {
        u128::from(u64::at(seed, place)) << 64 | u128::from(place)
    }
}

/// A matrix of `rows` by `columns` elements, shared evenly by the ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix<T> {
    rows: usize,
    columns: usize,
    ranks: usize,
    seed: u64,
    element: PhantomData<T>,
}

impl<T: MatrixElement> Matrix<T> {
    pub(super) fn new(rows: usize, columns: usize, ranks: usize, seed: u64) -> Result<Self> {
        if rows == 0
            || columns == 0
            || !rows.is_multiple_of(ranks)
            || !columns.is_multiple_of(ranks)
        {
            return Err(Error::Program(format!(
                "a matrix of {rows} x {columns} cannot be shared evenly by {ranks} ranks; choose rows and columns that \
                 {ranks} divides"
            )));
        }
        Ok(Matrix { rows, columns, ranks, seed, element: PhantomData })
    }

    pub(super) fn ranks(&self) -> usize {
        self.ranks
    }

    /// Returns the numbers of rows and columns in all.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Returns the numbers of rows and columns of a block, the data of one rank for another before the turn.
    pub(super) fn block(&self) -> (usize, usize) {
        (self.rows / self.ranks, self.columns / self.ranks)
    }

    /// Returns the number of bytes of a block.
    pub(super) fn block_bytes(&self) -> usize {
        let (rows, columns) = self.block();
        rows * columns * size_of::<T>()
    }

    /// Returns the number of bytes of a rank, before and after.
    pub(super) fn part_bytes(&self) -> usize {
        self.block_bytes() * self.ranks
    }

    fn element(&self, turn: u64, row: usize, column: usize) -> T {
        let place = row as u64 * self.columns as u64 + column as u64;
        T::at(self.seed ^ turn, place)
    }

    /// Returns the rows of rank `me`; every other turn has other elements.
    pub(super) fn rows_of(&self, me: usize, turn: u64) -> Result<Buffer> {
        let mut part = Buffer::try_zeroed(self.part_bytes())?;
        let first = me * self.block().0;
        for (index, element) in part.elements_mut::<T>().iter_mut().enumerate() {
            *element = self.element(turn, first + index / self.columns, index % self.columns);
        }
        Ok(part)
    }

    /// Checks that `turned` contains the columns of rank `me`, as rows.
    ///
    /// # Errors
    /// [`Error::Program`] names the first wrong element.
    pub(super) fn check(&self, turned: &Buffer, me: usize, turn: u64) -> Result<()> {
        let first = me * self.block().1;
        for (index, found) in turned.elements::<T>().iter().enumerate() {
            let (row, column) = (index % self.rows, first + index / self.rows);
            let expected = self.element(turn, row, column);
            if *found != expected {
                return Err(Error::Program(format!(
                    "wrong data: rank {me} has {found:#x} for row {row}, column {column}, where {expected:#x} stood"
                )));
            }
        }
        Ok(())
    }
}
