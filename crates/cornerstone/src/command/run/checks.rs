//! Checks that precede the start of ranks.

use benchmark::{Benchmark, Launch, RunOption, check_request, users, without_wanted_algorithm};
use fabric_mpi::launcher;

use super::refused;
use super::request::Request;
use crate::arguments::FabricChoice;
use crate::environment::{self, MemoryBound};
use crate::failure::Failure;
use crate::progress::note;
use crate::wording::{about_size, quantity, ranks as rank_count, size};

/// Refuses more ranks than the fabric can start.
pub(super) fn ranks(request: &Request, launches: &[Launch]) -> Result<(), Failure> {
    let (most, why) = match &request.hosts {
        Some(hosts) => (hosts.slots(), "the hosts have only so many slots"),
        None => request.fabric.ranks_max(&request.simulation),
    };
    let Some(ranks) = launches.iter().map(|launch| launch.ranks).find(|ranks| *ranks > most) else {
        return Ok(());
    };
    let hint = match request.fabric {
        FabricChoice::Mpi => format!(
            "start {ranks} processes (mpiexec -n {ranks} ...), use --fabric mpi:NAME, which starts them, or use --ranks {most} or fewer"
        ),
        _ => format!("use --ranks {most} or fewer"),
    };
    let why = format!("{ranks} ranks are too many, {most} are possible: {why}");
    Err(Failure::usage(why).hint(hint))
}

/// Refuses a run that the launcher of an MPI has started several times, because the runs would disturb each other.
pub(super) fn started_once(fabric: &FabricChoice) -> Result<(), Failure> {
    match launcher::processes_started() {
        Some(processes) if processes > 1 && *fabric != FabricChoice::Mpi => {
            Err(Failure::usage(format!(
                "an MPI launcher started this command {processes} times, and each process would make its own run over {fabric}"
            ))
            .hint("use --fabric mpi to make one run of all processes, or omit the launcher"))
        }
        _ => Ok(()),
    }
}

/// Refuses options that no benchmark of the run uses. A limit that nothing checks would seem to hold.
pub(super) fn options(request: &Request, selected: &[&Benchmark]) -> Result<(), Failure> {
    let is_unused = |option: &&RunOption| !selected.iter().any(|one| one.uses(**option));
    if let Some(option) = request.given.iter().find(is_unused) {
        return Err(unused(*option));
    }
    let real_time = &request.settings.real_time;
    if let (Some(limit_s), Some(threshold_s)) = (real_time.pause_limit_s, real_time.threshold_s)
        && threshold_s > limit_s
    {
        let [limit, threshold] = [limit_s, threshold_s].map(|s| quantity(s, "s"));
        let why = format!("--threshold {threshold} hides pauses that exceed --limit {limit}");
        return Err(Failure::usage(why).hint("choose a shorter threshold, or omit it"));
    }
    match real_time.explain && real_time.search_limit_s.is_none() {
        true => Err(Failure::usage(
            "--explain needs a prediction, which only searches with a time limit make",
        )
        .hint("add --search-limit TIME, or omit --explain")),
        false => Ok(()),
    }
}

/// Maximum number of benchmarks that are named as users of an option.
const USERS_NAMED: usize = 6;

fn unused(option: RunOption) -> Failure {
    let name = option.name();
    let users: Vec<String> = users(option).map(|one| format!("`{}`", one.name)).collect();
    let of = match users.len() {
        1 => format!("{}, which this run does not contain", users[0]),
        2..=USERS_NAMED => format!("{}, none of which this run contains", users.join(", ")),
        _ => "benchmarks that are sampled, and this run contains none".into(),
    };
    Failure::usage(format!("--{name} is for {of}")).hint(match users.len() {
        1 => format!("add {}, or omit --{name}", users[0].trim_matches('`')),
        _ => format!("omit --{name}"),
    })
}

/// Refuses ranks, sizes and values of parameters that no benchmark of the selection takes. Notes what some of them take
/// in another way.
pub(super) fn requested(
    request: &Request,
    selection: &[&'static Benchmark],
) -> Result<(), Failure> {
    let ranks = request.ranks.as_deref();
    let checked = check_request(selection, ranks, request.processors(), &request.settings);
    checked.map_err(refused)?.iter().for_each(|text| note(&format!("note: {text}")));
    Ok(())
}

/// Refuses benchmarks that the user has named and that have none of the requested algorithms. Notes the others of the
/// selection that are left out for that reason.
pub(super) fn algorithms(
    request: &Request,
    selection: &[&'static Benchmark],
) -> Result<(), Failure> {
    let left_out = without_wanted_algorithm(selection, &request.settings);
    let wanted = request.settings.algorithms.join(" or ");
    if let Some(named) =
        left_out.iter().find(|one| request.names.iter().any(|name| name == one.name))
    {
        let has: Vec<&str> = named.algorithms.iter().map(|own| own.name()).collect();
        let has = if has.is_empty() { "none".into() } else { has.join(", ") };
        let why = format!("`{}` has no algorithm {wanted}; it has {has}", named.name);
        return Err(
            Failure::usage(why).hint(format!("choose one of these, or omit {}", named.name))
        );
    }
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.iter().map(|one| one.name).collect();
        note(&format!("note: left out, without the algorithm {wanted}: {}", names.join(", ")));
    }
    Ok(())
}

/// Refuses an MPI whose launcher cannot be found.
pub(super) fn launcher(request: &Request) -> Result<(), Failure> {
    let FabricChoice::MpiLaunched(flavour) = request.fabric else { return Ok(()) };
    let found = launcher::Launcher::find(flavour, request.mpi_library.as_deref());
    found.map(drop).map_err(|error| {
        Failure::failed(error.to_string()).hint(
            "put the folder of its mpiexec first in PATH, or give the library in the same installation with --mpi-library",
        )
    })
}

/// Refuses messages that do not fit into memory, because a rank that is killed for lack of memory cannot report the
/// reason.
pub(super) fn memory(launches: &[Launch]) -> Result<(), Failure> {
    match environment::memory_bound() {
        Some(bound) => memory_within(launches, &bound),
        None => Ok(()),
    }
}

fn memory_within(launches: &[Launch], bound: &MemoryBound) -> Result<(), Failure> {
    let Some(launch) = launches.iter().max_by_key(|launch| launch.memory_bytes()) else {
        return Ok(());
    };
    let needed = launch.memory_bytes();
    if needed <= bound.bytes {
        return Ok(());
    }
    let largest = launch.job.steps.iter().max_by_key(|step| step.size_bytes);
    let (name, bytes) = largest.map_or(("", 0), |step| (step.benchmark.as_str(), step.size_bytes));
    Err(Failure::usage(format!(
        "messages of {} between {} ({name}) need {} of memory, but {} are {}",
        size(bytes),
        rank_count(launch.ranks),
        about_size(needed),
        about_size(bound.bytes),
        bound.set_by
    ))
    .hint(smaller(name)))
}

/// Returns a hint for using less memory. The sizes of chains are in a file, and have no option.
fn smaller(benchmark: &str) -> &'static str {
    match benchmark {
        "pipeline" => "give the chain a smaller matrix, fewer ranks or fewer buffers",
        _ => "choose smaller --sizes or fewer --ranks",
    }
}
