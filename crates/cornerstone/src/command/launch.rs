//! `launch`: runs an MPI program as several ranks, over shared memory or TCP on this host, on several hosts, over
//! libfabric on either, or on a simulated machine.

mod ending;
mod not_started;
mod other_mpi;
mod profile;
mod program_file;
mod simulated;
pub(crate) mod spawned;

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fabric_tcp::Secret;
use launcher::{Binding, LaunchError, LaunchOptions, OnHang, OtherProgram, Watch};

use crate::activity;
use crate::arguments::{
    Bind, HangAction, LaunchArguments, LaunchFabric, MapBy, Readers, Variable, is_page,
};
use crate::descriptors;
use crate::fabric::cluster::{self, Carrier, HostTask, TaskBinding};
use crate::fabric::hosts::Hosts;
use crate::fabric::{binding, ofi, openmp};
use crate::failure::Failure;
use crate::mistakes::Mistakes;
use crate::orphans;
use crate::rank_notes::{NOTES, RankNotes};
use crate::streams::{self, Copying};
use ending::explain;
use profile::Observation;

/// Variable with the number of the rank's program among several, from 0 on: MPI_APPNUM.
const PROGRAM_NUMBER: &str = "CORNERSTONE_MPI_APPNUM";

/// Variable with the port of the ranks that have started this run. Empty if no rank has.
const PARENT_PORT: &str = "CORNERSTONE_MPI_PARENT";

/// Variable with the path of this program, with which a rank starts other runs.
const LAUNCHER: &str = "CORNERSTONE_LAUNCHER";

/// Hint on a mistake that only a run on several hosts has.
const OF_JOB: &str = "the ranks need the other hosts of this batch job; --fabric local starts them on this host alone";

/// Starts the ranks of the program and those of the `others`, and returns when all have ended. Of the others only the
/// program, its ranks, its folder and its variables are used.
pub(super) fn execute(
    mut arguments: LaunchArguments,
    others: &[LaunchArguments],
) -> Result<ExitCode, Failure> {
    for directory in [&arguments].into_iter().chain(others).flat_map(|one| &one.directory) {
        if !directory.is_dir() {
            return Err(Failure::usage(format!("'{}' is no folder", directory.display())));
        }
    }
    refuse_report_as_program(&arguments)?;
    refuse_places_without_effect(&arguments)?;
    let others = programs(&arguments, others);
    arguments.ranks = others.last().map_or(arguments.ranks, |last| last.ranks.end);
    if arguments.ranks == 0 {
        return Err(Failure::usage("a run needs at least 1 rank, not 0"));
    }
    let is_of_job = !arguments.has_place() && Hosts::of_job_are_needed(arguments.ranks);
    if is_of_job {
        arguments.use_hosts_of_job();
    }
    let fabric = arguments.fabric();
    if !matches!(fabric, LaunchFabric::Simulated(_)) {
        simulated::refuse_options(&arguments)?;
    }
    let mut mistakes = Mistakes::prepare(&arguments)?;
    let mut observation = Observation::prepare(&arguments, &others)?;
    let _lookout =
        other_mpi::warn(&arguments.program[0], &others, arguments.ranks, &variables(&arguments));
    let notes = RankNotes::new(arguments.check_leaks)?;
    let watched = Watched { observation: &mut observation, notes: &notes, mistakes: &mut mistakes };
    let ended = match fabric {
        LaunchFabric::Simulated(machine) => {
            simulated::launch(&arguments, others, &machine, watched)
        }
        _ => run(&arguments, others, watched),
    };
    let ended = match is_of_job {
        // The user has named no hosts, and may not expect any.
        true => ended.map_err(|failure| failure.hint_if_misused(OF_JOB)),
        false => ended,
    };
    let ended = match observation {
        None => ended,
        Some(observation) => observation.report(ended, &mut mistakes),
    };
    let noted = notes
        .report(&mut mistakes)
        .map_err(|error| Failure::failed(format!("reading the notes of the ranks: {error}")));
    mistakes.end(ended.and_then(|status| noted.map(|()| status)))
}

