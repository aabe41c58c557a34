//! The reasons why a table cannot be reproduced.

/// The reason why a table cannot be reproduced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReproductionError {
    /// No cell's id begins with this.
    #[error("there is no paper or table `{name}`{}", .nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default())]
    Unknown {
        /// The name.
        name: String,
        /// The most similar one, if one is similar.
        nearest: Option<String>,
    },
    /// A cell's own program failed.
    #[error("{id}: {reason}")]
    Cell {
        /// The cell.
        id: String,
        /// The description of the error.
        reason: String,
    },
}
