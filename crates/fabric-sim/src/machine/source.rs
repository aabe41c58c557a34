//! Where a number comes from.

use serde::Deserialize;

/// What kind of knowledge a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It stands in a publication.
    Published,
    /// It follows from published numbers by arithmetic.
    Derived,
    /// It was chosen so that published cells come out; the text names them.
    Fitted,
    /// It was measured with Cornerstone.
    Measured,
    /// Nobody published it; the text says why this value.
    Assumed,
}

/// Where the numbers of a field, or of a whole section, come from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The fields or sections: `endpoint.send_us`, `network`.
    pub of: Vec<String>,
    /// What kind of knowledge it is.
    pub kind: Kind,
    /// The table or sentence, or the cells that it was fitted to.
    pub from: String,
}

impl Source {
    /// Whether it speaks of a field (`section.field`).
    pub fn covers(&self, field: &str) -> bool {
        self.of.iter().any(|of| {
            field == of || field.strip_prefix(of.as_str()).is_some_and(|rest| rest.starts_with('.'))
        })
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Published => "published",
            Kind::Derived => "derived",
            Kind::Fitted => "fitted",
            Kind::Measured => "measured",
            Kind::Assumed => "assumed",
        })
    }
}