/// What is recorded of a run beside its end.
struct Watched<'a> {
    observation: &'a mut Option<Observation>,
    notes: &'a RankNotes,
    mistakes: &'a mut Mistakes,
}

impl Watched<'_> {
    /// Lets ranks on this host record what is asked for.
    fn observe(&self, options: &mut LaunchOptions) {
        options.environment.extend(self.notes.environment());
        self.observation.iter().for_each(|observation| observation.observe(options));
    }
}

/// Refuses `--report FILE PROGRAM`, in which FILE would be the program.
fn refuse_report_as_program(arguments: &LaunchArguments) -> Result<(), Failure> {
    let program = Path::new(&arguments.program[0]);
    let has_no_file = arguments.observation.report.iter().any(|file| file.is_empty());
    if !(has_no_file && is_page(program)) || program.exists() {
        return Ok(());
    }
    let program = program.display();
    Err(Failure::usage(format!("there is no program '{program}'"))
        .hint(format!("for a report in that file, write --report={program} before the program")))
}

/// Refuses options for processors to which no rank would be bound.
fn refuse_places_without_effect(arguments: &LaunchArguments) -> Result<(), Failure> {
    let placement = &arguments.placement;
    let is_bound = !matches!(placement.bind, Bind::None | Bind::One);
    let why = if placement.map_by != MapBy::Core && !is_bound {
        "--map-by orders the processors to which ranks are bound"
    } else if placement.processors_each > 1 && placement.bind != Bind::Core {
        "--processors-each counts the processors to which a rank is bound"
    } else {
        return Ok(());
    };
    Err(Failure::usage(why).hint("add --bind core"))
}

fn run(
    arguments: &LaunchArguments,
    others: Vec<OtherProgram>,
    watched: Watched,
) -> Result<ExitCode, Failure> {
    let fabric = arguments.fabric();
    let carrier = carrier(&fabric);
    let hosts = Hosts::new(&arguments.hosts, carrier.is_some())?;
    if let Some(provider) = carrier.as_ref().and_then(Carrier::provider) {
        ofi::check(hosts.as_ref(), provider)?;
    }
    let is_cluster = matches!(fabric, LaunchFabric::Cluster(_));
    if let Some(carrier) = carrier.filter(|_| is_cluster || hosts.is_some()) {
        if !others.is_empty() {
            return Err(Failure::usage("several programs run on this host alone")
                .hint("name no hosts, or start one program that knows its part by its rank"));
        }
        if !matches!(arguments.streams.stdin, None | Some(Readers::One(0) | Readers::None)) {
            let why = "on several hosts, rank 0 reads standard input, or none does";
            return Err(Failure::usage(format!("--stdin: {why}")));
        }
        let hosts = hosts.unwrap_or_else(|| Hosts::this_one(arguments.ranks));
        let mut task = host_task(arguments)?;
        let Watched { observation, notes, mistakes } = watched;
        task.observed = observation.as_ref().map(Observation::wanted);
        task.carrier = carrier;
        task.leaks = arguments.check_leaks;
        let mut noted = Ok(());
        let take = &mut |region: &[u8]| match region.strip_prefix(NOTES) {
            Some(lines) => noted = notes.note(lines),
            None => observation.iter_mut().for_each(|one| one.take(region)),
        };
        let watch = watch(arguments);
        let ended = cluster::launch_program(&hosts, arguments.ranks, &task, watch, take);
        noted.map_err(|error| {
            Failure::failed(format!("noting what ranks of another host say: {error}"))
        })?;
        return ended.map(|()| ExitCode::SUCCESS).map_err(|error| explain(error, mistakes));
    }
    on_this_host(hosts.as_ref(), &fabric)?;
    let mut options = options(arguments, others)?;
    watched.observe(&mut options);
    let has_joined = options.has_joined.clone();
    let ended = launch(arguments, options, watched.mistakes, &mut start);
    // Relaxed: the ranks have ended, and it guards no other memory.
    if has_joined.load(Ordering::Relaxed) {
        watched.observation.iter_mut().for_each(Observation::note_joined);
    }
    ended
}

