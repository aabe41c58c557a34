//! Adaptive weights from a QR factorisation of the snapshots themselves.

use contract::{Work, WorkKind};
use kernels::qr::{Qr, triangle_operations};
use kernels::{Complex32, Complex64};

use super::snapshots::{
    ANTENNAS, ANTENNAS_PARAMETER, BEAM, BEAM_PARAMETER, check_beam, snapshots, steering,
};
use super::{About, Function, OutOfPlace, Prepared, StageFunction};

/// Weights w with which a wave along a beam s keeps its amplitude, and as little as possible remains of all else in the
/// row's snapshots x: w = C^-1 s / (s^H C^-1 s), where C is the sum of x x^H, with a share of its mean diagonal added
/// to the diagonal. C is not computed: it is R^H R of the factorisation of the snapshots.
pub(super) struct QrWeights;

/// Diagonal loading, as a share of the mean of the diagonal. It bounds the condition of the equations by the number of
/// antennas over it, and keeps the weights bounded if there are few snapshots.
const LOADING: f64 = 0.01;

impl StageFunction for QrWeights {
    fn about(&self) -> About {
        About {
            name: "qr-weights",
            summary: "puts adaptive weights before the snapshots of each row, by a QR factorisation of them",
            parameters: &[ANTENNAS_PARAMETER, BEAM_PARAMETER],
        }
    }

    fn columns(&self, function: &Function, columns: usize) -> Result<usize, String> {
        check_beam(function, function.number(BEAM))?;
        snapshots(function, columns)?;
        Ok(columns + function.number(ANTENNAS))
    }

    fn work(&self, function: &Function, rows: usize, columns: usize) -> Work {
        let antennas = function.number(ANTENNAS);
        let each = triangle_operations(columns / antennas + antennas, antennas);
        Work::new(WorkKind::FloatingPoint, (rows as f64 * each) as u64)
    }

    fn prepare(&self, function: &Function, columns: usize) -> kernels::Result<Prepared> {
        let antennas = function.number(ANTENNAS);
        let rows = columns / antennas + antennas;
        let narrow = |x: &Complex64| Complex32::new(x.re as f32, x.im as f32);
        Ok(Prepared::OutOfPlace(Box::new(Weights {
            qr: Qr::new(rows, antennas)?,
            training: vec![Complex32::default(); rows * antennas],
            steering: steering(antennas, function.number(BEAM) as f64).iter().map(narrow).collect(),
        })))
    }

    fn directly(&self, function: &Function, input: &[Complex64], columns: usize) -> Vec<Complex64> {
        let steering = steering(function.number(ANTENNAS), function.number(BEAM) as f64);
        let rows = input.chunks(columns);
        rows.flat_map(|row| {
            let mut with_weights = weights_by_elimination(row, &steering);
            with_weights.extend_from_slice(row);
            with_weights
        })
        .collect()
    }

    /// Returns the factor. An error of the data grows by the condition of the snapshots, which the loading keeps below
    /// 10 for each antenna's square root.
    fn error_factor(&self) -> f32 {
        100.0
    }
}

struct Weights {
    qr: Qr,
    training: Vec<Complex32>,
    steering: Vec<Complex32>,
}

impl OutOfPlace for Weights {
    fn apply(&mut self, input: &[Complex32], output: &mut [Complex32]) -> kernels::Result<()> {
        let antennas = self.steering.len();
        let columns = self.training.len() - antennas * antennas;
        for (row, output) in
            input.chunks_exact(columns).zip(output.chunks_exact_mut(columns + antennas))
        {
            let (weights, snapshots) = output.split_at_mut(antennas);
            snapshots.copy_from_slice(row);
            // The rows of the matrix are the conjugated snapshots, so R^H R is the sum of x x^H.
            self.training[..columns].iter_mut().zip(row).for_each(|(to, x)| *to = x.conj());
            let diagonal = row.iter().map(|x| x.norm_sqr()).sum::<f32>() / antennas as f32;
            let loading = Complex32::from((LOADING as f32 * diagonal).sqrt());
            self.training[columns..].fill(Complex32::default());
            (0..antennas).for_each(|a| self.training[columns + a * antennas + a] = loading);
            self.qr.factor(&self.training)?;
            weights.copy_from_slice(&self.steering);
            self.qr.solve_normal(weights)?;
            let gain: Complex32 =
                self.steering.iter().zip(&*weights).map(|(s, w)| s.conj() * w).sum();
            if gain.norm_sqr() > 0.0 {
                weights.iter_mut().for_each(|weight| *weight /= gain);
            }
        }
        Ok(())
    }
}

/// Computes the weights from C itself, by Gauss's elimination with pivots.
fn weights_by_elimination(row: &[Complex64], steering: &[Complex64]) -> Vec<Complex64> {
    let n = steering.len();
    let mut c = vec![vec![Complex64::default(); n + 1]; n];
    for snapshot in row.chunks(n) {
        for (i, x) in snapshot.iter().enumerate() {
            snapshot.iter().enumerate().for_each(|(j, y)| c[i][j] += x * y.conj());
        }
    }
    let mean: f64 = (0..n).map(|i| c[i][i].re).sum::<f64>() / n as f64;
    (0..n).for_each(|i| c[i][i] += LOADING * mean);
    (0..n).for_each(|i| c[i][n] = steering[i]);
    for i in 0..n {
        let pivot = (i..n).max_by(|&a, &b| c[a][i].norm().total_cmp(&c[b][i].norm())).unwrap_or(i);
        c.swap(i, pivot);
        let own = c[i].clone();
        for row in c.iter_mut().skip(i + 1) {
            let factor = row[i] / own[i];
            row.iter_mut().zip(&own).for_each(|(x, y)| *x -= factor * y);
        }
    }
    let mut weights = vec![Complex64::default(); n];
    for i in (0..n).rev() {
        let solved: Complex64 = (i + 1..n).map(|j| c[i][j] * weights[j]).sum();
        weights[i] = (c[i][n] - solved) / c[i][i];
    }
    let gain: Complex64 = steering.iter().zip(&weights).map(|(s, w)| s.conj() * w).sum();
    weights.iter().map(|weight| weight / gain).collect()
}
