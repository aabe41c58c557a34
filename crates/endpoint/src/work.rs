//! Computation, as described to a simulated machine.

use serde::{Deserialize, Serialize};

/// The kind of work of a computation. A machine file has a rate for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkKind {
    /// Scalar floating-point operations.
    FloatingPoint,
    /// Operations of a fast Fourier transform, counted as 5 N log2 N.
    Fft,
    /// Bytes read and written in order to another place.
    CopyBytes,
    /// Bytes of a matrix transposed in memory (a corner turn).
    CornerTurnBytes,
    /// Combining operations of a reduction.
    Reduction,
    /// Floating-point operations of a product of matrices that is blocked for the caches.
    MatrixMultiply,
    /// Comparisons of a sort, counted as n log2 n for n elements, and of a merge, counted as n log2 P for P parts.
    Sort,
}

impl WorkKind {
    /// All kinds.
    pub const ALL: [WorkKind; 7] = [
        WorkKind::FloatingPoint,
        WorkKind::Fft,
        WorkKind::CopyBytes,
        WorkKind::CornerTurnBytes,
        WorkKind::Reduction,
        WorkKind::MatrixMultiply,
        WorkKind::Sort,
    ];

    /// Returns the key of its rate in the table `processor` of a machine file.
    pub const fn rate_key(self) -> &'static str {
        match self {
            WorkKind::FloatingPoint => "floating_point_mflops",
            WorkKind::Fft => "fft_mflops",
            WorkKind::CopyBytes => "copy_mb_per_s",
            WorkKind::CornerTurnBytes => "corner_turn_mb_per_s",
            WorkKind::Reduction => "reduction_mops",
            WorkKind::MatrixMultiply => "matrix_multiply_mflops",
            WorkKind::Sort => "sort_mops",
        }
    }
}

/// An amount of one kind of work, once or several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Kind of the work.
    pub kind: WorkKind,
    /// Amount of each repetition: operations or bytes, depending on the kind.
    pub amount: u64,
    /// Number of repetitions: many short copies take longer than one of all their bytes.
    pub times: u64,
    /// True if the result of the computation is used. If not, a simulated machine never computes it.
    pub has_result: bool,
}

impl Work {
    /// Creates work of `amount` operations or bytes of `kind`.
    pub const fn new(kind: WorkKind, amount: u64) -> Self {
        Work { kind, amount, times: 1, has_result: true }
    }

    /// Returns the same work repeated `times` times, each with its own start-up.
    pub const fn repeated(self, times: u64) -> Self {
        Work { times, ..self }
    }

    /// Returns the same work done only for its time.
    pub const fn without_result(self) -> Self {
        Work { has_result: false, ..self }
    }
}
