//! A filter over each row, in the time domain.

use contract::{Work, WorkKind};
use kernels::fir::{TimeFir, time_operations};
use kernels::{Complex32, Complex64};

use super::filter::{PARAMETERS, Rows, TAPS, columns, directly, taps};
use super::{Function, Parameter, Prepared, StageFunction};

pub(super) struct Tdfir;

impl StageFunction for Tdfir {
    fn name(&self) -> &'static str {
        "tdfir"
    }

    fn summary(&self) -> &'static str {
        "the matched filter of a chirp over each row, in the time domain"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn columns(&self, function: &Function, length: usize) -> Result<usize, String> {
        columns(function, length)
    }

    fn work(&self, function: &Function, rows: usize, columns: usize) -> Work {
        let operations = time_operations(rows, columns, function.number(TAPS));
        Work::new(WorkKind::FloatingPoint, operations as u64)
    }

    fn prepare(&self, function: &Function, columns: usize) -> kernels::Result<Prepared> {
        let (filter, row) = (TimeFir::new(&taps(function))?, vec![Complex32::default(); columns]);
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
