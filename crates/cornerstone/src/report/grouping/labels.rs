//! Measurements and their parameters in words.

use record::{Measurement, ParameterValue};

use crate::wording::ranks;

/// Returns the heading of the column of a parameter.
pub(in crate::report) fn heading(name: &str) -> String {
    words(name.strip_suffix("_bytes").unwrap_or(name))
}

/// Returns the value of a parameter in the column under its heading.
pub(in crate::report) fn cell(name: &str, value: &ParameterValue) -> String {
    match value {
        ParameterValue::Number(bytes) if name.ends_with("_bytes") => crate::wording::size(*bytes),
        _ => value.to_string(),
    }
}

/// Returns a parameter in words: `packet 1 KiB`, `no acknowledgement`.
pub(in crate::report) fn parameter(name: &str, value: &ParameterValue) -> String {
    match value {
        ParameterValue::Flag(true) => words(name),
        ParameterValue::Flag(false) => format!("no {}", words(name)),
        _ => format!("{} {}", heading(name), cell(name, value)),
    }
}

/// Returns the values that distinguish a measurement from the others of its benchmark: ranks, all parameters and size.
pub(in crate::report) fn full_label(m: &Measurement) -> String {
    let mut parts = vec![ranks(m.ranks)];
    parts.extend(m.parameters.iter().map(|(name, value)| parameter(name, value)));
    if m.size_bytes > 0 {
        parts.push(crate::wording::size(m.size_bytes));
    }
    parts.join(", ")
}

/// Returns a name as words: `half_round_trip` and `half-round-trip` become `half round trip`.
pub(in crate::report) fn words(name: &str) -> String {
    name.replace(['_', '-'], " ")
}
