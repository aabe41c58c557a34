//! Launches: the jobs of their ranks, and their order.

use record::{Key, Parameters};
use serde::{Deserialize, Serialize};

use crate::ranks::Placement;
use crate::settings::Settings;

/// One measurement to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The benchmark's name.
    pub benchmark: String,
    /// Other parameters that identify the measurement.
    pub parameters: Parameters,
    /// The message size in bytes.
    pub size_bytes: u64,
    /// Expected time in seconds, estimated before measuring.
    pub estimate_s: f64,
    /// Number of its repetition, from 1.
    pub repetition: u32,
}

/// The job of the ranks of one launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The measurements, in this order.
    pub steps: Vec<Step>,
    /// The settings of the measurements.
    pub settings: Settings,
    /// Time in seconds that all of them together should take.
    pub limit_s: Option<f64>,
}

/// One launch of a number of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// The number of ranks.
    pub ranks: usize,
    /// Their required placement.
    pub placement: Placement,
    /// Number of the launch among those of its measurements in the run, from 0.
    pub number: u32,
    /// Which deal of places its ranks get. 0 are the first places.
    pub places: u32,
    /// Their job.
    pub job: Job,
}

impl Launch {
    /// Returns the expected time in seconds, estimated before measuring.
    pub fn estimate_s(&self) -> f64 {
        self.job.steps.iter().map(|step| step.estimate_s).sum()
    }

    /// Returns the identity of the measurement that a step makes.
    pub fn key(&self, step: &Step) -> Key {
        Key {
            benchmark: step.benchmark.clone(),
            ranks: self.ranks,
            parameters: step.parameters.clone(),
            size_bytes: step.size_bytes,
        }
    }
}

impl Step {
    /// Returns a short description: the benchmark with its parameters and size.
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

/// Returns a size with the largest binary unit of which it is a multiple.
pub(crate) fn in_bytes(size: u64) -> String {
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
