//! `check`: measures, compares with a history, and measures again what seems slower: for CI.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use analysis::changes::Search;
use analysis::compare::{Comparison, Name, Settings, compare};
use analysis::history::{Machine, Series};
use analysis::launches::{launches_needed, pooled};
use contract::record::{Measurement, Run};

use crate::arguments::{CheckArguments, Publication, Seconds, Share};
use crate::comparison::{comparison_settings, timed_only};
use crate::fabric_name::simulated_machine;
use crate::failure::{Failure, STATUS_FAILED};
use crate::interruption::{Interruption, interrupted};
use crate::measured::{MeasuredCommand, Unmeasured, as_launch};
use crate::output::{Published, comparison_name, print, published, table};
use crate::progress::note;
use crate::results;
use crate::wording::{percent, quantity, ratio_change};

/// The default time of measuring.
const WITHIN_S: f64 = 3600.0;

/// Only the latest runs of a level are used; the state of the machine during older ones is unknown.
const RUNS_COMPARED: usize = 20;

/// Measures and decides. The status is 1 if a number is slower in both measurements.
pub(crate) fn execute(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    let command = MeasuredCommand::new(&arguments.command)?;
    let history = match arguments.against.exists() || !arguments.add {
        true => results::read_folder(&arguments.against)?,
        false => analysis::history::History::default(),
    };
    let mut check = Check {
        arguments,
        command,
        until: Instant::now()
            + Duration::from_secs_f64(arguments.within.map_or(WITHIN_S, |Seconds(s)| s)),
        interruption: Interruption::watch(),
        known: history.series(&Search::default()),
    };
    let first = check.measure()?;
    check.keep_own_machine(&first)?;
    let suspects = check.slower(&first);
    let second = match suspects.is_empty() {
        true => None,
        false => {
            note(&format!("{} numbers seem slower: measured again", suspects.len()));
            Some(check.measure()?)
        }
    };
    let again = second.as_ref().map(|run| check.slower(run)).unwrap_or_default();
    let (confirmed, others): (Vec<Comparison>, Vec<Comparison>) =
        suspects.into_iter().partition(|one| again.iter().any(|other| other.name == one.name));
    check.show(&first, &confirmed, &others)?;
    Ok(if confirmed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(STATUS_FAILED) })
}

struct Check<'a> {
    arguments: &'a CheckArguments,
    command: MeasuredCommand,
    until: Instant,
    interruption: Interruption,
    /// The history, of this machine alone once it is known which that is.
    known: Vec<Series>,
}

