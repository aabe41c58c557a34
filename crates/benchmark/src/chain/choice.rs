//! What a user may choose about a chain besides what its file says.

use serde::{Deserialize, Serialize};

use super::definition::Chain;

/// The chain that the benchmark `pipeline` runs, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pipeline {
    /// The chain; `None` for the one that the benchmark brings.
    pub chain: Option<Chain>,
    /// Rows in a message: a measurement for each. The chain's own where empty.
    pub rows_per_message: Vec<usize>,
    /// Which timing of the stages to measure.
    pub pacing: Pacing,
}

/// When a stage of a chain works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// As soon as it has something to work on.
    #[default]
    SelfTimed,
    /// At prescribed instants of the clock that all ranks share.
    Synchronised,
    /// Both, one after the other.
    Both,
}

impl Pipeline {
    /// The chain that is asked for.
    pub fn chain(&self) -> Chain {
        self.chain.clone().unwrap_or_else(Chain::example)
    }
}
