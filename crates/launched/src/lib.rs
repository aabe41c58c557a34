//! Ranks of programs that `cornerstone launch` has started, over the fabric that it has selected.
//!
//! A program of one's own calls [`run`]. A library in any program calls [`join`] and gets the endpoint of a fabric.
//! [`Joined`] alone enumerates the fabrics, and [`over`] alone distinguishes them.
#![forbid(unsafe_code)]

mod other_launcher;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// The form in which a [`Joined`] contains its endpoint.
pub trait Holder {
    /// What it contains of an endpoint.
    type Of<E>;
}

/// The endpoint itself.
pub enum Owned {}

impl Holder for Owned {
    type Of<E> = E;
}

/// The endpoint of a rank that has joined its run.
#[derive(Clone, Copy)]
#[allow(clippy::large_enum_variant, reason = "a process has one, and moves it once")]
pub enum Joined<H: Holder = Owned> {
    /// Messages use shared memory.
    SharedMemory(H::Of<ShmEndpoint>),
    /// Messages use TCP.
    Tcp(H::Of<TcpEndpoint>),
    /// Each pair of ranks uses the fabric that suits it.
    Cluster(H::Of<ClusterEndpoint>),
    /// Messages use a provider of libfabric.
    Ofi(H::Of<OfiEndpoint>),
    /// The machine is a simulated one, and time is virtual.
    Simulated(H::Of<ProxyEndpoint>),
}

/// Evaluates an expression with the endpoint of any fabric: `over!(joined, endpoint => expression)`. With a second name,
/// that is the variant, a function.
#[macro_export]
macro_rules! over {
    ($joined:expr, $endpoint:ident $(, $variant:ident)? => $body:expr) => {
        match $joined {
            $crate::Joined::SharedMemory($endpoint) => {
                $(let $variant = $crate::Joined::SharedMemory;)?
                $body
            }
            $crate::Joined::Tcp($endpoint) => {
                $crate::rare();
                $(let $variant = $crate::Joined::Tcp;)?
                $body
            }
            $crate::Joined::Cluster($endpoint) => {
                $crate::rare();
                $(let $variant = $crate::Joined::Cluster;)?
                $body
            }
            $crate::Joined::Ofi($endpoint) => {
                $crate::rare();
                $(let $variant = $crate::Joined::Ofi;)?
                $body
            }
            $crate::Joined::Simulated($endpoint) => {
                $crate::rare();
                $(let $variant = $crate::Joined::Simulated;)?
                $body
            }
        }
    };
}

/// Ends the run for a failure of a process that has not joined it. Returns false for a process without a launcher.
pub fn fail_before_joining(why: &str) -> bool {
    match Seat::take_in_library() {
        Some(Ok(seat)) => {
            seat.give_up(Error::Program(why.into()));
            true
        }
        Some(Err(_)) | None => false,
    }
}

/// Marks a cold path.
#[cold]
#[inline(always)]
pub fn rare() {}

/// Joins the run for which this process was started, over the fabric that its launcher has selected. A process without
/// a launcher is a run of one rank.
///
/// # Errors
/// The failure, which the launcher also learns of. Among others, the launcher may have selected a fabric that this
/// version does not know.
pub fn join() -> Result<Joined> {
    match Seat::take_in_library() {
        Some(seat) => join_selected(seat?),
        None => {
            IS_ALONE.store(true, Ordering::Relaxed);
            if let Some(warning) = other_launcher::warning(|name| std::env::var(name).ok()) {
                eprintln!("{warning}");
            }
            ShmEndpoint::alone().map(Joined::SharedMemory)
        }
    }
}

/// True after a process has joined without a launcher. Relaxed: it orders nothing.
static IS_ALONE: AtomicBool = AtomicBool::new(false);

/// Returns whether this process has become a run of one rank, and nobody else tells why it fails.
pub fn is_alone() -> bool {
    IS_ALONE.load(Ordering::Relaxed)
}

impl<H: Holder> Joined<H> {
    /// Returns the name of the fabric for `cornerstone launch`.
    pub fn name(&self) -> &'static str {
        match self {
            Joined::SharedMemory(_) => "local",
            Joined::Tcp(_) => "tcp",
            Joined::Cluster(_) => "cluster",
            Joined::Ofi(_) => "ofi",
            Joined::Simulated(_) => "sim",
        }
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
        Ok(joined) => over!(joined, endpoint => run_over(endpoint, program)),
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
