//! The fabrics that this build can run benchmarks on: the one place that knows more of them than a name.

mod link_use;
pub(crate) mod mpi;
mod simulated;
pub(crate) mod tcp;

use std::ops::ControlFlow;
use std::path::Path;

use benchmark::{Launch, Placement};
use fabric_shm::{Binding, LaunchError, LaunchOptions};

use crate::arguments::{FabricChoice, SimulationArguments};
use crate::descriptors;
use crate::rank::{Message, Order};

/// What the user wants of some fabrics besides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wishes<'a> {
    /// Of a simulated machine.
    pub(crate) simulation: &'a SimulationArguments,
    /// The library of an MPI.
    pub(crate) mpi_library: Option<&'a Path>,
    /// The hosts of a run over TCP, where it is to be on several.
    pub(crate) hosts: Option<&'a tcp::Hosts>,
}

/// Why a launch did not run to its end.
#[derive(Debug)]
pub(crate) enum LaunchEnd {
    /// Something went wrong; the message names the rank, where it was one.
    Failed(String),
    /// A signal asked for it.
    Interrupted(i32),
    /// The receiver of the messages asked for it.
    Stopped,
}

impl FabricChoice {
    /// The most ranks that it can start, and why not more.
    pub(crate) fn ranks_max(&self, simulation: &SimulationArguments) -> (usize, &'static str) {
        match self {
            FabricChoice::Local => {
                (fabric_shm::MAXIMUM_RANKS, "the local fabric starts a process for each")
            }
            FabricChoice::Tcp => (tcp::RANKS_MAX, "over TCP each is connected with each"),
            FabricChoice::Simulated(name) => match simulated::ranks_max(name, simulation) {
                Some(most) => (most, "the machine has no more"),
                None => (fabric_sim::RANKS_MAX, "the simulator numbers no more"),
            },
            FabricChoice::Mpi => (mpi::ranks(), "the MPI's launcher has started no more"),
            FabricChoice::MpiLaunched(_) => (mpi::RANKS_MAX, "no launcher is asked for more"),
        }
    }

    /// For how many processors a run is planned, where this host has `own`.
    pub(crate) fn processors(&self, own: usize, hosts: Option<&tcp::Hosts>) -> usize {
        match (self, hosts) {
            (FabricChoice::Mpi, _) => mpi::ranks(),
            (FabricChoice::Tcp, Some(hosts)) => hosts.slots(),
            _ => own,
        }
    }

    /// Starts the ranks of `launch`, has them execute its job, and returns when all have ended. `on_message` gets what
    /// they say, and may stop them.
    pub(crate) fn run(
        &self,
        launch: &Launch,
        wishes: &Wishes<'_>,
        on_message: &mut dyn FnMut(Message) -> ControlFlow<()>,
    ) -> Result<(), LaunchEnd> {
        // Ranks that this process starts have its limit.
        descriptors::raise_limit();
        match self {
            FabricChoice::Local => launch_here(launch, None, on_message),
            FabricChoice::Tcp => tcp::run(launch, wishes.hosts, on_message),
            FabricChoice::Simulated(name) => {
                simulated::run(name, launch, wishes.simulation, on_message)
            }
            FabricChoice::Mpi => mpi::run(launch, on_message),
            FabricChoice::MpiLaunched(flavour) => {
                mpi::launch(*flavour, wishes.mpi_library, launch, on_message)
            }
        }
    }
}

/// Starts ranks on this host, which pass their messages through shared memory, or over TCP if they get a secret.
fn launch_here(
    launch: &Launch,
    secret: Option<String>,
    on_message: &mut dyn FnMut(Message) -> ControlFlow<()>,
) -> Result<(), LaunchEnd> {
    let order = Order { secret, job: launch.job.clone() };
    let mut options = LaunchOptions::new(launch.ranks, order.to_bytes());
    options.binding = match launch.placement {
        Placement::Spread => Binding::OneCoreEach,
        Placement::OneProcessor => Binding::OneForAll,
        Placement::TwoProcessors => Binding::Halves,
    };
    heard(on_message, |on_report| fabric_shm::launch(&options, on_report))
}

/// Has `run` hand on reports that are messages.
fn heard(
    on_message: &mut dyn FnMut(Message) -> ControlFlow<()>,
    run: impl FnOnce(&mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), LaunchError>,
) -> Result<(), LaunchEnd> {
    let mut misunderstood = None;
    let on_report = &mut |bytes: &[u8]| match serde_json::from_slice(bytes) {
        Ok(message) => on_message(message),
        // Both ends are one program; only one that was replaced while it runs can come here.
        Err(error) => {
            misunderstood = Some(format!("a rank said what is not to be understood: {error}"));
            ControlFlow::Break(())
        }
    };
    let ended = run(on_report);
    if let Some(message) = misunderstood {
        return Err(LaunchEnd::Failed(message));
    }
    ended.map_err(|error| match error {
        LaunchError::Interrupted { signal } => LaunchEnd::Interrupted(signal),
        LaunchError::Stopped => LaunchEnd::Stopped,
        other => LaunchEnd::Failed(other.to_string()),
    })
}
