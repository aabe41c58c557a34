//! Benchmarks and programs on several hosts: shared memory inside each, TCP or libfabric between them; or libfabric
//! alone.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use benchmark::{Launch, Placement};
use contract::{Error, Result as RankResult};
use fabric_cluster::{OuterFabric, is_job, job_of};
use fabric_tcp::{HostPart, HostWatch, StartOptions, Starting, UserSignal};
use launcher::{Binding, LaunchError, LaunchOptions, OnHang, Seat, Watch};
use serde::{Deserialize, Serialize};

use super::binding;
use super::hosts::Hosts;
use super::job::{self, LaunchEnd, OnReport, RankJob};
use super::openmp;
use super::places::Draw;
use crate::activity;
use crate::arguments::{PlacementArguments, StreamArguments};
use crate::descriptors;
use crate::failure::Failure;
use crate::interruption::{Interruption, Question};
use crate::observed_memory::Memory;
use crate::orphans;
use crate::progress::note;
use crate::rank_notes::{NOTES, RankNotes};
use crate::streams::{self, Copying};

/// First argument of a process that starts the ranks of a host.
const HOST: &str = "--as-a-cluster-host";

/// The command of the process of a host.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HostTask {
    /// Program and its arguments. `None` for ranks of this program itself.
    pub(crate) program: Option<Vec<OsString>>,
    /// Variables that every rank's environment has in addition to that of the host's process.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Folder in which the ranks begin.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) binding: TaskBinding,
    /// Numbers that determine the drawn places; `None` if no places are drawn.
    #[serde(default)]
    pub(crate) draw: Option<Draw>,
    /// Input and output of the ranks of a program.
    #[serde(default)]
    pub(crate) streams: StreamArguments,
    /// Records that ranks make in addition to tables; `None` if they record nothing.
    #[serde(default)]
    pub(crate) observed: Option<u64>,
    /// True if ranks list the objects that they have not freed.
    #[serde(default)]
    pub(crate) leaks: bool,
    /// Number of ranks of the run, on all hosts.
    #[serde(default)]
    pub(crate) ranks: usize,
    /// The time without a move after which all ranks are reported, if at all.
    #[serde(default)]
    pub(crate) watch: Option<Duration>,
    /// The provider of libfabric that carries all messages, or empty for the first one. `None` for shared memory and
    /// TCP.
    #[serde(default)]
    pub(crate) carrier: Carrier,
}

/// What carries the messages of ranks on several hosts. A provider of libfabric may be named; else it is the first one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Carrier {
    /// Shared memory inside hosts, TCP between them.
    #[default]
    Cluster,
    /// Shared memory inside hosts, libfabric between them.
    ClusterOverOfi(Option<String>),
    /// libfabric alone.
    Ofi(Option<String>),
}

impl From<&OuterFabric> for Carrier {
    fn from(outer: &OuterFabric) -> Self {
        match outer {
            OuterFabric::Tcp => Carrier::Cluster,
            OuterFabric::Ofi { provider } => Carrier::ClusterOverOfi(provider.clone()),
        }
    }
}

impl Carrier {
    /// Returns the provider of libfabric, if messages use libfabric.
    pub(crate) fn provider(&self) -> Option<Option<&str>> {
        match self {
            Carrier::Cluster => None,
            Carrier::ClusterOverOfi(provider) | Carrier::Ofi(provider) => Some(provider.as_deref()),
        }
    }

    /// Returns options for the launch of the ranks of a host.
    fn launch_options(&self, part: &HostPart) -> LaunchOptions {
        let ranks = part.ranks.len();
        let outer = match self {
            Carrier::Cluster => OuterFabric::Tcp,
            Carrier::ClusterOverOfi(provider) => OuterFabric::Ofi { provider: provider.clone() },
            Carrier::Ofi(provider) => {
                return LaunchOptions::new(ranks, fabric_ofi::host_job(part, provider.as_deref()));
            }
        };
        fabric_shm::launch_options(ranks, job_of(part, &outer))
    }
}

/// Placement of the ranks of a host.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum TaskBinding {
    OneCoreEach,
    OneForAll,
    Halves,
    /// As the command line of a program asks.
    Requested(PlacementArguments),
}

impl Default for TaskBinding {
    fn default() -> Self {
        TaskBinding::Requested(PlacementArguments::default())
    }
}

