//! The name of a number in the runs that have it.

use record::{Key, Measurement};
use serde::Serialize;

/// Properties that distinguish a measurement of a run from all others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Name {
    /// Benchmark, ranks, parameters and size.
    pub key: Key,
    /// The metric.
    pub metric: String,
    /// Unit: values in different units are never compared.
    pub unit: String,
    /// Fabric, if a run has more than one. Otherwise the fabrics may differ, because they may be the object of the
    /// comparison.
    pub fabric: Option<String>,
}

impl Name {
    /// Returns the name of a measurement in a run over one fabric.
    pub fn of(measurement: &Measurement) -> Name {
        Name {
            key: measurement.key(),
            metric: measurement.metric.clone(),
            unit: measurement.unit.clone(),
            fabric: None,
        }
    }
}
