//! Recordings of other simulators: LogGOPSim's GOAL and SimGrid's time-independent traces, both as text.

mod goal_reader;
mod goal_writer;
mod numbers;
mod rounds;
mod traces_reader;
mod traces_writer;

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

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
    /// Returns the format by the end of a file's name: `.goal`, or `.ti`.
    pub fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "goal" => Some(TextFormat::Goal),
            "ti" => Some(TextFormat::Traces),
            _ => None,
        }
    }

    /// Returns the format of a file to read: that of its name, or traces for `.txt`, because SimGrid writes its traces
    /// into files with such names.
    pub fn of_source(path: &Path) -> Option<Self> {
        let is_text = path.extension().is_some_and(|extension| extension == "txt");
        Self::of_name(path).or(is_text.then_some(TextFormat::Traces))
    }
}

impl Recording {
    /// Returns the recording in a format of text.
    ///
    /// # Errors
    /// Events that the format cannot express.
    pub fn to_text(&self, format: TextFormat) -> Result<String, String> {
        // Messages of collectives are written as if the program had sent them. Those of windows cannot be.
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

    /// Reads a recording in a format of text from a file. Time-independent traces may be in one file, or in several
    /// that an index names, one name a line; the files are in the folder of the index, or below it.
    ///
    /// # Errors
    /// [`RecordingError::File`], and [`RecordingError::Text`] with the line that cannot be replayed.
    pub fn read_text(format: TextFormat, path: &Path) -> Result<Self, RecordingError> {
        let text = text_of(path)?;
        let (mut paths, mut texts) = (vec![path.to_owned()], vec![text]);
        if let (TextFormat::Traces, Some(named)) = (format, named_in(&texts[0])) {
            let folder = path.parent().unwrap_or(Path::new(""));
            // Each file once: else a short index would take as much memory as it names one long file.
            let mut found = HashSet::new();
            let mut file = |&name: &&str| inside(folder, name, path, &mut found);
            paths = named.iter().map(&mut file).collect::<Result<_, _>>()?;
            texts = paths.iter().map(|path| text_of(path)).collect::<Result<_, _>>()?;
        }
        parse(format, path, &paths, &texts)
    }
}

/// Reads the `texts` of the files `paths`. The recording has the name of `path`.
fn parse(
    format: TextFormat,
    path: &Path,
    paths: &[PathBuf],
    texts: &[String],
) -> Result<Recording, RecordingError> {
    let read = match format {
        TextFormat::Goal => goal_reader::read(&texts[0]).map_err(|mistake| (0, mistake)),
        TextFormat::Traces => traces_reader::read(texts),
    };
    let name = |path: &Path| path.display().to_string();
    match read {
        Ok(ranks) => Recording::of(&name(path), &ranks).with_messages_in_memory(&name(path)),
        Err((text, (line, reason))) => {
            Err(RecordingError::Text { path: name(&paths[text]), line, reason })
        }
    }
}

/// Returns the contents of a file of text.
fn text_of(path: &Path) -> Result<String, RecordingError> {
    definition_files::read_text(path).map_err(|error| refused(path, error.to_string()))
}

/// Returns the files that an index of traces names, or `None` if the text is not an index: an action has several words.
fn named_in(text: &str) -> Option<Vec<&str>> {
    let lines = traces_reader::actions(text).map(|(_, words)| words);
    let names: Option<Vec<&str>> =
        lines.map(|words| (words.len() == 1).then(|| words[0])).collect();
    names.filter(|names| !names.is_empty())
}

/// Returns the path of a file that an index names and that is not among those `found` before. An index may come from a
/// stranger, and does not lead to other files of this host.
fn inside(
    folder: &Path,
    name: &str,
    index: &Path,
    found: &mut HashSet<PathBuf>,
) -> Result<PathBuf, RecordingError> {
    let (joined, shown) = (folder.join(name), name.escape_debug());
    let stays = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    let outside = || refused(index, format!("it names '{shown}', which is outside its folder"));
    if !Path::new(name).components().all(stays) {
        return Err(outside());
    }
    let unreadable = |error| refused(index, format!("it names '{shown}': {error}"));
    let folder = folder.join(".").canonicalize().map_err(unreadable)?;
    let file = joined.canonicalize().map_err(unreadable)?;
    if !file.starts_with(&folder) {
        return Err(outside());
    }
    if !file.is_file() {
        return Err(refused(index, format!("it names '{shown}', which is no regular file")));
    }
    if !found.insert(file) {
        return Err(refused(index, "it names a file twice".into()));
    }
    Ok(joined)
}

fn refused(path: &Path, reason: String) -> RecordingError {
    RecordingError::File { path: path.display().to_string(), reason }
}

/// A mistake in a text: the line, counted from 1, and a description.
type Mistake = (usize, String);

/// Reads a number in a text.
fn number<N: std::str::FromStr>(word: Option<&str>, line: usize, what: &str) -> Result<N, Mistake> {
    let word = word.ok_or_else(|| (line, format!("{what} is missing")))?;
    word.parse().map_err(|_| (line, format!("{what} is '{word}', which is no such number")))
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod traces_tests;
