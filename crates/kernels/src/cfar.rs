//! Constant false-alarm rate detection, as the HPEC Challenge defines it: the ratio of the power of each cell of a row
//! to the mean power of its neighbours.

use num_complex::Complex32;

use crate::error::{Result, check_length};

/// Nominal operations of the HPEC Challenge for each cell.
pub const OPERATIONS_PER_CELL: f64 = 7.0;

/// Detection along rows: the mean T(i) is over `cells` cells on each side, beyond `guard` cells that a target may
/// extend to. Near the ends of a row the mean is over the existing cells.
pub struct Cfar {
    guard: usize,
    cells: usize,
    /// Powers with zeros on both sides, and sums over runs of them with a power of two as length.
    powers: Vec<f32>,
    runs: Vec<f32>,
    windows: Vec<f32>,
}

impl Cfar {
    /// Creates a detection with these numbers of cells on each side.
    pub fn new(guard: usize, cells: usize) -> Self {
        Cfar { guard, cells, powers: Vec::new(), runs: Vec::new(), windows: Vec::new() }
    }

    /// Computes `ratios` of a row: |x(i)|^2 / T(i), and 0 if there is no power at all. A detector reports a target if
    /// the ratio is above a threshold.
    ///
    /// # Errors
    /// [`Error::WrongLength`](crate::Error::WrongLength) if there are not as many ratios as cells.
    pub fn ratios(&mut self, row: &[Complex32], ratios: &mut [f32]) -> Result<()> {
        check_length("the ratios", row.len(), ratios.len())?;
        let reach = self.guard + self.cells;
        self.powers.clear();
        self.powers.resize(reach, 0.0);
        self.powers.extend(row.iter().map(|x| x.re * x.re + x.im * x.im));
        self.powers.resize(row.len() + 2 * reach, 0.0);
        self.sum_windows();
        let left = &self.windows[..row.len()];
        let right = &self.windows[reach + self.guard + 1..][..row.len()];
        let powers = &self.powers[reach..];
        for (i, ratio) in ratios.iter_mut().enumerate() {
            let neighbours = self.neighbours(i, row.len()) as f32;
            let sum = (left[i] + right[i]).max(f32::MIN_POSITIVE);
            *ratio = powers[i] * neighbours / sum;
        }
        Ok(())
    }

    /// Returns the number of cells in the mean for cell `i` of `count`.
    fn neighbours(&self, i: usize, count: usize) -> usize {
        let side = |beyond: usize| beyond.saturating_sub(self.guard).min(self.cells);
        side(i) + side(count - 1 - i)
    }

    /// Computes the sums of `cells` successive powers from each on. A sum of 2^j powers is two sums of half as many,
    /// and a window is the sum of those powers of two that its length contains.
    fn sum_windows(&mut self) {
        let count = self.powers.len();
        self.runs.clone_from(&self.powers);
        self.windows.clear();
        // A window of the last cells extends beyond the zeros by less than its length.
        self.windows.resize(count + 1, 0.0);
        let (mut length, mut summed) = (1, 0);
        while length <= self.cells {
            if self.cells & length != 0 {
                let there = count.saturating_sub(summed);
                let runs = &self.runs[summed.min(count)..];
                self.windows[..there].iter_mut().zip(runs).for_each(|(sum, run)| *sum += run);
                summed += length;
            }
            for at in 0..count.saturating_sub(length) {
                self.runs[at] += self.runs[at + length];
            }
            length *= 2;
        }
    }
}
