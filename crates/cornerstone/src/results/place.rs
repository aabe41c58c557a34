//! The paths of results files and reports.

use std::path::{Path, PathBuf};

use record::RunHeader;

use crate::failure::Failure;
use crate::utc;

/// Folder of results files that have no given path.
const FOLDER: &str = "results";

/// Returns the path for the results of a run without a given path. It contains the time and the host. Creates the
/// folder.
pub(crate) fn default_path(header: &RunHeader) -> Result<PathBuf, Failure> {
    std::fs::create_dir_all(FOLDER).map_err(|error| {
        Failure::usage(format!("cannot make the folder '{FOLDER}' for the results: {error}"))
            .hint("choose a place that can be written to with --out FILE")
    })?;
    Ok(free_path(Path::new(FOLDER), header))
}

/// Returns a free path in `folder`, with the time and the host of a run.
pub(super) fn free_path(folder: &Path, header: &RunHeader) -> PathBuf {
    let stem = format!("{}-{}", utc::compact(&header.started), file_name(&header.environment.host));
    let free = (1..)
        .map(|number| match number {
            1 => format!("{stem}.jsonl"),
            _ => format!("{stem}-{number}.jsonl"),
        })
        .map(|name| folder.join(name))
        .find(|path| !path.exists());
    free.expect("a folder cannot hold every name")
}

/// Returns the path of the report that belongs to a results file.
pub(crate) fn report_path(results: &Path) -> PathBuf {
    results.with_extension("html")
}

/// Returns `host` with `_` for characters that are unsuitable for a file name.
fn file_name(host: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    host.chars().map(plain).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_names_make_safe_file_names() {
        assert_eq!(file_name("node-17.lab"), "node-17.lab");
        assert_eq!(file_name("../etc/ö x"), ".._etc___x");
    }

    #[test]
    fn a_report_lies_beside_its_results() {
        assert_eq!(report_path(Path::new("results/a.b.jsonl")), Path::new("results/a.b.html"));
    }
}
