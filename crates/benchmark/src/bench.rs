//! A measurement in progress, at one rank.

use contract::collective::Algorithm;
use contract::{Error, Rank, Result, SharedLine, TimeSpan, WorkKind};
use record::{Key, Measurement, ParameterValue, Parameters, Trial, TrialLine};

use crate::case::{ALGORITHM, is_as_the_fabric_chooses};
use crate::core_to_core::line_us;
use crate::data::Data;
use crate::event::Event;
use crate::job::Step;
use crate::program::{Definition, Program, Timing};
use crate::ranks::Placement;
use crate::record::Subject;
use crate::repetition::{self, Earlier};
use crate::settings::Settings;
use crate::shape::Shape;
use crate::timed_loop::{self, LoopPlan, Outcome, Overheads, Progress};

/// Receiver of rank 0's events.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(Event) -> Result<()>;

/// A measurement in progress, at one rank.
pub(crate) struct Bench<'a> {
    pub(crate) rank: &'a mut dyn Rank,
    pub(crate) definition: Definition,
    pub(crate) step: &'a Step,
    pub(crate) shape: Shape,
    pub(crate) settings: &'a Settings,
    pub(crate) overheads: Overheads,
    pub(crate) limit: TimeSpan,
    fabric: String,
    /// Index of the step in the job, from 0.
    pub(crate) index: usize,
    /// Results of earlier repetitions.
    pub(crate) earlier: Option<Earlier>,
    sink: Sink<'a>,
}

