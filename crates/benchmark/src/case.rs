//! The measurements of a benchmark.

use record::{Key, Measurement, Parameters};

use crate::settings::Settings;
use crate::sizes::Sizes;

/// The information by which a benchmark decides which measurements it makes.
pub(crate) struct Scope<'a> {
    /// The number of ranks.
    pub(crate) ranks: usize,
    /// Sizes that the user requests, if any.
    pub(crate) sizes: Option<&'a Sizes>,
    /// All other settings of the user.
    pub(crate) settings: &'a Settings,
}

/// A measurement of a benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Case {
    /// Parameters that identify it, in addition to its size.
    pub(crate) parameters: Parameters,
    /// The message size.
    pub(crate) size_bytes: u64,
}

/// Parameter of the method of a measurement, if it differs from the plan.
pub(crate) const METHOD: &str = "method";

/// Parameter of the algorithm of a collective, if the fabric does not choose it.
pub const ALGORITHM: &str = "algorithm";

/// Value of [`ALGORITHM`] if the fabric chooses, when others are measured by named algorithms.
pub(crate) const CHOSEN: &str = "chosen";

/// Returns the identity of the case that was planned for a measurement, by whichever method it was made.
pub fn planned_case(measurement: &Measurement) -> Key {
    let mut key = measurement.key();
    key.parameters.remove(METHOD);
    key
}

/// Returns whether a collective was made as the fabric makes it, and not by an algorithm that the user named.
pub fn is_as_the_fabric_chooses(parameters: &Parameters) -> bool {
    parameters.get(ALGORITHM).is_none_or(|algorithm| *algorithm == CHOSEN.into())
}

/// Returns one measurement without sizes and parameters.
pub(crate) fn once(_: &Scope) -> Vec<Case> {
    vec![Case::default()]
}

/// Message sizes if the user specifies none: empty, short, around the usual changes of protocol, and up to more than
/// caches hold.
pub(crate) const MESSAGE_SIZES: [u64; 12] =
    [0, 1, 8, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];

/// Returns a measurement for each message size.
pub(crate) fn each_size(scope: &Scope) -> Vec<Case> {
    sized(scope, &MESSAGE_SIZES)
}

/// Returns a measurement for each size of a rank's block. If the user specifies no sizes, those are left out at which
/// the blocks of all ranks together exceed 16 MiB.
pub(crate) fn each_block_size(scope: &Scope) -> Vec<Case> {
    let fits = |size: &u64| *size * scope.ranks as u64 <= 16 << 20;
    let sizes: Vec<u64> = MESSAGE_SIZES.into_iter().filter(fits).collect();
    sized(scope, &sizes)
}

/// Returns a measurement for each size that the user requests, or else for each of `sizes`.
pub(crate) fn sized(scope: &Scope, sizes: &[u64]) -> Vec<Case> {
    let sizes = scope.sizes.map_or(sizes, Sizes::bytes);
    sizes.iter().map(|&size_bytes| Case { size_bytes, ..Case::default() }).collect()
}
