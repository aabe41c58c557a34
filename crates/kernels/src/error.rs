//! The reasons why a kernel refuses its arguments.

use crate::instructions::Instructions;

/// The result of planning or calling a kernel.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a kernel refuses its arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A transform of no points.
    #[error("a transform needs at least one point")]
    EmptyTransform,
    /// A filter without taps.
    #[error("a filter needs at least one tap")]
    NoTaps,
    /// A matrix to be factored with more columns than rows, or without columns.
    #[error(
        "a matrix of {rows} x {columns} cannot be factored: it needs a column, and no fewer rows than columns"
    )]
    WideMatrix {
        /// Number of its rows.
        rows: usize,
        /// Number of its columns.
        columns: usize,
    },
    /// Instructions that this processor does not have.
    #[error(
        "this processor has no {wanted} instructions; the widest it has are {}",
        Instructions::best()
    )]
    NoInstructions {
        /// The requested set.
        wanted: Instructions,
    },
    /// A slice whose length does not match the call.
    #[error("{what} holds {found} elements where {expected} are needed")]
    WrongLength {
        /// Name of the argument.
        what: &'static str,
        /// Number of elements that the call needs: exactly, or at least, as documented.
        expected: usize,
        /// Number of its elements.
        found: usize,
    },
    /// A slice that is not a whole number of transforms.
    #[error("{found} elements are not a whole number of transforms of {length} points")]
    BrokenTransform {
        /// Number of points of one transform.
        length: usize,
        /// Number of elements.
        found: usize,
    },
    /// Transforms that would overlap in memory.
    #[error(
        "{batch} transforms of {length} points with stride {stride} and distance {distance} overlap"
    )]
    Overlap {
        /// Number of points of one transform.
        length: usize,
        /// Number of transforms.
        batch: usize,
        /// Number of elements from point to point.
        stride: usize,
        /// Number of elements from transform to transform.
        distance: usize,
    },
    /// A fold to a length that is not a power of two or does not divide the number of points.
    #[error(
        "{points} points cannot be folded to {fold}: the fold must be a power of two that divides the points"
    )]
    UnevenFold {
        /// Number of points before the fold.
        points: usize,
        /// Number of points after the fold.
        fold: usize,
    },
    /// A wrong result.
    #[error("{benchmark}: {explanation}")]
    WrongResult {
        /// The program with the wrong result.
        benchmark: &'static str,
        /// The expected and the actual result.
        explanation: String,
    },
}

/// Checks that `found` elements are a whole number of transforms of `length` points.
pub(crate) fn check_whole(length: usize, found: usize) -> Result<()> {
    if found.is_multiple_of(length) {
        Ok(())
    } else {
        Err(Error::BrokenTransform { length, found })
    }
}

/// Checks that `found`, the length of `what`, is exactly `expected`.
pub(crate) fn check_length(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::WrongLength { what, expected, found }) }
}

/// Checks that this processor has the `wanted` instructions. Returns them.
pub(crate) fn check_instructions(wanted: Instructions) -> Result<Instructions> {
    if wanted.is_available() { Ok(wanted) } else { Err(Error::NoInstructions { wanted }) }
}
