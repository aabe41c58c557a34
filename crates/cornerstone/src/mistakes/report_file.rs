//! The files of `--check-report`: text, JSON, SARIF and JUnit, by the ending of their names.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::report::{Report, SCHEMA};
use super::{junit, sarif};
use crate::failure::Failure;
use crate::output_file;

/// A file and its format.
#[derive(Debug)]
pub(super) struct ReportFile {
    path: PathBuf,
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    Sarif,
    Junit,
}

/// Endings of names, a longer one before its own ending.
const ENDINGS: [(&str, Format); 5] = [
    (".sarif.json", Format::Sarif),
    (".sarif", Format::Sarif),
    (".json", Format::Json),
    (".txt", Format::Text),
    (".xml", Format::Junit),
];

impl ReportFile {
    /// Returns the files of these names, which can be written.
    pub(super) fn prepare(names: &[OsString]) -> Result<Vec<Self>, Failure> {
        let mut files: Vec<Self> = Vec::new();
        for name in names {
            let file = ReportFile { path: PathBuf::from(name), format: format_of(name)? };
            if files.iter().any(|one| one.path == file.path) {
                let shown = file.path.display();
                return Err(Failure::usage(format!("'{shown}' is named for two files")));
            }
            output_file::check(&file.path, &file, |path| {
                output_file::is_marked(path, file.mark())
            })?;
            files.push(file);
        }
        Ok(files)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what every file of this format begins with, nearly.
    fn mark(&self) -> &'static str {
        match self.format {
            Format::Text => ": findings of ",
            Format::Json => SCHEMA,
            Format::Sarif => sarif::MARK,
            Format::Junit => junit::MARK,
        }
    }

    pub(super) fn write(&self, report: &Report) -> Result<(), Failure> {
        let contents = match self.format {
            Format::Text => Ok(report.text()),
            Format::Json => serde_json::to_string_pretty(report).map(|text| text + "\n"),
            Format::Sarif => {
                serde_json::to_string_pretty(&sarif::log(report)).map(|text| text + "\n")
            }
            Format::Junit => Ok(junit::document(report)),
        };
        let written = contents
            .map_err(Into::into)
            .and_then(|contents| output_file::create(&self.path)?.write_all(contents.as_bytes()));
        written.map_err(|error| {
            Failure::failed(format!("cannot write {self} to '{}': {error}", self.path.display()))
        })
    }
}

fn format_of(name: &OsString) -> Result<Format, Failure> {
    let text = name.to_string_lossy();
    let found = ENDINGS.iter().find(|(ending, _)| text.ends_with(ending) && text != *ending);
    found.map(|(_, format)| *format).ok_or_else(|| {
        Failure::usage(format!("--check-report has no format for the name '{text}'")).hint(
            "a name ends in .txt (text), .json (data), .sarif (for code scanning) or .xml (JUnit)",
        )
    })
}

impl std::fmt::Display for ReportFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.format {
            Format::Text => "the findings",
            Format::Json => "the findings as JSON",
            Format::Sarif => "the findings as SARIF",
            Format::Junit => "the findings as JUnit",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_name_is_its_format() {
        let format = |name: &str| format_of(&name.into()).ok();
        assert_eq!(format("a.sarif.json"), Some(Format::Sarif));
        assert_eq!(format("a.sarif"), Some(Format::Sarif));
        assert_eq!(format("a.json"), Some(Format::Json));
        assert_eq!(format("a/b.txt"), Some(Format::Text));
        assert_eq!(format("TEST-a.xml"), Some(Format::Junit));
        for other in ["a", "a.html", "txt", ".xml", "a.TXT"] {
            assert_eq!(format(other), None, "{other}");
        }
    }
}