impl TaskBinding {
    /// Returns the binding of so many ranks on this host.
    fn here(&self, ranks: usize) -> Binding {
        let binding = match self {
            TaskBinding::OneCoreEach => Binding::OneCoreEach,
            TaskBinding::OneForAll => Binding::OneForAll,
            TaskBinding::Halves => Binding::Halves,
            TaskBinding::Requested(placement) => binding::binding(placement),
        };
        // Several names of hosts may belong to one machine, so the only rank of a host may run anywhere there.
        if ranks == 1 && binding == Binding::OneCoreEach { Binding::None } else { binding }
    }

    /// Returns whether the ranks of a host print their places.
    fn is_shown(&self) -> bool {
        matches!(self, TaskBinding::Requested(placement) if placement.show_places)
    }
}

fn start_options(
    hosts: &Hosts,
    ranks: usize,
    task: &HostTask,
    job: Vec<u8>,
) -> Result<StartOptions, LaunchError> {
    let program = std::env::current_exe().map_err(|error| LaunchError::System {
        what: "finding this program's own file".into(),
        reason: error.to_string(),
    })?;
    let task_line = serde_json::to_string(task).expect("a task is plain data");
    Ok(StartOptions {
        hosts: hosts.hosts.clone(),
        ranks,
        agent: hosts.agent.clone(),
        listen: hosts.listen,
        reconnect: hosts.reconnect,
        interfaces: hosts.interfaces.clone(),
        watch: None,
        program,
        arguments: vec![HOST.into()],
        starting: Starting::EachHost { task: task_line, any_program: task.program.is_some() },
        processors: Vec::new(),
        job,
    })
}

/// Runs the job of `launch` on `hosts`, or on this host, with `outer` between hosts.
pub(super) fn run(
    launch: &Launch,
    hosts: Option<&Hosts>,
    outer: &OuterFabric,
    on_report: &mut OnReport<'_>,
) -> Result<(), LaunchEnd> {
    let this_one = Hosts::this_one(launch.ranks);
    let binding = match launch.placement {
        Placement::Spread | Placement::InOrder => TaskBinding::OneCoreEach,
        Placement::OneProcessor => TaskBinding::OneForAll,
        Placement::TwoProcessors => TaskBinding::Halves,
    };
    let carrier = Carrier::from(outer);
    let task = HostTask { binding, draw: Draw::of(launch), carrier, ..HostTask::default() };
    let job = RankJob { secret: None, provider: None, job: launch.job.clone() }.to_bytes();
    let options = start_options(hosts.unwrap_or(&this_one), launch.ranks, &task, job)
        .map_err(|error| LaunchEnd::Failed(error.to_string()))?;
    let interruption = Interruption::watch();
    job::read_reports(on_report, |on_bytes| {
        fabric_tcp::start(&options, &mut || interruption.signal().map(UserSignal::End), on_bytes)
    })
}

/// Runs a program as `ranks` ranks on `hosts`. `take` receives the records of each rank.
pub(crate) fn launch_program(
    hosts: &Hosts,
    ranks: usize,
    task: &HostTask,
    watch: Watch,
    take: &mut dyn FnMut(&[u8]),
) -> Result<(), LaunchError> {
    let task = HostTask { ranks, watch: watch.standstill, ..task.clone() };
    let options = start_options(hosts, ranks, &task, Vec::new())?;
    let options = StartOptions { watch: Some(watch), ..options };
    let interruption = Interruption::watch();
    let question = Question::watch();
    let requested = &mut || match interruption.signal() {
        Some(signal) => Some(UserSignal::End(signal)),
        None => question.is_requested().then_some(UserSignal::ReportRanks),
    };
    fabric_tcp::start(&options, requested, &mut |region| {
        take(region);
        std::ops::ControlFlow::Continue(())
    })
}

/// Returns whether a rank that the launcher has started on this host is one of a cluster.
pub(super) fn is_rank(seat: &Seat) -> bool {
    is_job(seat.job())
}

/// Executes the part of such a rank.
pub(super) fn serve_rank(seat: Seat) -> i32 {
    // The process that started the run reports the reason why a rank cannot join.
    let Ok((mut rank, job)) = fabric_cluster::join(seat) else { return 1 };
    let outcome = RankJob::from_bytes(&job).and_then(|RankJob { job, .. }| {
        let reporter = rank.endpoint().reporter();
        job::execute(&mut rank.world(), &job, &|bytes| reporter.report(bytes))
    });
    rank.finish(outcome)
}

