//! The fabrics that this build can run benchmarks on: the one place that knows more of them than a name.

pub(crate) mod mpi;
mod simulated;

use std::ops::ControlFlow;
use std::path::Path;

use benchmark::{Launch, Placement};
use fabric_shm::{Binding, LaunchError, LaunchOptions};

use crate::arguments::{FabricChoice, SimulationArguments};
use crate::rank::Message;

/// What the user wants of some fabrics besides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wishes<'a> {
    /// Of a simulated machine.
    pub(crate) simulation: &'a SimulationArguments,
    /// The library of an MPI.
    pub(crate) mpi_library: Option<&'a Path>,
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
            FabricChoice::Simulated(name) => match simulated::ranks_max(name, simulation) {
                Some(most) => (most, "the machine has no more"),
                None => (fabric_sim::RANKS_MAX, "the simulator numbers no more"),
            },
            FabricChoice::Mpi => (mpi::ranks(), "the MPI's launcher has started no more"),
            FabricChoice::MpiLaunched(_) => (mpi::RANKS_MAX, "no launcher is asked for more"),
        }
    }

    /// For how many processors a run is planned, where this host has `own`.
    pub(crate) fn processors(&self, own: usize) -> usize {
        match self {
            FabricChoice::Mpi => mpi::ranks(),
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
        match self {
            FabricChoice::Local => local(launch, on_message),
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

fn local(
    launch: &Launch,
    on_message: &mut dyn FnMut(Message) -> ControlFlow<()>,
) -> Result<(), LaunchEnd> {
    let job = serde_json::to_vec(&launch.job).expect("a job is plain data");
    let mut options = LaunchOptions::new(launch.ranks, job);
    options.binding = match launch.placement {
        Placement::Spread => Binding::OneCoreEach,
        Placement::OneProcessor => Binding::OneForAll,
        Placement::TwoProcessors => Binding::Halves,
    };
    let mut misunderstood = None;
    let on_report = &mut |bytes: &[u8]| match serde_json::from_slice(bytes) {
        Ok(message) => on_message(message),
        // Both ends are one program; only one that was replaced while it runs can come here.
        Err(error) => {
            misunderstood = Some(format!("a rank said what is not to be understood: {error}"));
            ControlFlow::Break(())
        }
    };
    let ended = fabric_shm::launch(&options, on_report);
    if let Some(message) = misunderstood {
        return Err(LaunchEnd::Failed(message));
    }
    ended.map_err(|error| match error {
        LaunchError::Interrupted { signal } => LaunchEnd::Interrupted(signal),
        LaunchError::Stopped => LaunchEnd::Stopped,
        other => LaunchEnd::Failed(other.to_string()),
    })
}
