//! Remarks that a reader needs before using a number.

use record::{Measurement, Run, StopReason};

use crate::fabric_name::simulated_machine;
use crate::wording::{significant, whole_percent};

/// Returns the remarks on a measurement, in words. Empty if there are none.
pub(super) fn remarks(m: &Measurement, run: &Run) -> String {
    let mut remarks = Vec::new();
    if !m.stop_reason.converged() {
        let limit = if m.stop_reason == StopReason::TimeLimit { "time" } else { "sample" };
        remarks.push(format!("not converged: {limit} limit"));
    }
    if m.launch_medians.len() > 1 {
        remarks.push(format!("{} launches", m.launch_medians.len()));
    }
    if let Some(times) = oversubscribed(m, run) {
        remarks.push(format!("{} ranks a processor", significant(times)));
    }
    if m.timing.events_per_sample > 1 {
        remarks.push(format!("{} events a sample", m.timing.events_per_sample));
    }
    if m.timing.clock_share > 0.05 {
        remarks.push(format!("clock takes {}", whole_percent(m.timing.clock_share)));
    }
    if m.timing.late_starts > 0 {
        remarks.push(format!("{} late starts repeated", m.timing.late_starts));
    }
    remarks.join("; ")
}

/// Returns the number of ranks on each processor, if there are more ranks than processors. Simulated ranks have a
/// processor each.
pub(super) fn oversubscribed(m: &Measurement, run: &Run) -> Option<f64> {
    let processors = run.header().environment.processors_available;
    let real = simulated_machine(&m.fabric).is_none();
    (real && processors > 0 && m.ranks > processors).then(|| m.ranks as f64 / processors as f64)
}
