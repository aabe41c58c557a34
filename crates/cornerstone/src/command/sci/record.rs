//! The results file of a study of rings.

use std::path::PathBuf;

use analysis::statistics::{Sample, summarise};
use benchmark::Settings;
use contract::TimeSpan;
use contract::record::{Better, FabricDescription, Measurement, Parameters, Summary};
use fabric_sim::sci::study::Found;

use super::{Case, rule};
use crate::arguments::SciArguments;
use crate::failure::Failure;
use crate::results::{self, ResultsFile};

const BENCHMARK: &str = "sci";
const GROUP: &str = "networks";
/// The confidence of intervals of medians of delays.
const CONFIDENCE: f64 = 0.95;
/// The most delays that are kept one by one.
const SAMPLES_MAX: usize = 2000;

/// Writes the results file, and gives its path.
pub(super) fn write(arguments: &SciArguments, cases: &[Case]) -> Result<PathBuf, Failure> {
    let settings = Settings { seed: arguments.seed, ..Settings::default() };
    let fabric = FabricDescription { name: "sim:sci".into(), ..FabricDescription::default() };
    let header = results::header(&settings, fabric, crate::environment::capture());
    let path = match &arguments.out {
        Some(path) => path.clone(),
        None => results::default_path(&header)?,
    };
    let mut file = ResultsFile::create(&path)?;
    file.append_header(&header)?;
    for case in cases {
        file.append(&measurements(arguments, case))?;
    }
    file.end()?;
    Ok(path)
}

fn measurements(arguments: &SciArguments, case: &Case) -> Vec<Measurement> {
    let traffic = &case.findings.traffic;
    let mut parameters = Parameters::new();
    parameters.insert("destination".into(), rule(case.destination).as_str().into());
    parameters.insert("shape".into(), arguments.shape.to_string().as_str().into());
    if let Some(percent) = case.load_percent {
        parameters.insert("load_percent".into(), u64::from(percent).into());
    }
    let make = |metric: &str, unit: &str, better, summary, samples| Measurement {
        benchmark: BENCHMARK.into(),
        group: GROUP.into(),
        fabric: "sim:sci".into(),
        ranks: arguments.shape.hosts() as usize,
        parameters: parameters.clone(),
        samples,
        ..Measurement::new(metric, unit, better, summary)
    };
    let rate = traffic[0].mb_per_s(case.duration);
    let mut all = vec![make(
        "throughput",
        "MB/s",
        Better::Higher,
        Summary::of_interval((rate, rate, rate), 1, 1.0),
        Vec::new(),
    )];
    for (found, metric) in traffic.iter().zip(["delay", "urgent_delay"]) {
        if let Some((summary, samples)) = delays(found) {
            all.push(make(metric, "us", Better::Lower, summary, samples));
        }
    }
    all
}

/// A summary of delays, and some of them, evenly distributed over all.
fn delays(found: &Found) -> Option<(Summary, Vec<f64>)> {
    let all: Vec<f64> = found.delays.iter().copied().map(TimeSpan::as_us).collect();
    let step = all.len().div_ceil(SAMPLES_MAX).max(1);
    let some = all.iter().copied().step_by(step).collect();
    Some((summarise(&Sample::new(all).ok()?, CONFIDENCE), some))
}
