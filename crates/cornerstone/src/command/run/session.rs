//! A session of a run: it receives the events of the ranks and writes the results.

mod ending;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use analysis::limits::Limits;
use benchmark::{Event, Launch};
use contract::FabricDescription;
use record::{Measurement, Run, Warning};

use super::latest::remember;
use super::notes::announcement;
use super::request::{Request, Target};
use super::rounds::{Launched, without};
use crate::arguments::RunFormat;
use crate::clocks::{Clocks, impossible};
use crate::environment::{self, ProcessorUse};
use crate::fabric::{FabricOptions, LaunchEnd, RankReport};
use crate::failure::Failure;
use crate::interruption::{Interruption, interrupted};
use crate::output::{csv_header, csv_line, json_line, print};
use crate::progress::{Progress, note};
use crate::remaining::Remaining;
use crate::results::{self, ResultsFile};
use crate::wording::ranks;

/// A session of a run.
pub(super) struct Session {
    request: Request,
    results: ResultsFile,
    /// The run so far, with its earlier sessions.
    run: Run,
    /// Limits of the machine that have been measured.
    limits: Limits,
    /// True if this session's header is in the file.
    headed: bool,
    progress: Progress,
    /// Position and name of the step in progress in its launch.
    started: Option<(usize, String)>,
    /// Use of the processors before the run, if the kernel shows it.
    used_before: Option<ProcessorUse>,
    /// Cases that were not measured, by the reason.
    skipped: BTreeMap<String, BTreeSet<String>>,
    /// Reason why the ranks were stopped.
    failure: Option<Failure>,
    /// Messages of launches that died, if other launches measure their cases as well.
    died: Vec<String>,
}

/// Number of died launches that ends a run.
const DIED_MAX: usize = 3;

impl Session {
    /// Opens the results file, and announces the measurements.
    pub(super) fn open(mut request: Request, launches: &[Launch]) -> Result<Self, Failure> {
        let target = std::mem::replace(&mut request.target, Target::New(None));
        let (results, run) = match target {
            Target::Resumed(results, run) => (results, *run),
            Target::New(path) => {
                let path = match path {
                    Some(path) => path,
                    None => results::default_path(&request.header(FabricDescription::default()))?,
                };
                let label = path.file_stem().map(|s| s.display().to_string()).unwrap_or_default();
                let run = Run { ended: false, ..Run::of(&label, Vec::new(), Vec::new()) };
                let resumable = |failure: Failure| {
                    match path.exists() {
                    true => failure.hint(format!(
                        "results are never overwritten: choose another name, or go on with it by --resume {}",
                        path.display()
                    )),
                    false => failure,
                }
                };
                (ResultsFile::create(&path).map_err(resumable)?, run)
            }
        };
        let remaining = Remaining::new(launches, request.bounds());
        let budget_s = request.settings.budget_s;
        let of = (&request.fabric, &results);
        note(&announcement(launches, request.launches, &remaining, budget_s, of, &run));
        if request.format == RunFormat::Csv {
            print(&csv_header())?;
        }
        Ok(Session {
            request,
            results,
            run,
            limits: Limits::default(),
            headed: false,
            progress: Progress::new(remaining),
            started: None,
            used_before: environment::processor_use(),
            skipped: BTreeMap::new(),
            failure: None,
            died: Vec::new(),
        })
    }

    /// Executes the measurements of all launches.
    pub(super) fn measure(
        &mut self,
        launches: &[Launch],
        interruption: &Interruption,
    ) -> Result<(), Failure> {
        let begin = Instant::now();
        let rounds = self.request.launches;
        let (mut enough, mut number) = (BTreeSet::new(), 0);
        for (index, launch) in launches.iter().enumerate() {
            if launch.number > number && rounds.shows_before(launch.number) {
                let launched = Launched::of(&self.run);
                if rounds.is_checked_before(launch.number) {
                    enough = launched.settled();
                }
                self.progress.expect(&launched.expected(rounds, &enough));
            }
            if launch.number >= rounds.fewest && self.is_over_budget() {
                break;
            }
            number = launch.number;
            let launch = &without(&enough, launch);
            if launch.job.steps.is_empty() {
                continue;
            }
            let share = f64::from(number) / f64::from(rounds.most);
            wait_until(begin + self.request.spread.mul_f64(share), interruption);
            self.make(index, launch, interruption)?;
        }
        self.all_lived()
    }

