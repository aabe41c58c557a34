//! Benchmarks between processes of this host, over shared memory.

use benchmark::{Job, Launch, Placement};
use fabric_shm::ShmProcess;
use launcher::{Binding, LaunchOptions, Seat};

use super::job::{LaunchEnd, OnReport, RankJob, execute, read_reports};
use super::places::Draw;

/// Starts ranks on this host that send messages through shared memory.
pub(super) fn run(launch: &Launch, on_report: &mut OnReport<'_>) -> Result<(), LaunchEnd> {
    let job = RankJob { secret: None, provider: None, job: launch.job.clone() };
    start(launch, fabric_shm::launch_options(launch.ranks, job.to_bytes()), on_report)
}

/// Starts ranks on this host with `options`, whose job also contains their fabric.
pub(super) fn start(
    launch: &Launch,
    mut options: LaunchOptions,
    on_report: &mut OnReport<'_>,
) -> Result<(), LaunchEnd> {
    options.binding = match launch.placement {
        Placement::Spread | Placement::InOrder => Binding::OneCoreEach,
        Placement::OneProcessor => Binding::OneForAll,
        Placement::TwoProcessors => Binding::Halves,
    };
    options.processors = Draw::of(launch).map(Draw::processors).unwrap_or_default();
    read_reports(on_report, |on_bytes| launcher::launch(&options, on_bytes))
}

/// Executes the part of a rank that sends messages through shared memory, and returns its exit status.
pub(super) fn serve(seat: Seat, job: &Job) -> i32 {
    // The launcher reports the reason why a rank cannot join.
    let Ok(mut process) = ShmProcess::join(seat) else { return 1 };
    let reporter = process.reporter();
    let outcome = execute(&mut process.world(), job, &|bytes| reporter.report(bytes));
    process.finish(outcome)
}
