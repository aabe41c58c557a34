//! The fabrics of this build: the maximum number of ranks of each, and how a launch runs on it.

pub(crate) mod binding;
pub(crate) mod cluster;
pub(crate) mod hosts;
mod job;
mod link_use;
mod local;
pub(crate) mod mpi;
pub(crate) mod ofi;
pub(crate) mod openmp;
mod places;
mod simulated;
mod simulated_signals;
mod tcp;

use std::path::Path;
use std::process::ExitCode;

use benchmark::Launch;
use fabric_cluster::OuterFabric;
use launcher::Seat;

use crate::arguments::{FabricChoice, SimulationArguments};
use crate::descriptors;
use crate::failure::Failure;
use crate::progress::note;
use hosts::Hosts;
use job::RankJob;
pub(crate) use job::{LaunchEnd, OnReport, RankReport};

/// Options that apply to some fabrics only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FabricOptions<'a> {
    /// Options of a simulated machine.
    pub(crate) simulation: &'a SimulationArguments,
    /// Path of the library of an MPI.
    pub(crate) mpi_library: Option<&'a Path>,
    /// Hosts of a run on several.
    pub(crate) hosts: Option<&'a Hosts>,
}

impl FabricChoice {
    /// Returns the maximum number of ranks that it can start, and the reason for this limit.
    pub(crate) fn ranks_max(&self, simulation: &SimulationArguments) -> (usize, &'static str) {
        match self {
            FabricChoice::Local => {
                (launcher::MAXIMUM_RANKS, "the local fabric starts a process for each")
            }
            FabricChoice::Tcp | FabricChoice::Cluster(_) | FabricChoice::Ofi(_) => {
                (tcp::RANKS_MAX, "over TCP each is connected with each")
            }
            FabricChoice::Simulated(name) => match simulated::ranks_max(name, simulation) {
                Some(most) => (most, "the machine has no more"),
                None => (fabric_sim::RANKS_MAX, "the simulator numbers no more"),
            },
            FabricChoice::Mpi => (mpi::ranks(), "the MPI's launcher has started no more"),
            FabricChoice::MpiLaunched(_) => (mpi::RANKS_MAX, "no launcher is asked for more"),
        }
    }

    /// Returns whether each launch may get other processors that look alike (decision 0112).
    pub(crate) fn places_are_dealt(&self) -> bool {
        match self {
            FabricChoice::Local
            | FabricChoice::Tcp
            | FabricChoice::Cluster(_)
            | FabricChoice::Ofi(_) => true,
            FabricChoice::Simulated(_) | FabricChoice::Mpi | FabricChoice::MpiLaunched(_) => false,
        }
    }

    /// Returns how the processors of the ranks of a run with `launches` launches are chosen, for the record; `None` if
    /// they are simulated.
    pub(crate) fn places(&self, launches: u32) -> Option<&'static str> {
        match self {
            FabricChoice::Simulated(_) => None,
            FabricChoice::Mpi | FabricChoice::MpiLaunched(_) => Some("chosen by the MPI"),
            _ if launches > 1 => {
                Some("in each launch others that look alike, if the kernel shows which do")
            }
            _ => Some("the first ones"),
        }
    }

    /// Refuses options that name a wrong file or provider, before anything is started.
    pub(crate) fn check(
        &self,
        launches: &[Launch],
        simulation: &SimulationArguments,
        hosts: Option<&Hosts>,
    ) -> Result<(), Failure> {
        match self {
            FabricChoice::Simulated(name) => simulated::check(name, launches, simulation),
            FabricChoice::Ofi(provider) | FabricChoice::Cluster(OuterFabric::Ofi { provider }) => {
                ofi::check(hosts, provider.as_deref())
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of processors for which a run is planned, if this host has `own`.
    pub(crate) fn processors(&self, own: usize, hosts: Option<&Hosts>) -> usize {
        match (self, hosts) {
            (FabricChoice::Mpi, _) => mpi::ranks(),
            (fabric, Some(hosts)) if fabric.takes_hosts() => hosts.slots(),
            _ => own,
        }
    }

    /// Starts the ranks of `launch`, which execute its job, and returns when all have ended. `on_report` receives their
    /// reports and may stop them.
    pub(crate) fn run(
        &self,
        launch: &Launch,
        options: &FabricOptions<'_>,
        on_report: &mut OnReport<'_>,
    ) -> Result<(), LaunchEnd> {
        // The ranks that this process starts inherit its limit of open files.
        descriptors::raise_limit();
        match self {
            FabricChoice::Local => local::run(launch, on_report),
            FabricChoice::Tcp => tcp::run(launch, options.hosts, None, on_report),
            FabricChoice::Cluster(outer) => cluster::run(launch, options.hosts, outer, on_report),
            FabricChoice::Ofi(provider) => {
                let provider = Some(provider.clone().unwrap_or_default());
                tcp::run(launch, options.hosts, provider, on_report)
            }
            FabricChoice::Simulated(name) => {
                simulated::run(name, launch, options.simulation, on_report)
            }
            FabricChoice::Mpi => mpi::run(launch, on_report),
            FabricChoice::MpiLaunched(flavour) => {
                mpi::launch(*flavour, options.mpi_library, launch, on_report)
            }
        }
    }
}

/// Executes a rank's part if this process was started as one, and returns its exit status. Returns `None` if it was
/// not.
///
/// Must be the first call of this process, because it removes variables of the launcher from the environment.
pub(crate) fn serve() -> Option<ExitCode> {
    serve_of_this_host().or_else(mpi::serve).or_else(tcp::serve).or_else(cluster::serve)
}

/// As [`serve`], for ranks that a launcher on this host has started.
fn serve_of_this_host() -> Option<ExitCode> {
    let status = match Seat::take()? {
        Ok(seat) if cluster::is_rank(&seat) => cluster::serve_rank(seat),
        Ok(seat) => match RankJob::from_bytes(seat.job()) {
            Ok(job) => match &job.secret {
                Some(secret) => tcp::serve_here(seat, &job, secret),
                None => local::serve(seat, &job.job),
            },
            Err(error) => seat.finish(Err(error)),
        },
        Err(error) => {
            note(&format!("cornerstone: error: {error}"));
            1
        }
    };
    Some(job::exit_code(status))
}