    fn is_over_budget(&self) -> bool {
        let budget_s = self.request.settings.budget_s;
        budget_s.is_some_and(|budget_s| self.progress.passed_s() >= budget_s)
    }

    /// Executes one launch. `index` is its position among all. Steps that are impossible on the fabric are skipped.
    fn make(
        &mut self,
        index: usize,
        launch: &Launch,
        interruption: &Interruption,
    ) -> Result<(), Failure> {
        let mut launch = launch.clone();
        while !launch.job.steps.is_empty() {
            self.progress.begin_launch(index, &launch);
            self.started = None;
            let Some(reason) = self.start(index, &launch, interruption)? else { break };
            let skipped = self.skipped.entry(reason).or_default();
            match self.started.take() {
                Some((step, label)) => {
                    skipped.insert(label);
                    launch.job.steps.drain(..=step);
                }
                // A launch that is impossible as a whole has started no step.
                None => skipped.extend(launch.job.steps.drain(..).map(|step| step.label())),
            }
        }
        Ok(())
    }

    /// Starts the ranks of a launch, and receives their reports. Returns the reason why the step in progress is
    /// impossible on the fabric, if it is.
    fn start(
        &mut self,
        index: usize,
        launch: &Launch,
        interruption: &Interruption,
    ) -> Result<Option<String>, Failure> {
        let mut simulation = self.request.simulation.clone();
        simulation.trace = simulation.trace.map(|path| numbered(&path, index));
        if let Some(signal) = interruption.signal() {
            return Err(interrupted(signal));
        }
        let fabric = self.request.fabric.clone();
        let library = self.request.mpi_library.clone();
        let hosts = self.request.hosts.clone();
        let options = FabricOptions {
            simulation: &simulation,
            mpi_library: library.as_deref(),
            hosts: hosts.as_ref(),
        };
        let (begin, first) = (Clocks::read(), self.run.measurements.len());
        let ended = fabric.run(launch, &options, &mut |report| {
            self.take(launch, report).map_or_else(
                |failure| {
                    // The first failure is the cause of those that follow.
                    self.failure.get_or_insert(failure);
                    ControlFlow::Break(())
                },
                ControlFlow::Continue,
            )
        });
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if !fabric.is_simulated() && self.headed {
            self.check_clocks(launch, &begin, first)?;
        }
        match ended {
            Ok(()) => Ok(None),
            Err(LaunchEnd::Impossible(reason)) => Ok(Some(reason)),
            Err(LaunchEnd::Interrupted(signal)) => Err(interrupted(signal)),
            Err(LaunchEnd::Stopped) => Err(Failure::failed("the run was stopped")),
            Err(LaunchEnd::Failed(message)) => self.launch_died(launch, message).map(|()| None),
        }
    }

    /// Warns of clocks that jumped during a launch. Its measurements are those from `first` on.
    fn check_clocks(
        &mut self,
        launch: &Launch,
        begin: &Clocks,
        first: usize,
    ) -> Result<(), Failure> {
        let end = Clocks::read();
        let measured = self.run.measurements[first..].iter();
        let samples = measured.filter_map(|one| impossible(one, begin.passed_s(&end)));
        for text in begin.jumps(&end).into_iter().chain(samples).collect::<Vec<_>>() {
            note(&format!(
                "note: {text} in launch {} of {}",
                launch.number + 1,
                ranks(launch.ranks)
            ));
            let warning = Warning { launch: launch.number, text };
            self.results.append_warning(&warning)?;
            self.run.warnings.push(warning);
        }
        Ok(())
    }

