//! `replay`: repeats the events of a recorded program on a simulated machine.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Instant;

use contract::{Endpoint, Error, TimeSpan};
use fabric_sim::{Machine, Options, Outcome, SimEndpoint};
use recording::{RankEvent, RankTimes, Recording, RecordingError, TextFormat};

use super::predicted::{self, Predicted, RankTime};
use crate::arguments::{Compute, FabricChoice, PredictionArguments, ReplayArguments};
use crate::failure::Failure;

/// Replays the recording and prints its time, or writes it in another format.
pub(super) fn execute(arguments: &ReplayArguments) -> Result<ExitCode, Failure> {
    if let Some(to) = &arguments.to {
        convert(&read(&arguments.recording)?, to)?;
    }
    match &arguments.fabric {
        Some(fabric) => replay_on(fabric, arguments),
        None if arguments.to.is_some() => Ok(ExitCode::SUCCESS),
        None => Err(Failure::usage("nothing to do: neither --fabric nor --to was given")
            .hint("replay it with --fabric sim:MACHINE, or convert it with --to FILE.goal")),
    }
}

/// Writes the recording as a text for another simulator.
fn convert(recording: &Recording, to: &Path) -> Result<(), Failure> {
    let format = TextFormat::of_name(to).ok_or_else(|| {
        let why = format!("'{}' has no known file extension", to.display());
        Failure::usage(why).hint("FILE.goal is for LogGOPSim, FILE.ti for SimGrid")
    })?;
    let text = recording.to_text(format).map_err(Failure::failed)?;
    let mut file = recording::create_file(to).map_err(|error| Failure::usage(error.to_string()))?;
    file.write_all(text.as_bytes())
        .map_err(|error| Failure::failed(format!("cannot write '{}': {error}", to.display())))
}

fn replay_on(fabric: &FabricChoice, arguments: &ReplayArguments) -> Result<ExitCode, Failure> {
    let FabricChoice::Simulated(name) = fabric else {
        let why = format!("recordings are replayed on simulated machines, not on '{fabric}'");
        let hint = "write --fabric sim:MACHINE; `cornerstone machines` lists them";
        return Err(Failure::usage(why).hint(hint));
    };
    let machine =
        fabric_sim::machine::find(name).map_err(|error| Failure::usage(error.to_string()))?;
    let recording = read(&arguments.recording)?;
    predicted::check_ranks(recording.ranks(), &machine, &arguments.prediction)?;
    let begin = Instant::now();
    let options = options(recording.ranks(), &arguments.prediction);
    let factor = factor(&arguments.prediction)?;
    let outcome = replay(&Rc::new(recording), &machine, &options, factor)?;
    let time = |&RankTimes { computing, sleeping, end }: &RankTimes| RankTime {
        computing,
        sleeping,
        uncounted: TimeSpan::ZERO,
        end,
    };
    let predicted = Predicted {
        ranks: outcome.results.iter().map(time).collect(),
        end: outcome.end,
        event_hash: outcome.event_hash,
        counts: outcome.counts,
        requests: None,
    };
    predicted::report(&format!("sim:{name}"), &predicted, begin.elapsed());
    Ok(ExitCode::SUCCESS)
}

/// Reads a recording of this program or a text of another simulator.
pub(super) fn read(path: &Path) -> Result<Recording, Failure> {
    let recording = match TextFormat::of_source(path) {
        Some(format) => Recording::read_text(format, path),
        None => Recording::read(path),
    };
    recording.map_err(|error| match error {
        RecordingError::File { .. } | RecordingError::Text { .. } => {
            Failure::usage(error.to_string())
        }
        _ => Failure::usage(error.to_string())
            .hint("`cornerstone launch --fabric sim:MACHINE --record FILE PROGRAM` makes one"),
    })
}

/// Returns the factor of the computing times of a recording.
pub(super) fn factor(wanted: &PredictionArguments) -> Result<f64, Failure> {
    match wanted.compute.clone().unwrap_or_default() {
        Compute::None => Ok(0.0),
        Compute::Measured(factor) => Ok(factor),
        Compute::Recorded(_) => {
            let why =
                "a replay takes the computing times of its own recording, or a factor of them";
            Err(Failure::usage(why).hint("write --compute measured*FACTOR, or omit it"))
        }
    }
}

/// Returns the settings of the simulation. A recording has no data.
pub(super) fn options(ranks: usize, wanted: &PredictionArguments) -> Options {
    Options { carry_data: false, check_results: false, ..predicted::options(ranks, wanted) }
}

/// Replays a recording on a machine on which computing takes `factor` of its time. Returns how each rank has used its
/// time.
pub(super) fn replay(
    recording: &Rc<Recording>,
    machine: &Machine,
    options: &Options,
    factor: f64,
) -> Result<Outcome<RankTimes>, Failure> {
    let recording = Rc::clone(recording);
    let program = move |endpoint: SimEndpoint<'_>| {
        let rank = endpoint.rank();
        let events = recording.events(rank).map(|event| scaled(event, factor));
        let occupy = |endpoint: &mut SimEndpoint<'_>, span: TimeSpan| endpoint.occupy(span);
        recording::replay(endpoint, recording.longest(rank), events, &occupy)
    };
    fabric_sim::run_endpoints(machine, options, program).map_err(explain)
}

/// Returns an event for a processor on which computing takes `factor` of its time.
fn scaled(event: RankEvent, factor: f64) -> RankEvent {
    match event {
        RankEvent::Compute(span) if factor != 1.0 => {
            RankEvent::Compute(TimeSpan::from_ps((span.as_ps() as f64 * factor).round() as u64))
        }
        other => other,
    }
}

fn explain((rank, error): (usize, Error)) -> Failure {
    let failure = Failure::failed(format!("rank {rank}: {error}"));
    match error {
        Error::Deadlock { .. } => failure.hint(
            "the recorded events of the ranks are inconsistent on this machine: record the program on it",
        ),
        _ => failure,
    }
}
