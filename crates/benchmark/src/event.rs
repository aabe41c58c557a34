//! The reports of a launch while it runs.

use record::{Measurement, TrialLine};
use serde::{Deserialize, Serialize};

/// A report of rank 0 while it executes a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A measurement begins.
    Started {
        /// Index of the step in the job, from 0.
        index: usize,
        /// The number of steps of the job.
        of: usize,
        /// The benchmark with its parameters and size.
        label: String,
    },
    /// A measurement makes progress; reported a few times a second.
    Progress {
        /// Index of the step in the job, from 0.
        index: usize,
        /// Number of samples so far, without the warm-up.
        samples: u64,
        /// Half-width of the median's interval as a share of the median, once there are samples.
        half_width: Option<f64>,
        /// Seconds since the measurement began.
        spent_s: f64,
    },
    /// One trial of a search for a period is complete.
    Tried(TrialLine),
    /// A measurement is complete: its metrics, the time first.
    Measured(Vec<Measurement>),
    /// A measurement cannot be made here.
    Skipped {
        /// Index of the step in the job, from 0.
        index: usize,
        /// The benchmark with its parameters and size.
        label: String,
        /// The reason.
        reason: String,
    },
}
