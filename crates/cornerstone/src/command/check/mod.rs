//! `check`: measures, compares with a history, and repeats the measurement if a number seems slower. It is for CI.

mod outcome;

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use analysis::changes::Search;
use analysis::compare::{ComparedRuns, Comparison, Name, Settings, compare, open_among};
use analysis::history::{Machine, Point, Series};
use analysis::launches::{launches_needed, pooled};
use record::{Measurement, Run};

use crate::arguments::{CheckArguments, Publication, Seconds, Share};
use crate::comparison::{comparison_settings, note_idle, timed_only};
use crate::failure::{Failure, STATUS_FAILED, STATUS_UNDECIDED};
use crate::interruption::{Interruption, interrupted};
use crate::measured::{MeasuredCommand, Unmeasured, as_launch};
use crate::output::print;
use crate::period_verdict;
use crate::progress::note;
use crate::results;
use crate::wording::counted;

use outcome::{Outcome, Undecided};

/// Default time of measuring.
const WITHIN_S: f64 = 3600.0;

/// Maximum number of latest runs of a level that are used. The state of the machine during older ones is unknown. With
/// one launch of each of 39 runs, one launch of a new run suffices for a decision at 95 %: 2 / C(40, 1).
const RUNS_COMPARED: usize = 39;

/// Measures and compares. The status is 1 if a number is slower in both measurements or a requirement is refused, and 3
/// if that is undecided.
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
        series: history.series(&Search::default()),
    };
    let measured = check.measure()?;
    let required = period_verdict::requirements_held(&measured);
    let first = timed_only(measured);
    check.keep_own_machine(&first)?;
    let (suspects, undecided) = check.judged(&first);
    let again = match suspects.is_empty() {
        true => Vec::new(),
        false => {
            let seem = if suspects.len() == 1 { "seems" } else { "seem" };
            note(&format!("{} {seem} slower: measured again", counted(suspects.len(), "number")));
            let second = timed_only(check.measure()?);
            check.judged(&second).0
        }
    };
    let is_confirmed = |one: &Comparison| again.iter().any(|other| other.name == one.name);
    let (confirmed, once) = suspects.into_iter().partition(is_confirmed);
    let compared = check.compared(&first);
    note_idle(&compared);
    let open = open_among(
        undecided.iter().map(|one| &one.comparison),
        compared.comparisons.len(),
        check.margin(),
    );
    let outcome = Outcome { confirmed, once, undecided, missing: check.missing(&first) };
    let text = match arguments.format {
        Publication::Table => outcome.in_words(&check, &first),
        format => {
            outcome.notes().iter().for_each(|line| note(line));
            outcome.published(&check, &first, format)
        }
    };
    print(&text)?;
    match required {
        Err(failure) if outcome.confirmed.is_empty() => return Err(failure),
        Err(failure) => note(failure.message()),
        Ok(()) => {}
    }
    Ok(match (outcome.confirmed.is_empty(), open) {
        (false, _) => ExitCode::from(STATUS_FAILED),
        (true, 0) => ExitCode::SUCCESS,
        (true, _) => ExitCode::from(STATUS_UNDECIDED),
    })
}

struct Check<'a> {
    arguments: &'a CheckArguments,
    command: MeasuredCommand,
    until: Instant,
    interruption: Interruption,
    /// History of all machines, and of this machine alone once it is known.
    series: Vec<Series>,
}

