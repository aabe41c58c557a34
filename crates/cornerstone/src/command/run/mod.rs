//! `run`: plans the launches, measures, keeps the results and shows them.

mod checks;
mod explain;
mod latest;
mod limit;
mod notes;
mod request;
mod rounds;
mod session;

use std::collections::BTreeMap;
use std::process::ExitCode;

use benchmark::{Benchmark, Group, Launch, PlanError, RealTime, Repeats, Settings, plan, select};
use record::Key;

use crate::arguments::RunArguments;
use crate::fabric::mpi;
use crate::failure::Failure;
use crate::interruption::Interruption;
use crate::progress::note;

use request::Request;
use session::Session;

/// Executes the measurements that the arguments request. Under the launcher of an MPI every process calls this: the
/// first one measures, and the others are its ranks.
pub(crate) fn execute(arguments: RunArguments) -> Result<ExitCode, Failure> {
    if !mpi::is_requested(&arguments) {
        return measure(arguments);
    }
    match mpi::join(&arguments)? {
        mpi::WorldRole::Rank(status) => Ok(status),
        mpi::WorldRole::First => mpi::leave(measure(arguments)),
    }
}

fn measure(arguments: RunArguments) -> Result<ExitCode, Failure> {
    let interruption = Interruption::watch();
    let explains = arguments.explain_plan;
    let request = Request::new(arguments)?;
    checks::started_once(&request.fabric)?;
    checks::launcher(&request)?;
    let selection = select(&request.names).map_err(|error| Failure::unknown_benchmark(&error))?;
    checks::options(&request, &selection)?;
    checks::requested(&request, &selection)?;
    let launches = planned(&request, selection.clone())?;
    checks::algorithms(&request, &selection)?;
    checks::ranks(&request, &launches)?;
    request.fabric.check(&launches, &request.simulation, request.hosts.as_ref())?;
    if explains {
        return explain::execute(&request, &launches, &selection);
    }
    checks::memory(&launches)?;
    let mut session = Session::open(request, &launches)?;
    let ended = session.measure(&launches, &interruption);
    session.close(ended)
}

/// Returns all launches of the run: first the first launch of every case, then the second of every case, and so on.
/// Slow times of the machine then affect all cases equally.
fn planned(
    request: &Request,
    mut selection: Vec<&'static Benchmark>,
) -> Result<Vec<Launch>, Failure> {
    let rounds = request.launches;
    let mut settings = request.settings.of_a_part(rounds.most);
    // Cases that are settled early leave the others no time, so a launch is as long as if there were the fewest.
    settings.time_min_s = request.settings.of_a_part(rounds.fewest).time_min_s;
    settings.time_min_s = settings.time_min_s.min(settings.time_limit_s);
    let mut all = launches(request, &selection, &settings, 0)?;
    let is_launched_again = |one: &&Benchmark| match one.group {
        // The cases of this group take their time in each launch, so they have several only at the user's request.
        Group::RealTime => {
            reason_for_one_launch(one, &settings).is_none() && request.chosen_launches
        }
        _ => true,
    };
    if request.chosen_launches && rounds.most > 1 {
        let reasons = selection.iter().filter_map(|one| reason_for_one_launch(one, &settings));
        reasons.for_each(|why| note(&why));
    }
    selection.retain(is_launched_again);
    let further = if selection.is_empty() { 1..1 } else { 1..rounds.most };
    for number in further {
        all.extend(launches(request, &selection, &settings, number)?);
    }
    Ok(all)
}

/// Returns the reason why a benchmark has one launch, even if the user requests more.
fn reason_for_one_launch(benchmark: &Benchmark, settings: &Settings) -> Option<String> {
    let why = match benchmark.repeats {
        Repeats::Launches => return None,
        // A trial of one period is repeated by launches only.
        Repeats::Trials if settings.real_time.period_s.is_some() => return None,
        Repeats::Trials => "it repeats trials of a period; --searches repeats a search",
        Repeats::Never => "it observes the processors for as long as --duration says",
    };
    Some(format!("note: {} is measured in one launch: {why}", benchmark.name))
}

/// Returns the launches of this number, without measurements that the resumed run contains.
fn launches(
    request: &Request,
    selection: &[&'static Benchmark],
    settings: &Settings,
    number: u32,
) -> Result<Vec<Launch>, Failure> {
    let earlier = request.earlier().into_iter().flat_map(|run| &run.measurements);
    let of_this_launch = earlier.filter(|measurement| measurement.launch == number);
    let mut done: BTreeMap<Key, bool> = BTreeMap::new();
    // The latest measurement of a case counts.
    for measurement in of_this_launch {
        let is_done = done.entry(measurement.key()).or_insert(true);
        if let Some(search) = &measurement.search {
            *is_done = !settings.real_time.continues(search);
        }
    }
    let done = done.into_iter().filter(|(_, is_done)| *is_done).map(|(key, _)| key).collect();
    let trials = request.earlier().into_iter().flat_map(|run| &run.trials);
    let trials = trials.filter(|line| line.launch == number).cloned().collect();
    let real_time = RealTime { earlier: trials, ..settings.real_time.clone() };
    let settings = &Settings { real_time, ..settings.clone() };
    let processors = request.processors();
    let ranks = request.ranks.as_deref();
    let planned = plan(selection, ranks, processors, settings, &done).map_err(refused)?;
    let places = request.launches_before.unwrap_or(0).saturating_add(number);
    Ok(planned.into_iter().map(|launch| Launch { number, places, ..launch }).collect())
}

/// Returns the failure for a selection that cannot be planned.
fn refused(error: PlanError) -> Failure {
    let hint = match error {
        PlanError::Ranks { .. } => "choose other numbers with --ranks, or omit the benchmark",
        PlanError::Sizes { .. } => {
            "omit --sizes; `cornerstone list NAME` explains what a benchmark measures"
        }
        PlanError::Parameter { .. } | PlanError::Value { .. } | PlanError::Only { .. } => {
            "choose other values with --only, or omit it"
        }
        PlanError::Algorithms { .. } => {
            "`cornerstone list NAME` lists the algorithms of a collective"
        }
    };
    Failure::usage(error.to_string()).hint(hint)
}
