//! The results file of a study of rings.

use std::path::PathBuf;

use analysis::statistics::{Sample, summarise};
use benchmark::Settings;
use clap::ValueEnum;
use contract::{FabricDescription, TimeSpan};
use fabric_sim::sci::study::TrafficResults;
use record::{Better, Measurement, Parameters, Summary};

use super::{Case, operation_name, rule};
use crate::arguments::SciArguments;
use crate::failure::Failure;
use crate::results::{self, ResultsFile};

const BENCHMARK: &str = "sci";
const GROUP: &str = "networks";
/// Confidence of intervals of medians of delays.
const CONFIDENCE: f64 = 0.95;
/// Maximum number of delays that are kept individually.
const SAMPLES_MAX: usize = 2000;

/// Creates the results file, and returns it with its path. This precedes the simulation, so that nothing is lost if the
/// file cannot be created.
pub(super) fn create(arguments: &SciArguments) -> Result<(ResultsFile, PathBuf), Failure> {
    let settings = Settings { seed: arguments.seed, ..Settings::default() };
    let fabric = FabricDescription { name: "sim:sci".into(), ..FabricDescription::default() };
    let header = results::header(&settings, fabric, crate::environment::capture());
    let path = match &arguments.out {
        Some(path) => path.clone(),
        None => results::default_path(&header)?,
    };
    let mut file = ResultsFile::create(&path)?;
    file.append_header(&header)?;
    Ok((file, path))
}

/// Returns the arguments that determine the numbers.
fn parameters(arguments: &SciArguments, case: &Case) -> Parameters {
    let SciArguments { access, retry, urgency, link_rate, pace, operation, .. } = arguments;
    let mut parameters = Parameters::new();
    let mut text = |name: &str, value: String| {
        parameters.insert(name.into(), value.as_str().into());
    };
    text("destination", rule(case.destination));
    text("shape", case.shape.to_string());
    text("pace", name(pace));
    text("operation", operation_name(*operation));
    match &arguments.machine {
        Some(machine) => text("machine", machine.clone()),
        None => {
            text("access", name(access));
            text("retry", name(retry));
            text("urgency", name(urgency));
            text("link_gbit_per_s", name(link_rate));
        }
    }
    let numbers = [
        ("load_percent", case.load_percent),
        ("queue_packets", arguments.machine.is_none().then_some(arguments.queue)),
        ("urgent_node", arguments.urgent),
        ("duration_us", Some(arguments.duration_us)),
        ("seats", arguments.seats),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            parameters.insert(name.into(), u64::from(number).into());
        }
    }
    for (name, ns) in arguments.delays.given() {
        parameters.insert(format!("{name}_ns"), u64::from(ns).into());
    }
    parameters
}

/// Returns the word for a choice on the command line.
fn name(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().into())
}

/// Returns the measurements of a case.
pub(super) fn measurements(arguments: &SciArguments, case: &Case) -> Vec<Measurement> {
    let traffic = &case.results.traffic;
    let parameters = parameters(arguments, case);
    let make = |metric: &str, unit: &str, better, summary, samples| Measurement {
        benchmark: BENCHMARK.into(),
        group: GROUP.into(),
        fabric: "sim:sci".into(),
        ranks: case.shape.hosts() as usize,
        parameters: parameters.clone(),
        samples,
        ..Measurement::new(metric, unit, better, summary)
    };
    let one = |metric, unit, better, value: f64| {
        make(metric, unit, better, Summary::of_interval((value, value, value), 1, 1.0), Vec::new())
    };
    let mut all = vec![
        one("throughput", "MB/s", Better::Higher, traffic[0].mb_per_s(case.duration)),
        one("least_over_most", "%", Better::Higher, 100.0 * traffic[0].least_over_most()),
        one("refused", "%", Better::Lower, 100.0 * case.refused_share()),
    ];
    for (results, metric) in traffic.iter().zip(["delay", "urgent_delay"]) {
        if let Some((summary, samples)) = delays(results) {
            all.push(make(metric, "us", Better::Lower, summary, samples));
        }
    }
    all
}

/// Returns a summary of delays, and some of them, evenly distributed over all.
fn delays(results: &TrafficResults) -> Option<(Summary, Vec<f64>)> {
    let all: Vec<f64> = results.delays.iter().copied().map(TimeSpan::as_us).collect();
    let step = all.len().div_ceil(SAMPLES_MAX).max(1);
    let some = all.iter().copied().step_by(step).collect();
    Some((summarise(&Sample::new(all).ok()?, CONFIDENCE), some))
}
