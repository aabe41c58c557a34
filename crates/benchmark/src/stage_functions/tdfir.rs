//! A filter over each row, in the time domain.

use contract::{Work, WorkKind};
use kernels::fir::{TimeFir, time_operations};

use super::filter::{Filter, Rows, TAPS};

pub(super) static TDFIR: Filter = Filter {
    name: "tdfir",
    summary: "the matched filter of a chirp over each row, in the time domain",
    is_circular: false,
    work: |function, rows, columns| {
        let operations = time_operations(rows, columns, function.number(TAPS));
        Work::new(WorkKind::FloatingPoint, operations as u64)
    },
    prepare: |taps, columns| Ok(Rows::prepared(TimeFir::new(taps)?, columns)),
};
