//! A circular convolution of each row.

use contract::{Work, WorkKind};
use kernels::fir::{Convolution, frequency_operations};
use kernels::{Complex32, Complex64};

use super::filter::{PARAMETERS, columns, directly, taps};
use super::{Function, InPlace, Parameter, Prepared, StageFunction};

pub(super) struct Convolve;

impl StageFunction for Convolve {
    fn name(&self) -> &'static str {
        "convolution"
    }

    fn summary(&self) -> &'static str {
        "the circular convolution of each row with the matched filter of a chirp"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn columns(&self, function: &Function, length: usize) -> Result<usize, String> {
        columns(function, length)
    }

    fn work(&self, _: &Function, rows: usize, columns: usize) -> Work {
        Work::new(WorkKind::Fft, frequency_operations(rows, columns) as u64)
    }

    fn prepare(&self, function: &Function, columns: usize) -> kernels::Result<Prepared> {
        Ok(Prepared::InPlace(Box::new(Convolution::new(&taps(function), columns)?)))
    }

    fn directly(
        &self,
        function: &Function,
        matrix: &[Complex64],
        columns: usize,
    ) -> Vec<Complex64> {
        directly(function, matrix, columns, true)
    }
}

impl InPlace for Convolution {
    fn apply(&mut self, rows: &mut [Complex32]) -> kernels::Result<()> {
        Convolution::apply(self, rows)
    }
}
