//! The reasons why a table cannot be reproduced.

/// The reason why a table cannot be reproduced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReproductionError {
    /// No cell's id begins with this.
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
