//! Checks that every number of a machine file has a source.

use definition_files::FileError;

use super::place::Place;
use crate::machine::NumberSource;

/// The tables of costs.
const SECTIONS: [&str; 11] = [
    "processor",
    "endpoint",
    "protocol",
    "network",
    "inner_network",
    "sci",
    "ring_collectives",
    "board",
    "windows",
    "array",
    "pause",
];

/// Checks that each number in the tables of costs has a source, and that sources name only fields in the file.
pub(super) fn check(place: &Place<'_>, sources: &[NumberSource]) -> Result<(), FileError> {
    let table = place.table()?;
    for (number, source) in sources.iter().enumerate() {
        if let Some(nothing) = source.of.iter().find(|of| !is_there(&table, of)) {
            let words = format!(
                "names `{nothing}`, which is not in the file; it may name a section or one of its fields, such as `network` or \
                 `network.latency_us`"
            );
            return Err(place.refuse_in(number, "source.of", &words));
        }
    }
    for section in SECTIONS {
        let fields = match table.get(section) {
            Some(toml::Value::Table(fields)) => {
                fields.keys().map(|key| format!("{section}.{key}")).collect()
            }
            Some(toml::Value::Array(_)) => vec![section.to_string()],
            _ => vec![],
        };
        for field in fields {
            let numeric = field.rsplit_once('.').is_none_or(|(_, key)| {
                table[section]
                    .get(key)
                    .is_none_or(|value| value.is_integer() || value.is_float() || value.is_array())
            });
            if numeric && !sources.is_empty() && !sources.iter().any(|source| source.covers(&field))
            {
                return Err(place.refuse(
                    &field,
                    "has no source; add it to `of` of a [[source]] with `kind` (published, derived, fitted, measured or assumed) and `from`",
                ));
            }
        }
    }
    if sources.is_empty() {
        return Err(place.invalid(
            1,
            "the file has no [[source]]: add one or more with `kind` (published, derived, fitted, measured or assumed), `from` and `of`, because every number must say where it comes from",
        ));
    }
    Ok(())
}

/// Returns whether a source may name `of`: a section, or a field that is in the file.
fn is_there(table: &toml::Table, of: &str) -> bool {
    match of.split_once('.') {
        None => SECTIONS.contains(&of) || table.contains_key(of),
        Some((section, field)) => {
            table.get(section).and_then(|section| section.get(field)).is_some()
        }
    }
}
