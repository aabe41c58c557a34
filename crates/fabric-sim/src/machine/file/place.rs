//! Reads numbers from a file. Errors name the line of the mistake.

use contract::TimeSpan;
use definition_files::{FileError, toml_mistake};

use super::schema::FilePiece;
use crate::quantity::{Cost, PerUnit, Piecewise};

/// A file that is being read. Errors name it and the line.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
    /// Number of the section that is being read, among those with the same name.
    pub(super) number: usize,
}

impl Place<'_> {
    pub(super) fn invalid(&self, line: usize, problem: impl Into<String>) -> FileError {
        FileError::Invalid { file: self.file.into(), line, problem: problem.into() }
    }

    pub(super) fn syntax(&self, error: &toml::de::Error) -> FileError {
        let at = error.span().map_or(0, |span| span.start);
        toml_mistake(self.file, self.text, at, &near(error.message()))
    }

    /// Returns the whole file as a table, which has only the fields that the file itself gives.
    pub(super) fn table(&self) -> Result<toml::Table, FileError> {
        toml::from_str(self.text).map_err(|error| self.syntax(&error))
    }

    /// Returns the error for a file that describes no network.
    pub(super) fn without_network(&self) -> FileError {
        self.invalid(
            1,
            "missing field `network`; a machine file needs a section `[network]` with `shape` (`line`, `ring`, `switch` ...) \
             and `link_mb_per_s`, or a section `[sci]` with `shape` (`ring:8` ...)",
        )
    }

    /// Returns the line of `section.field`, of the section if it has no such field, or line 1 if there is no such
    /// section. If several sections have the name, it is the one with this number.
    fn line(&self, field: &str, number: usize) -> usize {
        let (section, key) = field.rsplit_once('.').unwrap_or(("", field));
        let (mut inside, mut found, mut passed) = (section.is_empty(), 1, 0);
        for (index, line) in self.text.lines().enumerate() {
            let line = line.trim();
            if line.starts_with('[') {
                if section.is_empty() && line.trim_matches(['[', ']']) == key {
                    return index + 1;
                }
                let named = line.trim_matches(['[', ']']) == section;
                inside = named && passed == number;
                passed += usize::from(named);
                if inside {
                    found = index + 1;
                }
            } else if inside && line.split(['=', ' ']).next() == Some(key) {
                return index + 1;
            }
        }
        found
    }

    pub(super) fn refuse(&self, field: &str, problem: &str) -> FileError {
        self.refuse_in(self.number, field, problem)
    }

    /// As [`refuse`](Self::refuse), for the section with this number among those with the same name.
    pub(super) fn refuse_in(&self, number: usize, field: &str, problem: &str) -> FileError {
        self.invalid(self.line(field, number), format!("`{field}` {problem}"))
    }

    /// Returns a number after checking that it is zero or more. A missing number is 0.
    pub(super) fn number(&self, field: &str, value: Option<f64>) -> Result<f64, FileError> {
        let value = value.unwrap_or(0.0);
        if value.is_finite() && (0.0..1e12).contains(&value) {
            Ok(value)
        } else {
            Err(self.refuse(field, &format!("is {value}; it must be a number from 0 up to 10^12")))
        }
    }

    pub(super) fn span(&self, field: &str, us: Option<f64>) -> Result<TimeSpan, FileError> {
        Ok(span(self.number(field, us)?))
    }

    pub(super) fn rate(&self, field: &str, per_us: f64) -> Result<PerUnit, FileError> {
        if self.number(field, Some(per_us))? > 0.0 {
            Ok(PerUnit::from_rate_per_us(per_us))
        } else {
            Err(self.refuse(field, "is 0; a rate must be above it"))
        }
    }

    pub(super) fn cost(
        &self,
        field: &str,
        us: Option<f64>,
        ns_per_byte: Option<f64>,
    ) -> Result<Cost, FileError> {
        let ns = self.number(&format!("{field}_ns_per_byte"), ns_per_byte)?;
        let fixed = self.span(&format!("{field}_us"), us)?;
        Ok(Cost { fixed, per_byte: PerUnit::from_us(ns / 1e3) })
    }

    /// Reads a cost that is given as one line or as pieces. Refuses a cost that is given as both.
    pub(super) fn pieces(
        &self,
        field: &str,
        line: (Option<f64>, Option<f64>),
        pieces: &[FilePiece],
    ) -> Result<Piecewise, FileError> {
        if pieces.is_empty() {
            return Ok(Piecewise::line(self.cost(field, line.0, line.1)?));
        }
        if line != (None, None) {
            let both = format!(
                "stands beside `{field}_us` or `{field}_ns_per_byte`; give one line or pieces"
            );
            return Err(self.refuse(field, &both));
        }
        let piece = |piece: &FilePiece| {
            let fixed = span(self.number(field, Some(piece.us))?);
            let per_byte = PerUnit::from_us(self.number(field, Some(piece.ns_per_byte))? / 1e3);
            Ok((piece.from_bytes, Cost { fixed, per_byte }))
        };
        let pieces = pieces.iter().map(piece).collect::<Result<Vec<_>, _>>()?;
        Piecewise::new(pieces).ok_or_else(|| {
            self.refuse(field, "must have pieces with `from_bytes` ascending from 0")
        })
    }
}

/// Returns a message about an unknown field, with the most similar of the names that the message lists.
fn near(message: &str) -> String {
    let mut names = message.split('`').skip(1).step_by(2);
    let Some(unknown) = names.next().filter(|_| message.starts_with("unknown ")) else {
        return message.into();
    };
    let distance = |name: &&str| strsim::damerau_levenshtein(unknown, name);
    match names.min_by_key(distance) {
        Some(name) if distance(&name) <= 1 + name.len() / 3 => {
            message.replacen(", expected", &format!(" (is it `{name}`?), expected"), 1)
        }
        _ => message.into(),
    }
}

fn span(us: f64) -> TimeSpan {
    TimeSpan::from_ps((us * 1e6).round() as u64)
}
