//! The source of a number.

use serde::Deserialize;

/// The way in which a number became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// A publication contains it.
    Published,
    /// It follows from published numbers by arithmetic.
    Derived,
    /// It was fitted to published cells, which the text names.
    Fitted,
    /// It was measured with Cornerstone.
    Measured,
    /// It was not published. The text states why it has this value.
    Assumed,
}

/// The source of the numbers of a field or of a whole section.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberSource {
    /// The fields or sections: `endpoint.send_us`, `network`.
    pub of: Vec<String>,
    /// The way in which they became known.
    pub kind: SourceKind,
    /// The table or sentence, or the cells to which it was fitted.
    pub from: String,
}

impl NumberSource {
    /// Returns whether it is the source of a field (`section.field`).
    pub fn covers(&self, field: &str) -> bool {
        self.of.iter().any(|of| {
            field == of || field.strip_prefix(of.as_str()).is_some_and(|rest| rest.starts_with('.'))
        })
    }
}

impl std::fmt::Display for SourceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            SourceKind::Published => "published",
            SourceKind::Derived => "derived",
            SourceKind::Fitted => "fitted",
            SourceKind::Measured => "measured",
            SourceKind::Assumed => "assumed",
        })
    }
}
