//! The messages between this program and the ranks that it starts: the job, and the reports on it.

use std::ops::ControlFlow;
use std::process::ExitCode;

use benchmark::{Event, Job};
use contract::{Error, FabricDescription, Rank, Result};
use launcher::LaunchError;
use serde::{Deserialize, Serialize};

/// A report of a rank to the process that started it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RankReport {
    /// Rank 0 has joined a run on this fabric.
    Joined(FabricDescription),
    /// Rank 0 reports progress of the job.
    Event(Event),
}

/// Receives the reports of the ranks, and may stop them.
pub(crate) type OnReport<'a> = dyn FnMut(RankReport) -> ControlFlow<()> + 'a;

/// Reason why a launch did not run to its end.
#[derive(Debug)]
pub(crate) enum LaunchEnd {
    /// A failure. The message names the rank, if one failed.
    Failed(String),
    /// The step in progress is impossible on the fabric. The message is the reason.
    Impossible(String),
    /// A signal ended the launch.
    Interrupted(i32),
    /// The receiver of the reports stopped the launch.
    Stopped,
}

/// Task of a rank that this program has started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RankJob {
    /// Secret of a run over TCP; `None` if messages go through shared memory.
    pub(super) secret: Option<String>,
    /// Provider of a run over libfabric, or empty for the first one. `None` for any other run.
    #[serde(default)]
    pub(super) provider: Option<String>,
    pub(super) job: Job,
}

impl RankJob {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a job is plain data")
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes)
            .map_err(|error| Error::Program(format!("the job is not to be understood: {error}")))
    }
}

/// Executes a job as `rank`. `report` receives the reports of rank 0, as bytes.
pub(super) fn execute(
    rank: &mut dyn Rank,
    job: &Job,
    report: &dyn Fn(&[u8]) -> Result<()>,
) -> Result<()> {
    let say = |message: &RankReport| {
        report(&serde_json::to_vec(message).expect("reports are plain data"))
    };
    if rank.rank() == 0 {
        say(&RankReport::Joined(rank.describe()))?;
    }
    benchmark::execute(rank, job, &mut |event| say(&RankReport::Event(event)))
}

/// Reads the bytes that `run` receives from its ranks as reports, and passes them to `on_report`.
pub(super) fn read_reports(
    on_report: &mut OnReport<'_>,
    run: impl FnOnce(&mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> std::result::Result<(), LaunchError>,
) -> std::result::Result<(), LaunchEnd> {
    let mut misunderstood = None;
    let on_bytes = &mut |bytes: &[u8]| match serde_json::from_slice(bytes) {
        Ok(report) => on_report(report),
        // Both ends are one program, so this happens only if the program was replaced during the run.
        Err(error) => {
            misunderstood = Some(format!("a rank said what is not to be understood: {error}"));
            ControlFlow::Break(())
        }
    };
    let ended = run(on_bytes);
    if let Some(message) = misunderstood {
        return Err(LaunchEnd::Failed(message));
    }
    ended.map_err(|error| match error {
        LaunchError::Interrupted { signal } => LaunchEnd::Interrupted(signal),
        LaunchError::Stopped => LaunchEnd::Stopped,
        other => LaunchEnd::Failed(other.to_string()),
    })
}

/// Returns the exit code of a rank that ended with `status`, or 1 for a status that no process can have.
pub(super) fn exit_code(status: i32) -> ExitCode {
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}
