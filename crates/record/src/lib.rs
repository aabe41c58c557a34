//! The record that a run leaves: a results file, in JSON Lines.
//!
//! The first line describes the run ([`RunHeader`]). One line for each measurement follows, written and flushed when it
//! is made, so that a killed run keeps its results. A run that ends normally adds a [`RunEnd`]. The field `kind` of
//! each line names its type, and the header holds the version of the schema. The field names are those of every output
//! of the command line.
#![forbid(unsafe_code)]

mod environment;
mod forecast;
mod measurement;
mod pauses;
mod period;
mod printable;
mod run;

pub use environment::{Environment, RunEnd, RunHeader, Warning};
pub use forecast::{Forecast, ForecastPoint, WithoutPauses};
pub use measurement::{
    Better, Key, LinkUse, Measurement, Outliers, ParameterValue, Parameters, Repetition,
    StopReason, Summary, Timing,
};
pub use pauses::{Pause, PauseCause, PauseKind, PauseSummary, Pauses, WorstWindow};
pub use period::{
    Broken, During, JudgedTimes, LateInstance, PeriodSearch, Required, SearchEnd, SeenPause, Trial,
    TrialLine,
};
pub use printable::printable;
pub use run::{Run, RunError};

use serde::{Deserialize, Serialize};

/// Version of the schema that this build writes, and the only one that it reads.
pub const SCHEMA_VERSION: u32 = 1;

/// One line of a results file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(
    clippy::large_enum_variant,
    reason = "lines are made one at a time, and most are measurements"
)]
pub enum Line {
    /// The header: the first line, and another for each `--resume`.
    Run(RunHeader),
    /// One measurement.
    Measurement(Measurement),
    /// One trial of a search for a period.
    Trial(TrialLine),
    /// Something that casts doubt on measurements.
    Warning(Warning),
    /// The run ended normally.
    End(RunEnd),
}

impl Line {
    /// Returns the line as in the file, without the line end.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("records hold nothing that JSON cannot express")
    }
}
