//! Recordings of other simulators: LogGOPSim's GOAL and SimGrid's time-independent traces, both as text.

mod goal_reader;
mod goal_writer;
mod numbers;
mod rounds;
mod traces_reader;
mod traces_writer;

use std::path::Path;

use crate::{RankEvent, Recording, RecordingError};

/// A format of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// LogGOPSim's GOAL. Collectives become their messages, and computing is in nanoseconds.
    Goal,
    /// SimGrid's time-independent traces. Computing is in operations of a host that does 10^9 a second.
    Traces,
}

impl TextFormat {
    /// The format by the end of a file's name: `.goal`, or `.ti`.
    pub fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "goal" => Some(TextFormat::Goal),
            "ti" => Some(TextFormat::Traces),
            _ => None,
        }
    }
}

impl Recording {
    /// The recording in a format of text.
    ///
    /// # Errors
    /// Events that the format cannot express.
    pub fn to_text(&self, format: TextFormat) -> Result<String, String> {
        // Messages of collectives go through as if the program had sent them; those of windows have no such place.
        let answers = |rank| {
            self.events(rank).zip(self.events(rank).skip(1)).any(|(mark, event)| {
                mark == RankEvent::Meanwhile && event.context().is_some_and(|one| one % 2 == 0)
            })
        };
        if let Some(rank) = (0..self.ranks()).find(|&rank| answers(rank)) {
            return Err(format!(
                "rank {rank} answers others in the middle of a collective, as for windows, which this format cannot say"
            ));
        }
        match format {
            TextFormat::Goal => goal_writer::write(self),
            TextFormat::Traces => traces_writer::write(self),
        }
    }

    /// Reads a recording in a format of text.
    ///
    /// # Errors
    /// [`RecordingError::Text`] with the line that cannot be replayed.
    pub fn of_text(format: TextFormat, text: &str, path: &Path) -> Result<Self, RecordingError> {
        let read = match format {
            TextFormat::Goal => goal_reader::read(text),
            TextFormat::Traces => traces_reader::read(text),
        };
        let path = path.display().to_string();
        match read {
            Ok(ranks) => Ok(Recording::of(&path, &ranks)),
            Err((line, reason)) => Err(RecordingError::Text { path, line, reason }),
        }
    }
}

/// A mistake in a text: the line, counted from 1, and what is wrong with it.
type Mistake = (usize, String);

/// A number in a text.
fn number<N: std::str::FromStr>(word: Option<&str>, line: usize, what: &str) -> Result<N, Mistake> {
    let word = word.ok_or_else(|| (line, format!("{what} is missing")))?;
    word.parse().map_err(|_| (line, format!("{what} is '{word}', which is no such number")))
}

#[cfg(test)]
mod tests;
