//! The work of each rank of a launch.

use std::collections::BTreeMap;

use contract::{Error, Rank, Result, TimeSpan};

use crate::bench::{Bench, Sink};
use crate::catalogue::find;
use crate::declaration::Benchmark;
use crate::event::Event;
use crate::job::Job;
use crate::repetition::Earlier;
use crate::timed_loop::Overheads;

/// Executes `job`. All ranks of a launch call it with the same job. The `sink` of rank 0 receives the events, those of
/// the other ranks nothing.
///
/// # Errors
/// Any error of the contract or of the sink ends the job at once, on every rank; so do wrong data.
pub fn execute(rank: &mut dyn Rank, job: &Job, sink: Sink<'_>) -> Result<()> {
    let overheads = Overheads::measure(rank)?;
    let begin = rank.now();
    let of_a_repetition = job.settings.of_a_repetition();
    let mut earlier = BTreeMap::new();
    for (index, step) in job.steps.iter().enumerate() {
        let key = (step.benchmark.clone(), step.parameters.clone(), step.size_bytes);
        let benchmark = find(&step.benchmark).ok_or_else(|| {
            Error::Program(format!("there is no benchmark `{}` in this build", step.benchmark))
        })?;
        check_ranks(benchmark, rank.size())?;
        let settings = if benchmark.repeatable { &of_a_repetition } else { &job.settings };
        let limit = limit(job, rank.now().since(begin), job.steps.len() - index);
        let mut bench = Bench::new(rank, benchmark.definition(), step, settings, overheads, sink);
        bench.limit = limit.min(bench.limit);
        bench.index = index;
        bench.earlier = earlier.remove(&key);
        let now = run(bench, benchmark, job.steps.len())?;
        earlier.extend(now.map(|now| (key, now)));
    }
    Ok(())
}

/// Makes the measurement, or one repetition of it. Returns the data that later repetitions need.
fn run(mut bench: Bench<'_>, benchmark: &Benchmark, of: usize) -> Result<Option<Earlier>> {
    let (index, mut label) = (bench.index, bench.step.label());
    if bench.is_repeated() {
        label += &format!(", turn {} of {}", bench.step.repetition, bench.settings.repetitions);
    }
    bench.emit(Event::Started { index, of, label })?;
    if let Some(reason) = bench.misplaced()? {
        bench.skip(reason)?;
        return Ok(None);
    }
    (benchmark.measure)(&mut bench).map_err(|error| match error {
        Error::Program(what) => Error::Program(format!("{}: {what}", bench.step.label())),
        other => other,
    })?;
    Ok(bench.earlier)
}

fn check_ranks(benchmark: &Benchmark, ranks: usize) -> Result<()> {
    if benchmark.ranks.allows(ranks) {
        return Ok(());
    }
    Err(Error::Program(format!(
        "`{}` runs with {}, not with {ranks}",
        benchmark.name, benchmark.ranks
    )))
}

/// Time limit in seconds of a measurement even if the time for all is used up.
const LIMIT_MIN_S: f64 = 0.02;
/// Number of shares of the remaining time that a measurement may take, because most need less than one.
const SHARES: f64 = 4.0;

/// Returns the time limit of the next measurement, if `left` measurements remain.
fn limit(job: &Job, spent: TimeSpan, left: usize) -> TimeSpan {
    let own_s = job.settings.time_limit_s;
    let limit_s = match job.limit_s {
        Some(all_s) => {
            let share_s = (all_s - spent.as_s()) / left as f64;
            own_s.min((SHARES * share_s).max(LIMIT_MIN_S))
        }
        None => own_s,
    };
    TimeSpan::from_s(limit_s)
}

#[cfg(test)]
mod tests;