/// Executes the part of a host if an agent has started this process for it.
pub(super) fn serve() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != HOST {
        return None;
    }
    let (Some(call), Some(ranks)) = (arguments.next(), arguments.next()) else {
        note(&format!("cornerstone: error: {HOST} is for this program itself"));
        return Some(ExitCode::from(2));
    };
    let status = HostPart::read(&call, &ranks).and_then(|part| serve_host(&part));
    Some(match status {
        Ok(status) => job::exit_code(status),
        Err(error) => {
            note(&format!("cornerstone: error: {error}"));
            ExitCode::FAILURE
        }
    })
}

/// Sets the program of the ranks of a host in place of this one.
fn set_program(options: &mut LaunchOptions, program: &OsStr, rest: &[OsString], part: &HostPart) {
    options.program = PathBuf::from(program);
    options.arguments = rest.to_vec();
    options.any_program = true;
    options.rank_names.clone_from(&part.ranks);
    // Each host monitors its own ranks only. It takes part in the search for deadlocks of all ranks.
    options.watch = Some(Watch {
        on_hang: OnHang::Ignore,
        standstill: None,
        limit: None,
        report: activity::report,
    });
    let is_bound_to_one = matches!(options.binding, Binding::OneCoreEach);
    openmp::set_wait_policy(&mut options.environment, part.ranks.len(), is_bound_to_one);
}

/// What the ranks of a host note for the process that started the run.
struct Notes {
    memory: Option<Memory>,
    of_ranks: RankNotes,
}

impl Notes {
    fn of(task: &HostTask, part: &HostPart) -> RankResult<Self> {
        let failed = |failure: Failure| Error::Program(failure.message().into());
        let memory = task.observed.map(|wanted| Memory::new(part.ranks.len(), task.ranks, wanted));
        let memory = memory.transpose().map_err(failed)?;
        let of_ranks = RankNotes::new(task.leaks).map_err(failed)?;
        Ok(Notes { memory, of_ranks })
    }

    /// Lets ranks note what is asked for.
    fn observe(&self, options: &mut LaunchOptions) {
        options.environment.extend(self.of_ranks.environment());
        self.memory.iter().for_each(|memory| memory.lend(options));
    }

    /// Reports what ranks have noted. All of them must have ended.
    fn report(&mut self, report: &mut dyn FnMut(&[u8])) {
        // Unreadable records are missing in the report, which names the rank.
        let regions = self.memory.take().and_then(|memory| memory.regions().ok());
        regions.into_iter().flatten().for_each(|region| report(&region));
        if let Some(lines) = self.of_ranks.lines().ok().filter(|lines| !lines.is_empty()) {
            report(&[NOTES, &lines].concat());
        }
    }
}

fn serve_host(part: &HostPart) -> RankResult<i32> {
    let task: HostTask = serde_json::from_str(&part.task).map_err(|error| {
        Error::Program(format!("the task of this host is not to be understood: {error}"))
    })?;
    let mut options = task.carrier.launch_options(part);
    options.waits_for_descriptors = true;
    options.descriptor_limit = descriptors::raise_limit();
    options.binding = task.binding.here(part.ranks.len());
    options.processors = task.draw.map(Draw::processors).unwrap_or_default();
    let mut notes = Notes::of(&task, part)?;
    options.environment = task.environment;
    let failed = |what: &str, error: std::io::Error| Error::System {
        what: what.into(),
        reason: error.to_string(),
    };
    if let Some(directory) = task.directory {
        std::env::set_current_dir(&directory)
            .map_err(|error| failed(&format!("going to '{}'", directory.display()), error))?;
    }
    let mut copying = None;
    let is_program = task.program.is_some();
    let program_error = |failure: Failure| Error::Program(failure.message().into());
    if let Some((program, rest)) = task.program.as_deref().and_then(<[OsString]>::split_first) {
        set_program(&mut options, program, rest, part);
        notes.observe(&mut options);
        orphans::adopt();
        if task.binding.is_shown() {
            let shown = binding::show(&options, &part.ranks);
            shown.map_err(|error| Error::Program(error.to_string()))?;
        }
        copying = streams::connect(&mut options, &task.streams, &part.ranks, task.ranks)
            .map_err(program_error)?;
    } else {
        options.descriptor_limit = None;
    }
    // A SIGUSR1 that arrives before or after the launcher's part must not end this process.
    let _question = is_program.then(Question::watch);
    let watch =
        HostWatch { ranks: task.ranks, quiet_after: task.watch, describe: activity::lines_of_each };
    let status =
        part.run(&options, is_program.then_some(watch), &mut |report| notes.report(report))?;
    if is_program && status != 0 {
        orphans::end();
    }
    // The copying ends once the other ends of its pipes are closed.
    drop(options);
    copying.map_or(Ok(()), Copying::finish).map_err(program_error)?;
    Ok(status)
}
