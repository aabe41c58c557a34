//! A session of a run: it receives the events of the ranks and writes the results.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use analysis::launches::pooled;
use analysis::limits::Limits;
use benchmark::{Event, Launch};
use contract::FabricDescription;
use record::{Measurement, Run, Warning};

use super::latest::remember;
use super::limit;
use super::notes::{announcement, few};
use super::request::{Request, Target};
use super::rounds::{settled, without};
use crate::arguments::{RunFormat, command_to_resume};
use crate::clocks::{Clocks, impossible};
use crate::command::report;
use crate::fabric::{FabricOptions, LaunchEnd, RankReport};
use crate::failure::Failure;
use crate::interruption::{Interruption, interrupted};
use crate::output::{Osu, csv_header, csv_line, json_line, print, tables, tables_or_summary};
use crate::period_verdict;
use crate::progress::{Progress, note};
use crate::report::stands_out;
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
        let certain = |one: &&Launch| one.number < request.launches.fewest;
        let measuring_s: f64 = launches.iter().filter(certain).map(Launch::estimate_s).sum();
        let steps = launches.iter().filter(certain).map(|launch| launch.job.steps.len()).sum();
        let estimate_s = measuring_s.max(request.spread.as_secs_f64());
        note(&announcement(launches, request.launches, estimate_s, &results, &run));
        if request.format == RunFormat::Csv {
            print(&csv_header())?;
        }
        Ok(Session {
            request,
            results,
            run,
            limits: Limits::default(),
            headed: false,
            progress: Progress::new(steps, estimate_s),
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
            if launch.number > number && rounds.is_checked_before(launch.number) {
                enough = settled(&self.run);
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

    /// Executes one launch. `index` is its position among all.
    fn make(
        &mut self,
        index: usize,
        launch: &Launch,
        interruption: &Interruption,
    ) -> Result<(), Failure> {
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
            Ok(()) => Ok(()),
            Err(LaunchEnd::Interrupted(signal)) => Err(interrupted(signal)),
            Err(LaunchEnd::Stopped) => Err(Failure::failed("the run was stopped")),
            Err(LaunchEnd::Failed(message)) => self.launch_died(launch, message),
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
                let estimate_s = launch.job.steps[index].estimate_s;
                self.progress.begin(&format!("{label}, {}", ranks(launch.ranks)), estimate_s);
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

    /// Ends the file, writes the report and prints the results. `ended` is the result of [`measure`](Self::measure).
    pub(super) fn close(mut self, ended: Result<(), Failure>) -> Result<ExitCode, Failure> {
        self.progress.clear();
        for (reason, labels) in &self.skipped {
            note(&format!("note: not measured here: {}: {reason}", few(labels)));
        }
        let path = self.results.path().to_path_buf();
        let ended = ended.and_then(|()| self.end_file());
        if self.run.headers.is_empty() {
            self.results.remove_if_empty();
            return ended.map(|()| ExitCode::SUCCESS);
        }
        if let Err(failure) = ended {
            return Err(self.ended_early(failure, &path));
        }
        let report_path = results::beside(&path);
        self.run = pooled(self.run);
        let reported = report::write(&report_path, std::slice::from_ref(&self.run));
        self.show()?;
        note(&format!("results  {}", path.display()));
        reported?;
        note(&format!("report   {}", report_path.display()));
        limit::held(&self.run, self.request.settings.real_time.pause_limit_s)?;
        if !self.request.names.is_empty() {
            // The quick suite asks for no period.
            period_verdict::held(&self.run)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn end_file(&mut self) -> Result<(), Failure> {
        if self.headed {
            self.results.end()?;
            // The report is made from this run, not from the file.
            self.run.ended = true;
        }
        Ok(())
    }

    /// Prints the results so far, and adds a hint on resuming to the failure.
    fn ended_early(mut self, failure: Failure, path: &Path) -> Failure {
        if failure.is_quiet() {
            return failure;
        }
        self.run = pooled(self.run);
        if !self.run.measurements.is_empty() && self.show().is_err() {
            note("note: the results so far could not be shown");
        }
        note(&format!("results so far  {}", path.display()));
        failure.hint_if_none(format!(
            "the results so far are kept; continue with `{}`",
            command_to_resume(path)
        ))
    }

    fn show(&self) -> Result<(), Failure> {
        match self.request.format {
            RunFormat::Table if self.request.tables => print(&tables(&self.run)),
            RunFormat::Table => {
                print(&tables_or_summary(&self.run, stands_out, self.results.path()))
            }
            RunFormat::Osu => {
                let mut osu = Osu::default();
                let text: String = self.run.measurements.iter().map(|one| osu.lines(one)).collect();
                osu.left_out().into_iter().for_each(|line| note(&line));
                print(&text)
            }
            RunFormat::Json | RunFormat::Csv => Ok(()),
        }
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
