//! Beams with fixed weights.

use contract::{Work, WorkKind};
use kernels::{Complex32, Complex64};

use super::inner_product::dot;
use super::snapshots::{
    ANTENNAS, ANTENNAS_PARAMETER, BEAM, BEAM_PARAMETER, check_beam, snapshots, steering,
};
use super::{About, Function, OutOfPlace, Parameter, Prepared, StageFunction};

pub(super) struct Beamforming;

const BEAMS: &str = "beams";

impl StageFunction for Beamforming {
    fn about(&self) -> About {
        const BEAMS_PARAMETER: Parameter = Parameter {
            name: BEAMS,
            default: Some(1),
            least: 1,
            meaning: "how many beams, from `beam` on",
        };
        About {
            name: "beamforming",
            summary: "of each snapshot an element for each of successive beams, with fixed weights",
            parameters: &[ANTENNAS_PARAMETER, BEAM_PARAMETER, BEAMS_PARAMETER],
        }
    }

    fn columns(&self, function: &Function, columns: usize) -> Result<usize, String> {
        check_beam(function, function.number(BEAM) + function.number(BEAMS) - 1)?;
        Ok(snapshots(function, columns)? * function.number(BEAMS))
    }

    fn work(&self, function: &Function, rows: usize, columns: usize) -> Work {
        let products = rows * columns * function.number(BEAMS);
        Work::new(WorkKind::FloatingPoint, 8 * products as u64)
    }

    fn prepare(&self, function: &Function, _: usize) -> kernels::Result<Prepared> {
        let narrow = |x: &Complex64| Complex32::new(x.re as f32, x.im as f32);
        let beams = weights(function).into_iter().map(|beam| beam.iter().map(narrow).collect());
        Ok(Prepared::OutOfPlace(Box::new(Beams(beams.collect()))))
    }

    fn directly(&self, function: &Function, input: &[Complex64], _: usize) -> Vec<Complex64> {
        let beams = weights(function);
        let product = |beam: &Vec<Complex64>, snapshot: &[Complex64]| -> Complex64 {
            beam.iter().zip(snapshot).map(|(weight, x)| weight.conj() * x).sum()
        };
        let snapshots = input.chunks(function.number(ANTENNAS));
        let all = snapshots.flat_map(|snapshot| beams.iter().map(move |beam| (beam, snapshot)));
        all.map(|(beam, snapshot)| product(beam, snapshot)).collect()
    }
}

/// Returns the weights of each beam, with which a wave along it keeps its amplitude.
fn weights(function: &Function) -> Vec<Vec<Complex64>> {
    let antennas = function.number(ANTENNAS);
    let beam = |number: usize| {
        let steering = steering(antennas, (function.number(BEAM) + number) as f64);
        steering.iter().map(|x| x / antennas as f64).collect()
    };
    (0..function.number(BEAMS)).map(beam).collect()
}

struct Beams(Vec<Vec<Complex32>>);

impl OutOfPlace for Beams {
    fn apply(&mut self, input: &[Complex32], output: &mut [Complex32]) -> kernels::Result<()> {
        let snapshots = input.chunks_exact(self.0[0].len());
        for (elements, snapshot) in output.chunks_exact_mut(self.0.len()).zip(snapshots) {
            elements.iter_mut().zip(&self.0).for_each(|(to, beam)| *to = dot(beam, snapshot));
        }
        Ok(())
    }
}
