//! What carried a run's messages, and how.

use std::collections::BTreeMap;

use collectives::plan::Plans;
use serde::{Deserialize, Serialize};

use crate::WorkKind;

/// What carries the messages of a run, and with which choices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FabricDescription {
    /// `local`, `tcp`, `mpi` or `sim:MACHINE`.
    pub name: String,
    /// The version of the library or machine file.
    pub version: String,
    /// Choices made at set-up that a reader of the numbers wants to know (thresholds, waiting, copying), by name.
    pub details: BTreeMap<String, String>,
    /// The kinds of work for which a simulated machine has no rate, and lets no time pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_rate: Vec<WorkKind>,
    /// What a model of a fabric in shared memory needs to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_memory: Option<SharedMemory>,
    /// The plans of collectives of the run's ranks, where the fabric has plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<Plans>,
}

/// From which lengths on a fabric in shared memory carries data another way. Its boards are in the plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedMemory {
    /// From this many bytes on a message is copied once, straight from the sender's memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_copy_from_bytes: Option<u64>,
    /// From this many bytes on sender and receiver copy a message together.
    pub both_copy_from_bytes: u64,
    /// True if ranks may copy from each other's memory through the kernel, and that is the fast way.
    pub cma_is_fast: bool,
    /// Parts of collectives of up to so many bytes lie in the line that says that they are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board_line_bytes: Option<u64>,
}
