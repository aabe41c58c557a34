//! Single and double precision, as records name them.

use record::{ParameterValue, Parameters};
use serde::Serialize;

/// The parameter of a measured peak: a [`Precision`] by its name.
pub const PRECISION: &str = "precision";

/// Numbers of single and of double precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// 32 bits.
    Single,
    /// 64 bits.
    Double,
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