impl Check<'_> {
    /// Measures once, in several launches, and adds the run to the history if requested.
    fn measure(&self) -> Result<Run, Failure> {
        let mut run = self.launch(Some(0))?;
        // A command with one launch is launched again, because one launch decides nothing unless its numbers are exact.
        if run.measurements.iter().all(|m| m.launch == 0 && !m.is_exact()) {
            let is_dealt = run.header().launches_before.is_some();
            for number in 1..launches_needed(run.header().confidence) as u32 {
                let launch = self.launch(is_dealt.then_some(number))?;
                run.measurements.extend(as_launch(launch, number));
            }
        }
        if self.arguments.add {
            let path = results::add_to_folder(&self.arguments.against, &run)?;
            note(&format!("results  {}", path.display()));
        }
        Ok(pooled(run))
    }

    /// Launches it once, after so many launches that dealt their places.
    fn launch(&self, before: Option<u32>) -> Result<Run, Failure> {
        let command = self.command.line();
        self.command.measure(&[], before, self.until, &self.interruption).map_err(|end| match end {
            Unmeasured::Interrupted(signal) => interrupted(signal),
            Unmeasured::TimeOver => {
                Failure::failed(format!("'{command}' did not end within the time limit"))
                    .hint("allow more time with --within TIME, or measure less")
            }
            Unmeasured::Failed(why) => Failure::failed(format!("'{command}' failed: {why}"))
                .hint("run it alone to see the cause"),
        })
    }

    /// Removes the other machines from the history.
    fn keep_own_machine(&mut self, run: &Run) -> Result<(), Failure> {
        let machine = Machine::of(run.header());
        let others = self
            .series
            .iter()
            .find(|series| series.machine != machine)
            .map(|one| one.machine.clone());
        self.series.retain(|series| series.machine == machine);
        let hosts: BTreeSet<&str> = self.series.iter().flat_map(Series::hosts).collect();
        let host = run.header().environment.host.as_str();
        if !hosts.is_empty() && !hosts.contains(host) && machine.processors > 0 {
            let hosts = hosts.into_iter().collect::<Vec<_>>().join(", ");
            note(&format!("note: the history is of the same processor on other hosts ({hosts})"));
        }
        if !self.series.is_empty() || self.arguments.add {
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
        self.series.iter().find(|series| {
            let Name { key, metric, unit, fabric: _ } = name;
            let its = &series.name;
            its.key == *key && its.metric == *metric && its.unit == *unit
        })
    }

    /// Returns the comparison of the run with the level of the history.
    fn compared(&self, run: &Run) -> ComparedRuns {
        let level = Run {
            measurements: run.measurements.iter().filter_map(|m| self.level(m)).collect(),
            ..Run::of("history", run.headers.clone(), Vec::new())
        };
        // The level of the history already contains many states of the machine.
        let without = self.arguments.stages.without();
        let settings = comparison_settings(run, run, self.margin(), without);
        compare(&level, run, Settings { mostly_alike: false, ..settings })
    }

    fn margin(&self) -> f64 {
        let Share(margin) = self.arguments.threshold;
        margin
    }

    /// Returns two lists. The first has the numbers that are slower in this run than the level of the history, by more
    /// than the threshold and than the runs of that level vary. With too few launches to decide, it has only those that
    /// no state of the machine explains. The second has the numbers that these launches do not decide.
    fn judged(&self, run: &Run) -> (Vec<Comparison>, Vec<Undecided>) {
        let (compared, margin) = (self.compared(run), self.margin());
        let measured: BTreeMap<Name, &Measurement> =
            run.measurements.iter().map(|m| (Name::of(m), m)).collect();
        let (mut slower, mut undecided) = (Vec::new(), Vec::new());
        for one in compared.comparisons {
            let is_open = one.is_open(margin, compared.settings.confidence);
            let is_slower = self.series(&one.name).is_some_and(|series| match is_open {
                true => measured
                    .get(&one.name)
                    .is_some_and(|m| series.is_far_beyond_level(m.launches())),
                false => one.is_regression(margin) && series.is_beyond_level(one.second, margin),
            });
            if is_slower {
                slower.push(one);
            } else if is_open {
                let mut lacks = one.missing_launches(margin, compared.settings);
                // Launches that contain a search or pauses are not pooled: another launch would replace this one.
                if one.launches[1] == 1 {
                    lacks.second = None;
                }
                undecided.push(Undecided { lacks, comparison: one });
            }
        }
        (slower, undecided)
    }

    /// Returns the numbers that this run lacks although one of the latest runs with a number in common had them.
    fn missing(&self, run: &Run) -> Vec<&Series> {
        let measured: BTreeSet<Name> = run.measurements.iter().map(Name::of).collect();
        let run_of = |point: &Point| (point.started.clone(), point.run.clone());
        let related: BTreeSet<_> = self
            .series
            .iter()
            .filter(|series| measured.contains(&series.name))
            .flat_map(|series| series.points.iter().map(run_of))
            .collect();
        let latest: BTreeSet<_> = related.into_iter().rev().take(RUNS_COMPARED).collect();
        let is_missing = |series: &&Series| {
            !measured.contains(&series.name)
                && series.points.last().is_some_and(|point| latest.contains(&run_of(point)))
        };
        self.series.iter().filter(is_missing).collect()
    }

    /// Returns the measurements of the latest runs at a number's level, as one measurement.
    fn level(&self, measurement: &Measurement) -> Option<Measurement> {
        let series = self.series(&Name::of(measurement))?;
        let level = series.level();
        let latest = &level[level.len().saturating_sub(RUNS_COMPARED)..];
        let mut medians: Vec<f64> = latest.iter().map(|point| point.median).collect();
        medians.sort_by(f64::total_cmp);
        let mut one = measurement.clone();
        one.samples.clear();
        one.launch_medians =
            latest.iter().flat_map(|point| point.launches.iter().copied()).collect();
        one.launch_lines_us =
            latest.iter().flat_map(|point| point.lines_us.iter().copied()).collect();
        one.launch_operations_ns =
            latest.iter().flat_map(|point| point.operations_ns.iter().cloned()).collect();
        one.summary.median = medians[medians.len() / 2];
        (one.summary.ci_low, one.summary.ci_high) = (medians[0], medians[medians.len() - 1]);
        Some(one)
    }
}
