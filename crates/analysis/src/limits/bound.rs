//! The bound of a benchmark, as its declaration states it and as it applies to one measurement.

use std::fmt;

use record::Parameters;
use serde::Serialize;

use super::critical_path::{CriticalPath, Traffic, critical_path};
use super::precision::Precision;

/// The limit of a number, or the reference with which it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The minimum sequence of operations of messages.
    Path(CriticalPath),
    /// The core's rate of multiply-adds.
    Peak {
        /// Precision of the numbers.
        precision: Precision,
    },
    /// The rate of a plain copy by one core.
    Copy {
        /// Number of bytes copied at once.
        bytes: u64,
        /// Number of bytes that the benchmark counts for each byte of a copy: 2 for reading and writing it.
        counted: u64,
    },
}

/// The bound of a benchmark, as declared; [`bound`](BoundRule::bound) applies it to a measurement.
#[derive(Clone, Copy, Debug)]
pub enum BoundRule {
    /// No measured limit.
    None,
    /// Messages between two ranks. The function returns their traffic, from the measurement's parameters.
    Pair(fn(&Parameters) -> Traffic),
    /// Messages among all ranks. The function returns their traffic, from the number of ranks, which is 1 or more.
    AllRanks(fn(u64) -> Traffic),
    /// The core's peak.
    Peak(Precision),
    /// A plain copy by one core.
    Copy {
        /// Number of bytes copied at once, from the measurement's parameters; `None` if they do not contain it.
        bytes: fn(&Parameters) -> Option<u64>,
        /// Number of bytes that the benchmark counts for each byte of a copy.
        counted: u64,
    },
}

/// Function that returns the rule of the benchmark with a given name: [`BoundRule::None`] for a name that no
/// declaration has.
///
/// A record contains only the name of its benchmark, so old results are compared with today's bounds.
pub type BoundRules = fn(&str) -> BoundRule;

impl BoundRule {
    /// Returns the bound of a measurement with these `parameters` on this number of `ranks` and `cores` (0: a core for
    /// each rank).
    pub fn bound(self, ranks: usize, parameters: &Parameters, cores: usize) -> Option<Bound> {
        let among = |traffic, ranks| Bound::Path(critical_path(traffic, ranks, cores));
        Some(match self {
            BoundRule::None => return None,
            BoundRule::Pair(traffic) => among(traffic(parameters), ranks.min(2)),
            BoundRule::AllRanks(traffic) => among(traffic(ranks.max(1) as u64), ranks),
            BoundRule::Peak(precision) => Bound::Peak { precision },
            BoundRule::Copy { bytes, counted } => {
                Bound::Copy { bytes: bytes(parameters)?, counted }
            }
        })
    }
}

impl Bound {
    /// Returns the unit of the rates that it bounds.
    pub fn rate_unit(self) -> &'static str {
        match self {
            Bound::Path(_) | Bound::Copy { .. } => "MB/s",
            Bound::Peak { .. } => "MFLOP/s",
        }
    }

    /// Returns the bound in a word or two, to follow `of`.
    pub fn kind(self) -> &'static str {
        match self {
            Bound::Path(_) => "the limit",
            Bound::Peak { .. } => "the peak",
            Bound::Copy { .. } => "a copy",
        }
    }
}

impl fmt::Display for Bound {
    /// Formats as `1 hand-over + 3 switches`, or `this core's peak in single precision`.
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
