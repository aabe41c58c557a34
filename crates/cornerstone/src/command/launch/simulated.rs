//! Programs on simulated machines: each process drives a rank of a machine that is simulated in this process.

use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use fabric_sim::{Computing, Machine, Options, Processes, RankAccount};
use launcher::{LaunchOptions, OtherProgram};
use recording::Recorder;

use super::Watched;
use super::profile::Observation;
use super::program_file::{self, Purpose};
use crate::arguments::{Compute, LaunchArguments};
use crate::command::predicted::{self, Predicted, RankTime};
use crate::command::replay;
use crate::fabric::hosts::Hosts;
use crate::failure::Failure;
use crate::linked;
use crate::preloaded;
use crate::progress::note;

/// Library that provides virtual time to programs, and the variable that it reads.
const TIME_LIBRARY: &str = "libcornerstone_time.so";
const RATE_VARIABLE: &str = "CORNERSTONE_VIRTUAL_TIME";

/// Runs the program and the `others` on a machine.
pub(super) fn launch(
    arguments: &LaunchArguments,
    others: Vec<OtherProgram>,
    machine: &str,
    watched: Watched,
) -> Result<ExitCode, Failure> {
    let name = format!("sim:{machine}");
    check(arguments, &others)?;
    let machine =
        fabric_sim::machine::find(machine).map_err(|error| Failure::usage(error.to_string()))?;
    predicted::check_ranks(arguments.ranks, &machine, &arguments.prediction)?;
    let computing = computing(arguments)?;
    let failed = |what: &str, error| Failure::failed(format!("{what}: {error}"));
    let mut options = super::options(arguments, others)?;
    watched.observe(&mut options);
    add_virtual_time(&mut options, &computing)?;
    let recorder = match &arguments.record {
        Some(path) => Some(
            Recorder::create(path, arguments.ranks, &title(arguments, &name))
                .map_err(|error| Failure::usage(error.to_string()))?,
        ),
        None => None,
    };
    let processes = Processes::create(arguments.ranks, computing, recorder)
        .map_err(|error| failed("making memory for the ranks' calls", error))?;
    options.job = processes.job(&name).map_err(|error| failed("preparing that memory", error))?;
    let (processes, begin) = (Arc::new(processes), Instant::now());
    let of_machine = predicted::options(arguments.ranks, &arguments.prediction);
    let simulation = simulate(processes.clone(), machine, of_machine)?;
    let start = &mut |options: &LaunchOptions| {
        let ended = super::start(options);
        processes.stop();
        ended
    };
    let ended = super::launch(arguments, options, watched.mistakes, start);
    processes.stop();
    let simulated = simulation.join().unwrap_or_else(|_| Err("the simulation panicked".into()));
    let (fatal, has_been_joined) = (processes.fatal(), processes.has_been_joined());
    watched.observation.iter_mut().filter(|_| has_been_joined).for_each(Observation::note_joined);
    let processes = Arc::into_inner(processes).expect("the simulation has ended");
    let recorded = end_recording(processes, has_been_joined && simulated.is_ok(), arguments);
    if let Some(why) = fatal {
        return Err(Failure::failed(why));
    }
    let status = ended?;
    if !has_been_joined {
        return Err(Failure::failed(
            "no rank has called MPI_Init of Cornerstone's MPI library, so nothing was simulated",
        )
        .hint(
            "build the program against libmpi_abi.so.1 of this build, and let the loader find it",
        ));
    }
    let simulated = simulated.map_err(Failure::failed)?;
    report(&name, &simulated, begin, watched.observation);
    recorded.map(|()| status)
}

/// Prints the prediction, and a warning of computing that it does not contain. A report of the program contains the
/// warning as well.
fn report(
    name: &str,
    simulated: &Predicted,
    begin: Instant,
    observation: &mut Option<Observation>,
) {
    predicted::report(name, simulated, begin.elapsed());
    if let Some(warning) = predicted::uncounted(&simulated.ranks) {
        note(&format!("cornerstone: {warning}"));
        observation.iter_mut().for_each(|one| one.remark(&warning));
    }
}

