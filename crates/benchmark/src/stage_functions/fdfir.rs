//! A filter over each row, by transforms.

use kernels::fir::FrequencyFir;

use super::filter::{Filter, Rows, work_by_transforms};

pub(super) static FDFIR: Filter = Filter {
    name: "fdfir",
    summary: "the matched filter of a chirp over each row, by transforms",
    is_circular: false,
    work: work_by_transforms,
    prepare: |taps, columns| Ok(Rows::prepared(FrequencyFir::new(taps, columns)?, columns)),
};
