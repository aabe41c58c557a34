//! Single and double precision, as records name them.

use record::{ParameterValue, Parameters};
use serde::Serialize;

/// Parameter of a measured peak: a [`Precision`] by its name.
pub const PRECISION: &str = "precision";

/// Precision of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// 32 bits.
    Single,
    /// 64 bits.
    Double,
}

impl Precision {
    /// Returns its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Precision::Single => "single",
            Precision::Double => "double",
        }
    }

    /// Returns the precision of a measured peak.
    pub(super) fn of(parameters: &Parameters) -> Option<Precision> {
        let Some(ParameterValue::Text(name)) = parameters.get(PRECISION) else { return None };
        [Precision::Single, Precision::Double].into_iter().find(|one| one.name() == name)
    }
}
