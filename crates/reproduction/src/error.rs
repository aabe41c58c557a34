//! Why a table cannot be reproduced.

/// Why a table cannot be reproduced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReproductionError {
    /// No cell's id begins so.
    #[error("there is no table `{0}`; there are: {1}")]
    Unknown(String, String),
    /// A cell's own program failed.
    #[error("{id}: {reason}")]
    Cell {
        /// The cell.
        id: String,
        /// The description of the error.
        reason: String,
    },
}
