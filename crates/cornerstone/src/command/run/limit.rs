//! The longest permitted pause of a processor, `--limit`.

use record::{PauseSummary, Run};

use crate::failure::Failure;
use crate::wording::{counted, quantity};

/// Checks that no processor paused for longer than `limit_s`, if the user gave a limit.
///
/// # Errors
/// If a pause was longer, or no pause was compared with the limit.
pub(super) fn held(run: &Run, limit_s: Option<f64>) -> Result<(), Failure> {
    let Some(limit_s) = limit_s else { return Ok(()) };
    let limit = quantity(limit_s, "s");
    let of_run = run.measurements.iter().filter_map(|m| m.pauses.as_ref()?.summary.as_ref());
    let summaries: Vec<&PauseSummary> =
        of_run.filter(|summary| summary.limit_us.is_some()).collect();
    if summaries.is_empty() {
        return Err(Failure::failed(format!("no pause was compared with --limit {limit}"))
            .hint("`clock` measured nothing here; the notes say why"));
    }
    let beyond: u64 = summaries.iter().map(|summary| summary.beyond_limit).sum();
    let all: u64 = summaries.iter().map(|summary| summary.count).sum();
    let longest_us = summaries.iter().map(|summary| summary.longest_us).fold(0.0, f64::max);
    match beyond {
        0 => Ok(()),
        _ => Err(Failure::failed(format!(
            "{beyond} of {} exceeded --limit {limit}, the longest {}",
            counted(all as usize, "pause"),
            quantity(longest_us, "us")
        ))),
    }
}
