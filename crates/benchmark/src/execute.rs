//! What each rank of a launch runs.

use contract::record::{Key, Measurement, ParameterValue, Parameters, Trial, TrialLine};
use contract::{Error, Rank, Result, SharedLine, TimeSpan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::catalogue::{Program, Timing, find};
use crate::data::{Data, Shape};
use crate::record::Subject;
use crate::timed_loop::{self, Outcome, Overheads, Plan, Progress};
use crate::turns::{Kept, turn};
use crate::{Benchmark, Job, Placement, Settings, Step};

/// What rank 0 tells while it executes a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A measurement begins.
    Started {
        /// The step's place in the job, from 0.
        index: usize,
        /// How many steps the job has.
        of: usize,
        /// The benchmark with its parameters and size.
        label: String,
    },
    /// A measurement goes on; told a few times a second.
    Progress {
        /// The step's place in the job, from 0.
        index: usize,
        /// Samples so far, without the warm-up.
        samples: u64,
        /// The half-width of the median's interval as a share of the median, once there are samples.
        half_width: Option<f64>,
        /// Seconds since the measurement began.
        spent_s: f64,
    },
    /// One trial of a search for a period is made.
    Tried(TrialLine),
    /// A measurement is made: its metrics, the time first.
    Measured(Vec<Measurement>),
    /// A measurement cannot be made here.
    Skipped {
        /// The step's place in the job, from 0.
        index: usize,
        /// The benchmark with its parameters and size.
        label: String,
        /// Why.
        reason: String,
    },
}

/// Where rank 0's events go.
type Sink<'a> = &'a mut dyn FnMut(Event) -> Result<()>;

/// Executes `job`. All ranks of a launch call it with the same job; the `sink` of rank 0 gets the events, those of the
/// other ranks nothing.
///
/// # Errors
/// Any error of the contract or of the sink ends the job at once, on every rank; so do data that arrive wrong.
pub fn execute(rank: &mut dyn Rank, job: &Job, sink: Sink<'_>) -> Result<()> {
    let overheads = Overheads::measure(rank)?;
    let begin = rank.now();
    let of_a_turn = job.settings.of_a_turn();
    let mut kept = BTreeMap::new();
    for (index, step) in job.steps.iter().enumerate() {
        let key = (step.benchmark.clone(), step.parameters.clone(), step.size_bytes);
        let mut bench = Bench::new(rank, step, &job.settings, overheads, sink)?;
        check_ranks(bench.benchmark, bench.shape.ranks)?;
        if bench.benchmark.in_turns {
            bench.settings = &of_a_turn;
        }
        let limit = limit(job, bench.rank.now().since(begin), job.steps.len() - index);
        bench.limit = limit.min(TimeSpan::from_s(bench.settings.time_limit_s));
        (bench.index, bench.of) = (index, job.steps.len());
        bench.kept = kept.remove(&key);
        let now = bench.run()?;
        kept.extend(now.map(|now| (key, now)));
    }
    Ok(())
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

/// Even when the time for all is used up, a measurement gets this long.
const LIMIT_MIN_S: f64 = 0.02;
/// Most measurements need less than their share of the time left, so one that needs more may take this many shares.
const SHARES: f64 = 4.0;

/// The time limit of the next measurement, where `left` are left to make.
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

/// A measurement being made, as one rank sees it.
pub(crate) struct Bench<'a> {
    pub(crate) rank: &'a mut dyn Rank,
    pub(crate) benchmark: &'static Benchmark,
    pub(crate) step: &'a Step,
    pub(crate) shape: Shape,
    pub(crate) settings: &'a Settings,
    pub(crate) overheads: Overheads,
    pub(crate) limit: TimeSpan,
    fabric: String,
    index: usize,
    of: usize,
    /// What earlier turns have brought.
    kept: Option<Kept>,
    sink: &'a mut dyn FnMut(Event) -> Result<()>,
}