/// Returns the carrier of messages between hosts, or `None` if the fabric permits one host only.
fn carrier(fabric: &LaunchFabric) -> Option<Carrier> {
    match fabric {
        LaunchFabric::Cluster(outer) => Some(Carrier::from(outer)),
        LaunchFabric::Ofi(provider) => Some(Carrier::Ofi(provider.clone())),
        LaunchFabric::Local | LaunchFabric::Tcp | LaunchFabric::Simulated(_) => None,
    }
}

/// Refuses hosts for a fabric that permits one host only.
fn on_this_host(hosts: Option<&Hosts>, fabric: &LaunchFabric) -> Result<(), Failure> {
    if hosts.is_none() {
        return Ok(());
    }
    let why = format!("--fabric {fabric} is for programs on this host alone");
    Err(Failure::usage(why).hint("leave --fabric out, or write --fabric cluster"))
}

/// Starts the ranks and waits for their end.
fn start(options: &LaunchOptions) -> Result<(), LaunchError> {
    launcher::launch(options, &mut |_| ControlFlow::Continue(()))
}

/// Runs the program by `start`, with its input and output, and ends the processes that its ranks left.
fn launch(
    arguments: &LaunchArguments,
    mut options: LaunchOptions,
    mistakes: &mut Mistakes,
    start: &mut dyn FnMut(&LaunchOptions) -> Result<(), LaunchError>,
) -> Result<ExitCode, Failure> {
    options.descriptor_limit = descriptors::raise_limit();
    // What is wrong is refused before pipes are made for it.
    options.processors_of_ranks().map_err(|error| explain(error, mistakes))?;
    let ranks: Vec<usize> = (0..arguments.ranks).collect();
    let copying = streams::connect(&mut options, &arguments.streams, &ranks, ranks.len())?;
    if arguments.placement.show_places {
        binding::show(&options, &ranks).map_err(|error| explain(error, mistakes))?;
    }
    orphans::adopt();
    let ended = start(&options);
    let spawned = end_what_ranks_left(ended.is_ok());
    // The copying ends once the other ends of its pipes are closed.
    drop(options);
    let copied = copying.map_or(Ok(()), Copying::finish);
    // Ranks that write where nothing can be written any more end because of it.
    let ended = ended.map_err(|error| explain(error, mistakes)).and(spawned);
    Failure::of_both(ended, copied).map(|()| ExitCode::SUCCESS)
}

/// Waits for the runs that ranks have started, if this one has ended well. Otherwise ends them.
fn end_what_ranks_left(has_ended_well: bool) -> Result<(), Failure> {
    if !has_ended_well {
        orphans::end();
        return Ok(());
    }
    match orphans::wait_for_launchers() {
        0 => Ok(()),
        status => Err(Failure::status("a run that a rank has started failed", status)),
    }
}

/// Returns the options of a run of one program, or of these.
fn options(
    arguments: &LaunchArguments,
    programs: Vec<OtherProgram>,
) -> Result<LaunchOptions, Failure> {
    let (program, rest) = arguments.program.split_first().expect("clap asks for a program");
    let fabric = arguments.fabric();
    let job = job(&fabric, arguments.ranks)?;
    let mut options = match fabric {
        LaunchFabric::Local => fabric_shm::launch_options(arguments.ranks, job),
        _ => LaunchOptions::new(arguments.ranks, job),
    };
    options.program = PathBuf::from(program);
    options.arguments = rest.to_vec();
    options.any_program = true;
    options.environment = environment();
    if programs.is_empty() {
        options.environment.extend(variables(arguments));
        options.directory = arguments.directory.clone();
    }
    options.others = programs;
    options.binding = binding::binding(&arguments.placement);
    let is_bound_to_one = options.binding == Binding::OneCoreEach;
    openmp::set_wait_policy(&mut options.environment, arguments.ranks, is_bound_to_one);
    options.watch = Some(watch(arguments));
    Ok(options)
}

