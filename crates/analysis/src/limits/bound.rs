//! What bounds each benchmark.

use std::fmt;

use contract::record::{ParameterValue, Parameters};
use serde::Serialize;

use super::{CriticalPath, PRECISION, critical_path, number};

/// What a number cannot be better than, or is at least read against.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// What messages must at least do one after the other.
    Path(CriticalPath),
    /// The core's rate of multiply-adds.
    Peak {
        /// Of numbers of this size.
        precision: Precision,
    },
    /// The rate of a plain copy by one core.
    Copy {
        /// How much is copied at once.
        bytes: u64,
        /// The bytes that the benchmark counts where a copy counts one: 2 for reading and writing it.
        counted: u64,
    },
}

/// Numbers of single and of double precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// 32 bits.
    Single,
    /// 64 bits.
    Double,
}

/// What each vector of STREAM holds: more than caches do.
pub const STREAM_VECTOR_BYTES: u64 = 64 << 20;

/// What an element of a corner turn holds: a complex number in single precision.
const CORNER_TURN_ELEMENT_BYTES: u64 = 8;

impl Bound {
    /// What bounds a benchmark with these `parameters` on so many `ranks` and `cores` (0: a core for each rank); none
    /// for a benchmark that is not known here, and for programs whose steps are no floating-point operations.
    pub fn of(
        benchmark: &str,
        ranks: usize,
        parameters: &Parameters,
        cores: usize,
    ) -> Option<Bound> {
        match benchmark {
            "fft" | "foldfft" | "fft-corner-turn" => {
                Some(Bound::Peak { precision: Precision::Single })
            }
            "linpack" | "whetstone" => Some(Bound::Peak { precision: Precision::Double }),
            // STREAM counts what is read and what is written, `copy` what is copied.
            "stream" => Some(Bound::Copy { bytes: STREAM_VECTOR_BYTES, counted: 2 }),
            "corner-turn-memory" => {
                let side = number(parameters, "side")?;
                let bytes = side.checked_mul(side)?.checked_mul(CORNER_TURN_ELEMENT_BYTES)?;
                Some(Bound::Copy { bytes, counted: 1 })
            }
            _ => critical_path(benchmark, ranks, parameters, cores).map(Bound::Path),
        }
    }

    /// The unit of the rates that it bounds.
    pub fn rate_unit(self) -> &'static str {
        match self {
            Bound::Path(_) | Bound::Copy { .. } => "MB/s",
            Bound::Peak { .. } => "MFLOP/s",
        }
    }

    /// The bound in a word or two, to follow `of`.
    pub fn kind(self) -> &'static str {
        match self {
            Bound::Path(_) => "the limit",
            Bound::Peak { .. } => "the peak",
            Bound::Copy { .. } => "a copy",
        }
    }
}

impl Precision {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Precision::Single => "single",
            Precision::Double => "double",
        }
    }

    /// The precision that a peak was measured in.
    pub(super) fn of(parameters: &Parameters) -> Option<Precision> {
        let Some(ParameterValue::Text(name)) = parameters.get(PRECISION) else { return None };
        [Precision::Single, Precision::Double].into_iter().find(|one| one.name() == name)
    }
}

impl fmt::Display for Bound {
    /// Such as `1 hand-over + 3 switches`, or `this core's peak in single precision`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Path(path) => path.fmt(f),
            Bound::Peak { precision } => {
                write!(f, "this core's peak in {} precision", precision.name())
            }
            Bound::Copy { .. } => f.write_str("a plain copy of the same bytes"),
        }
    }
}
