//! Writing a results file during a run.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use record::{Line, Measurement, Run, RunEnd, RunHeader, TrialLine, Warning};

use super::reader;
use crate::arguments::command_to_resume;
use crate::failure::Failure;

/// An open results file. It is locked against a second writer. After each call it ends with a whole line.
pub(crate) struct ResultsFile {
    file: File,
    path: PathBuf,
    /// Length of the whole lines in bytes. A failed write may leave more, which is then cut off.
    length: u64,
    measurements: u64,
    began: Instant,
}

impl ResultsFile {
    /// Creates a new, empty file. Never changes a file that already exists.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let file = file.map_err(|error| cannot_create(path, &error))?;
        ResultsFile::new(file, path)
    }

    /// Opens a file to resume its run, and reads it. Cuts off a last line that is not whole, so that the next record
    /// begins a line.
    pub(crate) fn reopen(path: &Path) -> Result<(Self, Run), Failure> {
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(|error| {
            Failure::usage(format!("cannot go on with '{}': {error}", path.display()))
        })?;
        let mut results = ResultsFile::new(file, path)?;
        let bytes = definition_files::read_all(&results.file).map_err(|error| {
            Failure::usage(format!("cannot read '{}': {error}", path.display()))
        })?;
        let run = reader::parse(path, &bytes)?;
        results.length = reader::whole_lines(path, &bytes)?.len() as u64;
        results.cut_back().map_err(|error| results.cannot_write(&error))?;
        Ok((results, run))
    }

    fn new(file: File, path: &Path) -> Result<Self, Failure> {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::usage(format!(
                    "another run is writing to '{}'",
                    path.display()
                ))
                .hint("wait until it ends, or end it"));
            }
            // Some file systems have no locks. There a run has no protection against a second writer.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        Ok(ResultsFile {
            file,
            path: path.into(),
            length: 0,
            measurements: 0,
            began: Instant::now(),
        })
    }

    /// Adds the header of a session.
    pub(crate) fn append_header(&mut self, header: &RunHeader) -> Result<(), Failure> {
        self.append_lines(&[Line::Run(header.clone())])
    }

    /// Adds the metrics of one measurement, all of them or none. A run is resumed key by key, so a single missing
    /// metric would never be measured.
    pub(crate) fn append(&mut self, metrics: &[Measurement]) -> Result<(), Failure> {
        let lines: Vec<Line> = metrics.iter().cloned().map(Line::Measurement).collect();
        self.append_lines(&lines)?;
        self.measurements += metrics.len() as u64;
        Ok(())
    }

    /// Adds one trial of a search that has not ended.
    pub(crate) fn append_trial(&mut self, trial: &TrialLine) -> Result<(), Failure> {
        self.append_lines(&[Line::Trial(trial.clone())])
    }

    /// Adds the last line, which states that the run ended in order.
    pub(crate) fn end(&mut self) -> Result<(), Failure> {
        let seconds = self.began.elapsed().as_secs_f64();
        self.append_lines(&[Line::End(RunEnd { measurements: self.measurements, seconds })])
    }

    /// Appends a warning.
    pub(crate) fn append_warning(&mut self, warning: &Warning) -> Result<(), Failure> {
        self.append_lines(&[Line::Warning(warning.clone())])
    }

    /// Removes a file that is still empty, so that a run that never began leaves no file.
    pub(crate) fn remove_if_empty(self) {
        if self.length == 0 && self.file.metadata().is_ok_and(|m| m.is_file() && m.len() == 0) {
            // If this fails, an empty file remains, which does no harm.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Returns its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn append_lines(&mut self, lines: &[Line]) -> Result<(), Failure> {
        let text: String = lines.iter().map(|line| line.to_json() + "\n").collect();
        match self.file.write_all(text.as_bytes()) {
            Ok(()) => {
                self.length += text.len() as u64;
                Ok(())
            }
            Err(error) => {
                // Best effort: a line that is not whole is ignored when the file is read.
                let _ = self.cut_back();
                Err(self.cannot_write(&error))
            }
        }
    }

    fn cut_back(&mut self) -> std::io::Result<()> {
        if self.file.metadata()?.is_file() {
            self.file.set_len(self.length)?;
            self.file.seek(SeekFrom::Start(self.length))?;
        }
        Ok(())
    }

    fn cannot_write(&self, error: &std::io::Error) -> Failure {
        let path = self.path.display();
        let failure = Failure::failed(format!(
            "cannot write to the results file '{path}': {error}; it keeps the {} measurements made before",
            self.measurements
        ));
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => failure
                .hint(format!("make room, then go on with `{}`", command_to_resume(&self.path))),
            _ => failure.hint(format!("go on later with `{}`", command_to_resume(&self.path))),
        }
    }
}

fn cannot_create(path: &Path, error: &std::io::Error) -> Failure {
    let shown = path.display();
    let failure = Failure::usage(format!("cannot make the results file '{shown}': {error}"));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match (error.kind(), folder) {
        (ErrorKind::AlreadyExists, _) => Failure::usage(format!("'{shown}' is already there"))
            .hint("results are never overwritten: choose another name with --out FILE"),
        (ErrorKind::NotFound, Some(folder)) if !folder.exists() => {
            failure.hint(format!("the folder is missing: mkdir -p '{}'", folder.display()))
        }
        _ => failure.hint("choose a place that can be written to with --out FILE"),
    }
}
