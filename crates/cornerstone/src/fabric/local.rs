//! Benchmarks between processes of this host, over shared memory.

use benchmark::{Job, Launch, Placement};
use fabric_shm::{Binding, LaunchOptions, ShmProcess};

use super::job::{LaunchEnd, OnReport, RankJob, execute, read_reports};
use super::places::Draw;

/// Starts ranks on this host that send messages through shared memory.
pub(super) fn run(launch: &Launch, on_report: &mut OnReport<'_>) -> Result<(), LaunchEnd> {
    let job = RankJob { secret: None, provider: None, job: launch.job.clone() };
    start(launch, &job, on_report)
}

/// Starts ranks on this host that execute `job`, which also contains their fabric.
pub(super) fn start(
    launch: &Launch,
    job: &RankJob,
    on_report: &mut OnReport<'_>,
) -> Result<(), LaunchEnd> {
    let mut options = LaunchOptions::new(launch.ranks, job.to_bytes());
    options.binding = match launch.placement {
        Placement::Spread | Placement::InOrder => Binding::OneCoreEach,
        Placement::OneProcessor => Binding::OneForAll,
        Placement::TwoProcessors => Binding::Halves,
    };
    options.processors = Draw::of(launch).map(Draw::processors).unwrap_or_default();
    read_reports(on_report, |on_bytes| fabric_shm::launch(&options, on_bytes))
}

/// Executes the part of a rank that sends messages through shared memory, and returns its exit status.
pub(super) fn serve(mut process: ShmProcess, job: &Job) -> i32 {
    let reporter = process.reporter();
    let outcome = execute(&mut process.world(), job, &|bytes| reporter.report(bytes));
    process.finish(outcome)
}
