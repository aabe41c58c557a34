//! A complete results file, read back.

use super::printable::make_printable;
use super::{Line, Measurement, RunHeader, SCHEMA_VERSION, TrialLine, Warning};

/// A run as read from its results file.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Short name that distinguishes runs: that of the file.
    pub label: String,
    /// Headers; more than one if the run was resumed. Never empty.
    pub headers: Vec<RunHeader>,
    /// The measurements, in the order in which they were made.
    pub measurements: Vec<Measurement>,
    /// The trials of searches, ended or not, in the order in which they were made.
    pub trials: Vec<TrialLine>,
    /// What casts doubt on measurements, in the order in which it was found.
    pub warnings: Vec<Warning>,
    /// True if the last session of the run ended normally.
    pub ended: bool,
    /// True if the file ends in the middle of a line, after a killed run or on a full disk. That line is ignored.
    pub cut_off: bool,
}

/// The reason why a results file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The file is empty.
    #[error("{label} holds no run: it is empty")]
    Empty {
        /// The file.
        label: String,
    },
    /// A line is not a record.
    #[error("{label}, line {line}: {reason}")]
    BadLine {
        /// The file.
        label: String,
        /// The line, counted from 1.
        line: usize,
        /// The error in the line.
        reason: String,
    },
    /// The file has another schema.
    #[error(
        "{label} has schema version {found}; this build reads version {SCHEMA_VERSION} (measure again, or use the build that wrote it)"
    )]
    OtherSchema {
        /// The file.
        label: String,
        /// Its version.
        found: u64,
    },
}

impl Run {
    /// Creates a run that ended normally and searched for nothing.
    pub fn of(label: &str, headers: Vec<RunHeader>, measurements: Vec<Measurement>) -> Run {
        Run {
            label: label.into(),
            headers,
            measurements,
            trials: Vec::new(),
            warnings: Vec::new(),
            ended: true,
            cut_off: false,
        }
    }

    /// Reads the text of a results file. `label` names it in messages.
    ///
    /// # Errors
    /// [`RunError`] with the line; only a last line without a line end may be invalid.
    pub fn parse(label: &str, text: &str) -> Result<Run, RunError> {
        let mut run = Run {
            ended: false,
            cut_off: !text.is_empty() && !text.ends_with('\n'),
            ..Run::of(label, Vec::new(), Vec::new())
        };
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        for (index, line) in whole.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            run.add(index + 1, line)?;
        }
        if run.headers.is_empty() { Err(RunError::Empty { label: label.into() }) } else { Ok(run) }
    }

    fn add(&mut self, number: usize, line: &str) -> Result<(), RunError> {
        let bad =
            |reason: String| RunError::BadLine { label: self.label.clone(), line: number, reason };
        let mut value: serde_json::Value =
            serde_json::from_str(line).map_err(|error| bad(format!("not JSON: {error}")))?;
        make_printable(&mut value);
        // The version is checked before the fields, which another version may have renamed.
        if let Some(found) = value.get("schema_version").and_then(serde_json::Value::as_u64)
            && found != u64::from(SCHEMA_VERSION)
        {
            return Err(RunError::OtherSchema { label: self.label.clone(), found });
        }
        match serde_json::from_value(value)
            .map_err(|error| bad(format!("not a record: {error}")))?
        {
            Line::Run(header) => {
                self.headers.push(header);
                self.ended = false;
            }
            _ if self.headers.is_empty() => {
                return Err(bad("a record before the run's header".into()));
            }
            Line::Measurement(measurement) => {
                self.measurements.retain(|earlier| !measurement.replaces(earlier));
                self.measurements.push(measurement);
            }
            Line::Trial(trial) => self.trials.push(trial),
            Line::Warning(warning) => self.warnings.push(warning),
            Line::End(_) => self.ended = true,
        }
        Ok(())
    }

    /// Returns the header of the latest session.
    pub fn header(&self) -> &RunHeader {
        self.headers.last().expect("parse refuses a run without a header")
    }
}
