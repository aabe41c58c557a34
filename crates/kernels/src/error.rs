//! Why a kernel refused its arguments.

use crate::instructions::Instructions;

/// The result of planning or calling a kernel.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a kernel refused its arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A transform of no points.
    #[error("a transform needs at least one point")]
    EmptyTransform,
    /// A filter without taps.
    #[error("a filter needs at least one tap")]
    NoTaps,
    /// A matrix to be factored that has more columns than rows, or none.
    #[error(
        "a matrix of {rows} x {columns} cannot be factored: it needs a column, and no fewer rows than columns"
    )]
    WideMatrix {
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
    },
    /// Instructions that this processor does not have.
    #[error(
        "this processor has no {wanted} instructions; the widest it has are {}",
        Instructions::best()
    )]
    NoInstructions {
        /// The set asked for.
        wanted: Instructions,
    },
    /// A slice whose length does not match the call.
    #[error("{what} holds {found} elements where {expected} are needed")]
    WrongLength {
        /// Which argument.
        what: &'static str,
        /// The number of elements that the call needs: exactly, or at least, as documented.
        expected: usize,
        /// Their number.
        found: usize,
    },
    /// A slice that is not a whole number of transforms.
    #[error("{found} elements are not a whole number of transforms of {length} points")]
    BrokenTransform {
        /// The points of one transform.
        length: usize,
        /// The elements given.
        found: usize,
    },
    /// Transforms that would overlap in memory.
    #[error(
        "{batch} transforms of {length} points with stride {stride} and distance {distance} overlap"
    )]
    Overlap {
        /// The points of one transform.
        length: usize,
        /// The number of transforms.
        batch: usize,
        /// Elements from point to point.
        stride: usize,
        /// Elements from transform to transform.
        distance: usize,
    },
    /// A fold to a length that is no power of two or does not divide the number of points.
    #[error(
        "{points} points cannot be folded to {fold}: the fold must be a power of two that divides the points"
    )]
    UnevenFold {
        /// The points before the fold.
        points: usize,
        /// The points after the fold.
        fold: usize,
    },
    /// A result that is not what it must be.
    #[error("{benchmark}: {explanation}")]
    WrongResult {
        /// The program whose result is wrong.
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

/// Checks that this processor has the `wanted` instructions; gives them back.
pub(crate) fn check_instructions(wanted: Instructions) -> Result<Instructions> {
    if wanted.is_available() { Ok(wanted) } else { Err(Error::NoInstructions { wanted }) }
}