impl Bench<'_> {
    /// Creates a bench for a step that is the only one of its job and has all the job's time.
    pub(crate) fn new<'a>(
        rank: &'a mut dyn Rank,
        definition: Definition,
        step: &'a Step,
        settings: &'a Settings,
        overheads: Overheads,
        sink: Sink<'a>,
    ) -> Bench<'a> {
        let shape =
            Shape::new(rank.size(), rank.rank(), step.size_bytes as usize, &step.parameters);
        let fabric = rank.describe().name;
        Bench {
            rank,
            definition,
            step,
            shape,
            settings,
            overheads,
            limit: TimeSpan::from_s(settings.time_limit_s),
            fabric,
            index: 0,
            earlier: None,
            sink,
        }
    }

    /// Returns whether the measurement is made in several repetitions.
    pub(crate) fn is_repeated(&self) -> bool {
        self.definition.repeatable && self.settings.repetitions > 1
    }

    /// Returns the reason why the step cannot run on this fabric or with this placement, or `None` if it can. The
    /// result is the same on every rank.
    pub(crate) fn misplaced(&mut self) -> Result<Option<String>> {
        if self.definition.program.needs_shared_line && self.rank.shared_line().is_none() {
            return Ok(Some("there is no memory here that all ranks see".into()));
        }
        if self.definition.placement != Placement::OneProcessor {
            return Ok(None);
        }
        let processors = self.processors()?;
        let together =
            processors[0].is_some() && processors.iter().all(|one| *one == processors[0]);
        let reason =
            "its ranks are not bound to one processor, and it measures what happens on one";
        Ok((!together).then(|| reason.into()))
    }

    /// Skips the step and returns true if this machine has no rate for some of these kinds of work. Their results would
    /// need no time at all. The result is the same on every rank.
    pub(crate) fn skips_without_rate(&mut self, kinds: &[WorkKind]) -> Result<bool> {
        let described = self.rank.describe();
        let missing = kinds.iter().filter(|kind| described.without_rate.contains(kind));
        let mut keys: Vec<String> = missing.map(|kind| format!("`{}`", kind.rate_key())).collect();
        keys.sort();
        keys.dedup();
        if keys.is_empty() {
            return Ok(false);
        }
        self.skip(format!(
            "{} does not know how long this work takes; its file lacks {} in the table `processor`",
            described.name,
            keys.join(", ")
        ))?;
        Ok(true)
    }

    /// Returns the processor that each rank is bound to, or `None` for a rank that is not bound. Collective: all ranks
    /// must call it.
    pub(crate) fn processors(&mut self) -> Result<Vec<Option<u64>>> {
        let mine = self.rank.processor().map_or(u64::MAX, |processor| processor as u64);
        let mut all = vec![0; self.shape.ranks * size_of::<u64>()];
        self.rank.allgather(&mine.to_ne_bytes(), &mut all)?;
        let (words, _) = all.as_chunks();
        let processors = words.iter().map(|word| u64::from_ne_bytes(*word));
        Ok(processors.map(|processor| (processor != u64::MAX).then_some(processor)).collect())
    }

    /// Returns the step's parameter `name`, which must be a number.
    pub(crate) fn number(&self, name: &str) -> Result<usize> {
        match self.step.parameters.get(name) {
            Some(ParameterValue::Number(number)) => Ok(*number as usize),
            _ => Err(self.unknown(name)),
        }
    }

    /// Returns the algorithm that the step requests, if it requests one.
    fn algorithm(&self) -> Result<Option<Algorithm>> {
        let named = self.step.parameters.get(ALGORITHM);
        let Some(value) = named.filter(|_| !is_as_the_fabric_chooses(&self.step.parameters)) else {
            return Ok(None);
        };
        let algorithm = Algorithm::named(&value.to_string());
        algorithm.map(Some).ok_or_else(|| self.unknown(ALGORITHM))
    }

    /// Creates the error for a step whose parameter `name` is missing or unknown.
    pub(crate) fn unknown(&self, name: &str) -> Error {
        let found = self.step.parameters.get(name).map_or("nothing".into(), ToString::to_string);
        Error::Program(format!("the parameter {name} is {found}, which this build does not know"))
    }

    /// Makes the measurement by the timed loop, and reports its metrics.
    pub(crate) fn timed(&mut self) -> Result<()> {
        let program = self.definition.program;
        let outcome = self.sampled(program)?;
        self.report(program, outcome, Parameters::new())
    }

    /// Times the program and checks its data. Returns the outcome at rank 0.
    pub(crate) fn sampled(&mut self, program: Program) -> Result<Option<Outcome>> {
        self.sampled_as(program, |rank, data| (program.event)(rank, data))
    }

    /// As [`sampled`](Bench::sampled), with an event that has its own state, instead of the program's.
    pub(crate) fn sampled_as(
        &mut self,
        program: Program,
        mut event: impl FnMut(&mut dyn Rank, &mut Data) -> Result<()>,
    ) -> Result<Option<Outcome>> {
        let blocks = (program.blocks)(&self.shape);
        let seed = self.settings.seed;
        let mut data = Data::new(self.shape.clone(), blocks, program.received, seed)?;
        data.algorithm = self.algorithm()?;
        let before_us = self.line_here_us()?;
        self.clear_shared_line()?;
        let event = |rank: &mut dyn Rank| event(rank, &mut data);
        let mut outcome = self.measure(program.timing, program.in_a_row, event)?;
        let after_us = self.line_here_us()?;
        let is_reported = self.is_repeated() || after_us.is_some();
        let has_turn = |outcome: &&mut Outcome| is_reported || !outcome.operations_ns.is_empty();
        if let Some(outcome) = outcome.as_mut().filter(has_turn) {
            outcome.repetitions = vec![repetition::only(outcome, before_us, after_us)];
        }
        data.check(program.received, seed)?;
        Ok(outcome)
    }

    /// Measures the hand-over of a cache line, in microseconds, if every rank has a processor and they share memory.
    /// Collective. Returns the time at rank 0.
    fn line_here_us(&mut self) -> Result<Option<f64>> {
        let rank = &*self.rank;
        let have_own_processors = rank.every_rank_has_a_processor() && rank.shared_line().is_some();
        if rank.size() < 2 || !have_own_processors {
            return Ok(None);
        }
        self.clear_shared_line()?;
        line_us(self.rank)
    }

    /// Sets the shared line to zero between two barriers. The first barrier lets every rank finish reading the values
    /// of the previous measurement; the second keeps every rank from reading before the line is zero. The barriers also
    /// keep a rank from sending before all have their buffers, because the first samples would otherwise wait for page
    /// faults.
    pub(crate) fn clear_shared_line(&mut self) -> Result<()> {
        self.rank.barrier()?;
        if self.shape.me == 0
            && let Some(line) = self.rank.shared_line()
        {
            clear(line);
        }
        self.rank.barrier()
    }

    /// Times `event`. Returns the outcome at rank 0.
    pub(crate) fn measure<E>(
        &mut self,
        timing: Timing,
        in_a_row: bool,
        event: E,
    ) -> Result<Option<Outcome>>
    where
        E: FnMut(&mut dyn Rank) -> Result<()>,
    {
        self.measure_by(self.settings, timing, in_a_row, event)
    }

    /// As [`measure`](Bench::measure), with other settings than the user's.
    pub(crate) fn measure_by<E>(
        &mut self,
        settings: &Settings,
        timing: Timing,
        in_a_row: bool,
        event: E,
    ) -> Result<Option<Outcome>>
    where
        E: FnMut(&mut dyn Rank) -> Result<()>,
    {
        let Bench { limit, overheads, index, .. } = *self;
        let is_virtual = self.rank.clock().is_virtual;
        let pair = self.shape.pair;
        let plan = LoopPlan { timing, in_a_row, pair, settings, limit, is_virtual, overheads };
        let sink = &mut *self.sink;
        let mut progress = |Progress { samples, half_width, spent }: Progress| {
            sink(Event::Progress { index, samples, half_width, spent_s: spent.as_s() })
        };
        timed_loop::measure(self.rank, &plan, event, &mut progress)
    }

    /// Reports the metrics of an outcome, at the rank that has one. `more` is the method, if it differs from the plan.
    pub(crate) fn report(
        &mut self,
        program: Program,
        outcome: Option<Outcome>,
        more: Parameters,
    ) -> Result<()> {
        let Some(mut outcome) = outcome else { return Ok(()) };
        if let Some(earlier) = self.earlier.take() {
            if earlier.more == more {
                outcome = earlier.and(outcome, self.settings);
            } else {
                self.emit_metrics(program, &earlier.outcome, earlier.more)?;
            }
        }
        if self.is_repeated() && self.step.repetition < self.settings.repetitions {
            self.earlier = Some(Earlier { more, outcome });
            return Ok(());
        }
        self.emit_metrics(program, &outcome, more)
    }

    fn emit_metrics(
        &mut self,
        program: Program,
        outcome: &Outcome,
        more: Parameters,
    ) -> Result<()> {
        let measurements = self.subject(more).measurements(program, outcome)?;
        self.emit(Event::Measured(measurements))
    }

    pub(crate) fn subject(&self, more: Parameters) -> Subject<'_> {
        let mut parameters = self.step.parameters.clone();
        parameters.extend(more);
        Subject {
            name: self.definition.name,
            group: self.definition.group,
            fabric: self.fabric.clone(),
            parameters,
            shape: &self.shape,
            settings: self.settings,
        }
    }

    /// Returns the measurement of this step.
    pub(crate) fn key(&self) -> Key {
        let Step { benchmark, parameters, size_bytes, .. } = self.step.clone();
        Key { benchmark, ranks: self.shape.ranks, parameters, size_bytes }
    }

    /// Returns the line of one trial of a search for the results file.
    pub(crate) fn trial_line(&self, trial: Trial) -> TrialLine {
        TrialLine { key: self.key(), fabric: self.fabric.clone(), launch: 0, trial }
    }

    pub(crate) fn skip(&mut self, reason: String) -> Result<()> {
        if self.step.repetition > 1 {
            return Ok(());
        }
        let (index, label) = (self.index, self.step.label());
        self.emit(Event::Skipped { index, label, reason })
    }

    pub(crate) fn emit(&mut self, mut event: Event) -> Result<()> {
        if let Event::Measured(measurements) = &mut event
            && self.rank.clock().is_virtual
        {
            measurements.iter_mut().for_each(Measurement::mark_exact);
        }
        if self.shape.me == 0 { (self.sink)(event) } else { Ok(()) }
    }
}

fn clear(line: &dyn SharedLine) {
    for index in 0..8 {
        // Relaxed: the barriers before and after order it against every use by another rank.
        line.word(index).store(0, std::sync::atomic::Ordering::Relaxed);
    }
}