impl Bench<'_> {
    /// Of a step by itself: the only one of its job, with all its time.
    pub(crate) fn new<'a>(
        rank: &'a mut dyn Rank,
        step: &'a Step,
        settings: &'a Settings,
        overheads: Overheads,
        sink: Sink<'a>,
    ) -> Result<Bench<'a>> {
        let benchmark = find(&step.benchmark).ok_or_else(|| {
            Error::Program(format!("there is no benchmark `{}` in this build", step.benchmark))
        })?;
        let shape =
            Shape::new(rank.size(), rank.rank(), step.size_bytes as usize, &step.parameters);
        let fabric = rank.describe().name;
        Ok(Bench {
            rank,
            benchmark,
            step,
            shape,
            settings,
            overheads,
            limit: TimeSpan::from_s(settings.time_limit_s),
            fabric,
            index: 0,
            of: 1,
            kept: None,
            sink,
        })
    }

    /// Makes the measurement, or one turn of it; what is kept for the turns to come.
    fn run(mut self) -> Result<Option<Kept>> {
        let (index, of, mut label) = (self.index, self.of, self.step.label());
        if self.in_turns() {
            label += &format!(", turn {} of {}", self.step.turn, self.settings.turns);
        }
        self.tell(Event::Started { index, of, label })?;
        if let Some(reason) = self.misplaced()? {
            self.skip(reason)?;
            return Ok(None);
        }
        (self.benchmark.measure)(&mut self).map_err(|error| match error {
            Error::Program(what) => Error::Program(format!("{}: {what}", self.step.label())),
            other => other,
        })?;
        Ok(self.kept)
    }

    /// Whether this is one of several turns.
    pub(crate) fn in_turns(&self) -> bool {
        self.benchmark.in_turns && self.settings.turns > 1
    }

    /// Why this cannot run on this fabric or where the ranks are, if it cannot. The same on every rank.
    fn misplaced(&mut self) -> Result<Option<String>> {
        if self.benchmark.program.needs_shared_line && self.rank.shared_line().is_none() {
            return Ok(Some("there is no memory here that all ranks see".into()));
        }
        if self.benchmark.placement != Placement::OneProcessor {
            return Ok(None);
        }
        let processors = self.processors()?;
        let together =
            processors[0].is_some() && processors.iter().all(|one| *one == processors[0]);
        let apart = "its ranks are not bound to one processor, and it measures what happens on one";
        Ok((!together).then(|| apart.into()))
    }

    /// The processor that each rank is bound to, if it is. All ranks call it alike.
    pub(crate) fn processors(&mut self) -> Result<Vec<Option<u64>>> {
        let mine = self.rank.processor().map_or(u64::MAX, |processor| processor as u64);
        let mut all = vec![0; self.shape.ranks * size_of::<u64>()];
        self.rank.allgather(&mine.to_ne_bytes(), &mut all)?;
        let (words, _) = all.as_chunks();
        let processors = words.iter().map(|word| u64::from_ne_bytes(*word));
        Ok(processors.map(|processor| (processor != u64::MAX).then_some(processor)).collect())
    }

    /// The number that the step has under this name.
    pub(crate) fn number(&self, name: &str) -> Result<usize> {
        match self.step.parameters.get(name) {
            Some(ParameterValue::Number(number)) => Ok(*number as usize),
            _ => Err(self.unknown(name)),
        }
    }

    /// The error of a step whose parameter of this name means nothing here.
    pub(crate) fn unknown(&self, name: &str) -> Error {
        let found = self.step.parameters.get(name).map_or("nothing".into(), ToString::to_string);
        Error::Program(format!("the parameter {name} is {found}, which this build does not know"))
    }

    /// Makes the measurement by the timed loop and tells its metrics.
    pub(crate) fn timed(&mut self) -> Result<()> {
        let program = &self.benchmark.program;
        let outcome = self.sampled(program)?;
        self.report(program, outcome, Parameters::new())
    }

    /// Times the program and checks its data; rank 0 gets the outcome.
    pub(crate) fn sampled(&mut self, program: &Program) -> Result<Option<Outcome>> {
        let blocks = (program.blocks)(&self.shape);
        let seed = self.settings.seed;
        let mut data = Data::new(self.shape.clone(), blocks, program.received, seed)?;
        let before_us = self.line_us()?;
        self.clear_shared_line()?;
        let event = |rank: &mut dyn Rank| (program.event)(rank, &mut data);
        let mut outcome = self.measure(program.timing, program.in_a_row, event)?;
        let after_us = self.line_us()?;
        if let Some(outcome) = outcome.as_mut().filter(|_| self.in_turns()) {
            outcome.turns = vec![turn(outcome, before_us, after_us)];
        }
        data.check(program.received, seed)?;
        Ok(outcome)
    }

    /// Sets the line that all ranks see to zero, between two barriers: nobody still looks at what the measurement before
    /// left there, and nobody looks yet for what the next one puts there. Nor does anybody send before everybody has
    /// its buffers, or the first samples would wait for page faults.
    pub(crate) fn clear_shared_line(&mut self) -> Result<()> {
        self.rank.barrier()?;
        if self.shape.me == 0
            && let Some(line) = self.rank.shared_line()
        {
            clear(line);
        }
        self.rank.barrier()
    }

    /// Times `event`; rank 0 gets the outcome.
    pub(crate) fn measure<E>(
        &mut self,
        timing: Timing,
        in_a_row: bool,
        event: E,
    ) -> Result<Option<Outcome>>
    where
        E: FnMut(&mut dyn Rank) -> Result<()>,
    {
        let Bench { limit, settings, overheads, index, .. } = *self;
        let plan = Plan { timing, in_a_row, pair: self.shape.pair, settings, limit, overheads };
        let sink = &mut *self.sink;
        let mut progress = |Progress { samples, half_width, spent }: Progress| {
            sink(Event::Progress { index, samples, half_width, spent_s: spent.as_s() })
        };
        timed_loop::measure(self.rank, &plan, event, &mut progress)
    }

    /// Tells the metrics of an outcome, at the rank that has it; `more` says how it had to be made, where that is not
    /// as planned.
    pub(crate) fn report(
        &mut self,
        program: &Program,
        outcome: Option<Outcome>,
        more: Parameters,
    ) -> Result<()> {
        let Some(mut outcome) = outcome else { return Ok(()) };
        if let Some(earlier) = self.kept.take() {
            if earlier.more == more {
                outcome = earlier.and(outcome, self.settings);
            } else {
                self.tell_metrics(program, &earlier.outcome, earlier.more)?;
            }
        }
        if self.in_turns() && self.step.turn < self.settings.turns {
            self.kept = Some(Kept { more, outcome });
            return Ok(());
        }
        self.tell_metrics(program, &outcome, more)
    }

    fn tell_metrics(
        &mut self,
        program: &Program,
        outcome: &Outcome,
        more: Parameters,
    ) -> Result<()> {
        let measurements = self.subject(more).measurements(program, outcome)?;
        self.tell(Event::Measured(measurements))
    }

    pub(crate) fn subject(&self, more: Parameters) -> Subject<'_> {
        let mut parameters = self.step.parameters.clone();
        parameters.extend(more);
        Subject {
            benchmark: self.benchmark,
            fabric: self.fabric.clone(),
            parameters,
            shape: &self.shape,
            settings: self.settings,
        }
    }

    /// One trial of a search, as the results file keeps it.
    pub(crate) fn trial_line(&self, trial: Trial) -> TrialLine {
        let Step { benchmark, parameters, size_bytes, .. } = self.step.clone();
        let key = Key { benchmark, ranks: self.shape.ranks, parameters, size_bytes };
        TrialLine { key, fabric: self.fabric.clone(), trial }
    }

    pub(crate) fn skip(&mut self, reason: String) -> Result<()> {
        if self.step.turn > 1 {
            return Ok(());
        }
        let (index, label) = (self.index, self.step.label());
        self.tell(Event::Skipped { index, label, reason })
    }

    pub(crate) fn tell(&mut self, event: Event) -> Result<()> {
        if self.shape.me == 0 { (self.sink)(event) } else { Ok(()) }
    }
}

fn clear(line: &dyn SharedLine) {
    for index in 0..8 {
        // Relaxed: the barriers before and after order it against every use by another rank.
        line.word(index).store(0, std::sync::atomic::Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