/// Returns the programs of a run of several, each with its ranks, its folder and its variables. Empty if there are no
/// `others`.
fn programs(first: &LaunchArguments, others: &[LaunchArguments]) -> Vec<OtherProgram> {
    if others.is_empty() {
        return Vec::new();
    }
    let mut first_rank = 0;
    let program = |(index, one): (usize, &LaunchArguments)| {
        let (program, rest) = one.program.split_first().expect("clap asks for a program");
        let mut environment = variables(one);
        environment.push((PROGRAM_NUMBER.into(), index.to_string().into()));
        let ranks = first_rank..first_rank + one.ranks;
        first_rank = ranks.end;
        OtherProgram {
            ranks,
            program: PathBuf::from(program),
            arguments: rest.to_vec(),
            environment,
            directory: one.directory.clone(),
        }
    };
    [first].into_iter().chain(others).enumerate().map(program).collect()
}

/// Returns the variables of the command line.
fn variables(arguments: &LaunchArguments) -> Vec<(OsString, OsString)> {
    let pair = |one: &Variable| (one.name.clone(), one.value.clone());
    arguments.variables.iter().map(pair).collect()
}

/// Returns the variables of every rank's environment in addition to those of this process and of the command line.
fn environment() -> Vec<(OsString, OsString)> {
    let mut environment = vec![(PARENT_PORT.into(), OsString::new())];
    environment.extend(std::env::current_exe().map(|own| (LAUNCHER.into(), own.into())));
    environment.push((PROGRAM_NUMBER.into(), "0".into()));
    environment
}

/// Returns the monitoring of the ranks' progress.
fn watch(arguments: &LaunchArguments) -> Watch {
    Watch {
        on_hang: match arguments.on_hang.unwrap_or_default() {
            HangAction::End => OnHang::End,
            HangAction::Report => OnHang::Report,
        },
        standstill: arguments.watch.map(|limit| Duration::from_secs_f64(limit.0)),
        limit: arguments.timeout.map(|limit| Duration::from_secs_f64(limit.0)),
        report: activity::report,
    }
}

/// Returns the command of each host.
fn host_task(arguments: &LaunchArguments) -> Result<HostTask, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::failed(format!("this process's folder: {error}")))?;
    let directory = arguments.directory.as_ref().map_or(here.clone(), |given| here.join(given));
    let mut own = environment();
    own.extend(variables(arguments));
    // An agent that logs in does not pass these variables on.
    let needed = |name: &OsString| {
        let name = name.to_string_lossy();
        ["LD_LIBRARY_PATH", "PATH", "PYTHONPATH"].contains(&&*name)
            || ["CORNERSTONE_", "FI_", "OMP_", "MPI4PY_"]
                .iter()
                .any(|start| name.starts_with(start))
    };
    let mut environment: Vec<_> = std::env::vars_os().filter(|(name, _)| needed(name)).collect();
    // The variables of the command line come last, and so have precedence.
    environment.extend(own);
    Ok(HostTask {
        program: Some(arguments.program.clone()),
        environment,
        directory: Some(directory),
        binding: TaskBinding::Requested(arguments.placement),
        draw: None,
        streams: arguments.streams.clone(),
        observed: None,
        leaks: false,
        ranks: arguments.ranks,
        watch: None,
        carrier: Carrier::default(),
    })
}

/// Returns the job of the ranks, which contains the fabric. An empty job means shared memory.
fn job(fabric: &LaunchFabric, ranks: usize) -> Result<Vec<u8>, Failure> {
    match fabric {
        LaunchFabric::Local | LaunchFabric::Cluster(_) | LaunchFabric::Simulated(_) => {
            Ok(Vec::new())
        }
        LaunchFabric::Tcp | LaunchFabric::Ofi(_) if ranks > fabric_tcp::RANKS_MAX => {
            Err(Failure::usage(format!(
                "a run over TCP or libfabric has up to {} ranks, for each is connected with each, not {ranks}",
                fabric_tcp::RANKS_MAX
            ))
            .hint(format!("more ranks run over shared memory: leave --fabric {fabric} out")))
        }
        LaunchFabric::Tcp => secret().map(|secret| fabric_tcp::library::job(&secret)),
        LaunchFabric::Ofi(provider) => {
            secret().map(|secret| fabric_ofi::job(&secret, provider.as_deref()))
        }
    }
}

fn secret() -> Result<Secret, Failure> {
    Secret::generate().map_err(|error| Failure::failed(format!("no random numbers: {error}")))
}
