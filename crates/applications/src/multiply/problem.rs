//! The matrices, and the check of a product.

use contract::{Buffer, Error, Result, Work, WorkKind};
use kernels::{Matrix, multiply_add};
use random::mix;

use crate::application::Timed;

const NUMBER: usize = size_of::<f64>();

/// Returns an element between -1 and 1 of matrix `which`.
pub(super) fn element(seed: u64, which: u64, row: usize, column: usize) -> f64 {
    let place = (row as u64) << 32 | column as u64;
    let bits = mix(mix(seed ^ which) ^ place) >> 11;
    bits as f64 / (1u64 << 52) as f64 - 1.0
}

/// The numbers of the first and the second matrix.
pub(super) const LEFT: u64 = 1;
pub(super) const RIGHT: u64 = 2;

/// Returns a matrix of `rows` by `columns` elements, each computed from its place.
pub(super) fn filled(
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
    element: impl Fn(usize, usize) -> f64,
) -> Result<Buffer> {
    let mut matrix = room(rows.len(), columns.len())?;
    if columns.is_empty() {
        return Ok(matrix);
    }
    let lines = matrix.elements_mut::<f64>().chunks_exact_mut(columns.len());
    for (row, line) in rows.zip(lines) {
        line.iter_mut().zip(columns.clone()).for_each(|(to, column)| *to = element(row, column));
    }
    Ok(matrix)
}

/// Returns room for a matrix.
pub(super) fn room(rows: usize, columns: usize) -> Result<Buffer> {
    let bytes = rows.checked_mul(columns).and_then(|elements| elements.checked_mul(NUMBER));
    let bytes = bytes.ok_or_else(|| Error::OutOfMemory {
        what: format!("a matrix of {rows} x {columns}"),
        bytes: u64::MAX,
    })?;
    Buffer::try_zeroed(bytes)
}

/// Returns the number of floating-point operations of a product with these numbers of rows, columns and terms.
pub(super) fn operations(rows: usize, columns: usize, terms: usize) -> u64 {
    2 * rows as u64 * columns as u64 * terms as u64
}

/// The best serial program: one call of the library.
pub(super) struct Serial {
    order: usize,
    left: Buffer,
    right: Buffer,
    product: Buffer,
}

impl Serial {
    pub(super) fn new(order: usize, seed: u64) -> Result<Self> {
        let all = || 0..order;
        Ok(Serial {
            order,
            left: filled(all(), all(), |row, column| element(seed, LEFT, row, column))?,
            right: filled(all(), all(), |row, column| element(seed, RIGHT, row, column))?,
            product: room(order, order)?,
        })
    }

    pub(super) fn run(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        let Serial { order, left, right, product } = self;
        let order = *order;
        let work = Work::new(WorkKind::MatrixMultiply, operations(order, order, order));
        rank.try_compute(work, |_| {
            let product = product.elements_mut::<f64>();
            product.fill(0.0);
            let left = Matrix::new(left.elements(), order, order);
            multiply_add(left, Matrix::new(right.elements(), order, order), product, order)
        })
    }
}

/// Number of rows that are checked in addition to the first and the last.
const ROWS_CHECKED: usize = 14;

/// Checks rows of a product against the definition: a number of rows spread over `found`, or all if there are few.
/// `found` has the elements of `rows` and `columns` of the product.
///
/// # Errors
/// [`Error::Program`] names the first wrong element.
pub(super) fn check(
    found: &[f64],
    (rows, columns): (std::ops::Range<usize>, std::ops::Range<usize>),
    order: usize,
    seed: u64,
) -> Result<()> {
    if columns.is_empty() || rows.is_empty() {
        return Ok(());
    }
    // The terms are at most one, so rounding errors of any order of summation stay below this.
    let tolerance = order as f64 * order as f64 * f64::EPSILON;
    let step = rows.len().div_ceil(ROWS_CHECKED);
    let last = rows.end - 1;
    for row in rows.clone().step_by(step).chain([last]) {
        let left: Vec<f64> = (0..order).map(|term| element(seed, LEFT, row, term)).collect();
        let mut exact = vec![0.0; columns.len()];
        for (term, left) in left.iter().enumerate() {
            for (sum, column) in exact.iter_mut().zip(columns.clone()) {
                *sum += left * element(seed, RIGHT, term, column);
            }
        }
        let line = &found[(row - rows.start) * columns.len()..][..columns.len()];
        for ((found, exact), column) in line.iter().zip(&exact).zip(columns.clone()) {
            let error = (found - exact).abs();
            if error.is_nan() || error > tolerance {
                return Err(Error::Program(format!(
                    "wrong product: row {row}, column {column} is {found} where {exact} is right"
                )));
            }
        }
    }
    Ok(())
}
