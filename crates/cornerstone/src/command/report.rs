//! `report`: makes the HTML report of runs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use record::Run;

use crate::arguments::ReportArguments;
use crate::failure::Failure;
use crate::output::{print, tables};
use crate::{output_file, report, results};

/// Writes the report of one run, or of several side by side, and prints its path. Prints the tables of each run instead
/// if they are requested.
pub(crate) fn execute(arguments: ReportArguments) -> Result<ExitCode, Failure> {
    let runs = arguments
        .runs
        .iter()
        .map(|path| results::read_noting_gaps(path))
        .collect::<Result<Vec<_>, _>>()?;
    if arguments.tables {
        let text: Vec<String> = runs.iter().map(tables).collect();
        return print(&text.join("\n")).map(|()| ExitCode::SUCCESS);
    }
    let output = arguments.output.unwrap_or_else(|| default_path(&arguments.runs, &runs));
    write(&output, &runs)?;
    print(&format!("{}\n", output.display())).map(|()| ExitCode::SUCCESS)
}

fn default_path(paths: &[PathBuf], runs: &[Run]) -> PathBuf {
    match runs {
        [_] => results::report_path(&paths[0]),
        _ => {
            let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
            // The length of file names is limited, so a report of many runs has the first name and their number.
            let name = match labels.as_slice() {
                [first, second] => format!("{first}-and-{second}.html"),
                _ => format!("{}-and-{}-more.html", labels[0], labels.len() - 1),
            };
            paths[0].with_file_name(name)
        }
    }
}

/// Writes the report of `runs` to `path`. It replaces an earlier report, but no other file.
pub(crate) fn write(path: &Path, runs: &[Run]) -> Result<(), Failure> {
    write_page(path, &report::render(runs))
}

/// Writes a page of this program to `path`. It replaces an earlier page, but no other file.
pub(crate) fn write_page(path: &Path, page: &str) -> Result<(), Failure> {
    let shown = path.display();
    output_file::refuse_others(path, &"the report", is_report)
        .map_err(|refused| refused.hint("choose another name with -o FILE"))?;
    let written = output_file::create(path).and_then(|mut file| file.write_all(page.as_bytes()));
    written.map_err(|error| {
        Failure::failed(format!("cannot write the report '{shown}': {error}")).hint(
            "the results are safe; `cornerstone report RUN -o FILE` makes the report elsewhere",
        )
    })
}

/// Returns whether a file is a report of Cornerstone, by the generator in its head.
pub(crate) fn is_report(path: &Path) -> bool {
    // A full disk leaves an empty file instead of a report, so an empty file counts as one.
    let name = report::GENERATOR.split(' ').next().unwrap_or_default();
    output_file::is_marked(path, &format!("name=\"generator\" content=\"{name} "))
}
