//! Benchmarks on a simulated machine: in this process, in virtual time.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;

use benchmark::{Event, Job, Launch, Placement};
use contract::{Error, Rank, Result as RankResult, Time};
use definition_files::FileError;
use fabric_sim::trace::Trace;
use fabric_sim::{Level, Machine, Options, Watched};

use super::job::{LaunchEnd, OnReport, RankReport};
use super::link_use::LinkMeter;
use super::simulated_signals::SignalGuard;
use crate::arguments::{Answer, SimulationArguments};
use crate::failure::Failure;
use crate::interruption::Interruption;
use crate::output_file;
use crate::progress::note;

/// Returns the machine of this name or file.
pub(super) fn machine(name: &str) -> Result<Machine, LaunchEnd> {
    fabric_sim::machine::find(name).map_err(|error| LaunchEnd::Failed(error.to_string()))
}

/// Refuses files that cannot be used, and launches that the machine cannot have. The results file has not been created
/// then.
pub(super) fn check(
    name: &str,
    launches: &[Launch],
    wanted: &SimulationArguments,
) -> Result<(), Failure> {
    let wrong = |error: &dyn Display| Failure::usage(error.to_string());
    let mut machine = fabric_sim::machine::find(name).map_err(|error| wrong(&error))?;
    if let Some(path) = &wanted.faults {
        add_faults(&mut machine, path).map_err(|error| wrong(&error))?;
    }
    let kinds: BTreeSet<(usize, Option<usize>)> =
        launches.iter().map(|one| (one.ranks, ranks_per_processor(wanted, one))).collect();
    let is_possible = |(ranks, ranks_per_processor): (usize, Option<usize>)| {
        let level = wanted.level.map(Level::from);
        let options = Options { level, ranks_per_processor, ..Options::new(ranks) };
        fabric_sim::check(&machine, &options)
    };
    let impossible: Vec<Error> = kinds.iter().filter_map(|kind| is_possible(*kind).err()).collect();
    // Some launches that are impossible are skipped when their turn comes.
    if let Some(error) = impossible.first().filter(|_| impossible.len() == kinds.len()) {
        return Err(wrong(error));
    }
    let Some(path) = &wanted.trace else { return Ok(()) };
    output_file::check(path, &"the trace", |path| {
        output_file::is_marked(path, fabric_sim::trace::MARK)
    })
}

/// Returns the maximum number of ranks of the machine, or `None` if its number of processors is not limited.
pub(super) fn ranks_max(name: &str, wanted: &SimulationArguments) -> Option<usize> {
    let machine = machine(name).ok().filter(|machine| machine.ranks_max.is_some())?;
    let sharing = wanted.ranks_per_processor.map(|ranks| ranks as usize);
    Some(machine.most_ranks(sharing.unwrap_or(machine.ranks_per_processor)))
}

/// Returns the number of ranks of a processor. The placement that the benchmark needs has precedence over the user's
/// option, because any other placement would change the measured quantity.
fn ranks_per_processor(wanted: &SimulationArguments, launch: &Launch) -> Option<usize> {
    match launch.placement {
        Placement::OneProcessor => Some(launch.ranks),
        Placement::TwoProcessors => Some((launch.ranks / 2).max(1)),
        Placement::Spread | Placement::InOrder => {
            wanted.ranks_per_processor.map(|ranks| ranks as usize)
        }
    }
}

/// Reports of rank 0 that have not been passed on.
type Reports = Rc<RefCell<VecDeque<RankReport>>>;

/// Runs the job of `launch` on the machine. Reports are passed on as they are made. A signal ends the run.
pub(super) fn run(
    name: &str,
    launch: &Launch,
    wanted: &SimulationArguments,
    on_report: &mut OnReport<'_>,
) -> Result<(), LaunchEnd> {
    let mut machine = machine(name)?;
    if let Some(path) = &wanted.faults {
        add_faults(&mut machine, path).map_err(|error| LaunchEnd::Failed(error.to_string()))?;
    }
    let seed = launch.job.settings.seed;
    let options = Options {
        seed,
        level: wanted.level.map(Level::from),
        ranks_per_processor: ranks_per_processor(wanted, launch),
        check_results: wanted.check_results != Some(Answer::No),
        trace: wanted.trace.is_some(),
        ..Options::new(launch.ranks)
    };
    let reports = Reports::default();
    let program = program(launch.job.clone(), Rc::clone(&reports));
    let interruption = Interruption::watch();
    let _guard = SignalGuard::new(interruption.clone());
    let mut stopped = None;
    let mut links = LinkMeter::default();
    let ended = fabric_sim::run_watched(&machine, &options, program, &mut |run| {
        note_link_use(&reports, &mut links, run);
        stopped = interruption.signal().map(LaunchEnd::Interrupted);
        if stopped.is_none() && hand_on(&reports, on_report).is_break() {
            stopped = Some(LaunchEnd::Stopped);
        }
        if stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if let Some(end) = stopped {
        return Err(end);
    }
    if hand_on(&reports, on_report).is_break() {
        return Err(LaunchEnd::Stopped);
    }
    let outcome = ended.map_err(|(rank, error)| match error {
        Error::Unsupported { .. } => LaunchEnd::Impossible(error.to_string()),
        error => LaunchEnd::Failed(format!("rank {rank}: {error}")),
    })?;
    match (&wanted.trace, outcome.trace) {
        (Some(path), Some(trace)) => write(path, &trace),
        _ => Ok(()),
    }
}

fn add_faults(machine: &mut Machine, path: &Path) -> Result<(), FileError> {
    let text = definition_files::read_file("file of faults", path)?;
    fabric_sim::machine::add_faults(&path.display().to_string(), &text, machine)
}

/// Returns the program of every rank.
fn program(job: Job, reports: Reports) -> impl Fn(&mut dyn Rank) -> RankResult<()> {
    move |rank| {
        let say = |message| reports.borrow_mut().push_back(message);
        if rank.rank() == 0 {
            say(RankReport::Joined(rank.describe()));
        }
        benchmark::execute(rank, &job, &mut |event| {
            say(RankReport::Event(event));
            Ok(())
        })
    }
}

/// Adds to each new measurement the use of the links since the measurement before it.
fn note_link_use(reports: &Reports, links: &mut LinkMeter, run: &Watched<'_>) {
    for message in reports.borrow_mut().iter_mut() {
        if let RankReport::Event(Event::Measured(measurements)) = message
            && let Some(first) = measurements.first_mut()
        {
            first.link_use = links.read(run);
        }
    }
}

fn hand_on(reports: &Reports, on_report: &mut OnReport<'_>) -> ControlFlow<()> {
    loop {
        let Some(report) = reports.borrow_mut().pop_front() else {
            return ControlFlow::Continue(());
        };
        on_report(report)?;
    }
}

fn write(path: &Path, trace: &Trace) -> Result<(), LaunchEnd> {
    let written = output_file::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        let cut = trace.write_chrome(&mut out)?;
        out.flush().map(|()| cut)
    });
    let cut = written.map_err(|error| {
        LaunchEnd::Failed(format!("cannot write the trace to '{}': {error}", path.display()))
    })?;
    if let Some(cut) = cut {
        note(&format!(
            "the trace {} ends at {:.6} s of virtual time, for no viewer opens all of it; to see more of the run, ask for one \
             benchmark and size at a time, or for --level loggp, which has no packets",
            path.display(),
            cut.since(Time::ZERO).as_s()
        ));
    }
    Ok(())
}
