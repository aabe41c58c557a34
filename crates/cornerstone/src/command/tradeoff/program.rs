//! `tradeoff --program`: the benefit of other systems for a recorded program, which is replayed on each.

mod output;
mod page;

use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;

use contract::Time;
use fabric_sim::topology::Shape;
use fabric_sim::{CriticalPath, Machine};
use recording::Recording;
use serde::Serialize;

use crate::arguments::{Format, TradeoffArguments};
use crate::command::report::is_report;
use crate::command::{predicted, replay};
use crate::failure::Failure;
use crate::output::print;
use crate::output_file;

/// Text before the machine in the title of a recording.
const ON_MACHINE: &str = " on sim:";

/// System with all changes to the machine at once, but its own topology.
const TOGETHER: &str = "all of these";

/// Schema of the JSON.
const SCHEMA: &str = "cornerstone-tradeoff-1";

/// A machine on which the program is replayed.
struct System {
    /// The change, in words.
    name: String,
    machine: Machine,
    /// Factor of computing times.
    compute: f64,
}

/// Results of all systems.
#[derive(Debug, Serialize)]
struct Comparison {
    schema: &'static str,
    program: String,
    ranks: usize,
    machine: String,
    /// Remarks that a reader needs before the numbers.
    remarks: Vec<String>,
    /// Results by system. The first system is the unchanged machine.
    systems: Vec<Replayed>,
}

/// Result of the program on a system.
#[derive(Debug, Serialize)]
struct Replayed {
    system: String,
    machine: String,
    time_us: f64,
    /// Ratio of the time on the unchanged machine to the time here.
    speedup: f64,
    critical_path: PathTimes,
    messages: u64,
    bytes: u64,
    event_hash: String,
}

/// Critical path: four spans that make up the time.
#[derive(Clone, Copy, Debug, Serialize)]
struct PathTimes {
    computing_us: f64,
    library_us: f64,
    moving_us: f64,
    sleeping_us: f64,
    changes: u64,
    ends_at_rank: usize,
}

impl From<CriticalPath> for PathTimes {
    fn from(path: CriticalPath) -> Self {
        PathTimes {
            computing_us: path.computing.as_us(),
            library_us: path.library.as_us(),
            moving_us: path.moving.as_us(),
            sleeping_us: path.sleeping.as_us(),
            changes: path.changes,
            ends_at_rank: path.rank,
        }
    }
}

/// Replays the program on each system, and compares the times.
pub(super) fn execute(arguments: &TradeoffArguments, file: &Path) -> Result<ExitCode, Failure> {
    if let Some(page) = &arguments.report {
        // Nothing has been simulated yet.
        output_file::refuse_others(page, &"the page", is_report)?;
    }
    let factor = replay::factor(&arguments.prediction)?;
    let recording = Rc::new(replay::read(file)?);
    let name = machine_name(arguments, &recording, file)?;
    let machine = find(name)?;
    let (systems, remarks) = systems(arguments, &machine, factor)?;
    for system in &systems {
        let checked =
            predicted::check_ranks(recording.ranks(), &system.machine, &arguments.prediction);
        checked.map_err(|failure| failure.of(&system.name))?;
    }
    let mut replayed: Vec<Replayed> = Vec::new();
    for system in systems {
        let base_us = replayed.first().map(|first| first.time_us);
        replayed.push(replayed_on(system, &recording, arguments, base_us)?);
    }
    let comparison = Comparison {
        schema: SCHEMA,
        program: recording.title.clone(),
        ranks: recording.ranks(),
        machine: format!("sim:{name}"),
        remarks,
        systems: replayed,
    };
    print(&match arguments.format {
        Format::Table => output::in_words(&comparison),
        Format::Csv => output::as_csv(&comparison),
        Format::Json => serde_json::to_string_pretty(&comparison).expect("plain data") + "\n",
    })?;
    if let Some(page) = &arguments.report {
        output_file::replace(page, &"the page", is_report, &page::page(&comparison))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the requested machine, or the one that the program was recorded on.
fn machine_name<'a>(
    arguments: &'a TradeoffArguments,
    recording: &'a Recording,
    file: &Path,
) -> Result<&'a str, Failure> {
    let recorded = || recording.title.rsplit_once(ON_MACHINE).map(|(_, name)| name);
    arguments.machine.as_deref().or_else(recorded).ok_or_else(|| {
        let why = format!("'{}' does not say on which machine it was recorded", file.display());
        Failure::usage(why)
            .hint("name the machine before --program; `cornerstone machines` lists them")
    })
}

fn find(name: &str) -> Result<Machine, Failure> {
    fabric_sim::machine::find(name).map_err(|error| {
        Failure::usage(error.to_string()).hint("`cornerstone machines` lists them")
    })
}

/// Returns the systems, and remarks on changes that this machine does not permit.
fn systems(
    arguments: &TradeoffArguments,
    machine: &Machine,
    compute: f64,
) -> Result<(Vec<System>, Vec<String>), Failure> {
    let TradeoffArguments { clock, links, latency, .. } = *arguments;
    let mut remarks = Vec::new();
    let system =
        |name: &str, machine: Machine, compute| System { name: name.into(), machine, compute };
    let mut all = vec![
        system("as it is", machine.clone(), compute),
        system(&format!("processors x {clock}"), machine.scaled(clock, 1.0), compute / clock),
        system(&format!("latency / {latency}"), machine.nearer(latency), compute),
        system(&format!("links x {links}"), machine.scaled(1.0, links), compute),
    ];
    let mut together = machine.scaled(clock, links).nearer(latency);
    match machine.without_noise() {
        Some(quiet) => {
            all.push(system("no noise", quiet, compute));
            together = together.without_noise().unwrap_or(together);
        }
        None => remarks.push(format!("{} has no noise: its file names no pauses", machine.name)),
    }
    all.push(system(TOGETHER, together, compute / clock));
    let default = if machine.network.shape == Shape::Switch { &[][..] } else { &[Shape::Switch] };
    let shapes = if arguments.topologies.is_empty() { default } else { &arguments.topologies };
    for shape in shapes {
        all.push(system(&shape.to_string(), machine.shaped(shape), compute));
    }
    for name in &arguments.machines {
        all.push(system(&format!("sim:{name}"), find(name)?, compute));
    }
    Ok((all, remarks))
}

/// Replays the program on a system. `base_us` is its time on the first.
fn replayed_on(
    system: System,
    recording: &Rc<Recording>,
    arguments: &TradeoffArguments,
    base_us: Option<f64>,
) -> Result<Replayed, Failure> {
    let System { name, machine, compute } = system;
    let mut options = replay::options(recording.ranks(), &arguments.prediction);
    options.critical_path = true;
    let outcome = replay::replay(recording, &machine, &options, compute)
        .map_err(|failure| failure.of(&name))?;
    let path = outcome.critical_path.expect("it was asked for");
    let time_us = outcome.end.since(Time::ZERO).as_us();
    let base_us = base_us.unwrap_or(time_us);
    Ok(Replayed {
        system: name,
        machine: machine.name,
        time_us,
        speedup: if time_us > 0.0 { base_us / time_us } else { 1.0 },
        critical_path: path.into(),
        messages: outcome.counts.messages,
        bytes: outcome.counts.bytes,
        event_hash: format!("{:016x}", outcome.event_hash),
    })
}
