//! The files that are written: pages, JSON and traces.

use std::ffi::OsStr;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use profile::RankRecord;

use super::model::SCHEMA;
use super::summarise::Followed;
use super::{page, trace};
use crate::arguments::ObservationArguments;
use crate::command::report::is_report;
use crate::failure::Failure;
use crate::output_file;

/// A file, and the kind of its contents.
pub(super) struct Output {
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Page,
    Json,
    Trace,
}

/// Returns the requested files. Each can be written and is not another program's file.
pub(super) fn prepare(
    options: &ObservationArguments,
    program: &OsStr,
) -> Result<Vec<Output>, Failure> {
    let mut outputs = Vec::new();
    for path in &options.report {
        let path = if path.is_empty() { default_path(program) } else { PathBuf::from(path) };
        let kind = kind_of(&path)?;
        outputs.push(Output { path, kind });
    }
    if let Some(path) = &options.trace {
        outputs.push(Output { path: path.clone(), kind: Kind::Trace });
    }
    for (index, output) in outputs.iter().enumerate() {
        if outputs[..index].iter().any(|one| one.path == output.path) {
            let shown = output.path.display();
            return Err(Failure::usage(format!("'{shown}' is named for two files")));
        }
        output_file::check(&output.path, output, |_| output.is_ours())?;
    }
    Ok(outputs)
}

/// Returns the kind of a report by the ending of its name.
fn kind_of(path: &Path) -> Result<Kind, Failure> {
    match path.extension().map(OsStr::as_encoded_bytes) {
        None | Some(b"html" | b"htm") => Ok(Kind::Page),
        Some(b"json") => Ok(Kind::Json),
        Some(_) => {
            let why = format!("no report is written in the format of '{}'", path.display());
            Err(Failure::usage(why)
                .hint("a name that ends in .html is for a page, in .json for data"))
        }
    }
}

/// Returns the path of a page in this folder, with the program's name.
fn default_path(program: &OsStr) -> PathBuf {
    PathBuf::from(format!("{}-report.html", page::name_of(program)))
}

impl Output {
    /// Returns whether the existing file was written by this command or is empty.
    fn is_ours(&self) -> bool {
        if self.kind == Kind::Page {
            return is_report(&self.path);
        }
        let mark = if self.kind == Kind::Json { SCHEMA } else { fabric_sim::trace::MARK };
        output_file::is_marked(&self.path, mark)
    }

    /// Writes it, and returns a line with its path.
    pub(super) fn write(
        &self,
        records: &[RankRecord],
        followed: &Followed,
    ) -> Result<String, Failure> {
        let shown = self.path.display();
        let mut line = format!("  {self}: {shown}\n");
        let mut all = || -> std::io::Result<()> {
            let mut out = BufWriter::new(output_file::create(&self.path)?);
            match self.kind {
                Kind::Page => out.write_all(page::page(&followed.profile).as_bytes())?,
                Kind::Json => {
                    serde_json::to_writer_pretty(&mut out, &followed.profile)?;
                    out.write_all(b"\n")?;
                }
                Kind::Trace => {
                    if let Some(cut_s) = trace::write(records, followed, &mut out)? {
                        let until = crate::wording::quantity(cut_s, "s");
                        line += &format!(
                            "  it ends at {until} of the run, because viewers cannot open more\n"
                        );
                    }
                }
            }
            out.flush()
        };
        all().map_err(|error| {
            Failure::failed(format!("cannot write {self} to '{shown}': {error}"))
        })?;
        Ok(line)
    }
}

impl std::fmt::Display for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.kind {
            Kind::Page => "the report",
            Kind::Json => "the report as JSON",
            Kind::Trace => "the trace",
        })
    }
}
