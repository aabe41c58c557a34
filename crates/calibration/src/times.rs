//! Times by message size.

use std::collections::BTreeMap;

/// Medians in microseconds, by size in bytes.
pub(crate) type BySize = BTreeMap<u64, f64>;

/// Returns the middle value, the upper one of the two middle ones of an even count; `None` of no values.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
