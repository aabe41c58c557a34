//! Estimates before measuring: the time of a measurement, and the memory for its messages.

use record::Parameters;

use crate::catalogue::find;
use crate::declaration::Benchmark;
use crate::job::{Launch, Step};
use crate::settings::Settings;
use crate::shape::Shape;

impl Launch {
    /// Returns the memory for messages that the ranks together need at once, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let needs = |step| {
            (0..self.ranks)
                .fold(0, |sum: u64, me| sum.saturating_add(memory_bytes(step, self.ranks, me)))
        };
        self.job.steps.iter().map(needs).max().unwrap_or(0)
    }

    /// Returns the largest memory for messages that a rank needs at once, in bytes.
    pub fn memory_per_rank_bytes(&self) -> u64 {
        let needs =
            |step| (0..self.ranks).map(|me| memory_bytes(step, self.ranks, me)).max().unwrap_or(0);
        self.job.steps.iter().map(needs).max().unwrap_or(0)
    }
}

fn memory_bytes(step: &Step, ranks: usize, me: usize) -> u64 {
    let shape = Shape::new(ranks, me, step.size_bytes as usize, &step.parameters);
    find(&step.benchmark).map_or(0, |found| (found.program.blocks)(&shape).bytes(step.size_bytes))
}

/// An average machine: the cost of the shortest event, and the rate of long messages. Used only for the estimate of the
/// remaining time.
const EVENT_S: f64 = 3e-6;
const BYTES_PER_S: f64 = 4e9;
/// Number of events of an average measurement, with its warm-up.
const EVENTS: f64 = 120.0;

/// Estimates the time of a measurement in seconds.
pub(super) fn estimate_s(
    benchmark: &Benchmark,
    ranks: usize,
    size_bytes: u64,
    parameters: &Parameters,
    settings: &Settings,
) -> f64 {
    if let Some(lasts_s) = benchmark.lasts_s {
        return lasts_s(settings, parameters);
    }
    let shape = Shape::new(ranks, 0, size_bytes as usize, parameters);
    let program = &benchmark.program;
    let bytes = (program.moved)(&shape).saturating_mul((program.parts)(&shape)) as f64;
    let event_s = EVENT_S * ranks as f64 + bytes / BYTES_PER_S;
    let all_s = (EVENTS * event_s).max(settings.time_min_s) + 2.0 * bytes / BYTES_PER_S;
    all_s.min(settings.time_limit_s.max(event_s))
}
