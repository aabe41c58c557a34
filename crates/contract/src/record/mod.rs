//! The record that a run leaves: a results file, in JSON Lines.
//!
//! The first line says what was run and where ([`RunHeader`]); then comes one line a measurement, written and flushed
//! as it is made, so that a killed run keeps what it had; a run that ends in order adds a [`RunEnd`]. Each line says
//! what it is in `kind`, and the header carries the version of the schema. Field names here are the names that every
//! output of the command line uses.

mod environment;
mod fabric;
mod forecast;
mod measurement;
mod pauses;
mod period;
mod run;

pub use environment::{Environment, RunEnd, RunHeader};
pub use fabric::{FabricDescription, SharedMemory};
pub use forecast::{Forecast, ForecastPoint, WithoutPauses};
pub use measurement::{
    Better, Key, LinkUse, Measurement, Outliers, ParameterValue, Parameters, StopReason, Summary,
    Timing, Turn,
};
pub use pauses::{Pause, PauseCause, PauseCount, PauseKind, PauseSummary, Pauses, WorstWindow};
pub use period::{During, LateInstance, PeriodSearch, SearchEnd, SeenPause, Trial, TrialLine};
pub use run::{Run, RunError};

use serde::{Deserialize, Serialize};

/// The version of the schema that this build writes, and the only one that it reads.
pub const SCHEMA_VERSION: u32 = 1;

/// One line of a results file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(
    clippy::large_enum_variant,
    reason = "lines are made one at a time, and most are measurements"
)]
pub enum Line {
    /// What was run and where: the first line, and once more for each `--resume`.
    Run(RunHeader),
    /// One measurement.
    Measurement(Measurement),
    /// One trial of a search for a period, as it was made.
    Trial(TrialLine),
    /// The run ended in order.
    End(RunEnd),
}

impl Line {
    /// Returns the line as it stands in the file, without the line's end.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("records hold nothing that JSON cannot express")
    }
}
