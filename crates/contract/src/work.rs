//! Computation, as a simulated machine has to know it.

/// What kind of work a computation is; a machine file gives a rate for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkKind {
    /// Scalar floating-point operations.
    FloatingPoint,
    /// Operations of a fast Fourier transform, counted as 5 N log2 N.
    Fft,
    /// Bytes read and written again elsewhere in order.
    CopyBytes,
    /// Bytes of a matrix transposed in memory (a corner turn).
    CornerTurnBytes,
    /// Combining operations of a reduction.
    Reduction,
}

/// An amount of one kind of work, once or several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Its kind.
    pub kind: WorkKind,
    /// How much at a time: operations or bytes, as the kind says.
    pub amount: u64,
    /// How many times: many short copies take longer than one of all their bytes.
    pub times: u64,
}

impl Work {
    /// `amount` operations or bytes of `kind`.
    pub const fn new(kind: WorkKind, amount: u64) -> Self {
        Work { kind, amount, times: 1 }
    }

    /// The same, `times` times over, each with its own beginning.
    pub const fn repeated(self, times: u64) -> Self {
        Work { times, ..self }
    }
}
