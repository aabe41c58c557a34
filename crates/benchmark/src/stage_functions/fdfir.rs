//! A filter over each row, by transforms.

use contract::{Work, WorkKind};
use kernels::fir::{FrequencyFir, frequency_operations};
use kernels::{Complex32, Complex64};

use super::filter::{PARAMETERS, Rows, columns, directly, taps};
use super::{Function, Parameter, Prepared, StageFunction};

pub(super) struct Fdfir;

impl StageFunction for Fdfir {
    fn name(&self) -> &'static str {
        "fdfir"
    }

    fn summary(&self) -> &'static str {
        "the matched filter of a chirp over each row, by transforms"
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
        let filter = FrequencyFir::new(&taps(function), columns)?;
        let row = vec![Complex32::default(); columns];
        Ok(Prepared::InPlace(Box::new(Rows { filter, row })))
    }

    fn directly(
        &self,
        function: &Function,
        matrix: &[Complex64],
        columns: usize,
    ) -> Vec<Complex64> {
        directly(function, matrix, columns, false)
    }
}
