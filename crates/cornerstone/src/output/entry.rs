//! One line of the tables of a run.

use analysis::limits::Share;
use record::Measurement;

/// A measurement with its share of the limit that bounds it, if there is one.
pub(super) struct Entry<'a> {
    pub(super) measurement: &'a Measurement,
    pub(super) share: Option<Share>,
}

/// Mark of a number that did not converge.
pub(super) const UNCONVERGED: &str = "*";

/// Returns the mark of a number that did not converge, or nothing for others. All metrics of a measurement come from
/// the same samples.
pub(super) fn mark(measurement: &Measurement) -> &'static str {
    if measurement.stop_reason.converged() { "" } else { UNCONVERGED }
}
