//! Products of matrices: by a library that blocks them for the caches, and by dot products.

use crate::error::{Error, Result, check_length};

/// A matrix of double-precision numbers, row by row, which may be part of a wider one.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    elements: &'a [f64],
    rows: usize,
    columns: usize,
    pitch: usize,
}

impl<'a> Matrix<'a> {
    /// Creates the first `rows` by `columns` of `elements`, with contiguous rows.
    pub fn new(elements: &'a [f64], rows: usize, columns: usize) -> Self {
        Matrix { elements, rows, columns, pitch: columns }
    }

    /// Returns the same matrix with rows that begin `pitch` elements apart.
    #[must_use]
    pub fn pitched(self, pitch: usize) -> Self {
        Matrix { pitch, ..self }
    }

    fn check(&self, what: &'static str) -> Result<()> {
        check_part(what, (self.rows, self.columns, self.pitch), self.elements.len())
    }
}

/// Checks that rows do not overlap and end within the slice.
fn check_part(
    what: &'static str,
    (rows, columns, pitch): (usize, usize, usize),
    found: usize,
) -> Result<()> {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let end = (rows - 1).checked_mul(pitch).and_then(|last| last.checked_add(columns));
    match end {
        Some(end) if end <= found && (columns <= pitch || rows == 1) => Ok(()),
        _ => Err(Error::WrongLength { what, expected: end.unwrap_or(usize::MAX), found }),
    }
}

/// Adds the product of `left` and `right` to `sum`, whose rows begin `pitch` elements apart, by a call of
/// `matrixmultiply`.
///
/// # Errors
/// [`Error::WrongLength`] if a slice ends before its matrix does, or the matrices do not fit each other.
pub fn multiply_add(
    left: Matrix<'_>,
    right: Matrix<'_>,
    sum: &mut [f64],
    pitch: usize,
) -> Result<()> {
    check_length("the rows of the right matrix", left.columns, right.rows)?;
    left.check("the left matrix")?;
    right.check("the right matrix")?;
    let (m, k, n) = (left.rows, left.columns, right.columns);
    check_part("the sum", (m, n, pitch), sum.len())?;
    if m == 0 || n == 0 || k == 0 {
        return Ok(());
    }
    let (left, left_pitch) = (left.elements.as_ptr(), left.pitch as isize);
    let (right, right_pitch) = (right.elements.as_ptr(), right.pitch as isize);
    // SAFETY: all three parts were checked to be within their slices, and the sum is borrowed exclusively.
    unsafe {
        matrixmultiply::dgemm(
            m,
            k,
            n,
            1.0,
            left,
            left_pitch,
            1,
            right,
            right_pitch,
            1,
            1.0,
            sum.as_mut_ptr(),
            pitch as isize,
            1,
        );
    }
    Ok(())
}

/// Multiplies `rows`, each of `order` elements, with a transposed square matrix, so that every element of `product` is
/// the dot product of two contiguous rows. Sums are formed in the order of the elements.
pub fn dot_products(rows: &[f64], transposed: &[f64], order: usize, product: &mut [f64]) {
    if order == 0 {
        return;
    }
    let lines = rows.chunks_exact(order).zip(product.chunks_exact_mut(order));
    for (row, results) in lines {
        for (column, result) in transposed.chunks_exact(order).zip(results) {
            *result = row.iter().zip(column).map(|(a, b)| a * b).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::mix;

    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        (0..count as u64).map(|at| (mix(seed ^ at) >> 40) as f64 / (1 << 23) as f64 - 1.0).collect()
    }

    /// Compares both functions with the definition, in shapes that fill no block of the library.
    #[test]
    fn products_are_those_of_the_definition() {
        for (seed, (m, k, n)) in [(1, (1, 1, 1)), (2, (3, 5, 7)), (3, (33, 70, 19)), (4, (2, 0, 2))]
        {
            let (pitch, seed) = (k + 3, seed as u64);
            let (left, right) = (numbers(m * pitch, seed), numbers(k * n, seed + 9));
            let mut sum = vec![0.5; m * n];
            let part = Matrix::new(&left, m, k).pitched(pitch);
            multiply_add(part, Matrix::new(&right, k, n), &mut sum, n).unwrap();
            for (at, found) in sum.iter().enumerate() {
                let terms = (0..k).map(|t| left[at / n * pitch + t] * right[t * n + at % n]);
                assert!((found - 0.5 - terms.sum::<f64>()).abs() < 1e-12, "seed {seed}, {at}");
            }
        }
        let order = 9;
        let (rows, transposed) = (numbers(2 * order, 5), numbers(order * order, 6));
        let mut product = vec![0.0; 2 * order];
        dot_products(&rows, &transposed, order, &mut product);
        for (at, found) in product.iter().enumerate() {
            let (row, column) = (at / order * order, at % order * order);
            let terms = (0..order).map(|t| rows[row + t] * transposed[column + t]);
            assert!((found - terms.sum::<f64>()).abs() < 1e-12);
        }
    }

    #[test]
    fn matrices_that_do_not_fit_are_refused() {
        let numbers = [0.0; 12];
        let of = |rows, columns| Matrix::new(&numbers, rows, columns);
        assert!(multiply_add(of(3, 4), of(3, 4), &mut [0.0; 9], 3).is_err());
        assert!(multiply_add(of(3, 4), of(4, 3), &mut [0.0; 8], 3).is_err());
        assert!(multiply_add(of(4, 4), of(4, 3), &mut [0.0; 12], 3).is_err());
        assert!(multiply_add(of(3, 4).pitched(2), of(4, 3), &mut [0.0; 9], 3).is_err());
        assert_eq!(multiply_add(of(3, 4), of(4, 3), &mut [0.0; 9], 3), Ok(()));
    }
}
