//! Benchmarks on an MPI: this process joins the world under its launcher, or starts the launcher.
//!
//! In both cases the processes are one [`World`]. Its first process distributes launches. The processes of a launch
//! execute it, and the others wait without using their processor. One world therefore serves launches with several
//! numbers of ranks.

mod launched;

use std::cell::RefCell;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use benchmark::{Event, Launch};
use contract::{Error, Rank, Result as RankResult};
use fabric_mpi::{JoinError, LoadError, Options, World};

use super::job::{LaunchEnd, OnReport, RankReport, exit_code};
use crate::arguments::{FabricChoice, RunArguments};
use crate::failure::Failure;
use crate::interruption::Interruption;
use crate::progress::note;

pub(super) use launched::{launch, serve};

/// Maximum number of ranks that this process requests of a launcher. No launcher starts as many.
pub(super) const RANKS_MAX: usize = 1_000_000;

/// Time that a launcher has before an abort to read the output of the first rank.
const TIME_TO_BE_HEARD: Duration = Duration::from_millis(100);

/// The world that this process has joined. A process joins only one, because it has one MPI_COMM_WORLD.
struct Joined {
    world: World,
    /// True if other ranks are executing a launch, or may be.
    busy: bool,
}

thread_local! {
    static JOINED: RefCell<Option<Joined>> = const { RefCell::new(None) };
}

/// Role of a process in the world.
pub(crate) enum WorldRole {
    /// The first process, which plans the launches, keeps the results and is rank 0.
    First,
    /// Another rank, which has executed its part.
    Rank(ExitCode),
}

/// Returns whether a run must join the world of an MPI.
pub(crate) fn is_requested(arguments: &RunArguments) -> bool {
    arguments.fabric == Some(FabricChoice::Mpi)
}

/// Joins the world. In all processes but the first, the call returns when the first process has finished.
pub(crate) fn join(arguments: &RunArguments) -> Result<WorldRole, Failure> {
    let options = Options { library: arguments.mpi_library.clone(), ..Options::default() };
    let is_named = arguments.mpi_library.is_some();
    let world = World::join(options).map_err(|error| not_joined(&error, is_named))?;
    if world.rank() == 0 {
        JOINED.set(Some(Joined { world, busy: false }));
        return Ok(WorldRole::First);
    }
    Ok(WorldRole::Rank(be_a_rank(world)))
}

/// Returns the failure of joining the world, with a hint on its remedy. A library that cannot be loaded is a wrong file
/// of the command line if `is_named`.
fn not_joined(error: &JoinError, is_named: bool) -> Failure {
    let hint = match error {
        JoinError::Load(LoadError::NotFound { .. } | LoadError::NoMpi { .. }) => {
            "give the library of an MPI with --mpi-library, often lib/libmpi_abi.so.1 in its installation; `pip install mpich` brings one, with its mpiexec"
        }
        JoinError::Load(_) => {
            "give another library with --mpi-library; `pip install mpich` brings one, with its mpiexec"
        }
        JoinError::Init { .. } | JoinError::Alone { .. } => {
            "use the mpiexec of the library's own MPI, or give that mpiexec's library with --mpi-library; with --fabric mpi:NAME the right launcher is started from here"
        }
    };
    match error {
        JoinError::Load(_) if is_named => Failure::usage(error.to_string()).hint(hint),
        _ => Failure::failed(error.to_string()).hint(hint),
    }
}

/// Executes the launches that the first process distributes, until it ends the world.
fn be_a_rank(world: World) -> ExitCode {
    // Some launchers pass a Ctrl-C on to all ranks and wait for their end. The first rank ends the run for all. If this
    // rank ended earlier, the first would wait for its messages for ever.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::default());
    let outcome = execute_all(&world);
    if let Err(error) = &outcome {
        note(&format!("cornerstone: error: rank {}: {error}", world.rank()));
    }
    exit_code(world.finish(&outcome))
}

fn execute_all(world: &World) -> RankResult<()> {
    loop {
        let work = world.next()?;
        if work.is_empty() {
            return Ok(());
        }
        let launch: Launch = serde_json::from_slice(&work).map_err(|error| {
            Error::Program(format!("the work is not to be understood: {error}"))
        })?;
        if world.rank() < launch.ranks {
            execute(world, &launch, &mut |_| Ok(()))?;
        }
    }
}

/// Executes a launch as one of its ranks.
fn execute(
    world: &World,
    launch: &Launch,
    say: &mut dyn FnMut(RankReport) -> RankResult<()>,
) -> RankResult<()> {
    let mut process = world.first(launch.ranks)?;
    let mut rank = process.world();
    if world.rank() == 0 {
        say(RankReport::Joined(rank.describe()))?;
    }
    benchmark::execute(&mut rank, &launch.job, &mut |event: Event| say(RankReport::Event(event)))?;
    process.end()
}

/// Returns the number of ranks of the world that this process has joined.
pub(super) fn ranks() -> usize {
    JOINED.with_borrow(|joined| joined.as_ref().map_or(1, |joined| joined.world.size()))
}

/// Executes `launch` in the world that this process has joined as its first.
pub(super) fn run(launch: &Launch, on_report: &mut OnReport<'_>) -> Result<(), LaunchEnd> {
    JOINED.with_borrow_mut(|joined| {
        let Some(Joined { world, busy }) = joined else {
            return Err(LaunchEnd::Failed("this process has not joined an MPI".into()));
        };
        *busy = true;
        // While this process is a rank, nothing else checks for signals, and some launchers leave a Ctrl-C to the
        // ranks.
        let interruption = Interruption::watch();
        let mut stopped = None;
        let outcome = hand_out(world, launch, &mut |report| {
            if on_report(report).is_break() {
                stopped.get_or_insert(LaunchEnd::Stopped);
            }
            if let Some(signal) = interruption.signal() {
                stopped.get_or_insert(LaunchEnd::Interrupted(signal));
            }
            let why = || "the run was stopped".into();
            if stopped.is_some() { Err(Error::Aborted { why: why() }) } else { Ok(()) }
        });
        *busy = outcome.is_err();
        match (outcome, stopped) {
            (_, Some(end)) => Err(end),
            (Err(error), None) => Err(LaunchEnd::Failed(format!("rank 0: {error}"))),
            (Ok(()), None) => {
                interruption.signal().map_or(Ok(()), |signal| Err(LaunchEnd::Interrupted(signal)))
            }
        }
    })
}

fn hand_out(
    world: &World,
    launch: &Launch,
    say: &mut dyn FnMut(RankReport) -> RankResult<()>,
) -> RankResult<()> {
    world.hand_out(&serde_json::to_vec(launch).expect("a launch is plain data"))?;
    execute(world, launch, say)
}

/// Ends the other ranks after the first one's part has `ended`. Aborts ranks that are still executing a launch, which
/// can no longer complete.
pub(crate) fn leave(ended: Result<ExitCode, Failure>) -> Result<ExitCode, Failure> {
    let Some(Joined { world, busy }) = JOINED.take() else { return ended };
    if busy {
        let gave_up = Error::Aborted { why: "the first rank has failed".into() };
        // An abort ends this process, too, so the failure is reported first. At an abort the launcher drops output that
        // it has not read, so it receives time to read the report.
        let status = ended.unwrap_or_else(|failure| failure.report());
        std::thread::sleep(TIME_TO_BE_HEARD);
        world.finish(&Err(gave_up));
        return Ok(status);
    }
    let outcome = world.hand_out(&[]);
    let status = world.finish(&outcome);
    match ended {
        Ok(_) if status != 0 => Err(Failure::failed("the MPI did not end in order")),
        ended => ended,
    }
}
