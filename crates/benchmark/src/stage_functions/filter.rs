//! The common parts of the filters: the matched filter of a chirp, over each row.

use contract::{Work, WorkKind};
use kernels::fir::{FrequencyFir, TimeFir, frequency_operations, matched_filter};
use kernels::{Complex32, Complex64};

use super::{About, Function, InPlace, Parameter, Prepared, StageFunction};

pub(super) const TAPS: &str = "taps";

/// The parameters of a filter in files.
const PARAMETERS: &[Parameter] = &[Parameter {
    name: TAPS,
    default: None,
    least: 1,
    meaning: "the length of the chirp that the filter is matched to",
}];

/// A method of filtering rows.
pub(super) struct Filter {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    /// True if rows wrap around.
    pub(super) is_circular: bool,
    /// Work of filtering this number of rows of this number of columns.
    pub(super) work: fn(&Function, usize, usize) -> Work,
    /// Prepares a filter with these taps for rows of this number of columns.
    pub(super) prepare: fn(&[Complex32], usize) -> kernels::Result<Prepared>,
}

impl StageFunction for Filter {
    fn about(&self) -> About {
        About { name: self.name, summary: self.summary, parameters: PARAMETERS }
    }

    /// Returns the number of columns, unless the filter has more taps than a row has points.
    fn columns(&self, function: &Function, columns: usize) -> Result<usize, String> {
        let taps = function.number(TAPS);
        match taps <= columns {
            true => Ok(columns),
            false => Err(format!("has {taps} taps, more than its rows have elements ({columns})")),
        }
    }

    fn work(&self, function: &Function, rows: usize, columns: usize) -> Work {
        (self.work)(function, rows, columns)
    }

    fn prepare(&self, function: &Function, columns: usize) -> kernels::Result<Prepared> {
        (self.prepare)(&taps(function), columns)
    }

    fn directly(&self, function: &Function, input: &[Complex64], columns: usize) -> Vec<Complex64> {
        directly(function, input, columns, self.is_circular)
    }
}

/// Returns the work of a filter by transforms.
pub(super) fn work_by_transforms(_: &Function, rows: usize, columns: usize) -> Work {
    Work::new(WorkKind::Fft, frequency_operations(rows, columns) as u64)
}

/// Returns the filter's taps.
fn taps(function: &Function) -> Vec<Complex32> {
    matched_filter(function.number(TAPS))
}

/// Computes the first points of each filtered row by definition; all of them in a circular filter, where the row wraps
/// around.
fn directly(
    function: &Function,
    matrix: &[Complex64],
    columns: usize,
    circular: bool,
) -> Vec<Complex64> {
    let taps: Vec<Complex64> =
        taps(function).iter().map(|tap| Complex64::new(tap.re.into(), tap.im.into())).collect();
    let point = |row: &[Complex64], i: usize| -> Complex64 {
        let reached = taps.iter().enumerate().filter(|(k, _)| circular || *k <= i);
        reached.map(|(k, tap)| tap * row[(i + columns - k) % columns]).sum()
    };
    let rows = matrix.chunks(columns);
    rows.flat_map(|row| (0..columns).map(move |i| (row, i))).map(|(row, i)| point(row, i)).collect()
}

/// A filter of single rows.
pub(super) trait RowFilter {
    fn filter(&mut self, input: &[Complex32], output: &mut [Complex32]) -> kernels::Result<()>;
}

impl RowFilter for TimeFir {
    fn filter(&mut self, input: &[Complex32], output: &mut [Complex32]) -> kernels::Result<()> {
        TimeFir::filter(self, input, output)
    }
}

impl RowFilter for FrequencyFir {
    fn filter(&mut self, input: &[Complex32], output: &mut [Complex32]) -> kernels::Result<()> {
        FrequencyFir::filter(self, input, output)
    }
}

/// A filter over rows of one length. Results beyond the end of a row are omitted.
pub(super) struct Rows<F> {
    filter: F,
    row: Vec<Complex32>,
}

impl<F: RowFilter + 'static> Rows<F> {
    /// Returns a filter that is ready for rows of this number of columns.
    pub(super) fn prepared(filter: F, columns: usize) -> Prepared {
        let row = vec![Complex32::default(); columns];
        Prepared::InPlace(Box::new(Rows { filter, row }))
    }
}

impl<F: RowFilter> InPlace for Rows<F> {
    fn apply(&mut self, rows: &mut [Complex32]) -> kernels::Result<()> {
        for row in rows.chunks_exact_mut(self.row.len()) {
            self.row.copy_from_slice(row);
            self.filter.filter(&self.row, row)?;
        }
        Ok(())
    }

    fn apply_into(&mut self, input: &[Complex32], output: &mut [Complex32]) -> kernels::Result<()> {
        let length = self.row.len();
        let mut rows = input.chunks_exact(length).zip(output.chunks_exact_mut(length));
        rows.try_for_each(|(input, output)| self.filter.filter(input, output))
    }
}
