//! A circular convolution of each row.

use kernels::Complex32;
use kernels::fir::Convolution;

use super::filter::{Filter, work_by_transforms};
use super::{InPlace, Prepared};

pub(super) static CONVOLUTION: Filter = Filter {
    name: "convolution",
    summary: "the circular convolution of each row with the matched filter of a chirp",
    is_circular: true,
    work: work_by_transforms,
    prepare: |taps, columns| Ok(Prepared::InPlace(Box::new(Convolution::new(taps, columns)?))),
};

impl InPlace for Convolution {
    fn apply(&mut self, rows: &mut [Complex32]) -> kernels::Result<()> {
        Convolution::apply(self, rows)
    }
}
