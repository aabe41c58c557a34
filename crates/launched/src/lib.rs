//! Ranks of programs that `cornerstone launch` has started, over the fabric that it has selected.
//!
//! A program of one's own calls [`run`]. A library in any program calls [`join`] and gets the endpoint of a fabric.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use contract::{Endpoint, Error, Process, Rank, Result};
use fabric_cluster::ClusterEndpoint;
use fabric_ofi::OfiEndpoint;
use fabric_proxy::ProxyEndpoint;
use fabric_shm::ShmEndpoint;
use fabric_tcp::{Secret, TcpEndpoint};
use launcher::Seat;

/// The beginning of the jobs that select a fabric other than shared memory.
const ANY_MARK: &[u8] = b"cornerstone-";
/// The provider of libfabric that tests use: every installation has it.
const PROVIDER: &str = "tcp";

/// The endpoint of a rank that has joined its run.
#[allow(clippy::large_enum_variant, reason = "a process has one, and moves it once")]
pub enum Joined {
    /// Messages use shared memory.
    SharedMemory(ShmEndpoint),
    /// Messages use TCP.
    Tcp(TcpEndpoint),
    /// Each pair of ranks uses the fabric that suits it.
    Cluster(ClusterEndpoint),
    /// Messages use a provider of libfabric.
    Ofi(OfiEndpoint),
    /// The machine is a simulated one, and time is virtual.
    Simulated(ProxyEndpoint),
}

/// Joins the run for which this process was started, over the fabric that its launcher has selected. A process without
/// a launcher is a run of one rank.
///
/// # Errors
/// The failure, which the launcher also learns of. Among others, the launcher may have selected a fabric that this
/// version does not know.
pub fn join() -> Result<Joined> {
    match Seat::take_in_library() {
        Some(seat) => join_selected(seat?),
        None => ShmEndpoint::alone().map(Joined::SharedMemory),
    }
}

fn join_selected(seat: Seat) -> Result<Joined> {
    let seat = match fabric_proxy::join(seat)? {
        Ok(endpoint) => return Ok(Joined::Simulated(endpoint)),
        Err(seat) => seat,
    };
    let seat = match fabric_ofi::join_from_library(seat)? {
        Ok(endpoint) => return Ok(Joined::Ofi(endpoint)),
        Err(seat) => seat,
    };
    let seat = match fabric_cluster::join_from_library(seat)? {
        Ok(endpoint) => return Ok(Joined::Cluster(endpoint)),
        Err(seat) => seat,
    };
    let seat = match fabric_tcp::library::join_from_library(seat)? {
        Ok(endpoint) => return Ok(Joined::Tcp(endpoint)),
        Err(seat) => seat,
    };
    if seat.job().starts_with(ANY_MARK) {
        return Err(seat.give_up(unknown(seat.job())));
    }
    ShmEndpoint::join_library(seat).map(Joined::SharedMemory)
}

/// Without this error, ranks of several hosts would each be in a run of their own host, and say nothing.
fn unknown(job: &[u8]) -> Error {
    let line = job.split(|&byte| byte == b'\n').next().unwrap_or_default();
    Error::System {
        what: "joining the run".into(),
        reason: format!(
            "its launcher has selected the fabric '{}', which this version of the library does not have: build the \
             program again with the version of the launcher",
            String::from_utf8_lossy(&line[..line.len().min(40)]),
        ),
    }
}

/// Executes `program` as this process's rank of the run that [`join`] joins. Returns what `main` must return.
///
/// An error of the program ends the whole run, and the launcher prints it.
pub fn run(program: impl FnOnce(&mut dyn Rank) -> Result<()>) -> ExitCode {
    let status = match join() {
        Ok(Joined::SharedMemory(endpoint)) => run_over(endpoint, program),
        Ok(Joined::Tcp(endpoint)) => run_over(endpoint, program),
        Ok(Joined::Cluster(endpoint)) => run_over(endpoint, program),
        Ok(Joined::Ofi(endpoint)) => run_over(endpoint, program),
        Ok(Joined::Simulated(endpoint)) => run_over(endpoint, program),
        Err(error) => {
            eprintln!("{error}");
            1
        }
    };
    ExitCode::from(u8::from(status != 0))
}

fn run_over<E: Endpoint>(endpoint: E, program: impl FnOnce(&mut dyn Rank) -> Result<()>) -> i32 {
    let mut process = Process::new(endpoint);
    let outcome = program(&mut process.world());
    process.finish(outcome)
}

/// Returns the jobs of runs on this host, for tests of programs that call [`join`]: one for each fabric that needs
/// nothing but this host, with its name. Without libfabric, prints that its fabric is skipped.
///
/// # Errors
/// If the system has no random numbers for the secrets.
pub fn jobs_on_this_host() -> std::io::Result<Vec<(&'static str, Vec<u8>)>> {
    let mut jobs =
        vec![("local", Vec::new()), ("tcp", fabric_tcp::library::job(&Secret::generate()?))];
    match fabric_ofi::check(Some(PROVIDER)) {
        Ok(()) => jobs.push(("ofi", fabric_ofi::job(&Secret::generate()?, Some(PROVIDER)))),
        Err(error) => println!("skipped: programs over libfabric, because: {error}"),
    }
    Ok(jobs)
}