    /// Returns a failure that names the first launch that died, if one did.
    fn all_lived(&self) -> Result<(), Failure> {
        match self.died.first() {
            None => Ok(()),
            Some(first) => {
                let died = if self.died.len() == 1 {
                    "a launch".into()
                } else {
                    format!("{} launches", self.died.len())
                };
                Err(Failure::failed(format!(
                    "{died} died, and the results are from the others: {first}"
                )))
            }
        }
    }

    /// Notes a launch that died. If others have measured its cases before it, their measurements count, and the run
    /// continues.
    fn launch_died(&mut self, launch: &Launch, message: String) -> Result<(), Failure> {
        if launch.number == 0 || self.died.len() + 1 >= DIED_MAX {
            return Err(Failure::failed(message));
        }
        let died = format!("launch {} of {}: {message}", launch.number + 1, ranks(launch.ranks));
        note(&format!("note: {died}; the run continues with the others"));
        self.died.push(died);
        Ok(())
    }

    /// Processes a report of rank 0.
    fn take(&mut self, launch: &Launch, report: RankReport) -> Result<(), Failure> {
        match report {
            RankReport::Joined(fabric) => self.head(fabric),
            RankReport::Event(Event::Started { index, label, .. }) => {
                self.progress.begin(&format!("{label}, {}", ranks(launch.ranks)));
                self.started = Some((index, label));
                Ok(())
            }
            RankReport::Event(Event::Progress { samples, half_width, .. }) => {
                self.progress.detail(samples, half_width);
                Ok(())
            }
            RankReport::Event(Event::Tried(mut line)) => {
                line.launch = launch.number;
                self.progress.trial(&line.trial);
                self.results.append_trial(&line)?;
                self.run.trials.push(line);
                Ok(())
            }
            RankReport::Event(Event::Skipped { label, reason, .. }) => {
                self.skipped.entry(reason).or_default().insert(label);
                Ok(())
            }
            RankReport::Event(Event::Measured(mut measurements)) => {
                measurements.iter_mut().for_each(|one| one.launch = launch.number);
                self.keep(measurements)
            }
        }
    }

    /// Writes the header of this session when a rank describes the fabric for the first time.
    fn head(&mut self, fabric: FabricDescription) -> Result<(), Failure> {
        if !self.headed {
            let header = self.request.header(fabric);
            self.results.append_header(&header)?;
            self.run.headers.push(header);
            self.limits = Limits::of(&self.run);
            self.headed = true;
        }
        Ok(())
    }

    /// Keeps the metrics of one measurement. They are written to the file first, because standard output may be closed.
    fn keep(&mut self, measurements: Vec<Measurement>) -> Result<(), Failure> {
        let kept = self.results.append(&measurements);
        let together: Vec<&Measurement> = measurements.iter().collect();
        for measurement in &measurements {
            let share = self.limits.share(measurement, &together, benchmark::bound_rule);
            let line = match self.request.format {
                RunFormat::Table | RunFormat::Osu => continue,
                RunFormat::Json => json_line(measurement, share),
                RunFormat::Csv => csv_line(measurement, share),
            };
            self.progress.aside(|| print(&line))?;
        }
        measurements.iter().for_each(|measurement| self.limits.add(measurement));
        remember(&mut self.run.measurements, measurements);
        kept
    }
}

/// Waits for the time of a launch. Stops waiting if a signal to end this process arrives.
fn wait_until(time: Instant, interruption: &Interruption) {
    const CHECK_EVERY: Duration = Duration::from_millis(50);
    while interruption.signal().is_none() {
        match time.checked_duration_since(Instant::now()) {
            None => return,
            Some(left) => std::thread::sleep(left.min(CHECK_EVERY)),
        }
    }
}

/// Returns the path of the trace of a launch: the given path for the first launch, numbered paths in the same folder
/// for the others.
fn numbered(path: &Path, index: usize) -> PathBuf {
    match index {
        0 => path.to_path_buf(),
        _ => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let extension = path.extension().map(|e| format!(".{}", e.to_string_lossy()));
            path.with_file_name(format!("{stem}-{}{}", index + 1, extension.unwrap_or_default()))
        }
    }
}
