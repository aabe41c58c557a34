//! Texts of strangers, for the terminal.

use std::borrow::Cow;

use serde_json::Value;

/// Returns a text without the characters that control a terminal or turn its direction, each of which becomes its
/// escape, as JSON writes it. Line ends and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(controls) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match controls(c) {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    text.chars().map(shown).collect::<String>().into()
}

fn controls(c: char) -> bool {
    let marks = matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}');
    let turns = marks || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || c.is_control() && !matches!(c, '\n' | '\t')
}

/// Makes all texts of a record printable, so that no output needs to distrust them.
pub(crate) fn make_printable(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(shown) = printable(text) {
                *text = shown;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(make_printable),
        Value::Object(fields) => {
            if fields.keys().any(|key| key.contains(controls)) {
                let shown = |(key, value): (String, Value)| (printable(&key).into_owned(), value);
                *fields = std::mem::take(fields).into_iter().map(shown).collect();
            }
            fields.values_mut().for_each(make_printable);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
