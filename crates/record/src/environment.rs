//! Place and conditions of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use contract::FabricDescription;

use super::SCHEMA_VERSION;

/// The machine and its state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The host's name.
    pub host: String,
    /// The processor's model name.
    pub processor: String,
    /// Number of processors that the run may use.
    pub processors_available: usize,
    /// Caches, one entry a level: name and size.
    pub caches: Vec<String>,
    /// Length of the memory in bytes.
    pub memory_bytes: u64,
    /// The operating system's name and release.
    pub kernel: String,
    /// The kernel's clock source.
    pub clock_source: String,
    /// Frequency governor, or the reason why it is unknown.
    pub governor: String,
    /// Hypervisor or container, if one is detected.
    pub virtualisation: String,
    /// The load average over a minute before the run.
    pub load_before: Option<f64>,
    /// Other properties, by name.
    pub other: BTreeMap<String, String>,
}

/// The first line of a results file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// The version of the schema of this file.
    pub schema_version: u32,
    /// The version of Cornerstone that wrote it.
    pub cornerstone_version: String,
    /// Revision from which it was built, with `-dirty` if the tree was changed; `unknown` outside a checkout.
    pub revision: String,
    /// The command as typed.
    pub command: Vec<String>,
    /// Beginning of the run: UTC, as 2026-01-31T12:00:00Z.
    pub started: String,
    /// The seed of everything random.
    pub seed: u64,
    /// Requested relative half-width of the intervals, such as 0.05.
    pub precision: f64,
    /// The confidence of the intervals, such as 0.95.
    pub confidence: f64,
    /// The time limit of each measurement in seconds.
    pub time_limit_s: f64,
    /// Description of the fabric.
    pub fabric: FabricDescription,
    /// Number of launches that other runs have made before for the same comparison, if the places of ranks were dealt
    /// accordingly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launches_before: Option<u32>,
    /// Files that define the run (a pattern), by name: the run can be understood, and resumed, without them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<String, String>,
    /// The machine.
    pub environment: Environment,
}

/// A header of this schema for a run of which nothing is known: no command, machine or revision, and the default
/// precision.
impl Default for RunHeader {
    fn default() -> Self {
        RunHeader {
            schema_version: SCHEMA_VERSION,
            cornerstone_version: "0".into(),
            revision: "unknown".into(),
            command: Vec::new(),
            started: "2026-01-31T12:00:00Z".into(),
            seed: 1,
            precision: 0.05,
            confidence: 0.95,
            time_limit_s: 1.0,
            fabric: FabricDescription::default(),
            launches_before: None,
            texts: BTreeMap::new(),
            environment: Environment::default(),
        }
    }
}

/// Something that casts doubt on the measurements of a launch, such as a clock that jumped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The launch, counted from 0.
    pub launch: u32,
    /// What happened, in words.
    pub text: String,
}

/// The last line of a results file of a run that ended normally.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEnd {
    /// Number of measurements that this run added.
    pub measurements: u64,
    /// Duration of the run in seconds.
    pub seconds: f64,
}
