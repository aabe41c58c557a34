//! The accuracy of a twin for times that it was not made from. The twin is made from every other size of its
//! benchmarks. It predicts the sizes in between, and all sizes of the other benchmarks.

use std::collections::BTreeMap;

use benchmark::Step;
use calibration::{CALIBRATING, PING_PONG, TwinState};
use fabric_sim::Machine;
use record::{Measurement, Run};

use super::{compared, twin};
use crate::failure::Failure;
use crate::output::table;

/// Number of ranks at which twins are made and validated.
const RANKS: usize = 2;
/// Groups of benchmarks that do not measure messages alone. The rest of their time is work of the processor, which a twin
/// does not predict, or cannot do at all: the run may contain no rate of it.
const NOT_PREDICTED: [&str; 6] =
    ["limits", "processor", "congestion", "synthetic", "services", "beside-computing"];

/// A measurement that was held back, with the twin's prediction.
struct HeldBack<'a> {
    measurement: &'a Measurement,
    measured_us: f64,
    twin_us: f64,
}

impl HeldBack<'_> {
    fn error(&self) -> f64 {
        (self.twin_us / self.measured_us - 1.0).abs()
    }
}

/// A validation with the turns of one performance state only, or with all of them.
struct Validation<'a> {
    held_back: Vec<HeldBack<'a>>,
    /// Measurements of the other state only, with which the twin is not compared.
    not_compared: Vec<&'a Measurement>,
}

/// Returns the tables of a validation: each value that was held back, then the median error of each benchmark and of
/// all of them.
///
/// # Errors
/// If no twin can be made from the run, or the run has nothing to hold back.
pub(super) fn report(run: &Run) -> Result<String, Failure> {
    let states = TwinState::of(run);
    let found = validate(run, &states)?;
    if found.held_back.is_empty() {
        return Err(Failure::usage("the run has no measurements to validate a twin with").hint(
            "measure more sizes, and other benchmarks, such as `exchange broadcast allgather`",
        ));
    }
    let mut text = format!("{}\n{}", values(&found.held_back), errors(&found.held_back));
    text += &format!("\n{states}\n");
    if !states.other_lines_us.is_empty() {
        // The validation is repeated with the turns of all states, which shows the effect of the states.
        let all = validate(run, &TwinState::default())?;
        let errors = all.held_back.iter().map(HeldBack::error).collect();
        let [_, values, median, _] = summary(errors);
        text += &format!("without discarding turns: {values} values, median error {median}\n");
    }
    text += &not_compared(&found.not_compared);
    Ok(text)
}

fn validate<'a>(run: &'a Run, states: &TwinState) -> Result<Validation<'a>, Failure> {
    let kept = kept_sizes(run);
    let is_kept = |m: &Measurement| !is_predicted(m) || calibrates(m, &kept);
    let part = Run {
        measurements: run.measurements.iter().filter(|m| is_kept(m)).cloned().collect(),
        ..run.clone()
    };
    let made = twin("twin", &part, states)?;
    let twin = fabric_sim::machine::parse("twin", &made.text)
        .map_err(|error| Failure::failed(error.to_string()))?;
    let requested = run.measurements.iter().filter(|m| {
        is_predicted(m) && m.metric == "time" && m.ranks == RANKS && !calibrates(m, &kept)
    });
    let mut found = Validation { held_back: Vec::new(), not_compared: Vec::new() };
    for measurement in requested {
        match states.time_us(measurement) {
            Some(measured_us) => {
                let twin_us = predict(&twin, measurement)?;
                found.held_back.push(HeldBack { measurement, measured_us, twin_us });
            }
            None => found.not_compared.push(measurement),
        }
    }
    Ok(found)
}

/// Returns the names of the measurements that could not be compared.
fn not_compared(measurements: &[&Measurement]) -> String {
    if measurements.is_empty() {
        return String::new();
    }
    let each = |m: &&Measurement| format!("{} {}", m.benchmark, m.size_bytes);
    let names: Vec<String> = measurements.iter().map(each).collect();
    format!(
        "not compared, because no turn of them was made in the performance state of the twin: {} ({})\n",
        names.len(),
        names.join(", ")
    )
}

fn is_predicted(m: &Measurement) -> bool {
    !NOT_PREDICTED.contains(&m.group.as_str())
}

/// Returns every other size of the ping-pong, with the first and the last, so that the sizes held back are in between.
fn kept_sizes(run: &Run) -> Vec<u64> {
    let wanted = |m: &&Measurement| m.benchmark == PING_PONG && m.ranks == RANKS;
    let mut sizes: Vec<u64> =
        run.measurements.iter().filter(wanted).map(|m| m.size_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let last = sizes.last().copied();
    sizes.into_iter().step_by(2).chain(last).collect()
}

fn calibrates(m: &Measurement, kept: &[u64]) -> bool {
    CALIBRATING.contains(&m.benchmark.as_str()) && kept.contains(&m.size_bytes)
}

fn predict(twin: &Machine, measurement: &Measurement) -> Result<f64, Failure> {
    let m = measurement;
    let mut parameters = m.parameters.clone();
    // `method` is a result of the measurement, not a parameter of the request.
    parameters.remove("method");
    let step = Step {
        benchmark: m.benchmark.clone(),
        parameters,
        size_bytes: m.size_bytes,
        estimate_s: 0.0,
        repetition: 1,
    };
    let failed = |why: String| Failure::failed(format!("{} on the twin: {why}", m.benchmark));
    let made = reproduction::predict(twin, m.ranks, step).map_err(failed)?;
    let time = made.iter().find(|made| made.metric == m.metric);
    Ok(time.ok_or_else(|| failed("it gave no time".into()))?.summary.median)
}

fn values(held_back: &[HeldBack]) -> String {
    let header = ["held back", "bytes", "measured, us", "twin, us", "error"].map(String::from);
    let row = |held: &HeldBack| {
        let m = held.measurement;
        let mut name = m.benchmark.clone();
        m.parameters.iter().for_each(|(key, value)| name.push_str(&format!(" {key}={value}")));
        compared(vec![name, m.size_bytes.to_string()], held.measured_us, held.twin_us)
    };
    table(&header, 1, held_back.iter().map(row).collect())
}

fn errors(held_back: &[HeldBack]) -> String {
    let mut by_benchmark: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for held in held_back {
        by_benchmark.entry(&held.measurement.benchmark).or_default().push(held.error());
    }
    let all = by_benchmark.values().flatten().copied().collect();
    let header = ["benchmark", "values", "median error", "largest"].map(String::from);
    let row = |(name, errors): (&str, Vec<f64>)| {
        let mut row = summary(errors).to_vec();
        row[0] = name.into();
        row
    };
    let mut rows: Vec<Vec<String>> = by_benchmark.into_iter().map(row).collect();
    rows.push(row(("all", all)));
    table(&header, 1, rows)
}

/// Returns a row: an empty name, the number of errors, their median, and the largest.
fn summary(mut errors: Vec<f64>) -> [String; 4] {
    errors.sort_by(f64::total_cmp);
    let percent = |error: f64| format!("{:.1} %", 100.0 * error);
    let middle = (errors[(errors.len() - 1) / 2] + errors[errors.len() / 2]) / 2.0;
    let largest = errors[errors.len() - 1];
    [String::new(), errors.len().to_string(), percent(middle), percent(largest)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_count_lies_between_the_middle_two() {
        assert_eq!(summary(vec![0.3, 0.1]), ["", "2", "20.0 %", "30.0 %"]);
        assert_eq!(summary(vec![0.3, 0.1, 0.2]), ["", "3", "20.0 %", "30.0 %"]);
    }
}
