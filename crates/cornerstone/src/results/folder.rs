//! A folder of results files as a history.

use std::path::{Path, PathBuf};

use analysis::history::History;
use analysis::launches::pooled;
use record::Run;

use super::{ResultsFile, place, reader};
use crate::comparison::timed_only;
use crate::failure::Failure;
use crate::progress::note;
use crate::utc;

/// Reads every results file of a folder. Leaves out and notes files that cannot be read, and runs with a clock that
/// cannot have been right.
pub(crate) fn read_folder(folder: &Path) -> Result<History, Failure> {
    let shown = folder.display();
    let entries = std::fs::read_dir(folder).map_err(|error| {
        Failure::usage(format!("cannot read the folder '{shown}': {error}"))
            .hint("a history is a folder of results files, as `cornerstone run` makes them")
    })?;
    let is_results =
        |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
    let mut paths: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(is_results).collect();
    paths.sort();
    let mut history = History::default();
    for path in &paths {
        match read(path) {
            Ok(run) => history.add(&run),
            Err(why) => note(&format!("note: left out: {why}")),
        }
    }
    Ok(history)
}

fn read(path: &Path) -> Result<Run, String> {
    let bytes = definition_files::read_bytes(path)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let run = reader::parse(path, &bytes).map_err(|failure| failure.message().to_string())?;
    let started = run.header().started.clone();
    if let Some(why) = doubtful(&started, &utc::now()) {
        note(&format!(
            "note: '{}' began at {started}, {why}; its place in the order may be wrong",
            path.display()
        ));
    }
    Ok(timed_only(pooled(run)))
}

/// Returns the reason why a start time of a run cannot be right, or `None`. Times are written so that they sort as
/// text.
fn doubtful(started: &str, now: &str) -> Option<&'static str> {
    const EARLIEST: &str = "2020";
    match started {
        _ if started.len() != now.len() || !started.ends_with('Z') => Some("which is no time"),
        _ if started > now => Some("which is still to come: a clock was wrong"),
        _ if started < EARLIEST => Some("before there were such files: a clock was not set"),
        _ => None,
    }
}

/// Adds a run to a folder, as a separate file.
pub(crate) fn add_to_folder(folder: &Path, run: &Run) -> Result<PathBuf, Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::failed(format!("cannot make the folder '{}': {error}", folder.display()))
    })?;
    let path = place::free_path(folder, run.header());
    let mut file = ResultsFile::create(&path)?;
    run.headers.iter().try_for_each(|header| file.append_header(header))?;
    file.append(&run.measurements)?;
    run.warnings.iter().try_for_each(|warning| file.append_warning(warning))?;
    file.end()?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_cannot_be_right_are_named() {
        let now = "2026-06-01T12:00:00Z";
        assert_eq!(doubtful("2026-06-01T12:00:00Z", now), None);
        assert!(doubtful("2031-06-01T12:00:00Z", now).unwrap().contains("still to come"));
        assert!(doubtful("1970-01-01T00:00:09Z", now).unwrap().contains("not set"));
        assert!(doubtful("yesterday", now).unwrap().contains("no time"));
    }
}