impl Check<'_> {
    /// Measures once, in several launches, and adds it to the history if that is wanted.
    fn measure(&self) -> Result<Run, Failure> {
        let mut run = self.launch()?;
        let is_simulated = simulated_machine(&run.header().fabric.name).is_some();
        // A command without a number of launches is launched again, because one launch decides nothing.
        if !is_simulated && run.measurements.iter().all(|m| m.launch == 0) {
            for number in 1..launches_needed(run.header().confidence) as u32 {
                run.measurements.extend(as_launch(self.launch()?, number));
            }
        }
        if self.arguments.add {
            let path = results::add_to_folder(&self.arguments.against, &run)?;
            note(&format!("results  {}", path.display()));
        }
        Ok(timed_only(pooled(run)))
    }

    fn launch(&self) -> Result<Run, Failure> {
        let command = self.command.line();
        self.command.measure(&[], self.until, &self.interruption).map_err(|end| match end {
            Unmeasured::Interrupted(signal) => interrupted(signal),
            Unmeasured::TimeOver => {
                Failure::failed(format!("'{command}' did not end within the time limit"))
                    .hint("allow more time with --within TIME, or measure less")
            }
            Unmeasured::Failed(why) => Failure::failed(format!("'{command}' failed: {why}"))
                .hint("run it alone to see the cause"),
        })
    }

    /// Forgets the other machines of the history.
    fn keep_own_machine(&mut self, run: &Run) -> Result<(), Failure> {
        let machine = Machine::of(run.header());
        let others = self
            .known
            .iter()
            .find(|series| series.machine != machine)
            .map(|one| one.machine.clone());
        self.known.retain(|series| series.machine == machine);
        if !self.known.is_empty() || self.arguments.add {
            return Ok(());
        }
        let folder = self.arguments.against.display();
        let failure = match others {
            Some(other) => Failure::usage(format!(
                "'{folder}' has no run of this machine ({}, {} processors, over {}), but of {}, {} processors, over {}",
                machine.processor,
                machine.processors,
                machine.fabric,
                other.processor,
                other.processors,
                other.fabric
            )),
            None => Failure::usage(format!("'{folder}' contains no run")),
        };
        Err(failure.hint("start a history of this machine with --add"))
    }

    fn series(&self, name: &Name) -> Option<&Series> {
        self.known.iter().find(|series| {
            let Name { key, metric, unit, fabric: _ } = name;
            let known = &series.name;
            known.key == *key && known.metric == *metric && known.unit == *unit
        })
    }

    /// The numbers that are slower in this run than the level of the history, by more than the threshold and than the
    /// runs of that level have shown.
    fn slower(&self, run: &Run) -> Vec<Comparison> {
        let Share(margin) = self.arguments.threshold;
        let level = Run {
            measurements: run.measurements.iter().filter_map(|m| self.level(m)).collect(),
            ..Run::of("history", run.headers.clone(), Vec::new())
        };
        // The level of the history has met many states of the machine already.
        let settings = Settings { mostly_alike: false, ..comparison_settings(run, run, margin) };
        let compared = compare(&level, run, settings);
        let is_new = |one: &&Comparison| {
            self.series(&one.name).is_some_and(|series| series.is_beyond_level(one.second, margin))
        };
        compared.regressions(margin).filter(is_new).cloned().collect()
    }

    /// The measurements of the latest runs at a number's level, as one measurement.
    fn level(&self, measurement: &Measurement) -> Option<Measurement> {
        let series = self.known.iter().find(|series| {
            let known = &series.name;
            known.key == measurement.key()
                && known.metric == measurement.metric
                && known.unit == measurement.unit
        })?;
        let level = series.level();
        let latest = &level[level.len().saturating_sub(RUNS_COMPARED)..];
        let mut medians: Vec<f64> = latest.iter().map(|point| point.median).collect();
        medians.sort_by(f64::total_cmp);
        let mut one = measurement.clone();
        one.samples.clear();
        one.launch_medians =
            latest.iter().flat_map(|point| point.launches.iter().copied()).collect();
        one.summary.median = medians[medians.len() / 2];
        (one.summary.ci_low, one.summary.ci_high) = (medians[0], medians[medians.len() - 1]);
        Some(one)
    }

    fn show(
        &self,
        run: &Run,
        confirmed: &[Comparison],
        others: &[Comparison],
    ) -> Result<(), Failure> {
        let text = match self.arguments.format {
            Publication::Table => self.told(run, confirmed, others),
            format => {
                let machine = Machine::of(run.header());
                let names: Vec<Name> = run.measurements.iter().map(name).collect();
                let numbers: Vec<Published<'_>> = run
                    .measurements
                    .iter()
                    .zip(&names)
                    .map(|(m, name)| self.number(&machine, m, name, confirmed, others))
                    .collect();
                published(&numbers, format)
            }
        };
        print(&text)
    }

    fn number<'a>(
        &self,
        machine: &'a Machine,
        measurement: &Measurement,
        name: &'a Name,
        confirmed: &[Comparison],
        others: &[Comparison],
    ) -> Published<'a> {
        let is_in = |all: &[Comparison]| all.iter().any(|one| one.name == *name);
        let verdict = match () {
            () if is_in(confirmed) => "slower",
            () if is_in(others) => "slower once",
            () if self.series(name).is_none() => "new",
            () => "",
        };
        let summary = &measurement.summary;
        let level = self.level(measurement).map(|level| level.summary.median);
        Published {
            machine,
            name,
            value: summary.median,
            low: summary.ci_low,
            high: summary.ci_high,
            ratio: level.filter(|level| *level > 0.0).map(|level| summary.median / level),
            verdict: verdict.into(),
        }
    }

    /// For people.
    fn told(&self, run: &Run, confirmed: &[Comparison], others: &[Comparison]) -> String {
        let known = run.measurements.iter().filter(|m| self.level(m).is_some()).count();
        let limit = percent(self.arguments.threshold.0);
        let mut text = format!(
            "{} numbers measured, of which {known} have a level in '{}'\n",
            run.measurements.len(),
            self.arguments.against.display()
        );
        for (what, all) in [
            (format!("slower by more than {limit} in both measurements"), confirmed),
            ("slower only in the first measurement".into(), others),
        ] {
            if !all.is_empty() {
                let header = ["measurement", "level", "now", "change"].map(String::from);
                text += &format!("\n{what}:\n{}", table(&header, 1, all.iter().map(row).collect()));
            }
        }
        if confirmed.is_empty() {
            text += &format!("nothing is slower by more than {limit}\n");
        }
        text
    }
}

fn name(measurement: &Measurement) -> Name {
    Name {
        key: measurement.key(),
        metric: measurement.metric.clone(),
        unit: measurement.unit.clone(),
        fabric: None,
    }
}

fn row(one: &Comparison) -> Vec<String> {
    let unit = &one.name.unit;
    vec![
        comparison_name(&one.name),
        quantity(one.first, unit),
        quantity(one.second, unit),
        one.effect.map_or_else(String::new, |effect| ratio_change(effect.ratio)),
    ]
}
