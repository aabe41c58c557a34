//! Numbers of an explanation.

/// Returns a number with ten digits, as a spreadsheet reads it.
pub(super) fn number(value: f64) -> String {
    let digits = 9 - (value.abs().max(f64::MIN_POSITIVE).log10().floor() as i32);
    let text = format!("{value:.*}", digits.clamp(0, 15) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// Returns values in a row.
pub(super) fn list(values: impl Iterator<Item = String>) -> String {
    values.collect::<Vec<_>>().join(" ")
}
