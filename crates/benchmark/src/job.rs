//! Launches: what their ranks execute, and in which order.

use record::Parameters;
use serde::{Deserialize, Serialize};

use crate::ranks::Placement;
use crate::settings::Settings;

/// One measurement to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The benchmark's name.
    pub benchmark: String,
    /// The other parameters that identify the measurement.
    pub parameters: Parameters,
    /// The message size in bytes.
    pub size_bytes: u64,
    /// The expected time in seconds, estimated before measuring.
    pub estimate_s: f64,
    /// Which of its repetitions this is, from 1.
    pub repetition: u32,
}

/// The job of the ranks of one launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The measurements, in this order.
    pub steps: Vec<Step>,
    /// The settings of the measurements.
    pub settings: Settings,
    /// The time that all of them together should take, in seconds.
    pub limit_s: Option<f64>,
}

/// One launch of a number of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// The number of ranks.
    pub ranks: usize,
    /// Their required placement.
    pub placement: Placement,
    /// Which launch of its measurements this is, of those that the run makes, from 0.
    pub number: u32,
    /// Their job.
    pub job: Job,
}

impl Launch {
    /// The expected time in seconds, estimated before measuring.
    pub fn estimate_s(&self) -> f64 {
        self.job.steps.iter().map(|step| step.estimate_s).sum()
    }
}

impl Step {
    /// A short description: the benchmark with its parameters and size.
    pub fn label(&self) -> String {
        let mut label = self.benchmark.clone();
        for (name, value) in &self.parameters {
            label += &format!(" {}={value}", name.replace('_', " "));
        }
        if self.size_bytes > 0 {
            label += &format!(" {}", in_bytes(self.size_bytes));
        }
        label
    }
}

/// A size with the largest binary unit that leaves it whole.
fn in_bytes(size: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| size >= *unit && size.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{} {name}", size / unit),
        None => format!("{size} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_largest_unit_that_leaves_them_whole() {
        assert_eq!(in_bytes(1000), "1000 B");
        assert_eq!(in_bytes(3 << 20), "3 MiB");
    }
}
