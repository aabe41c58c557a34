//! The fabric of a run.

use std::collections::BTreeMap;

use collectives::plan::Plans;
use serde::{Deserialize, Serialize};

use crate::WorkKind;

/// The fabric that carries the messages of a run, and its settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FabricDescription {
    /// `local`, `tcp`, `mpi` or `sim:MACHINE`.
    pub name: String,
    /// The version of the library or machine file.
    pub version: String,
    /// Settings that readers of measurements need (thresholds, waiting, copying), by name.
    pub details: BTreeMap<String, String>,
    /// Kinds of work for which a simulated machine has no rate, so that they take no time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_rate: Vec<WorkKind>,
    /// True if the same work always takes the same time: on a simulated machine without pauses, faults and shared
    /// processors.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_steady: bool,
    /// Properties that a model of a fabric in shared memory needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_memory: Option<SharedMemory>,
    /// Plans of collectives of the run's ranks, if the fabric has plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<Plans>,
}

/// Lengths at which a fabric in shared memory changes its protocol. Its boards are in the plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedMemory {
    /// Length from which a message is copied once, directly from the sender's memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_copy_from_bytes: Option<u64>,
    /// Length from which sender and receiver copy a message together.
    pub both_copy_from_bytes: u64,
    /// True if ranks may copy from each other's memory through the kernel, and that is faster.
    pub cma_is_fast: bool,
    /// Length up to which parts of collectives are in the line that announces them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board_line_bytes: Option<u64>,
}