/// Ends the recording, if there is one. If not every rank came to its end, the recording cannot be replayed, and is
/// removed.
fn end_recording(
    processes: Processes,
    is_whole: bool,
    arguments: &LaunchArguments,
) -> Result<(), Failure> {
    if is_whole {
        return processes.finish().map_err(|error| Failure::failed(error.to_string()));
    }
    drop(processes);
    if let Some(path) = arguments.record.as_ref().filter(|path| !path.exists()) {
        let path = path.display();
        note(&format!(
            "cornerstone: the recording '{path}' was removed: the run did not come to its end"
        ));
    }
    Ok(())
}

/// Refuses programs and numbers of ranks that no simulated machine can run.
fn check(arguments: &LaunchArguments, others: &[OtherProgram]) -> Result<(), Failure> {
    super::on_this_host(Hosts::new(&arguments.hosts, false)?.as_ref(), &arguments.fabric())?;
    let (ranks, most) = (arguments.ranks, launcher::MAXIMUM_RANKS);
    if ranks > most {
        return Err(Failure::usage(format!(
            "{ranks} ranks are too many: a program has a process for each, up to {most}"
        )));
    }
    let first = arguments.program.first().expect("clap asks for a program");
    program_file::check_all(first, others, Purpose::VirtualTime, &super::variables(arguments))
}

/// Refuses options of simulations for a fabric that is no simulated machine.
pub(super) fn refuse_options(arguments: &LaunchArguments) -> Result<(), Failure> {
    let record = arguments.record.as_ref().map(|_| "--record");
    let Some(option) = arguments.prediction.given().or(record) else { return Ok(()) };
    let fabric = arguments.fabric();
    let why = format!("{option} is for simulated machines, which --fabric {fabric} is not");
    Err(Failure::usage(why).hint("add --fabric sim:MACHINE; `cornerstone machines` lists them"))
}

fn computing(arguments: &LaunchArguments) -> Result<Computing, Failure> {
    Ok(match arguments.prediction.compute.clone().unwrap_or_default() {
        Compute::None => Computing::None,
        Compute::Measured(factor) => Computing::Measured(factor),
        Compute::Recorded(path) => {
            let recording = replay::read(&path)?;
            let (recorded, ranks) = (recording.ranks(), arguments.ranks);
            if recorded != ranks {
                let path = path.display();
                let why = format!("'{path}' is a recording of {recorded} ranks, not of {ranks}");
                return Err(Failure::usage(why).hint("record the program with as many ranks"));
            }
            Computing::Recorded(Arc::new(recording))
        }
    })
}

/// Returns the origin of a recording, in words. `tradeoff` reads the machine from it.
fn title(arguments: &LaunchArguments, fabric: &str) -> String {
    let words = arguments.program.iter().map(|word| word.to_string_lossy());
    format!("{} on {fabric}", words.collect::<Vec<_>>().join(" "))
}

/// Starts the simulation in a separate thread.
fn simulate(
    processes: Arc<Processes>,
    machine: Machine,
    options: Options,
) -> Result<thread::JoinHandle<Result<Predicted, String>>, Failure> {
    let run = move || {
        let outcome = fabric_sim::run_processes(&machine, &options, &processes)
            .map_err(|(rank, error)| format!("rank {rank}: {error}"))?;
        let time = |rank: &RankAccount| {
            let RankAccount { computing, sleeping, uncounted, end, .. } = *rank;
            RankTime { computing, sleeping, uncounted, end }
        };
        Ok(Predicted {
            requests: Some(outcome.results.iter().map(|rank| rank.calls).sum()),
            ranks: outcome.results.iter().map(time).collect(),
            end: outcome.end,
            event_hash: outcome.event_hash,
            counts: outcome.counts,
        })
    };
    thread::Builder::new()
        .name("simulation".into())
        .spawn(run)
        .map_err(|error| Failure::failed(format!("starting the simulation: {error}")))
}

/// Adds the variables that make the program's clocks return virtual time.
fn add_virtual_time(options: &mut LaunchOptions, computing: &Computing) -> Result<(), Failure> {
    let rate = match computing {
        Computing::Measured(factor) => (factor * 1000.0).round(),
        Computing::None | Computing::Recorded(_) => 0.0,
    };
    let library = preloaded::find(TIME_LIBRARY, "libvirtual-time")?;
    preloaded::load(options, &library, linked::sanitizers);
    options.environment.push((RATE_VARIABLE.into(), format!("{rate}").into()));
    Ok(())
}
