//! The matrices of a scene: noise and targets.

use kernels::fir::chirp;
use kernels::{Complex32, Complex64};

use crate::chain::{Chain, Scene, SceneTarget};
use crate::stage_functions::steering;
use random::mix;

/// Number of directions of the ground's echo.
const CLUTTER_PATCHES: usize = 24;

/// Returns matrix `which` of a chain with this scene, row by row.
pub(super) fn matrix(chain: &Chain, scene: &Scene, seed: u64, which: usize) -> Vec<Complex32> {
    let mut noise = Noise { seed: mix(seed ^ mix(which as u64)), next: 0 };
    let elements = chain.rows * chain.columns;
    let mut matrix: Vec<Complex64> = (0..elements).map(|_| noise.next()).collect();
    match scene {
        Scene::Sar { row_taps, column_taps, target } => {
            let [down, along] = [row_taps, column_taps].map(|taps| chirp(*taps));
            for target in target {
                add_echo(&mut matrix, chain.columns, target, (&down, &along));
            }
        }
        Scene::Stap { antennas, clutter_db, target, jammer } => {
            let antennas = *antennas;
            let mut waves = Waves { matrix: &mut matrix, antennas, pulses: chain.columns };
            for SceneTarget { row, column, beam, db } in target {
                waves.add(*row, amplitude(*db).into(), *beam, *column as f64);
            }
            for range in 0..chain.rows / antennas {
                for jammer in jammer {
                    waves.add_noise(range, &mut noise, amplitude(jammer.db), jammer.beam);
                }
                if let Some(db) = clutter_db {
                    waves.add_clutter(range, &mut noise, amplitude(*db));
                }
            }
        }
    }
    matrix.iter().map(|x| Complex32::new(x.re as f32, x.im as f32)).collect()
}

/// Returns the amplitude of a wave with this power in decibels.
fn amplitude(db: f64) -> f64 {
    10f64.powf(db / 20.0)
}

/// Adds the chirps of a target.
fn add_echo(
    matrix: &mut [Complex64],
    columns: usize,
    target: &SceneTarget,
    (down, along): (&[Complex32], &[Complex32]),
) {
    for (row, x) in down.iter().enumerate() {
        let first = (target.row + row) * columns + target.column;
        for (element, y) in matrix[first..].iter_mut().zip(along) {
            let point = x * y;
            *element += Complex64::new(point.re.into(), point.im.into()) * amplitude(target.db);
        }
    }
}

/// A matrix with a row for each antenna of each range, and a column for each pulse.
struct Waves<'a> {
    matrix: &'a mut [Complex64],
    antennas: usize,
    pulses: usize,
}

impl Waves<'_> {
    /// Adds a wave along beam `beam` that turns `turns` times in all pulses.
    fn add(&mut self, range: usize, amplitude: Complex64, beam: f64, turns: f64) {
        let turn = std::f64::consts::TAU * turns / self.pulses as f64;
        let pulses: Vec<_> =
            (0..self.pulses).map(|p| amplitude * Complex64::cis(turn * p as f64)).collect();
        self.add_pulses(range, &pulses, beam);
    }

    /// Adds noise from one direction.
    fn add_noise(&mut self, range: usize, noise: &mut Noise, amplitude: f64, beam: f64) {
        let pulses: Vec<_> = (0..self.pulses).map(|_| noise.next() * amplitude).collect();
        self.add_pulses(range, &pulses, beam);
    }

    /// Adds the echo of the ground: from each direction one that turns as fast as the direction is off the axis.
    fn add_clutter(&mut self, range: usize, noise: &mut Noise, amplitude: f64) {
        for patch in 0..CLUTTER_PATCHES {
            let aside = (patch as f64 + 0.5) / CLUTTER_PATCHES as f64;
            let each = noise.next() * amplitude / (CLUTTER_PATCHES as f64).sqrt();
            self.add(range, each, aside * self.antennas as f64, aside * self.pulses as f64);
        }
    }

    fn add_pulses(&mut self, range: usize, pulses: &[Complex64], beam: f64) {
        let rows = self.matrix[range * self.antennas * self.pulses..].chunks_exact_mut(self.pulses);
        for (row, antenna) in rows.zip(steering(self.antennas, beam)) {
            row.iter_mut().zip(pulses).for_each(|(element, pulse)| *element += pulse * antenna);
        }
    }
}

/// Complex Gaussian noise of power 1.
struct Noise {
    seed: u64,
    next: u64,
}

impl Noise {
    /// Returns the next value, by Box and Muller: the power is exponential, the angle uniform.
    fn next(&mut self) -> Complex64 {
        let mut uniform = || {
            self.next += 1;
            ((mix(self.seed ^ mix(self.next)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        };
        Complex64::from_polar((-uniform().ln()).sqrt(), std::f64::consts::TAU * uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_has_power_1_and_no_mean() {
        let mut noise = Noise { seed: 7, next: 0 };
        let points: Vec<_> = (0..100_000).map(|_| noise.next()).collect();
        let power: f64 = points.iter().map(|x| x.norm_sqr()).sum::<f64>() / points.len() as f64;
        let mean = points.iter().sum::<Complex64>() / points.len() as f64;
        // The power of a point has mean and deviation 1, so the mean of 100000 is off by 0.003.
        assert!((power - 1.0).abs() < 0.015 && mean.norm() < 0.015, "{power} {mean}");
    }
}
